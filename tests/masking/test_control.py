"""The random control: as much is hidden as by the mask it stands beside, anywhere, and nothing more."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.masking import MaskSettings, mask
from cloze.masking.control import WORD, random_spans
from cloze.masking.spans import Span, with_blanks

TEXT = "Tom has 1,000 apples and don't sell them; he eats 3.14 of them, x_1 a day."
WORDS = "Tom has 1,000 apples and don't sell them he eats 3.14 of them x_1 a day"


def span(start: int, end: int) -> Span:
    return Span(start, end, "number", "v", "found")


def words_in(text: str) -> int:
    return len(WORD.findall(text))


def test_words() -> None:
    assert " ".join(WORD.findall(TEXT)) == WORDS


def test_as_many_spans_of_as_many_words() -> None:
    real = [span(4, 7), span(8, 24), span(40, 41)]  # "has", "1,000 apples and", and a mark that holds no word
    found = random_spans(TEXT, real, unit="spans", seed=3)
    assert sorted(words_in(TEXT[one.start : one.end]) for one in found) == [1, 1, 3]
    assert all(one.value == TEXT[one.start : one.end] and one[2::2] == ("random", "random control") for one in found)


def test_as_many_words() -> None:
    found = random_spans(TEXT, [span(4, 7), span(8, 24)], unit="tokens", seed=3)
    assert len(found) == 4 and all(TEXT[one.start : one.end] in WORDS.split() for one in found)


@pytest.mark.parametrize("unit", ["spans", "tokens"])
def test_too_few_words_hide_all_and_no_more(unit: str) -> None:
    found = random_spans("one, two three", [span(0, 14)] * 3, unit=unit, seed=0)  # type: ignore[arg-type]
    assert " ".join(one.value for one in found).replace(",", "") == "one two three"
    assert random_spans("", [span(0, 1)], unit=unit, seed=0) == []  # type: ignore[arg-type]
    assert random_spans(TEXT, [], unit=unit, seed=0) == []  # type: ignore[arg-type]


def test_equal_texts_share_a_blank() -> None:
    text = "a b a"
    assert with_blanks(text, random_spans(text, [span(0, 5)], unit="tokens", seed=0)).rendered == "[R1] [R2] [R1]"


def test_blanks_of_the_text_stay_whole() -> None:
    text = "x [N1] y z [A1][E2] w"
    assert [one.value for one in random_spans(text, [span(0, 21)], unit="spans", seed=0)] == ["x", "y z", "w"]
    assert len(random_spans(text, [span(0, 21)], unit="tokens", seed=0)) == 4
    found = random_spans("x <N1> y", [span(0, 8)], unit="spans", seed=0, style="<{letter}{index}>")
    assert [one.value for one in found] == ["x", "y"]


def test_every_arrangement_is_as_likely() -> None:
    text = "a b c d e"
    real = [span(0, 3), span(4, 5)]  # two words and one word: 12 arrangements of 5 words
    places = Counter(
        tuple(one[:2] for one in random_spans(text, real, unit="spans", seed=seed)) for seed in range(2400)
    )
    assert len(places) == 12 and all(140 < count < 260 for count in places.values())


def test_the_text_and_the_seed_decide() -> None:
    real = [span(4, 7), span(8, 24)]
    once = random_spans(TEXT, real, unit="spans", seed=1)
    assert random_spans(TEXT, real, unit="spans", seed=1) == once
    assert any(random_spans(TEXT, real, unit="spans", seed=seed) != once for seed in range(2, 6))


PIECES = st.sampled_from(["a", "bb", "3.5", " ", " ", "\n", "[N1]", "-", "(", "é", "½", "!"])


@settings(deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.data(), st.sampled_from(["spans", "tokens"]), st.integers())
def test_amount_and_order(text: str, data: st.DataObject, unit: str, seed: int) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), unique=True, max_size=8)))
    real = [span(start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]
    found = random_spans(text, real, unit=unit, seed=seed)  # type: ignore[arg-type]
    at = 0
    for one in found:
        assert at <= one.start < one.end and "[N1]" not in text[one.start : one.end]
        at = one.end
    assert at <= len(text)
    asked = sum(max(1, words_in(text[one.start : one.end])) for one in real)
    room = words_in(text.replace("[N1]", " ! "))
    assert sum(words_in(text[one.start : one.end]) for one in found) == min(asked, room)


def test_through_the_one_way_in() -> None:
    text = "Warsaw is where Curie was born, so the answer is Warsaw."
    shown = mask(text, "text", target="Warsaw", settings=MaskSettings(control="spans", seed=5))
    assert [one.category for one in shown.spans] == ["random"] * 2 and shown.unmask(shown.rendered) == text


def test_a_megabyte_takes_seconds() -> None:
    text = "ab 1,000 [N1] " * 80_000
    real = [span(at, at + 8) for at in range(0, len(text) - 20, 14)]
    started = time.perf_counter()
    for unit in ("spans", "tokens"):
        random_spans(text, real, unit=unit, seed=0)  # type: ignore[arg-type]
    assert time.perf_counter() - started < 10
