import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.guidance.prefix import cut_prefix
from cloze.guidance.schedule import prefix_ratio

TRACE = "a=512+40=552\nb=552-7=545\n#### 545"


def test_a_trace_that_fits_is_never_cut(tokenizer):
    for text in (TRACE, "one long line without any stop", "word", "ends here.\n"):
        prefix = cut_prefix(text, tokenizer)
        assert (prefix.text, prefix.ratio) == (text, 1.0)
        assert cut_prefix(text, tokenizer, max_tokens=prefix.tokens).text == text


def test_a_cut_moves_back_to_the_end_of_a_line_or_sentence(tokenizer):
    assert cut_prefix(TRACE, tokenizer, ratio=0.6).text == "a=512+40=552\n"
    assert cut_prefix("First add. Then divide by the rest", tokenizer, ratio=0.6).text == "First add."
    assert cut_prefix("no stop in this long line", tokenizer, ratio=0.5).text.endswith(" ")


def test_decimal_points_are_no_sentence_ends(tokenizer):
    assert cut_prefix("It is 3.14159 by now", tokenizer, ratio=0.6).text == "It is "


def test_without_alignment_exactly_so_many_tokens_are_shown(tokenizer):
    total = cut_prefix(TRACE, tokenizer).tokens
    for share in (0.0, 0.25, 0.5, 0.99):
        prefix = cut_prefix(TRACE, tokenizer, ratio=share, align=False)
        assert prefix.tokens == int(share * total)
        assert len(tokenizer(prefix.text, add_special_tokens=False)["input_ids"]) == prefix.tokens


def test_a_cut_inside_a_character_of_several_bytes_moves_back(tokenizer):
    text = "ab\u00e9\u4e2d\U0001f600cd"
    total = cut_prefix(text, tokenizer).tokens
    assert total == 2 + 2 + 3 + 4 + 2
    shown = [cut_prefix(text, tokenizer, max_tokens=n, align=False).text for n in range(total + 1)]
    assert shown == ["", "a", "ab", "ab"] + [text[:3]] * 3 + [text[:4]] * 4 + [text[:5], text[:6], text]


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60), st.floats(0, 1), st.booleans())
def test_a_prefix_is_a_prefix_within_its_budget(tokenizer, text, share, align):
    whole = cut_prefix(text, tokenizer)
    prefix = cut_prefix(text, tokenizer, ratio=share, align=align)
    assert text.startswith(prefix.text)
    assert prefix.tokens <= whole.tokens * share + 1e-6
    assert 0.0 <= prefix.ratio <= 1.0


def test_bad_ratio_is_refused(tokenizer):
    with pytest.raises(InputError, match="between 0 and 1"):
        cut_prefix(TRACE, tokenizer, ratio=1.5)


@pytest.mark.parametrize(
    ("kind", "want"),
    [("constant", [1.0, 1.0, 1.0, 1.0]), ("linear", [1.0, 0.75, 0.5, 0.0]), ("cosine", [1.0, 0.8535534, 0.5, 0.0])],
)
def test_schedules_at_start_quarter_half_and_end(kind, want):
    got = [prefix_ratio(kind, step, 100) for step in (0, 25, 50, 100)]
    assert got == pytest.approx(want)
    assert prefix_ratio(kind, 1000, 100, start=0.8, end=0.2) == pytest.approx(0.8 if kind == "constant" else 0.2)


def test_unknown_schedule_is_refused():
    with pytest.raises(ValueError, match="schedule"):
        prefix_ratio("step", 0, 10)
