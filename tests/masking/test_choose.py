"""Choosing among the found spans: a share of the values, or what the target depends on."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.masking import MaskSettings, mask
from cloze.masking.choose import critical, share
from cloze.masking.names.mentions import THE_TARGET
from cloze.masking.spans import Span, with_blanks

VALUE = re.compile(r"\d+|Curie|Warsaw|Nolan|London|Smith")


def spans_of(text: str, target: str) -> list[Span]:
    """A span for each number and each of a few names."""
    found = []
    for match in VALUE.finditer(text):
        category = "number" if match[0].isdecimal() else "entity"
        found.append(Span(*match.span(), category, match[0], THE_TARGET if match[0] == target else "found"))
    return found


def test_the_draw_is_the_one_that_shipped_models_saw() -> None:
    values = [str(value) for value in (559, 654, 12, 7, 31, 8, 90, 4)]
    spans = [Span(10 * at, 10 * at + 1, "number", value, "found") for at, value in enumerate(values)]
    spans.append(Span(100, 101, "number", "654", THE_TARGET))
    for ratio in (0.0, 0.3, 0.5, 0.75, 1.0):
        for seed in range(4):
            others = sorted(value for value in values if value != "654")
            keep_visible = set(random.Random(seed).sample(others, round((1.0 - ratio) * len(others))))
            assert share(spans, ratio, seed) == [span for span in spans if span.value not in keep_visible]


def test_a_draw_worked_out_once() -> None:
    assert [span.value for span in share(spans_of("11 22 33 44 55 22", "44"), 0.5, 0)] == ["11", "33", "44"]


def test_one_value_in_two_categories_is_two_values() -> None:
    spans = [Span(0, 1, "number", "4", "found"), Span(2, 3, "entity", "4", "found")]
    assert len(share(spans, 0.5, 1)) == 1
    assert share(spans, 0.0, 1) == [] and share(spans, 1.0, 1) == spans and share([], 0.5, 1) == []


SOME = st.lists(st.tuples(st.sampled_from(["number", "entity"]), st.sampled_from("abcdef"), st.booleans()), max_size=20)


@given(SOME, st.floats(0, 1), st.integers())
def test_a_value_is_hidden_everywhere_or_nowhere(some: list[tuple[str, str, bool]], ratio: float, seed: int) -> None:
    spans = [
        Span(at, at + 1, category, value, THE_TARGET if target else "found")
        for at, (category, value, target) in enumerate(some)
    ]
    left = share(spans, ratio, seed)
    gone = {span[2:4] for span in spans} - {span[2:4] for span in left}
    targets = {span[2:4] for span in spans if span.why == THE_TARGET}
    assert left == [span for span in spans if span[2:4] not in gone] and not gone & targets
    assert len(gone) == round((1.0 - ratio) * len({span[2:4] for span in spans} - targets))


# text, target, the text with what is critical hidden
CRITICAL = [
    ("a=3+4=7\nc=9*2=18\nb=7+1=8", "8", "a=[N1]+[N2]=[N3]\nc=9*2=18\nb=[N3]+[N4]=[N5]"),
    ("a=3; c=9; b=3+1=8", "8", "a=[N1]; c=9; b=[N1]+[N2]=[N3]"),
    ("He has 3. A dog has 9 legs. 3 and 5 make 8!", "8", "He has [N1]. A dog has 9 legs. [N1] and [N2] make [N3]!"),
    ("So 8, as 7+1=8. And 7 is 3+4. Also 6.", "8", "So [N1], as [N2]+[N3]=[N1]. And [N2] is [N4]+[N5]. Also 6."),
    ('It is "3." Then 4 is 8. (So 4 is 5.) Now 6', "8", 'It is "3." Then [N1] is [N2]. (So [N1] is [N3].) Now 6'),
    ("By Dr. Smith 4 is 8. Then 5", "8", "By Dr. [E1] [N1] is [N2]. Then 5"),
    ("9+9=18\n3+4=7", "", "9+9=18\n[N1]+[N2]=[N3]"),
    ("Curie was born in Warsaw. Nolan is in London.", "Warsaw", "[E1] was born in [E2]. Nolan is in London."),
    ("pi is 3.14 so 8", "8", "pi is [N1].[N2] so [N3]"),
    ("so 8", "8", "so [N1]"),
    ("nothing here", "", "nothing here"),
    ("", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "target", "shown"), CRITICAL)
def test_what_the_target_depends_on(text: str, target: str, shown: str) -> None:
    assert with_blanks(text, critical(text, spans_of(text, target))).rendered == shown


def test_what_is_critical_stays_so_in_any_order_of_telling() -> None:
    lines = ["1=2", "2=3", "3=4", "5=6", "6=7"]
    for seed in range(20):
        random.Random(seed).shuffle(lines)
        text = "\n".join(lines)
        assert {span.value for span in critical(text, spans_of(text, "4"))} == {"1", "2", "3", "4"}


def test_a_megabyte_takes_seconds() -> None:
    text = "".join(f"{at}={at + 1}. so! " if at % 2 else f"{at}={at + 1}\n" for at in range(60_000))
    spans = spans_of(text, "0")
    started = time.perf_counter()
    assert len(critical(text, spans)) == len(spans)
    assert len(critical("." * 1_000_000, [])) == 0
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Let x = 30/5.\nSo x = 6.\nTherefore 7x = 42.", "30 5 6 7 42"),
        ("Let $a = 9+8 = 17$.\nLet $b = 20+3 = 23$.\nNow c = 77.\nThen $ab = 391$.", "9 8 17 20 3 23 391"),
        ("The first costs 30.\nThe other costs 25 more.\nTogether they cost 85.", "30 25 85"),  # nothing is connected
    ],
)
def test_names_connect_statements_and_nothing_connected_hides_all(text: str, hidden: str) -> None:
    target = hidden.split()[-1]
    masked = mask(text, target=target, settings=MaskSettings(critical_path=True))
    assert [text[span.start : span.end] for span in masked.spans] == hidden.split()
