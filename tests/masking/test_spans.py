"""Spans, blanks and their styles, and the one way in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.masking import MaskSettings, Span, mask
from cloze.masking.spans import blank_pattern, check_style, with_blanks


def span(start: int, end: int, value: str = "v", category: str = "number") -> Span:
    return Span(start, end, category, value, "why")


def test_equal_values_share_an_index_within_a_category() -> None:
    masked = with_blanks("abcdef", [span(4, 5, "x"), span(0, 1, "x"), span(1, 2, "y"), span(2, 3, "x", "code")])
    assert masked.rendered == "[N1][N2][C1]d[N1]f"
    assert masked.unmask("[N1][N2][C1]d[N1]f") == "abcdef"


@pytest.mark.parametrize("spans", [[(0, 2), (1, 3)], [(1, 1)], [(2, 9)]])
def test_spans_that_overlap_or_leave_the_text_are_refused(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="span"):
        with_blanks("abcd", [span(*each) for each in spans])


@pytest.mark.parametrize("style", ["<blank_{index}>", "[{letter}{index}]", "{{{letter}-{index}}}", "⟦{letter}{index}⟧"])
def test_any_fenced_style_masks_and_is_left_alone(style: str) -> None:
    how = MaskSettings(style=style)
    masked = mask("a=5+6=11, Step 2: 11", target="11", settings=how)
    again = mask(masked.rendered, target="11", settings=how)
    assert again.rendered == masked.rendered == with_blanks(masked.text, masked.spans, style=style).rendered
    assert blank_pattern(style).sub("_", masked.rendered) == "a=_+_=_, Step 2: _"


@pytest.mark.parametrize(
    "style",
    ["", "[MASK]", r"\boxed{{{index}}}", ".{letter}{index}.", "${letter}{index}$", "N{index}", "{index}]", "[{index}",
     "[{index}]", "[N{index}x]", "[{index}1]", "[{other}]", "[{letter}{index}{index}]"],
)  # fmt: skip
def test_a_style_that_could_be_misread_is_refused(style: str) -> None:
    with pytest.raises(InputError):
        check_style(style)


def test_a_blank_never_spells_the_target_nor_one_that_is_there() -> None:
    assert mask("A1 is 5", target="N1").rendered == "A1 is [NN1]"
    assert mask("[N1] is 5").rendered == "[N1] is [NN1]"
    with pytest.raises(InputError, match="holds blanks"):
        mask("<blank_1> is 5", settings=MaskSettings(style="<blank_{index}>"))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=6), st.integers(0, 40), st.integers(1, 8))
def test_what_is_found_in_the_rendering_goes_back_to_its_place(
    places: list[tuple[int, int]], at: int, length: int
) -> None:
    text = "".join(chr(ord("a") + index % 26) for index in range(40))
    spans: list[Span] = []
    for start, size in sorted(places):
        if not spans or start >= spans[-1].end:
            spans.append(span(start, start + size, str(start)))
    masked = with_blanks(text, spans)
    shown = masked.rendered
    end = min(at + length, len(shown))
    if at >= end:
        return
    moved = masked.in_original([span(at, end)])
    blanks = [match.span() for match in blank_pattern().finditer(shown)]
    if any(start <= at and end <= stop for start, stop in blanks):
        assert moved == []
        return
    (found,) = moved
    hidden = {index for each in spans for index in range(each.start, each.end)}
    visible = blank_pattern().sub(lambda match: "\0" * len(match[0]), shown)[at:end].replace("\0", "")
    assert "".join(text[index] for index in range(found.start, found.end) if index not in hidden) == visible
    touched = [each for each in spans if each.start < found.end and found.start < each.end]
    assert all(found.start <= each.start and each.end <= found.end for each in touched)


def test_a_domain_that_is_not_there() -> None:
    with pytest.raises(InputError, match="use one of math, code, entities, text"):
        mask("5", "maths")


@pytest.mark.parametrize("wrong", [{"control": "words"}, {"level": "line"}, {"ratio": 2.0}])
def test_settings_out_of_range(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        MaskSettings(**wrong)


TEXT = "First 3+4=7 apples. Then 20+30=50 pears.\nSo 7*2=14 is the answer.\n#### 14"


def test_ratio_critical_path_and_controls_through_the_one_way_in() -> None:
    assert mask(TEXT, target="14").rendered.count("[") == 10
    critical = mask(TEXT, target="14", settings=MaskSettings(critical_path=True))
    assert "20+30=50" in critical.rendered and "14" not in critical.rendered and "7" not in critical.rendered
    spans = mask(TEXT, target="14", settings=MaskSettings(control="spans", seed=1))
    assert len(spans.spans) == 10 and {each.category for each in spans.spans} == {"random"}
    assert spans.rendered != mask(TEXT, target="14", settings=MaskSettings(control="spans", seed=2)).rendered
    tokens = mask(TEXT, target="14", settings=MaskSettings(control="tokens", seed=1))
    assert len(tokens.spans) == 10 and tokens.unmask(tokens.rendered) == TEXT


def test_text_hides_the_target_and_no_more() -> None:
    assert mask("Nolan made Inception in 2010.", "text", target="Christopher Nolan").rendered == (
        "[A1] made Inception in 2010."
    )
