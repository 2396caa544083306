"""Expert traces for the tasks of reasoning-gym whose metadata lead to a worked solution.

Each function works a problem out again from its metadata, one step a line, and every value in a step is the value that
the step really has: a sum carries its running total, a string its state after each rule, a puzzle each supposition up
to the statement that breaks it. Where the working does not end in the task's own answer, there is no trace and the
problem is not used: basic_arithmetic, for one, divides rounding down, and once in a while that is not division.

`TRACED` names the tasks. A trace ends in `<answer>...</answer>`; that of gsm_symbolic comes with the task.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Entry = Mapping[str, Any]
Operator = Callable[[Fraction, Fraction], Fraction]

TOKEN = re.compile(r"\s*([0-9]+|[-+*/()])")
OPERATORS: dict[str, Operator] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
MOST_PEOPLE = 4  # of more, only the supposition that fits is written down: there are too many


def trace_of(task: str, entry: Entry, dataset: Any) -> str | None:
    """The expert trace of a problem, or None when the task has none or the working leads elsewhere.

    Args:
        task: the task's name.
        entry: question, answer and metadata, as the library draws them.
        dataset: the library's dataset that drew it.
    """
    if task not in TRACED:
        return None
    lines = TRACED[task](entry, dataset)
    return None if lines is None else "\n".join([*lines, f"<answer>{entry['answer'].strip()}</answer>"])


def gsm_symbolic(entry: Entry, dataset: Any) -> list[str] | None:
    """The solution that comes with the problem, if it ends in the answer."""
    body, mark, last = entry["metadata"]["answer_cot"].rpartition("####")
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    try:
        right = Fraction(last.strip().replace(",", "")) == Fraction(entry["answer"])
    except (ValueError, ZeroDivisionError):
        return None
    return lines if mark and lines and right else None


def chain_sum(entry: Entry, dataset: Any) -> list[str] | None:
    """The running total, term by term."""
    return _calculated(entry["metadata"]["expression"], entry["answer"])


def basic_arithmetic(entry: Entry, dataset: Any) -> list[str] | None:
    """Operation by operation, brackets first, with exact division."""
    return _calculated(entry["metadata"]["expression"], entry["answer"])


def _calculated(expression: str, answer: str) -> list[str] | None:
    try:
        steps, result = work_out(expression)
    except (ZeroDivisionError, ValueError):
        return None
    if str(result) != answer:
        return None
    return steps or [f"{expression} is {result} as it stands."]


def countdown(entry: Entry, dataset: Any) -> list[str] | None:
    """The expression, worked out to the number that was asked for."""
    facts, expression = entry["metadata"], entry["answer"]
    steps, result = work_out(expression)
    used = sorted(int(number) for number in re.findall("[0-9]+", expression))
    if result != facts["target"] or used != sorted(facts["numbers"]):
        return None
    numbers = ", ".join(map(str, facts["numbers"]))
    return [f"Try {expression}.", *steps, f"That is {facts['target']}, and each of {numbers} is used once."]


def work_out(expression: str) -> tuple[list[str], Fraction]:
    """Work out an expression of whole numbers, + - * / and brackets: a line for each operation, and the value.

    Raises:
        ValueError: the text is no such expression.
        ZeroDivisionError: it divides by zero.
    """
    tokens = TOKEN.findall(expression)
    if "".join(tokens) != re.sub(r"\s", "", expression):
        raise ValueError(f"not an expression: {expression!r}")
    steps: list[str] = []

    def take() -> str:
        if not tokens:
            raise ValueError(f"not an expression: {expression!r}")
        return str(tokens.pop(0))

    def chain(operators: str, part: Callable[[], Fraction]) -> Fraction:
        left = part()
        while tokens and tokens[0] in operators:
            operator, right = take(), part()
            result = OPERATORS[operator](left, right)
            steps.append(f"{_shown(left)} {operator} {_shown(right, operand=True)} = {result}")
            left = result
        return left

    def single() -> Fraction:
        token = take()
        if token == "-":
            bracket = tokens[:1] == ["("]
            inside = single()
            if bracket:
                steps.append(f"-({inside}) = {-inside}")
            return -inside
        if token == "(":
            inside = chain("+-", product)
            if take() != ")":
                raise ValueError(f"not an expression: {expression!r}")
            return inside
        return Fraction(int(token))

    def product() -> Fraction:
        return chain("*/", single)

    value = chain("+-", product)
    if tokens:
        raise ValueError(f"not an expression: {expression!r}")
    return steps, value


def _shown(value: Fraction, *, operand: bool = False) -> str:
    """A value within a step: a fraction in brackets, and a negative one too when it stands on the right."""
    return f"({value})" if value.denominator != 1 or (operand and value < 0) else str(value)


def gcd(entry: Entry, dataset: Any) -> list[str] | None:
    """Euclid's algorithm, number after number."""
    first, *others = entry["metadata"]["numbers"]
    lines, common = [], first
    for number in others:
        larger, smaller = max(common, number), min(common, number)
        while smaller:
            lines.append(f"{larger} = {larger // smaller} * {smaller} + {larger % smaller}")
            larger, smaller = smaller, larger % smaller
        lines.append(f"gcd({common}, {number}) = {larger}")
        common = larger
    return lines if str(common) == entry["answer"] else None


