r"""The math verifier: the same value, whatever its writing, decided exactly where it can be and by algebra where not.

A completion is right when the answer it names equals the target. The answer is found by a named policy (a box, a
`####` line, "the answer is", bold), always the last one of its kind: an earlier answer that was taken back does not
count, and a last box that is empty or never closes is no answer. Then, in this order:

1. numbers as exact fractions (`math_numbers`), words and letters as normalised text (`math_text`), sets, tuples,
   matrices, intervals and inequalities part by part (`math_reading`, `math_shapes`). This takes microseconds and no
   process.
2. where both sides are formulas with something in them that is no number (`math_formula` says what a formula is),
   math-verify's reader and an equality test, in a worker process that can be killed (`workers`, `math_symbols`).

Nothing that a policy wrote is ever evaluated as code. Rules worth knowing:

- 40% is 0.4 and not 40, on either side.
- A rounded number is not the exact one: 0.333 is not 1/3, 1.414 is not the root of 2.
- A target that is one number wants that number written out: as digits, a fraction, a mixed number, a percentage, a
  repeating decimal, a power or root that comes out exactly. A sum or product left to do (`3+4`, `2 \cdot 3`, `5!`) is
  no answer to it. A target that is itself a formula accepts any equal formula in no other letters.
- A unit after the answer is ignored when the target has none; when both have one, they must be spelled alike.
- A name before the answer (`x = 9`) is ignored when the target has none; when both have one, they must be the same. Of
  a chain `3 + 4 = 7` the last side counts.
- For a target that is a single letter, `(C)`, `C.`, `C)` and `C: the reason` all choose C.
- A base is part of the number: 101_2 is not 101, and 5 does not answer it; 5_{10} is 5.
- `\pm 6` is both numbers. Sets and lists have no order, tuples and matrices do.
- An answer has `workers.CPU_SECONDS` of processor time of its own. One that needs more has the status "timeout" and the
  reward 0.0: the limit counts the answer's own work and not the load of the machine, so it is a property of the
  answer, and a policy cannot leave a bad group by writing what cannot be compared. When the machine fails instead (a
  worker cannot be started or is lost twice), the status is "error" and the reward None.

Not covered: sums, products, integrals, limits and congruences that are not spelled as in the target, units of another
name (100 cm is not 1 m), equations that are equal only after solving both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import Literal, get_args

from cloze.errors import InputError
from cloze.verifiers.math_formula import formula, letters
from cloze.verifiers.math_numbers import (
    MAX_NUMBER,
    NAME,
    Quantity,
    read_based,
    read_exact,
    read_quantity,
    read_value,
)
from cloze.verifiers.math_reading import INFINITE
from cloze.verifiers.math_shapes import equal
from cloze.verifiers.math_text import bare, split_unit, text_key
from cloze.verifiers.verdict import Verdict

__all__ = [
    "EXTRACTS",
    "MAX_CHARACTERS",
    "MAX_NUMBER",
    "Quantity",
    "bare",
    "compare",
    "extract_answer",
    "judge",
    "look",
    "read_quantity",
    "read_value",
    "same_exactly",
    "text_key",
    "verify_math",
]

Extract = Literal["boxed", "hash", "answer_is", "bold", "last"]
EXTRACTS: tuple[str, ...] = get_args(Extract)
MAX_CHARACTERS = 20_000  # only the end of a longer completion is looked at

BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*(\{)?")
ANSWER_IS = re.compile(r"(?<![A-Za-z])answer[*_ ]{0,4}(?:is\b|:)", re.IGNORECASE)
SENTENCE_END = re.compile(r"\.(?=\s|$)")
BOLD = re.compile(r"\*\*(?!\s)([^*\n]{1,400})\*\*")
BOLD_LABEL = re.compile(r"(?:the )?(?:final )?answer(?: is)? ?:?", re.IGNORECASE)
CHOICE = re.compile(r"(?:\(([A-Za-z])\)|([A-Za-z])(?=[):]|\.(?:\s|$)|$)[).:]?+)(?!\s*(?:(?:or|and)\b|[,/&(]))")
SIDES = re.compile(r"(?<![<>!:=\\])=(?!=)")
JOINED = re.compile(r"[,;<>≤≥≠]|\\(?:le|ge|lt|gt|ne|pm|cup|in)(?![a-z])|(?<= )(?:and|or)(?= )")


def verify_math(completion: str, target: str, *, aliases: Sequence[str] = (), extract: Extract = "last") -> Verdict:
    r"""Score a completion against a target.

    Args:
        completion: what the policy wrote. If it opens a `<think>` block, only what follows the last `</think>` counts.
        target: the right answer, as a number, a formula or text, typeset or plain.
        aliases: other texts that count as the target.
        extract: which answer counts: "boxed", the last `\boxed{}` or `\fbox{}`; "hash", the rest of the line after
            the last `####`; "answer_is", what follows the last "answer is" or "answer:" up to the end of the sentence
            or line; "bold", the last `**...**`, or what follows it when it says `**Answer:**`; "last", the first of
            the first three that is there at all.

    Returns:
        The verdict: reward 1.0 or 0.0, or None with status "unparseable_gold" when the target is empty or its braces
        do not match, and with status "error" when no worker can be had.

    Raises:
        InputError: there is no such policy.
    """
    started = perf_counter()
    verdict, answer, open_targets = look(completion, target, aliases=aliases, extract=extract)
    if verdict is not None:
        return verdict
    from cloze.verifiers.workers import compare_formulas

    outcomes = []
    for accepted in open_targets:
        outcome = compare_formulas(answer, accepted)
        if outcome == "equal":
            how = "equal by algebra" + ("" if accepted == target else f" to the alias {accepted!r}")
            return Verdict(1.0, "correct", answer, target, f"the answer is {how}", perf_counter() - started)
        outcomes.append(outcome)
    status, reward, reason = "wrong", 0.0, "the answer is not the target, by algebra"
    if "timeout" in outcomes:
        status, reason = "timeout", "the answer cannot be compared with the target in its time"
    elif "unreadable" in outcomes:
        reason = "the answer is not the target, and one of them cannot be read as a formula"
    return Verdict(reward, status, answer, target, reason, perf_counter() - started)


def look(
    completion: str, target: str, *, aliases: Sequence[str] = (), extract: str = "last"
) -> tuple[Verdict | None, str, list[str]]:
    """The exact stage by itself, which starts no process.

    Args:
        completion, target, aliases, extract: as of `verify_math`.

    Returns:
        The verdict, or None with the answer and the targets (one or more) that algebra has to compare it with.

    Raises:
        InputError: there is no such policy.
    """
    started = perf_counter()
    if extract not in EXTRACTS:
        raise InputError(f"extract cannot be {extract!r}", mend=f"use one of {', '.join(EXTRACTS)}")

    def verdict(reward: float | None, status: str, reason: str, extracted: str | None = None) -> Verdict:
        return Verdict(reward, status, extracted, target, reason, perf_counter() - started)

    if fault := _unreadable(target):
        return verdict(None, "unparseable_gold", fault), "", []
    answer, reason = extract_answer(completion, extract)
    if answer is None:
        return verdict(0.0, "no_answer", reason), "", []
    if not text_key(answer):
        return verdict(0.0, "no_answer", f"{reason} is empty"), "", []
    undecided = []
    for accepted in (target, *(alias for alias in aliases if text_key(alias))):
        how, decided = judge(answer, accepted)
        if how:
            also = "" if accepted is target else f" to the alias {accepted!r}"
            return verdict(1.0, "correct", f"{reason} is {how}{also}", answer), "", []
        if not decided:
            undecided.append(accepted)
    if undecided:
        return None, answer, undecided
    return verdict(0.0, "wrong", f"{reason} is not the target", answer), "", []


@lru_cache(maxsize=4096)
def _unreadable(target: str) -> str:
    if not text_key(target):
        return "the target is empty once its typesetting is taken away"
    depth = 0
    for mark in re.finditer(r"\\.|[{}]", target, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth < 0:
            break
    return "the braces of the target do not match" if depth else ""


def extract_answer(completion: str, extract: str) -> tuple[str | None, str]:
    """Find the answer by one of the policies: (answer, where it was), or (None, why there is none)."""
    closed = completion.rfind("</think>")
    if completion.rfind("<think>") > closed:
        return None, "the <think> block is not closed"
    text = completion[closed + len("</think>") :] if closed >= 0 else completion
    text = text[-MAX_CHARACTERS:]
    if extract == "boxed" or (extract == "last" and BOX.search(text)):
        return _last_box(text)
    if extract == "hash" or (extract == "last" and "####" in text):
        if "####" not in text:
            return None, "there is no #### line"
        return _line(text.rpartition("####")[2], "the text after the last ####")
    if extract == "bold":
        return _bold(text)
    phrases = list(ANSWER_IS.finditer(text))
    if not phrases:
        return None, f"there is no {'box, no #### line and no ' if extract == 'last' else ''}'answer is'"
    return _line(text[phrases[-1].end() :], "the text after the last 'answer is'", SENTENCE_END)


def _line(rest: str, where: str, end: re.Pattern[str] | None = None) -> tuple[str | None, str]:
    line = rest.partition("\n")[0]
    if BOX.search(line):
        return _last_box(line)
    if end is not None and (cut := end.search(line)):
        line = line[: cut.start()]
    return line.strip(" \t\r:*"), where


def _bold(text: str) -> tuple[str | None, str]:
    spans = list(BOLD.finditer(text))
    if not spans:
        return None, "there is nothing bold"
    said = spans[-1][1].strip()
    if BOLD_LABEL.fullmatch(said):
        return _line(text[spans[-1].end() :].lstrip(" :"), "the text after the bold label", SENTENCE_END)
    if labelled := BOLD_LABEL.match(said):
        said = said[labelled.end() :]
    return _line(said, "the last bold text", SENTENCE_END)


def _last_box(text: str) -> tuple[str | None, str]:
    boxes = list(BOX.finditer(text))
    if not boxes:
        return None, "there is no box"
    if boxes[-1][1] is None:
        return None, "the last box has no braces"
    depth, at = 1, boxes[-1].end()
    for mark in re.finditer(r"\\.|[{}]", text[at:], re.DOTALL):  # an escaped brace is part of the answer
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth == 0:
            return text[at : at + mark.start()].strip(), "the last box"
    return None, "the last box never closes"


def compare(answer: str, target: str) -> str:
    """How an answer equals a target without algebra ("equal in value", ...), or empty if it does not, or not so."""
    return judge(answer, target)[0]


def judge(answer: str, target: str) -> tuple[str, bool]:
    """The exact stage on one answer.

    Args:
        answer: what the policy gave as its answer.
        target: what it is compared with.

    Returns:
        How they are equal ("equal in value", "equal as text", "the same choice", "equal part by part") or empty, and
        whether that is final. If it is not, both are formulas and algebra has to decide.
    """
    goal = read_quantity(target)
    if goal is not None:
        got = read_quantity(answer)
        if got is not None and got.value == goal.value:
            return ("equal in value" if _names_agree(got, goal) else ""), True
        if got is not None and text_key(answer) != text_key(target):
            return "", True
    if _same_text(answer, target):
        return "equal as text", True
    letter, chosen = CHOICE.fullmatch(bare(target)), CHOICE.match(bare(answer))
    if letter:
        same = chosen is not None and (letter[1] or letter[2]).lower() == (chosen[1] or chosen[2]).lower()
        return ("the same choice" if same else ""), True
    result = equal(answer, target, same_exactly)
    if result and read_exact(target) is not None:
        return "equal in value", True
    return ("equal part by part" if result else ""), result is not None


def same_exactly(answer: str, target: str) -> bool | None:
    """Whether two texts without parts are equal: True, False, or None when both are formulas and algebra may tell."""
    goal, got = read_exact(target), read_exact(answer)
    if goal is None or got is None:
        side = last_side(answer, target)
        if side != answer:
            return same_exactly(side, target)
    if goal is not None and got is not None and goal.value == got.value:
        return _names_agree(got, goal)
    if _same_text(answer, target):
        return True
    if goal is not None:
        return False
    if "_" in answer and "_" in target and (based := read_based(target)) is not None:
        return read_based(answer) == based
    if read_based(answer) or read_based(target) or INFINITE.fullmatch(bare(target)):
        return INFINITE.fullmatch(bare(target)) is not None and _infinite(answer) == _infinite(target)
    (got_text, unit), (goal_text, wanted) = _unit_of(answer), _unit_of(target)
    left, right = formula(got_text), formula(goal_text)
    if left is None or right is None or not letters(left) <= letters(right):
        return False
    return None if not unit or not wanted or unit == wanted else False


def last_side(answer: str, target: str) -> str:
    """Of a chain `3 + 4 = 7` the last side, of `9 = x` the other one; the answer itself if the target has sides too."""
    if "=" not in answer or SIDES.search(bare(target)):
        return answer
    sides = [side.strip() for side in SIDES.split(bare(answer))]
    if len(sides) < 2 or any(JOINED.search(side) for side in sides):
        return answer
    if not all(NAME.fullmatch(side + "=") or read_exact(side) or formula(split_unit(side)[0]) for side in sides):
        return answer
    swapped = re.fullmatch(r"\\?[A-Za-z]", sides[-1]) and not re.fullmatch(r"\\?[A-Za-z]", sides[0])
    return sides[0] if swapped else sides[-1]


def _infinite(text: str) -> str:
    found = INFINITE.fullmatch(bare(text))
    return "" if found is None else "-" if found[1] == "-" else "+"


@lru_cache(maxsize=4096)
def _unit_of(text: str) -> tuple[str, str]:
    return split_unit(bare(text))


def _names_agree(got: Quantity, goal: Quantity) -> bool:
    return (not goal.name or not got.name or goal.name == got.name) and (
        not goal.unit or not got.unit or goal.unit == got.unit
    )


def _same_text(answer: str, target: str) -> bool:
    left, right = bare(answer), bare(target)
    if "=" not in left or "=" not in right:
        left, right = _unnamed(left), _unnamed(right)
    return text_key(left) == text_key(right)


def _unnamed(text: str) -> str:
    named = NAME.match(text)
    return text[named.end() :] if named else text
