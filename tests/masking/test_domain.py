"""The guess of a trace's domain, on the cases and beyond them, and over hostile text in time."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cloze.masking.domain
from cloze.masking.domain import guess_domain

SHARED = Path(__file__).parents[2].parent / "shared"

CODE = "Scan once.\n```python\ndef f(x):\n    return x\n```"
GUESSES = [
    # a program and a target that is no number
    (CODE, "", "code"),
    (CODE, '{"inputs": ["1"], "outputs": ["1"]}', "code"),
    (CODE, "assert f(1) == 1", "code"),
    (CODE, "def f(x):\n    return x", "code"),
    ("~~~\nx=1\n~~~", "", "code"),
    ("def f(x):\n    return 2*x", "", "code"),
    ("#include <cstdio>\nint main() { return 0; }", "", "code"),
    ("Use `sorted(a)[0]`.", "", "code"),
    # a program that only computes the number
    (CODE, "24", "math"),
    ("We run\n```python\nprint(6*4)\n```\nand get 24.", r"\boxed{24}", "math"),
    # numbers, LaTeX, options, and traces that calculate
    ("It is so.", "24", "math"),
    ("It is so.", "-1,250.5", "math"),
    ("It is so.", "24 cm", "math"),
    ("It is so.", "$3", "math"),
    ("It is so.", "3/4", "math"),
    ("It is so.", "x^2+1", "math"),
    ("It is so.", r"\frac{\pi}{2}", "math"),
    ("It is so.", "(C)", "math"),
    ("It is so.", "B", "math"),
    (r"Hence \boxed{\text{Tuesday}}.", "Tuesday", "math"),
    ("So a+b = 5 and the day is", "Tuesday", "math"),
    # names
    ("The director of Inception is Christopher Nolan.", "Christopher Nolan", "entities"),
    ("Born in the town of Warsaw, 1914-1918 in France.", "Marie Curie", "entities"),
    ("Both were born in Poland, so the answer is yes.", "yes", "entities"),
    # neither
    ("that is the colour of it", "red", "text"),
    ("take 3 of them", "red", "math"),
    ("", "", "math"),
    ("nothing to see", "", "math"),
]


@pytest.mark.parametrize(("text", "target", "domain"), GUESSES)
def test_guesses(text: str, target: str, domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloze.masking.domain, "_finds_names", lambda: True)
    assert guess_domain(text, target) == domain


def test_a_question_that_asks_for_a_program() -> None:
    assert guess_domain("Sort, then scan.", '["[1, 2]"]', "Write a Python function that sorts.") == "code"
    assert guess_domain("Sort, then scan.", "24", "Write a Python function that sorts.") == "math"


def test_names_are_text_where_nothing_finds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloze.masking.domain, "_finds_names", lambda: False)
    assert guess_domain("Inception is by Christopher Nolan.", "Christopher Nolan") == "text"


def test_the_shared_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    path = SHARED / "cases" / "masking.jsonl"
    if not path.exists():
        pytest.skip("no shared/cases beside the repository")
    monkeypatch.setattr(cloze.masking.domain, "_finds_names", lambda: True)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = [row for row in rows if guess_domain(row["text"], row["target"], row["question"]) != row["domain"]]
    assert rows and not wrong


@given(st.text(), st.text(), st.text())
def test_any_text_has_a_domain(text: str, target: str, question: str) -> None:
    assert guess_domain(text, target, question) in ("math", "code", "entities", "text")


HOSTILE = ["`(" * 10_000, "`" + "(" * 20_000, "return " + "a" * 20_000, "for " * 5_000, "$" * 20_000, "Ab " * 7_000,
           "1" * 1_000_000, "assert " * 3_000, " " * 1_000_000, "from a.b" * 3_000,
           "write " * 200_000]  # fmt: skip


@pytest.mark.parametrize("index", range(len(HOSTILE)))
def test_hostile_text_takes_no_time(index: int) -> None:
    started = time.perf_counter()
    for target in ("", HOSTILE[index]):
        guess_domain(HOSTILE[index], target)
        guess_domain("x", target, HOSTILE[index])
    assert time.perf_counter() - started < 1  # a few milliseconds each
