"""The dispatch from a problem to its verifier."""

from __future__ import annotations

import pytest

import cloze.verifiers
from cloze.errors import InputError
from cloze.problems import Problem
from cloze.verifiers import STATUSES, Verdict, check_verifier, verify


def problem(**changes: object) -> Problem:
    return Problem(**({"id": "p1", "question": "2+2?", "target": "4", "source": "data.jsonl row 3"} | changes))  # type: ignore[arg-type]


def test_settings_and_aliases_reach_the_verifier() -> None:
    hashed = problem(verifier_settings={"extract": "hash"}, aliases=("four",))
    assert verify(hashed, r"\boxed{4}").status == "no_answer"
    assert verify(hashed, "#### 4").reward == 1.0
    assert verify(hashed, "#### Four").reward == 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verifier": "maths"}, "data.jsonl row 3, field 'verifier': unknown verifier 'maths'; did you mean 'math'?"),
        ({"verifier_settings": {"extrct": "hash"}}, "no setting 'extrct'; did you mean 'extract'?"),
        ({"verifier_settings": {"extract": "bozed"}}, "extract cannot be 'bozed'; did you mean 'boxed'?"),
        ({"verifier_settings": {"extract": ["hash"]}}, "extract cannot be"),
        ({"verifier_settings": {"aliases": ("5",)}}, "no setting 'aliases'"),
    ],
)
def test_a_misspelling_is_named_before_anything_is_scored(changes: dict[str, object], message: str) -> None:
    wrong = problem(**changes)
    for attempt in (lambda: check_verifier(wrong), lambda: verify(wrong, "#### 4")):
        with pytest.raises(InputError) as caught:
            attempt()
        assert message in str(caught.value)


def test_the_place_is_the_problem_when_it_has_no_source() -> None:
    with pytest.raises(InputError, match="problem p1, field 'verifier'"):
        check_verifier(problem(verifier="x", source=""))


def test_a_broken_verifier_is_no_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(completion: str, target: str, *, aliases: tuple[str, ...] = ()) -> Verdict:
        raise RuntimeError("the worker is gone")

    monkeypatch.setitem(cloze.verifiers.VERIFIERS, "broken", broken)
    verdict = verify(problem(verifier="broken"), "#### 4")
    assert (verdict.reward, verdict.status, verdict.reason) == (None, "error", "the worker is gone")
    with pytest.raises(InputError, match="it takes none"):
        check_verifier(problem(verifier="broken", verifier_settings={"extract": "hash"}))


def test_a_status_is_one_of_six() -> None:
    assert len(STATUSES) == 6
    with pytest.raises(ValueError, match="unknown status"):
        Verdict(1.0, "right", None, "4", "", 0.0)
