"""The gym verifier: checks by hand, the traps of the library's scorers, hostile answers, and the tables of tasks."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.problems import Problem
from cloze.problems import gym as family
from cloze.verifiers import gym as module
from cloze.verifiers import verify
from cloze.verifiers.gym import CHECKS, SEARCHED, verify_gym
from cloze.verifiers.gym_expressions import polynomial

# task, target, answer, right
BY_HAND = [
    ("chain_sum", "1000", "+1,000.00", True),
    ("chain_sum", "1000", "1000 or 1001", False),
    ("chain_sum", "-5", "5", False),
    ("gcd", "8", "it is 8", False),
    ("gsm_symbolic", "20", "20", True),
    ("gsm_symbolic", "20", "-20", False),
    ("gsm_symbolic", "20", "20 or 30", False),
    ("calendar_arithmetic", "Tuesday", "tuesday", True),
    ("calendar_arithmetic", "Tuesday", "Monday", False),
    ("game_of_life_halting", "False", "false", True),
    ("game_of_life_halting", "False", "True", False),
    ("game_of_life_halting", "False", "anything", False),
    ("figlet_font", "HOTTENTOTTEN", "HOTTENTOTTxx", False),
    ("figlet_font", "CLOWRE", "clowre", True),
    ("prime_factorization", "5 × 7 × 7", "7 × 5 × 7", True),
    ("prime_factorization", "5 × 7 × 7", "5 × 49", False),
    ("prime_factorization", "5 × 7 × 7", "five", False),
    ("complex_arithmetic", "8.0 + 3.0i", "8+3i", True),
    ("complex_arithmetic", "-1.0i", "-i", True),
    ("complex_arithmetic", "8.0 + 3.0i", "nan", False),
    ("complex_arithmetic", "8.0 + 3.0i", "8 - 3i", False),
    ("coin_flip", "3.051757812e-05", "1/32768", True),
    ("coin_flip", "3.051757812e-05", "0.00003052", True),
    ("coin_flip", "3.051757812e-05", "0", False),
    ("coin_flip", "0.234375", "0.2344", True),
    ("coin_flip", "0.234375", "0.23", False),
    ("coin_flip", "0.5", "1e999999999", False),
    ("power_function", "0.0017045061346880293", "1.70e-3", True),
    ("power_function", "0.0017045061346880293", "1.71e-3", False),
    ("power_function", "897303639322.6414", "8.97e+11", True),
    ("decimal_arithmetic", "25.413", "25.414", False),
    ("decimal_arithmetic", "2.98141124210", "2.9814112421", True),
    ("polynomial_equations", "-0.04, 0.0", "0, -0.04", True),
    ("polynomial_equations", "-0.04, 0.0", "0", False),
    ("polynomial_equations", "1.2727", "none", False),
    ("advanced_geometry", "16.91°", "16.909", True),
    ("advanced_geometry", "16.91°", "16.8", False),
    ("advanced_geometry", "(7.765, 7.882)", "(7.765, 7.882)", True),
    ("advanced_geometry", "(7.765, 7.882)", "(7.765, 7.882), (1, 2)", False),
    ("number_sorting", "['-3.0', '32.6']", '["-3", "32.6"]', True),
    ("number_sorting", "['-3.0', '32.6']", "['-2.5', '32.6']", False),
    ("fraction_simplification", r"$\frac{131}{319}$", "131/319", True),
    ("fraction_simplification", r"$\frac{131}{319}$", "262/638", False),
    ("fraction_simplification", r"$\frac{131}{319}$", r"\frac{131}{319} or more", False),
    ("bitwise_arithmetic", "-0x1f", "-0x1F", True),
    ("bitwise_arithmetic", "-0x1f", "-31", True),
    ("bitwise_arithmetic", "0x1f", "1f", False),
    ("time_intervals", "67 days, 01:04:00", "67 days, 01:04", True),
    ("time_intervals", "67 days, 01:04:00", "67 days, 01:04:00 or 68 days", False),
    ("time_intervals", "01:45:29.840", "01:45:29.84", True),
    ("time_intervals", "40 days", "40 days or 41 days", False),
    ("countdown", "82 + 20 + 67 - 50", "67 + 20 + 82 - 50", True),
    ("countdown", "82 + 20 + 67 - 50", "119", False),
    ("countdown", "82 + 20 + 67 - 50", "82 + 20 + 67 - 50 + 0", False),
    ("countdown", "82 + 20 + 67 - 50", "82 + 20 + 67 - 50 = 119", False),
    ("countdown", "49*(85 - 1)/14", "(85 - 1) / 14 * 49", True),
    ("puzzle24", "4*8 - 6 - 2", "8*4 - 6 - 2", True),
    ("puzzle24", "4*8 - 6 - 2", "4*6*1*1", False),
    ("polynomial_multiplication", "x**2 + 2*x + 1", "1 + 2*x + x**2", True),
    ("polynomial_multiplication", "x**2 + 2*x + 1", "(x + 1)*(x + 1)", False),
    ("simple_integration", "-9*x**8/10 + C", "-0 + C - 9/10*x**8 + 7", True),
    ("simple_integration", "-9*x**8/10 + C", "-9*x**8/10 + y", False),
    ("simple_integration", "-9*x**8/10 + C", "-9*x**8", False),
    ("simple_integration", "0 + C", "C", True),
    ("simple_integration", "0 + C", "x", False),
    ("knights_knaves", "Zoey is a sage, and Ella is a fool.", "Ella is a fool and Zoey is a sage", True),
    ("knights_knaves", "Zoey is a sage, and Ella is a fool.", "Zoey is a sage", False),
    ("knights_knaves", "Zoey is a sage.", "Zoey is a sage, Zoey is a fool", False),
    ("knights_knaves", "Zoey is a sage.", "not that Zoey is a sage", False),
    ("palindrome_generation", "pdxxdp", "dpxxpd", True),
    ("palindrome_generation", "pdxxdp", "pddddp", False),
    ("group_anagrams", '[["ab", "ba"], ["c"]]', '[["c"], ["ba", "ab"]]', True),
    ("group_anagrams", '[["ab", "ba"], ["c"]]', '[["c", "ba", "ab"]]', False),
    ("palindrome_partitioning", '[["a", "a"], ["aa"]]', '[["aa"], ["a", "a"]]', True),
    ("game_of_life", "[[0,1],[1,0]]", "[[0, 1], [1, 0]]", True),
    ("game_of_life", "[[0,1],[1,0]]", "[[0,1],[1,0],[1,1]]", False),
    ("game_of_life", "[[0,1],[1,0]]", "[[false,true],[true,false]]", False),
    ("sudoku", "1 2\n2 1", "1 2 \n2 1", True),
    ("sudoku", "1 2\n2 1", "1 2 2 1", False),
    ("string_insertion", "ABC", "['A', 'B', 'C']", False),
    ("pool_matrix", "5.75 6\n1 2", "5.75 6.0\n1 2", True),
    ("pool_matrix", "5.75 6\n1 2", "5.75 6 1 2", False),
]
CODE = "__import__('pathlib').Path({path!r}).write_text('x')"
WRONG = [
    "0",
    "1",
    "nan",
    "inf",
    "text",
    "None",
    "[]",
    "{}",
    "yes or no",
    "9**9**9**9",
    "((((1",
    '{"a": [1',
    "¼",
    "\\boxed{1}",
]


def tagged(answer, target, task, **settings):
    return verify_gym(f"so <answer>{answer}</answer>", target, task=task, **settings)


@pytest.mark.parametrize(("task", "target", "answer", "right"), BY_HAND)
def test_checks(task, target, answer, right):
    verdict = tagged(answer, target, task)
    assert (verdict.reward, verdict.status) == ((1.0, "correct") if right else (0.0, "wrong"))
    assert tagged(target, target, task).reward == 1.0


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        ("<answer>7</answer> no <answer>8</answer>", "correct"),
        ("<answer>8</answer> no <answer>7</answer>", "wrong"),
        ("<answer>8</answer> no <answer>7", "no_answer"),
        ("<answer> </answer>", "no_answer"),
        ("8", "no_answer"),
        ("<think><answer>8</answer>", "no_answer"),
        ("<think>7</think><answer>8</answer>", "correct"),
    ],
)
def test_only_the_last_complete_answer_counts(completion, status):
    assert verify_gym(completion, "8", task="gcd").status == status


def test_refused_and_unknown_tasks_are_errors_and_never_a_reward_of_zero():
    for task in [*family.REFUSED, "gdc", ""]:
        with pytest.raises(InputError, match="refused" if task in family.REFUSED else "no check"):
            verify_gym("<answer>8</answer>", "8", task=task)
        verdict = verify(Problem("1", "?", "8", verifier="gym", verifier_settings={"task": task}), "<answer>8</answer>")
        assert (verdict.reward, verdict.status) == (None, "error")


def test_an_empty_target_pays_nobody():
    verdict = verify_gym("<answer></answer>", " ", task="gcd")
    assert (verdict.reward, verdict.status) == (None, "unparseable_gold")


@pytest.mark.parametrize("task", sorted(CHECKS))
def test_no_answer_text_is_run(task, tmp_path):
    path = tmp_path / "ran"
    target = next((target for one, target, _, _ in BY_HAND if one == task), "8")
    for answer in (
        CODE.format(path=str(path)),
        f"[{CODE.format(path=str(path))}]",
        f"8 + {CODE.format(path=str(path))}",
    ):
        assert tagged(answer, target, task).reward == 0.0
    assert not path.exists()


@pytest.mark.parametrize("task", sorted(CHECKS))
def test_hostile_answers_take_no_time(task):
    target = next((target for one, target, _, _ in BY_HAND if one == task), "8")
    pieces = ["9", "(", "[", "-", "x*", "(x+y+1)*", "9**", "1/", "1e9", "a and ", "\\frac{", "1,", "é", "9\n", ":", " "]
    for piece in pieces:
        for answer in (piece * (3_900 // len(piece)) + "1", piece * 100_000 + "1"):
            started = time.perf_counter()
            assert tagged(answer, target, task).reward == 0.0
            assert time.perf_counter() - started < 1.0, piece


@given(st.text(max_size=40), st.sampled_from(sorted(CHECKS)))
def test_any_text(answer, task):
    target = next((target for one, target, _, _ in BY_HAND if one == task), "8")
    assert tagged(answer, target, task).reward in (0.0, 1.0)


@given(st.integers(-99, 99), st.integers(-99, 99), st.integers(1, 99), st.integers(0, 4))
def test_expressions_are_read_as_python_reads_them(a, b, c, power):
    # an independent reading: Fraction does the arithmetic
    text = f"({a}) * -({b} - {c})**{power} / {c} + {b}"
    expected = Fraction(a) * -(Fraction(b - c) ** power) / c + b
    assert polynomial(text) == ({(): expected} if expected else {})


@pytest.mark.parametrize(
    "text", ["", "1 +", "2 3", "(1", "1)", "1/0", "1/x", "x**x", "2**-1", "2**(1/2)", "a.b", "f(x)", "9**101"]
)
def test_what_is_no_polynomial_is_none(text):
    assert polynomial(text) is None


class TestWithTheLibrary:
    @pytest.fixture(autouse=True)
    def library(self):
        pytest.importorskip("reasoning_gym", reason="the extra gym is not installed")

    def test_every_task_has_one_way_to_be_checked_or_a_reason(self):
        from reasoning_gym.factory import DATASETS

        assert sorted([*CHECKS, *SEARCHED, *family.REFUSED]) == sorted(DATASETS)

    def test_scorers_that_are_used_evaluate_nothing(self):
        # read from their source: no call of eval, exec, compile or a parser of sympy is reachable by name
        def called(source):
            tree = ast.parse(textwrap.dedent(source))
            calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
            return {getattr(one, "attr", getattr(one, "id", "")) for one in calls}

        evaluating = {"eval", "exec", "compile", "parse_expr", "sympify", "S", "literal_eval", "loadtxt"}
        for task in SEARCHED:
            scorer = type(family.dataset(task, 1)).score_answer
            names = called(inspect.getsource(scorer))
            if task == "n_queens":  # whose scorer is not used
                assert "eval" in names
                continue
            helpers = [inspect.getmodule(scorer)] + [type(family.dataset(task, 1))]
            reached = {name for helper in helpers for name in names if callable(getattr(helper, name, None))}
            sources = [getattr(helper, name) for helper in helpers for name in reached if hasattr(helper, name)]
            for one in sources:
                if inspect.isfunction(one):
                    names |= called(inspect.getsource(one))
            assert not names & evaluating, task
        assert "parse_expr" in called(inspect.getsource(type(family.dataset("countdown", 1)).score_answer))

    @pytest.mark.parametrize("task", sorted(set(SEARCHED) - {"knight_swap"}))
    def test_searched_tasks(self, task):
        entries = [family.draw(task, 7, index) for index in range(4)]
        for index, entry in enumerate(entries):
            place = {"task": task, "seed": 7, "index": index}
            target = str(entry["answer"])
            assert tagged(target, target, **place).reward == 1.0
            other = str(entries[index - 1]["answer"])
            for answer in [*WRONG, f"{target} or so", f"not {target}", f"{target} {target}?", other]:
                if answer.strip() != target.strip():
                    assert tagged(answer, target, **place).reward == 0.0, answer

    def test_another_right_answer_is_right(self):
        entry = family.draw("shortest_path", 7, 0)
        index = next(i for i in range(50) if len(set(family.draw("shortest_path", 7, i)["answer"].split())) > 1)
        entry = family.draw("shortest_path", 7, index)
        data, steps = family.dataset("shortest_path", 7), entry["answer"].split()
        backwards = " ".join(reversed(steps))
        expected = float(data._is_valid_path(entry["metadata"]["matrix"], backwards.split()))
        assert tagged(backwards, entry["answer"], "shortest_path", seed=7, index=index).reward == expected

    def test_another_problem_or_a_target_that_is_wrong_is_an_error(self):
        entry = family.draw("jugs", 7, 0)
        digest = family.question_digest(entry)
        settings = {"task": "jugs", "seed": 7, "index": 0}
        assert tagged(entry["answer"], entry["answer"], **settings, question=digest).reward == 1.0
        for target, more in ((entry["answer"], {"question": "0" * 12}), ('["fill A"]', {"question": digest})):
            verdict = tagged(entry["answer"], target, **settings, **more)
            assert (verdict.reward, verdict.status) == (None, "error")

    def test_a_scorer_that_raises_makes_the_answer_wrong(self, monkeypatch):
        entry = family.draw("jugs", 7, 1)

        was = type(family.dataset("jugs", 7)).score_answer

        def broken(self, answer, entry):
            if "empty Z" in answer:
                raise RuntimeError("no such jug")
            return was(self, answer, entry)

        monkeypatch.setattr(type(family.dataset("jugs", 7)), "score_answer", broken)
        verdict = tagged('["empty Z"]', entry["answer"], "jugs", seed=7, index=1)
        assert (verdict.reward, verdict.status) == (0.0, "wrong")

    def test_the_same_verdict_a_thousand_times_from_threads(self):
        from concurrent.futures import ThreadPoolExecutor

        entries = [family.draw("tower_of_hanoi", 5, index)["answer"] for index in range(3)]

        def score(at):
            index = at % 3
            answer = entries[index] if at % 2 else entries[index] + "\nMove disk 1 from Peg 1 to Peg 2"
            return tagged(answer, entries[index], "tower_of_hanoi", seed=5, index=index).reward

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(score, range(1000))) == [float(at % 2) for at in range(1000)]

    @pytest.mark.slow
    def test_all_tasks(self):
        """The table again, from the library itself: targets are right, all else is not, refusals have a reason."""
        from reasoning_gym.factory import DATASETS

        for task in family.tasks():
            n = {"knight_swap": 3, "futoshiki": 10, "zebra_puzzles": 10, "sokoban": 10}.get(task, 60)
            before = "zzz"
            for index in range(n):
                entry = family.draw(task, 4321, index)
                target = str(entry["answer"]).strip()
                if not target:
                    assert task == "polynomial_equations"
                    continue
                place = {"task": task, "seed": 4321, "index": index}
                assert tagged(target, target, **place).reward == 1.0, (task, target)
                assert tagged("", target, **place).reward == 0.0
                hedges = [f"{target} or {before}", f"x {target}", f"{target}, 7", f"not {target}", f"{target} {target}"]
                for answer in [*WRONG, *hedges, f"{before} {target}", before]:
                    if answer.strip() != target and tagged(answer, target, **place).reward:
                        assert module._checked(CHECKS.get(task, module.checks.same_text), target, answer) or (
                            family.dataset(task, 4321).score_answer(answer, entry) == 1.0
                        ), (task, answer, target)
                        assert answer in (before, *WRONG), (task, answer, target)
                before = target
        for task, reason in family.REFUSED.items():
            if reason is family.UNKNOWN_ANSWER:
                kind, settings = DATASETS[task]
                assert kind(settings(seed=1, size=9))[0]["answer"] is None, task
        assert "exec(full_code" in inspect.getsource(inspect.getmodule(DATASETS["codeio"][0]))
        source = inspect.getsource(DATASETS["intermediate_integration"][0].score_answer)
        assert re.search(r"parse_expr\(answer", source)
