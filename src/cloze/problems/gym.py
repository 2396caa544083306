"""A built-in family: any task of reasoning-gym (the extra `gym`), each with a seed, a difficulty and three splits.

    cloze eval tiny gym:task=chain_sum,split=test,n=20,config.max_terms=3

A problem asks for its final answer between `<answer>` and `</answer>`, and is scored by the verifier `gym`, which needs
no more than the settings written into the problem: the task, its configuration, the seed and the index. The tasks of
`gym_traces.TRACED` have expert traces; the rest can be trained on without guidance.

Splits are disjoint by construction: a problem belongs to the split that the hash of its question names, whatever the
seed or the size asked for, and no question comes twice. `REFUSED` lists the tasks that cannot be used, with the reason.
Drawing leaves the random state of the process as it was, and questions are the same in any process, thread and order;
of a few tasks (`HASH_SEEDED`) only where PYTHONHASHSEED is set, which they ask for. Where several answers are right
(word_ladder, knight_swap), the target may differ between processes.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib import import_module
from threading import RLock
from typing import Any

from cloze.errors import InputError
from cloze.problems.arithmetic import SPLITS, split_of
from cloze.problems.gym_traces import TRACED, trace_of
from cloze.problems.record import Problem

FORMAT = "Write the final answer, and nothing else, between <answer> and </answer>."
UNKNOWN_ANSWER = "it has no answer to compare with, and nothing to show that one exists"
REFUSED = {
    "boxnet": UNKNOWN_ANSWER,
    "codeio": "drawing it runs thousands of collected programs inside this process",
    "composite": "it mixes other tasks; name them one by one",
    "graph_color": UNKNOWN_ANSWER,
    "intermediate_integration": "its answers can only be checked by evaluating them",
    "propositional_logic": UNKNOWN_ANSWER,
    "rubiks_cube": UNKNOWN_ANSWER,
    "rush_hour": UNKNOWN_ANSWER,
}
HASH_SEEDED = ("isomorphic_strings", "polynomial_multiplication", "ransom_note")  # they draw from sets of texts
MATH_CATEGORIES = ("algebra", "arithmetic", "geometry", "probability")
MATH_TASKS = ("base_conversion", "countdown", "puzzle24")
SIZE = 20_000  # of one dataset of the library, whose index goes no further; the next one has another seed
MOST_IN_VAIN = 2_000  # draws in a row without a new problem before the task counts as exhausted

_lock = RLock()  # some tasks draw from the random state of the process


def generate(
    n: int, *, task: str, split: str = "train", seed: int = 0, config: Mapping[str, Any] | None = None
) -> list[Problem]:
    """`n` different problems of one task and split; the same arguments give the same problems.

    Args:
        n: how many problems.
        task: a name in `tasks()`.
        split: train, dev or test; no question can be in two of them.
        seed: draws the problems.
        config: the task's own settings, such as `max_terms`; what is left out has the library's default.

    Raises:
        InputError: unknown or refused task, unknown split or setting, a setting out of range, fewer problems than
            asked for, reasoning-gym is not installed, or the task needs PYTHONHASHSEED and it is not set.
    """
    if split not in SPLITS:
        raise InputError(f"unknown split {split!r}", mend=f"use one of {', '.join(SPLITS)}")
    if n < 1:
        raise InputError(f"n must be at least 1, got {n}")
    check_task(task)
    if task in HASH_SEEDED and not os.environ.get("PYTHONHASHSEED", "").isdigit():
        raise InputError(
            f"the gym task {task!r} draws other problems in every process",
            field="task",
            mend="fix the hashes of the process: PYTHONHASHSEED=0 before the command",
        )
    written = write_config(config)
    problems: dict[str, Problem] = {}
    draws = in_vain = 0
    while len(problems) < n:
        if in_vain == MOST_IN_VAIN:
            raise InputError(
                f"the task {task!r} has only {len(problems)} different problems in the split {split!r}",
                mend=f"lower n from {n}, or raise the difficulty in its config",
            )
        data_seed = _seed(task, seed, draws // SIZE)
        entry = draw(task, data_seed, draws % SIZE, written)
        if split_of(entry["question"]) == split:
            problem = _problem(task, data_seed, draws % SIZE, written, entry)
            if problem is not None and problem.id not in problems:
                problems[problem.id] = problem
                in_vain = -1
        draws, in_vain = draws + 1, in_vain + 1
    return list(problems.values())


def _problem(task: str, seed: int, index: int, written: str, entry: dict[str, Any]) -> Problem | None:
    """The entry as a problem; None when its answer is blank or does not follow from its question."""
    target = str(entry["answer"]).strip()
    if not target:
        return None
    trace = trace_of(task, entry, dataset(task, seed, written))
    if task in TRACED and trace is None:
        return None
    digest = question_digest(entry)
    settings: dict[str, object] = {"task": task, "seed": seed, "index": index, "question": digest}
    category = dataset(task, seed, written).category
    return Problem(
        id=f"gym-{task}-{digest}",
        question=f"{entry['question'].strip()}\n\n{FORMAT}",
        target=target,
        trace=trace,
        domain="math" if category in MATH_CATEGORIES or task in MATH_TASKS else "text",
        verifier="gym",
        verifier_settings=settings | ({"config": json.loads(written)} if written != "{}" else {}),
        source=f"family gym, task {task}",
    )


def question_digest(entry: Mapping[str, Any]) -> str:
    """A short name of an entry's question, by which an entry drawn again is known to be the same."""
    return hashlib.sha256(entry["question"].encode()).hexdigest()[:12]


