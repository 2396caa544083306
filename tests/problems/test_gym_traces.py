"""Expert traces of gym tasks: each is right by the verifier, and its steps are true by an independent reading."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from cloze.problems import gym
from cloze.problems.gym_traces import TRACED, trace_of, work_out
from cloze.verifiers import verify

N = 200
OPERATION = re.compile(r"\(?(-?[\d/]+)\)? ([-+*/]) \(?(-?[\d/]+)\)? = (-?[\d/]+)")
DIVISION = re.compile(r"(\d+) = (\d+) \* (\d+) \+ (\d+)(?: \(\w\))?")
HORNER = re.compile(r"(\d+) \* (\d+) \+ (\d+)(?: \(\w\))? = (\d+)")


@pytest.fixture(autouse=True)
def library():
    pytest.importorskip("reasoning_gym", reason="the extra gym is not installed")


@pytest.fixture(scope="module")
def problems():
    made = {}

    def make(task):
        if task not in made:
            made[task] = gym.generate(N, task=task, seed=2)
        return made[task]

    return make


@pytest.mark.parametrize("task", TRACED)
def test_every_trace_is_right_and_has_steps(task, problems):
    for problem in problems(task):
        assert verify(problem, problem.trace).status == "correct", problem.trace
        *steps, last = problem.trace.splitlines()
        assert last == f"<answer>{problem.target}</answer>"
        assert steps and all(step.strip() for step in steps)


@pytest.mark.parametrize("task", ["chain_sum", "basic_arithmetic", "countdown"])
def test_every_operation_is_true_and_leads_on(task, problems):
    for problem in problems(task):
        operations = [OPERATION.fullmatch(line) for line in problem.trace.splitlines()]
        results = []
        for left, sign, right, result in (found.groups() for found in operations if found):
            a, b = Fraction(left), Fraction(right)
            assert {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else None}[sign] == Fraction(result)
            results.append(result)
        expression = (
            problem.target if task == "countdown" else re.search(r"[-(\d][-+*/()\d ]*\d[) ]*", problem.question)[0]
        )
        signs = len(re.findall(r"(?<=[\d)]) *[-+*/]", expression))
        assert len(results) == signs, (expression, problem.trace)  # one line for each operation, none left out
        if task == "chain_sum":
            assert results[-1] == problem.target


def test_an_expression_by_hand():
    steps, value = work_out("( ( -9 - 6 ) - -( -3 * 4 ) ) * 2 / 3")
    assert steps == [
        "-9 - 6 = -15",
        "-3 * 4 = -12",
        "-(-12) = 12",
        "-15 - 12 = -27",
        "-27 * 2 = -54",
        "-54 / 3 = -18",
    ]
    assert value == -18
    assert work_out("1/2 + 3") == (["1 / 2 = 1/2", "(1/2) + 3 = 7/2"], Fraction(7, 2))
    for text in ("", "1 +", "(1", "1)", "2 3", "x", "2**3"):
        with pytest.raises(ValueError):
            work_out(text)


def test_a_quotient_that_was_rounded_has_no_trace():
    # the task's own answer to 7 / -2 rounds down; the problem is left out
    for expression, answer, traced in (("7 / -2", "-4", False), ("8 / -2", "-4", True), ("1 / 0", "0", False)):
        entry = {"question": "?", "answer": answer, "metadata": {"expression": expression}}
        assert (trace_of("basic_arithmetic", entry, None) is not None) == traced


def test_euclid_and_bases(problems):
    for problem in problems("gcd"):
        divisions = [DIVISION.fullmatch(line) for line in problem.trace.splitlines()[:-2]]
        for a, q, b, r in ([int(part) for part in found.groups()] for found in divisions if found):
            assert a == q * b + r and r < b
    for problem in problems("base_conversion"):
        source = re.search(r"the (\S+) number (\w+) to (\S+)", problem.question)
        base = {"binary": 2, "hexadecimal": 16}.get(source[1]) or int(source[1].removeprefix("base-"))
        assert f"In decimal it is {int(source[2], base)}." in problem.trace
        for line in problem.trace.splitlines():
            if found := HORNER.fullmatch(line):
                a, b, c, d = map(int, found.groups())
                assert a * b + c == d


def test_gcd_by_hand():
    entry = {"question": "?", "answer": "4", "metadata": {"numbers": [12, 20, 8]}}
    assert trace_of("gcd", entry, None) == (
        "20 = 1 * 12 + 8\n12 = 1 * 8 + 4\n8 = 2 * 4 + 0\ngcd(12, 20) = 4\n"
        "8 = 2 * 4 + 0\ngcd(4, 8) = 4\n<answer>4</answer>"
    )


def test_strings_go_through_the_states_of_the_task():
    for index in range(N):
        entry = gym.draw("string_manipulation", 5, index)
        trace = trace_of("string_manipulation", entry, gym.dataset("string_manipulation", 5))
        states = [trace.splitlines()[0].removeprefix("Start: ")]
        for before, after in re.findall(r"Rule \d+: (\w*) -> (\w*)", trace):
            assert before == states[-1]
            states.append(after)
        assert states == entry["metadata"]["states"]


def test_a_string_that_comes_back():
    class Data:
        rules = (("swap", lambda text: (text[::-1], 1) if text[:1] != text[-1:] else (text, 0)),)

    entry = {"question": "?", "answer": "ba", "metadata": {"selected_rules": ["swap"], "string": "ab"}}
    assert trace_of("string_manipulation", entry, Data()).splitlines() == [
        "Start: ab",
        "Rule 1: ab -> ba",
        "Rule 1 would give ab, which was there before, so it ends at ba.",
        "<answer>ba</answer>",
    ]


def test_suppositions_by_hand():
    # Ann: "Bo is a knave or Ann is a knave"; Bo: "if Ann is a knight then Bo is a knave"
    terms = {"knight": "knight", "knave": "knave", "a_knight": "a knight", "a_knave": "a knave"}
    facts = {
        "names": ["Ann", "Bo"],
        "knight_knave_terms": terms,
        "statements": (("lying", 1), ("<=>", ("telling-truth", 0), ("not", ("telling-truth", 0)))),
        "solution": (True, False),
    }
    entry = {"question": "?", "answer": "Ann is a knight, and Bo is a knave.", "metadata": facts}
    assert trace_of("knights_knaves", entry, None).splitlines() == [
        "Suppose Ann is a knight and Bo is a knight.",
        "Ann says: Bo is a knave. That is false, which a knight would not say. This does not fit.",
        "Suppose Ann is a knight and Bo is a knave.",
        "Ann says: Bo is a knave. That is true, as a knight would say.",
        "Bo says: Ann is a knight if and only if (it is not so that Ann is a knight). "
        "That is false, as a knave would say.",
        "Everything fits.",
        "Suppose Ann is a knave and Bo is a knight.",
        "Ann says: Bo is a knave. That is false, as a knave would say.",
        "Bo says: Ann is a knight if and only if (it is not so that Ann is a knight). "
        "That is false, which a knight would not say. This does not fit.",
        "Suppose Ann is a knave and Bo is a knave.",
        "Ann says: Bo is a knave. That is true, which a knave would not say. This does not fit.",
        "<answer>Ann is a knight, and Bo is a knave.</answer>",
    ]


def test_a_puzzle_of_many_people_has_a_short_trace():
    problems = gym.generate(3, task="knights_knaves", config={"n_people": 6})
    for problem in problems:
        assert problem.trace.count("Suppose") == 1
        assert verify(problem, problem.trace).reward == 1.0


def test_a_solution_that_ends_elsewhere_is_no_trace():
    for last, traced in (("4125.0", True), ("4,125", True), ("4126", False), ("x", False)):
        entry = {"question": "?", "answer": "4125", "metadata": {"answer_cot": f"He makes it.\n#### {last}"}}
        assert (trace_of("gsm_symbolic", entry, None) is not None) == traced
