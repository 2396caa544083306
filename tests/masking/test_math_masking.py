"""Masking math traces: what is hidden, what stays, and that nothing is lost."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.masking import mask_math
from cloze.masking.math import numbers, parse_number

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "masking.jsonl"

# Math rows of the shared cases that this version does not mask rightly yet, by text. The set is exact: a row that
# begins to pass fails the test until it is taken out here.
NOT_YET = {"So the answer is twenty-four.", "That is ½ of it, i.e. 0.5"}

ARITHMETIC = "Modulo 1000: f=d+95, k=512, d=k+47. f?"

# text, target, question, rendering at ratio 1
RENDERED = [
    ("d=512+47=559\nf=559+95=654\n#### 654", "654", ARITHMETIC, "d=512+47=[N1]\nf=[N1]+95=[N2]\n#### [N2]"),
    # labels, list numbers, subscripts, names, ordinals
    ("Step 1: 2+2=4.\nStep 2: go", "4", "", "Step 1: [N1]+[N1]=[N2].\nStep 2: go"),
    ("By Lemma 3 and Eq. (12), n=5", "5", "", "By Lemma 3 and Eq. (12), n=[N1]"),
    ("Cases 4 and footstep 5", "", "", "Cases 4 and footstep [N1]"),
    ("around 24, round 3.7, Round 2", "", "", "around [N1], round [N2], Round 2"),
    ("1. Add 3.\n2) Take 4.\n  (3) End.", "", "", "1. Add [N1].\n2) Take [N2].\n  (3) End."),
    ("So it is\n24. Done", "24", "", "So it is\n[N1]. Done"),
    ("So it is\n24.", "24", "", "So it is\n[N1]."),
    ("x_1+x_{12}=y2, sin2x", "", "", "x_1+x_{12}=y2, sin2x"),
    ("it is _24_, Rs24", "24", "", "it is _[N1]_, Rs[N1]"),
    (r"\frac12+\sqrt3", "", "", r"\frac[N1]+\sqrt[N2]"),
    ("the 1st, 2nd and 13th are 7", "", "", "the 1st, 2nd and 13th are [N1]"),
    # signs and operators
    ("10-3=7", "", "", "[N1]-[N2]=[N3]"),
    ("n-3, n\u22123, n - 3, (a)-3", "", "", "n-[N1], n\u2212[N1], n - [N1], (a)-[N1]"),
    ("x=-3 and y=\u22123, (-3)", "", "", "x=[N1] and y=[N1], ([N1])"),
    ("It is -3, not 3", "-3", "", "It is [N1], not [N2]"),
    ("|x|-3, |-3|, $x$-3, $-3$", "", "", "|x|-[N1], |[N2]|, $x$-[N1], $[N2]$"),
    (r"\pi -3", "", "", r"\pi -[N1]"),
    ("-0=0", "", "", "[N1]=[N1]"),
    # thousands and decimals: one number, one blank; equal values share it
    ("1,000=1000=1000.0=1 000", "", "", "[N1]=[N1]=[N1]=[N1]"),
    (r"1{,}250=1\,250=1,250", "", "", "[N1]=[N1]=[N1]"),
    ("0.5=.5=0.50, 1,250.75", "", "", "[N1]=[N1]=[N1], [N2]"),
    ("(12,50)", "", "", "([N1],[N2])"),
    ("\u0662\u0664=24", "", "", "[N1]=[N1]"),
    # what the question gives stays
    ("He has 1200 of 48, sells 24", "24", "Tom has 1,200 clips and 48 pins.", "He has 1200 of 48, sells [N1]"),
    ("so 48", "48", "Tom has 48 clips.", "so 48"),
    # targets that are not numbers
    ("A Tuesday, tuesday, Tuesdays", "Tuesday", "", "A [A1], [A1], Tuesdays"),
    ("A Tuesday", "Tuesday", "Monday or Tuesday?", "A Tuesday"),
    (r"so \boxed{(0,\infty)}", r"(0,\infty)", "", r"so \boxed{[A1]}"),
    ("12.5 cm and 5 cm", "5 cm", "", "[N1] cm and [A1]"),
    ("a cat is (C), c", "C", "", "a cat is ([A1]), c"),
    # marks that the text already holds
    ("[N1] hides 5, [A1]", "", "", "[N1] hides [NN1], [A1]"),
    ("[N1] [NN2] 5 pi", "pi", "", "[N1] [NN2] [NNN1] [A1]"),
    # nothing to hide
    ("", "5", "", ""),
    ("no digits", "", "", "no digits"),
]


@pytest.mark.parametrize(("text", "target", "question", "rendered"), RENDERED)
def test_renderings(text: str, target: str, question: str, rendered: str) -> None:
    masked = mask_math(text, target, question)
    assert masked.rendered == rendered
    assert masked.unmask(rendered) == text


def test_unmask_refuses_another_rendering() -> None:
    with pytest.raises(ValueError, match="not the rendering"):
        mask_math("a=5", "5").unmask("a=[N2]")


@pytest.mark.parametrize(
    ("text", "value"),
    [("24", "24"), ("$1,250.50$", "1250.5"), ("-3.", "-3"), (r"40\%", "40"), ("3 or 4", None), ("x", None), ("", None)],
)
def test_parse_number(text: str, value: str | None) -> None:
    assert parse_number(text) == value


def test_numbers_of_any_length() -> None:
    long = "7" * 5_000
    assert numbers(f"{long}=0{long}.0") == [(long, 0, 5_000), (long, 5_001, 10_004)]


TEN = "a=11 b=12 c=13 d=14 e=15 f=16 g=17 h=18 i=19 j=20 #### 20.0"


@pytest.mark.parametrize("target", ["20", "20 cm", "40/2", "x = 20"])
@pytest.mark.parametrize("seed", range(5))
def test_a_ratio_hides_that_share_of_the_values_and_always_the_target(target: str, seed: int) -> None:
    half = mask_math(TEN, target, ratio=0.5, seed=seed)
    hidden = {span.value for span in half.spans}
    assert "20" in hidden and len(hidden) == 1 + 5  # of the nine others, round(0.5 * 9) = 4 stay
    assert half == mask_math(TEN, target, ratio=0.5, seed=seed)
    assert {span.value for span in mask_math(TEN, target, ratio=0.0, seed=seed).spans} == {"20"}
    assert len(mask_math(TEN, target, ratio=1.0, seed=seed).spans) == 11


def test_the_seed_decides_which_values_stay() -> None:
    assert len({mask_math(TEN, "20", ratio=0.5, seed=seed).rendered for seed in range(10)}) > 1


@pytest.mark.parametrize("ratio", [-0.1, 1.1, float("nan")])
def test_a_ratio_out_of_range_is_an_input_error(ratio: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        mask_math("5", "5", ratio=ratio)


MEGABYTE = {
    "one line": "12+34=46 " * 110_000,
    "many lines": "x=5 \n" * 200_000,
    "one number": "7" * 1_000_000,
    "minus signs": "-5" * 250_000,
    "groups": ",123" * 250_000,
    "spaces": " " * 1_000_000 + "5",
    "marks": "[N" * 500_000,
    "targets": "ab cd " * 160_000,
}


@pytest.mark.parametrize("name", MEGABYTE)
def test_a_megabyte_takes_seconds(name: str) -> None:
    started = time.perf_counter()
    _ = mask_math(MEGABYTE[name], "ab cd").rendered
    assert time.perf_counter() - started < 15  # about 3 on a slow core; a quadratic one takes minutes


PIECES = st.sampled_from(
    ["1", "23", "4.5", "1,250", "{,}", ".", ",", "-", "\u2212", "+", "=", " ", "\n", "x", "_", "{", "}", "(", ")", "#",
     "Step ", "is ", "[N1]", "[", "]", "N", "A", "th", "$", "|", "\\", r"\frac", "%", "٣", "²", "½", "pi", "Tuesday"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=100))


@settings(max_examples=400, deadline=None)
@given(TEXTS, TEXTS, TEXTS, st.floats(0, 1))
def test_never_raises_and_gives_the_text_back(text: str, target: str, question: str, ratio: float) -> None:
    masked = mask_math(text, target, question, ratio=ratio)
    assert masked.unmask(masked.rendered) == text
    marks = dict(zip(masked.blanks, ((span.category, span.value) for span in masked.spans), strict=True))
    assert len(set(marks.values())) == len(marks)
    assert not any(blank in text for blank in masked.blanks)


NUMBERS = st.integers(0, 10**7).flatmap(lambda n: st.sampled_from([str(n), f"{n:,}", f"{n}.5", f"{n}.0"]))
SUMS = st.lists(st.tuples(NUMBERS, st.sampled_from("+-*/="), st.sampled_from(["", " ", "$", "("])), min_size=1)
LINES = st.lists(st.tuples(st.sampled_from(["Step {}: ", "Case {}. ", "x_{} = ", "the {}th is ", "so "]), SUMS))


@given(LINES, st.lists(NUMBERS, max_size=3))
def test_only_structure_and_the_question_keep_their_numbers(
    lines: list[tuple[str, list[tuple[str, str, str]]]], given_numbers: list[str]
) -> None:
    text = "\n".join(
        head.format(index) + "".join(f"{gap}{number}{gap}{operator}" for number, operator, gap in terms)
        for index, (head, terms) in enumerate(lines)
    )
    rendered = mask_math(text, "", " and ".join(given_numbers)).rendered
    for index, (head, _) in enumerate(lines):
        kept, line = head.format(index), rendered.split("\n")[index]
        assert line.startswith(kept)
        survivors = re.findall(r"\d[\d,]*(?:\.\d+)?", re.sub(r"\[N\d+\]", "", line[len(kept) :]))
        shown = {float(number.replace(",", "")) for number in given_numbers}
        assert {float(number.replace(",", "")) for number in survivors} <= shown


def test_the_shared_cases() -> None:
    if not CASES.exists():
        pytest.skip(f"no {CASES}")
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines() if line.strip()]
    failing = set()
    for row in rows:
        if row["domain"] == "math":
            rendered = mask_math(row["text"], row["target"], row["question"]).rendered
            if any(hidden in rendered for hidden in row["hide"]) or any(kept not in rendered for kept in row["keep"]):
                failing.add(row["text"])
    assert failing == NOT_YET


def test_a_target_that_the_question_gives_is_hidden_where_it_stands_as_the_answer() -> None:
    masked = mask_math("He keeps 24 of them.\n#### 24", "24", "Tom has 24 clips and sells none. How many?")
    assert masked.rendered == "He keeps 24 of them.\n#### [N1]"
    assert mask_math("So \\boxed{24}, from 24.", "24", "24 clips").rendered == "So \\boxed{[N1]}, from 24."
    assert mask_math("The answer is $24.", "24", "24 clips").rendered == "The answer is $[N1]."