def _seed(task: str, seed: int, chunk: int) -> int:
    """A seed of the library far from others': its seeds 0 and 1 draw the same problems but for one."""
    return int(hashlib.sha256(f"gym/{task}/{seed}/{chunk}".encode()).hexdigest()[:7], 16)


def write_config(config: Mapping[str, Any] | None) -> str:
    """A task's settings as one text, the same for the same settings.

    Raises:
        InputError: a value that is no plain number, text, truth value or list of them.
    """
    try:
        return json.dumps(dict(config or {}), sort_keys=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"the config of a gym task must be plain values: {error}", field="config") from None


def tasks() -> tuple[str, ...]:
    """The names of the tasks that can be used.

    Raises:
        InputError: reasoning-gym is not installed.
    """
    return tuple(sorted(name for name in _library().factory.DATASETS if name not in REFUSED))


def check_task(task: str) -> None:
    """Make sure that a task can be used.

    Raises:
        InputError: names the reason why it is refused, or the nearest spelling and all names; or reasoning-gym is not
            installed.
    """
    if task in REFUSED:
        mend = "choose another; those with expert traces are " + ", ".join(TRACED)
        raise InputError(f"the gym task {task!r} is refused: {REFUSED[task]}", field="task", mend=mend)
    known = tasks()
    if task in known:
        return
    close = get_close_matches(task, known, n=1)
    listing = f"tasks are {', '.join(known)}; with expert traces {', '.join(TRACED)}"
    what = f"unknown gym task {task!r}" if task else "the family gym needs a task"
    raise InputError(what, field="task", mend=f"did you mean {close[0]!r}? {listing}" if close else listing)


@cache
def _library() -> Any:
    try:
        library = import_module("reasoning_gym")
    except ModuleNotFoundError as error:
        if error.name != "reasoning_gym":
            raise
        raise InputError("the family gym needs reasoning-gym", mend="pip install 'cloze-rl[gym]'") from None
    optimizer: Any = import_module("reasoning_gym.code.contrib.bfit.Compiler.Optimizer")
    optimizer.print = lambda *_, **__: None  # it writes dots to stdout, which belongs to the command
    return library


@lru_cache(maxsize=64)
def dataset(task: str, seed: int, config: str = "{}") -> Any:
    """The library's dataset of a task.

    Args:
        task: a name in `tasks()`.
        seed: the library's seed.
        config: settings as `write_config` writes them.

    Raises:
        InputError: unknown or refused task, unknown setting, or one out of range.
    """
    check_task(task)
    _, kind = _library().factory.DATASETS[task]
    given = json.loads(config)
    defaults = {one.name: one.default for one in fields(kind)}
    known = [name for name in defaults if name not in ("seed", "size")]
    for key in given:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            listing = f"it has {', '.join(known) or 'none'}"
            mend = f"did you mean {close[0]!r}? {listing}" if close else listing
            raise InputError(f"the gym task {task!r} has no setting {key!r}", field="config", mend=mend)
        if isinstance(defaults[key], bool):  # the command line has no truth values, and any text would count as true
            given[key] = {"true": True, "false": False}.get(given[key], given[key])
            if not isinstance(given[key], bool):
                raise InputError(f"{key} of the gym task {task!r} must be true or false", field="config")
    with _lock:
        try:
            return _library().create_dataset(task, seed=seed, size=SIZE, **given)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"the gym task {task!r} refuses its settings {given}: {reason}", field="config") from None


@lru_cache(maxsize=4096)
def draw(task: str, seed: int, index: int, config: str = "{}") -> dict[str, Any]:
    """One entry of a task (question, answer, metadata), the same in any process and thread; not to be changed.

    Raises:
        InputError: as `dataset`, or the task fails to draw with these settings.
    """
    data = dataset(task, seed, config)
    numpy = import_module("numpy")
    with _lock:
        state, arrays = random.getstate(), numpy.random.get_state()
        random.seed(f"{task}/{seed}/{index}")
        try:
            entry: dict[str, Any] = data[index]
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"the gym task {task!r} fails to draw a problem: {reason}", field="config") from None
        finally:
            random.setstate(state)
            numpy.random.set_state(arrays)
    return entry
