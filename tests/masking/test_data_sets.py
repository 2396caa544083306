"""Masking public worked solutions: nothing leaks, everything computed is hidden, and the plan stays."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from cloze.masking import MaskedTrace, mask
from cloze.masking.leaks import find_leaks
from cloze.masking.math.finder import given_values
from cloze.masking.math.structure import list_numbers
from cloze.masking.math.values import fraction_key
from cloze.problems.readers import read_problems

GSM8K = Path(__file__).parents[2].parent / "shared" / "data" / "gsm8k" / "train.jsonl"


def leaks(shown: str, question: str, target: str) -> list[str]:
    """What of the target can be read, unless the question gives it."""
    told = [leak.text for leak in find_leaks(shown, target) if leak.how != "label"]
    given = [leak for leak in find_leaks(question, target) if leak.how != "label"] if told else []
    return [] if given else told


def operators_between_numbers(text: str, edge: str) -> int:
    return len(re.findall(rf"(?<={edge})\s?[-+*=<>×÷]\s?(?={edge})", text))


def test_all_of_gsm8k() -> None:
    if not GSM8K.exists():
        pytest.skip(f"no {GSM8K}")
    problems = read_problems(GSM8K)
    assert len(problems) == 7473
    given = 0
    for problem in problems:
        assert problem.trace is not None
        masked = mask(problem.trace, target=problem.target, question=problem.question)
        shown = masked.rendered
        assert leaks(shown, problem.question, problem.target) == [], problem.id
        assert shown.rpartition("\n")[2].startswith("#### [N"), problem.id
        assert masked.unmask(shown) == problem.trace
        assert mask(shown, target=problem.target, question=problem.question).rendered == shown, problem.id
        kept = operators_between_numbers(shown, r"[\d\[\]]")
        assert kept >= operators_between_numbers(problem.trace, r"\d"), problem.id
        given += bool([leak for leak in find_leaks(shown, problem.target) if leak.how != "label"])
    assert given < 0.06 * len(problems)  # rows whose question gives the target: 393


def readable(masked: MaskedTrace) -> set[str]:
    """The keys of all numbers that are still there, list numbers aside."""
    listed = list_numbers(masked.text)
    pieces, at = [], 0
    for start, end in [*((span.start, span.end) for span in masked.spans), (len(masked.text), len(masked.text))]:
        places = re.finditer(r"\d+(?:\.\d+)?", masked.text[at:start])
        pieces += [match[0] for match in places if at + match.start() not in listed]
        at = end
    return {fraction_key(Fraction(piece)) for piece in pieces}


@pytest.mark.slow
def test_gsm_symbolic_hides_every_value_that_the_question_does_not_give() -> None:
    gym = pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed: pip install 'cloze-rl[gym]'")
    values = 0
    for entry in gym.create_dataset("gsm_symbolic", size=2000, seed=0):
        question, trace, target = entry["question"], entry["metadata"]["answer_cot"], entry["answer"]
        masked = mask(trace, target=target, question=question)
        assert leaks(masked.rendered, question, target) == [], trace
        numbers = [value for value in entry["metadata"]["variables"].values() if isinstance(value, int | float)]
        digits = {fraction_key(Fraction(one)) for one in re.findall(r"\d+(?:\.\d+)?", question)}  # the 2 of `2/3` too
        computed = {fraction_key(Fraction(str(value))) for value in numbers} - given_values(question) - digits
        values += len(computed)
        assert computed & readable(masked) == set(), trace
    assert values > 3000
