"""The gym family: splits that never meet, the same problems anywhere, and errors that name the nearest spelling."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cloze.errors import InputError
from cloze.problems import gym
from cloze.problems.gym_traces import TRACED
from cloze.training.config import load_config
from cloze.training.sources import load_problems
from cloze.verifiers import verify

pytest.importorskip("reasoning_gym", reason="the extra gym is not installed")

SRC = str(Path(__file__).parents[2] / "src")


def plain(problem):
    return problem.question.removesuffix(gym.FORMAT).strip()


def test_a_problem_says_all_that_its_verifier_needs():
    problem = gym.generate(1, task="chain_sum", config={"max_terms": 3, "max_digits": 2})[0]
    assert problem.question.endswith("between <answer> and </answer>.")
    assert (problem.verifier, problem.domain) == ("gym", "math")
    assert problem.verifier_settings["task"] == "chain_sum"
    assert problem.verifier_settings["config"] == {"max_digits": 2, "max_terms": 3}
    assert verify(problem, f"<answer>{problem.target}</answer>").reward == 1.0
    assert verify(problem, f"<answer>{problem.target}1</answer>").reward == 0.0
    assert verify(problem, problem.trace).status == "correct"


@pytest.mark.parametrize(("task", "config"), [("chain_sum", {}), ("count_bits", {"max_n": 400}), ("jugs", {})])
def test_no_question_is_in_two_splits_or_comes_twice(task, config):
    seen: dict[str, str] = {}
    for split in ("train", "dev", "test"):
        for seed in (0, 1):
            problems = gym.generate(15, task=task, split=split, seed=seed, config=config)
            assert len({plain(problem) for problem in problems}) == len({problem.id for problem in problems}) == 15
            for problem in problems:
                assert seen.setdefault(plain(problem), split) == split


def test_a_larger_size_starts_with_the_smaller():
    few, more = (gym.generate(n, task="gcd", split="dev", seed=3) for n in (5, 9))
    assert more[:5] == few
    assert gym.generate(5, task="gcd", split="dev", seed=4) != few


def test_an_exhausted_task_says_how_many_there_are():
    with pytest.raises(InputError, match=r"has only \d+ different problems in the split 'test'; lower n from 5000"):
        gym.generate(5000, task="coin_flip", split="test")


def test_drawing_leaves_the_random_state_alone():
    numpy = pytest.importorskip("numpy")
    random.seed(1), numpy.random.seed(1)
    expected = random.random(), numpy.random.random()
    random.seed(1), numpy.random.seed(1)
    for task in ("pool_matrix", "list_functions"):
        gym.draw(task, 11, 0)
    assert (random.random(), numpy.random.random()) == expected


def test_drawing_prints_nothing(capfd):
    gym.generate(3, task="bf")
    gym.generate(3, task="sokoban")
    assert capfd.readouterr().out == ""


DRAW = """
import sys; from cloze.problems import gym
for task in sys.argv[1].split(','):
    for problem in gym.generate(3, task=task, seed=8):
        print(problem.id, problem.question, problem.verifier_settings)
"""


def drawn(tasks, hashes):
    env = {**os.environ, "PYTHONPATH": SRC, "PYTHONHASHSEED": hashes}
    command = [sys.executable, "-c", DRAW, ",".join(tasks)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def test_the_same_problems_in_any_process():
    tasks = ["chain_sum", "word_ladder", "zebra_puzzles", "list_functions", "string_manipulation"]
    assert drawn(tasks, "1") == drawn(tasks, "2") != ""


def test_tasks_that_draw_from_sets_ask_for_fixed_hashes(monkeypatch):
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    for task in gym.HASH_SEEDED:
        with pytest.raises(InputError, match="PYTHONHASHSEED=0 before the command"):
            gym.generate(3, task=task)


@pytest.mark.slow
@pytest.mark.parametrize("task", gym.HASH_SEEDED)
def test_tasks_that_draw_from_sets_are_the_same_under_fixed_hashes(task):
    assert drawn([task], "1") != drawn([task], "2")
    assert drawn([task], "1") == drawn([task], "1")


@pytest.mark.slow
def test_all_other_tasks_draw_the_same_in_any_process():
    tasks = [task for task in gym.tasks() if task not in (*gym.HASH_SEEDED, "knight_swap")]
    assert drawn(tasks, "1") == drawn(tasks, "2") != ""


def test_the_same_problems_in_threads():
    tasks = ["pool_matrix", "list_functions", "n_queens", "emoji_mystery"] * 3
    with ThreadPoolExecutor(6) as pool:
        drawn_at_once = list(pool.map(lambda task: gym.draw.__wrapped__(task, 21, 5), tasks))
    assert drawn_at_once == [gym.draw(task, 21, 5) for task in tasks]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "chain_sun"}, r"unknown gym task 'chain_sun'; did you mean 'chain_sum'\? tasks are ab, acre"),
        ({"task": ""}, "the family gym needs a task; tasks are ab, acre"),
        ({"task": "rubiks_cube"}, "the gym task 'rubiks_cube' is refused: it has no answer to compare with"),
        ({"task": "gcd", "split": "valid"}, "unknown split 'valid'; use one of train, dev, test"),
        ({"task": "gcd", "config": {"max_valu": 3}}, r"has no setting 'max_valu'; did you mean 'max_value'\?"),
        ({"task": "gcd", "config": {"seed": 3}}, "has no setting 'seed'"),
        ({"task": "gcd", "config": {"min_value": -1}}, "refuses its settings .*min_value must be positive"),
        ({"task": "gcd", "config": {"max_value": "many"}}, "refuses its settings"),
        ({"task": "chain_sum", "config": {"allow_negation": "maybe"}}, "allow_negation .* must be true or false"),
        ({"task": "gcd", "config": {"max_value": {1, 2}}}, "must be plain values"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(InputError, match=message):
        gym.generate(1, **arguments)


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)
    gym._library.cache_clear()
    try:
        with pytest.raises(InputError, match=r"needs reasoning-gym; pip install 'cloze-rl\[gym\]'"):
            gym.generate(1, task="gcd")
    finally:
        monkeypatch.undo()
        gym._library.cache_clear()


def test_from_a_configuration(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        '[data.train]\nfamily = "gym"\ntask = "chain_sum"\nn = 4\nconfig = { max_terms = 3, allow_negation = true }\n'
        '[data.eval]\nfamily = "gym"\ntask = "jugs"\nsplit = "test"\nn = 2\n'
    )
    config = load_config(path)
    problems = load_problems(config.data.train, print)
    assert len(problems) == 4
    assert all(verify(problem, problem.trace).reward == 1.0 for problem in problems)
    assert len(load_problems(config.data.eval, print)) == 2
    for text, message in (
        ('path = "x.jsonl"\ntask = "gcd"', "task and config belong to the family 'gym'"),
        ('family = "arithmetic"\nconfig = { steps = 3 }', "task and config belong to the family 'gym'"),
        ('family = "gim"\ntask = "gcd"', "'gym'"),
    ):
        path.write_text(f"[data.train]\n{text}\n")
        with pytest.raises(InputError, match=message):
            load_config(path)


def test_the_written_configuration_reads_as_the_same(tmp_path):
    from cloze.training.config import write_config

    path = tmp_path / "run.toml"
    path.write_text('[data.train]\nfamily = "gym"\ntask = "chain_sum"\nconfig = { max_terms = 3 }\n')
    config = load_config(path)
    path.write_text(write_config(config))
    assert load_config(path) == config


def test_traced_tasks_can_be_used():
    assert set(TRACED) <= set(gym.tasks())
