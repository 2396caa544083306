"""The leak audit: every writing of the target that a policy could read, and nothing that is not one."""

from __future__ import annotations

import ast
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cloze.masking.leaks
from cloze.masking import mask_math
from cloze.masking.leaks import HOWS, Leak, find_leaks

# what is shown, the target, what leaks and how
FOUND = [
    ("x=24. So 24.0 and 1,250 or 240", "24", [("24", "number"), ("24.0", "number")]),
    ("1,250 1250.00 1 250", "1250", [("1,250", "number"), ("1250.00", "number"), ("1 250", "number")]),
    (r"1{,}250 1\,250", "1250", [("1{,}250", "number"), (r"1\,250", "number")]),
    ("1,250 3 250 mg", "250", [("250", "number")]),
    ("24cm, $24, 24-3", "24", [("24", "number")] * 3),
    ("2.5 25 .5 5,000", "5", []),
    ("x-5 or 5", "-5", []),
    ("it is -5, (-5), \u22125", "-5", [("-5", "number"), ("-5", "number"), ("\u22125", "number")]),
    ("x-5", "5", [("5", "number")]),
    ("=-5", "5", []),
    (r"\frac{1}{2} \dfrac12", "0.5", [(r"\frac{1}{2}", "fraction"), (r"\dfrac12", "fraction")]),
    ("1/2 ½ 48/96", "0.5", [("1/2", "fraction"), ("½", "fraction"), ("48/96", "fraction")]),
    (r"3 1/2, 3½, 3\frac{1}{2}", "7/2", [("3 1/2", "fraction"), ("3½", "fraction"), (r"3\frac{1}{2}", "fraction")]),
    ("3 1/2", "1/2", [("1/2", "fraction")]),
    ("48/2=", "24", [("48/2", "fraction")]),
    ("1/2", "2", [("2", "number")]),
    ("-1/2, 3-1/2", "-0.5", [("-1/2", "fraction")]),
    (r"0.\overline{3} but 0.333", "1/3", [(r"0.\overline{3}", "number")]),
    (r"40% 40\% 0.4 40", r"40\%", [("40%", "percent"), (r"40\%", "percent"), ("0.4", "number")]),
    ("40%", "40", [("40", "number")]),
    ("24", r"\text{24 cm}", [("24", "number")]),
    ("Step 5: x_5, a_{5}, 5th, y5", "5", [("5", "label")] * 5),
    ("5. Add 5 to 5.", "5", [("5", "label"), ("5", "number"), ("5", "number")]),
    ("[N5] [NN5] [A5] but [5]", "5", [("5", "number")]),
    ("On TUESDAY, tuesday. Tuesdays", r"\text{Tuesday}", [("TUESDAY", "text"), ("tuesday", "text")]),
    ("no\n solution", "No solution", [("no\n solution", "text")]),
    (r"so \pi and 2\pi, not \pitchfork", r"$\pi$", [(r"\pi", "text")] * 2),
    (r"in (0,\infty)", r"(0,\infty)", [(r"(0,\infty)", "text")]),
    ("a cat is (C), c", "C", [("C", "text")]),
    ("[N1]+[N2]=[N3]", "24", []),
    ("", "24", []),
    ("24", " ", []),
]


@pytest.mark.parametrize(("shown", "target", "leaks"), FOUND)
def test_what_leaks(shown: str, target: str, leaks: list[tuple[str, str]]) -> None:
    assert [(leak.text, leak.how) for leak in find_leaks(shown, target)] == leaks


def test_place_and_aliases() -> None:
    assert find_leaks("At UCL\nin 1826,\nucl", "University College London", ("UCL", "1826.0", "")) == [
        Leak(3, 6, 1, "UCL", "text"),
        Leak(10, 14, 2, "1826", "number"),
        Leak(16, 19, 3, "ucl", "text"),
    ]


def test_the_audit_is_independent_of_the_maskers() -> None:
    source = Path(cloze.masking.leaks.__file__).read_text(encoding="utf-8")
    imported = {node.module or "" for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert not {module for module in imported if module.startswith("cloze.masking")}


def test_what_the_masker_hides_does_not_leak() -> None:
    text = "Step 1: 24+2=26\nStep 2: 26-2=24, i.e. 24.0.\n#### 24"
    assert [leak.how for leak in find_leaks(text, "24")] == ["number"] * 4
    assert find_leaks(mask_math(text, "24").rendered, "24") == []


MEGABYTE = {
    "one line": "12+34=46 " * 110_000,
    "many lines": "x=5 \n" * 200_000,
    "one number": "7" * 1_000_000,
    "minus signs": "-5" * 250_000,
    "groups": ",123" * 250_000,
    "spaced groups": " 123" * 250_000,
    "slashes": "1/2" * 300_000,
    "fractions": r"\frac{1}" * 120_000,
    "spaces": " " * 1_000_000 + "5",
}


@pytest.mark.parametrize("name", MEGABYTE)
def test_a_megabyte_takes_seconds(name: str) -> None:
    started = time.perf_counter()
    find_leaks(MEGABYTE[name], "5")
    assert time.perf_counter() - started < 15  # about 3 on a slow core; a quadratic one takes minutes


PIECES = st.sampled_from(
    ["1", "23", "4.5", "1,250", "{,}", ".", ",", "-", "\u2212", "/", "=", " ", "\n", "x", "_", "{", "}", "(", ")",
     "Step ", "[N1]", "[", "]", "th", "$", "\\", r"\frac", r"\overline", "%", r"\%", "٣", "²", "½", "pi", "0"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=100))


@settings(max_examples=400, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_never_raises_and_says_where(shown: str, target: str, alias: str) -> None:
    at = 0
    for leak in find_leaks(shown, target, (alias,)):
        assert leak.text == shown[leak.start : leak.end] != ""
        assert leak.end > at and leak.line == shown.count("\n", 0, leak.start) + 1 and leak.how in HOWS
        at = leak.end


@given(st.integers(-(10**6), 10**6), st.sampled_from(["{}", "{:,}", "{}.0", "{}/1", r"\frac{{{}}}{{1}}"]))
def test_every_writing_of_a_number_is_found(value: int, writing: str) -> None:
    shown = "so y=" + writing.format(value) + "\nend"
    assert [leak.start for leak in find_leaks(shown, str(value))] == [5]
    if value + 1 != 1:  # the denominator
        assert find_leaks(shown, str(value + 1)) == []