def base_conversion(entry: Entry, dataset: Any) -> list[str] | None:
    """Digit by digit into decimal, and by division with remainder out of it."""
    facts = entry["metadata"]
    source, target, text = facts["source_base"], facts["target_base"], facts["source_repr"]
    value = DIGITS.index(text[0])
    lines = [f"From base {source}, digit by digit: start with {_digit(text[0])}."]
    for digit in text[1:]:
        lines.append(f"{value} * {source} + {_digit(digit)} = {value * source + DIGITS.index(digit)}")
        value = value * source + DIGITS.index(digit)
    lines.append(f"In decimal it is {value}. Now into base {target}:")
    written, rest = "", value
    while rest or not written:
        digit = DIGITS[rest % target]
        lines.append(f"{rest} = {rest // target} * {target} + {_digit(digit)}")
        written, rest = digit + written, rest // target
    lines.append(f"The remainders from the last to the first: {written}")
    return lines if written == entry["answer"] else None


def _digit(digit: str) -> str:
    return digit if digit.isdigit() else f"{DIGITS.index(digit)} ({digit})"


def string_manipulation(entry: Entry, dataset: Any) -> list[str] | None:
    """The string after each rule that applies, until none does or a string comes back."""
    functions = dict(dataset.rules)
    rules = [(number, functions[text]) for number, text in enumerate(entry["metadata"]["selected_rules"], 1)]
    text = entry["metadata"]["string"]
    lines, seen = [f"Start: {text}"], {text}
    while True:
        applied = ((number, rule(text)) for number, rule in rules)
        number, changed = next(((number, made[0]) for number, made in applied if made[1]), (0, text))
        if not number:
            lines.append(f"No rule applies to {text}, so it stays.")
            break
        if changed in seen:
            lines.append(f"Rule {number} would give {changed}, which was there before, so it ends at {text}.")
            break
        lines.append(f"Rule {number}: {text} -> {changed}")
        text = changed
        seen.add(text)
    return lines if text == entry["answer"] else None


def knights_knaves(entry: Entry, dataset: Any) -> list[str] | None:
    """Every supposition in turn, up to the first statement that does not fit; the one that fits is the answer."""
    facts = entry["metadata"]
    names, terms = (
        [str(name) for name in facts["names"]],
        {key: str(one) for key, one in facts["knight_knave_terms"].items()},
    )
    solution = tuple(facts["solution"])
    few = len(names) <= MOST_PEOPLE
    suppositions = itertools.product((True, False), repeat=len(names)) if few else iter([solution])
    lines, fitting = [], []
    for honest in suppositions:
        who = [_is(name, one, terms) for name, one in zip(names, honest, strict=True)]
        lines.append(f"Suppose {' and '.join(who)}.")
        for name, one, statement in zip(names, honest, facts["statements"], strict=True):
            true, said = _holds(statement, honest), _worded(statement, names, terms)
            role = terms["knight"] if one else terms["knave"]
            told = f"{name} says: {said}. That is {'true' if true else 'false'}"
            if true != one:
                lines.append(f"{told}, which a {role} would not say. This does not fit.")
                break
            lines.append(f"{told}, as a {role} would say.")
        else:
            lines.append("Everything fits.")
            fitting.append(honest)
    return lines if fitting == [solution] else None


def _is(name: str, honest: bool, terms: Mapping[str, str]) -> str:
    return f"{name} is {terms['a_knight'] if honest else terms['a_knave']}"


def _holds(statement: tuple[Any, ...], honest: tuple[bool, ...]) -> bool:
    kind, *parts = statement
    if kind in ("telling-truth", "lying"):
        return bool(honest[parts[0]] == (kind == "telling-truth"))
    truths = [_holds(part, honest) for part in parts]
    return {
        "not": not truths[0],
        "and": all(truths),
        "or": any(truths),
        "->": not truths[0] or truths[-1],
        "<=>": truths[0] == truths[-1],
    }[str(kind)]


def _worded(statement: tuple[Any, ...], names: list[str], terms: Mapping[str, str]) -> str:
    kind, *parts = statement
    if kind in ("telling-truth", "lying"):
        return _is(names[parts[0]], kind == "telling-truth", terms)
    said = [_worded(part, names, terms) for part in parts]
    said = [
        text if part[0] in ("telling-truth", "lying") else f"({text})" for part, text in zip(parts, said, strict=True)
    ]
    if kind == "not":
        return f"it is not so that {said[0]}"
    if kind == "->":
        return f"if {said[0]} then {said[1]}"
    return {"and": " and ", "or": " or ", "<=>": " if and only if "}[str(kind)].join(said)


TRACED: dict[str, Callable[[Entry, Any], list[str] | None]] = {
    "base_conversion": base_conversion,
    "basic_arithmetic": basic_arithmetic,
    "chain_sum": chain_sum,
    "countdown": countdown,
    "gcd": gcd,
    "gsm_symbolic": gsm_symbolic,
    "knights_knaves": knights_knaves,
    "string_manipulation": string_manipulation,
}
