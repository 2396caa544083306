"""A built-in family: chained assignments, shuffled, among distractors.

    Modulo 1000: f=d+90, k=512, g=a-7, d=k+4, a=730. f?

    f<d<k=512
    d=k+4=512+4=516
    f=d+90=516+90=606
    #### 606

The expert's trace first finds the way back from the asked variable to a given number, then walks it forward, one sum a
line, the operand by name and by value. Each variable is used once, so distractors are chains of their own. Two skills
can be told apart: the *plan* (which assignments, in what order) and the *execution* (the sums). Steps, distractors and
modulus set the difficulty. Every computed value is at least a tenth of the modulus and never equals a number of the
question, so a mask that keeps the question's numbers hides exactly the computed ones; no two assignments do the same
(`+90` stands once), so a wrong plan is hardly ever right by coincidence, and a blind guess is right about once in
`modulus`.

Splits are disjoint by construction: a problem belongs to the split that the hash of its question names, whatever the
seed or the size asked for. Text in, text out: nothing further on knows of this family.
"""

from __future__ import annotations

import hashlib
import itertools
import random
import string
from dataclasses import dataclass, replace

from cloze.errors import InputError
from cloze.problems.record import Problem

SPLITS = {"train": range(8), "dev": range(8, 9), "test": range(9, 10)}
OPERATIONS = "+-*"


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name = number` when `parent` is empty, else `name = parent operation number`."""

    name: str
    number: int
    value: int
    parent: str = ""
    operation: str = ""

    def __str__(self) -> str:
        return f"{self.name}={self.parent}{self.operation}{self.number}"


@dataclass(frozen=True, slots=True)
class Chain:
    """A problem before it is text: the path to the asked variable, the distractors, and all of them as shown."""

    modulus: int
    path: tuple[Assignment, ...]
    distractors: tuple[Assignment, ...]
    shown: tuple[Assignment, ...]

    @property
    def question(self) -> str:
        listing = ", ".join(str(assignment) for assignment in self.shown)
        return f"Modulo {self.modulus}: {listing}. {self.path[-1].name}?"

    @property
    def target(self) -> str:
        return str(self.path[-1].value)

    @property
    def trace(self) -> str:
        return write_trace(self.path)

    def problem(self) -> Problem:
        digest = hashlib.sha256(self.question.encode()).hexdigest()
        return Problem(
            id=f"arithmetic-{digest[:12]}",
            question=self.question,
            target=self.target,
            trace=self.trace,
            verifier_settings={"extract": "hash"},
            source="family arithmetic",
        )


def apply(operation: str, left: int, right: int, modulus: int) -> int:
    """One operation, reduced into 0..modulus-1."""
    result = {"+": left + right, "-": left - right, "*": left * right}[operation]
    return result % modulus


def write_trace(path: tuple[Assignment, ...] | list[Assignment]) -> str:
    """The expert's trace for a path whose first assignment is the given number: plan, one line a sum, answer."""
    plan = "<".join(step.name for step in reversed(path)) + f"={path[0].value}"
    lines = [
        f"{step}={before.value}{step.operation}{step.number}={step.value}" for before, step in itertools.pairwise(path)
    ]
    return "\n".join([plan, *lines, f"#### {path[-1].value}"])


def write_slipped_trace(
    chain: Chain,
    rng: random.Random,
    *,
    value_rate: float,
    plan_rate: float = 0.0,
    lines_seen: int = 0,
    seen_rate: float = 0.0,
) -> str:
    """The trace as a careless solver would write it, to make a policy uncertain on purpose.

    Args:
        chain: the problem.
        rng: draws the slips.
        value_rate: chance that a sum is too large by one in the digit it changes (`512+40=562`); later lines go on
            from the wrong value, and no two slips cancel. Above one half the likeliest answer is a wrong one.
        plan_rate: chance, at each hop of the plan, that the policy goes on from a wrong name.
        lines_seen: so many first lines stand in a hint, so that there is no slip in the plan, and
        seen_rate: takes the place of `value_rate` in these lines (0 when the hint shows their values).
    """
    known = {assignment.name: assignment for assignment in chain.shown}
    plan = [chain.path[-1].name]
    while (parent := known[plan[-1]].parent) and parent not in plan:
        others = [name for name in known if name != parent and not _ancestors(name, known) & set(plan)]
        slips = lines_seen == 0 and others and rng.random() < plan_rate
        plan.append(rng.choice(others) if slips else parent)
    value = known[plan[-1]].value
    lines = ["<".join(plan) + f"={value}"]
    for name in reversed(plan[:-1]):
        step = known[name]
        result = apply(step.operation, value, step.number, chain.modulus)
        if rng.random() < (seen_rate if len(lines) < lines_seen else value_rate):
            result = (result + 10 ** (len(str(step.number)) - 1)) % chain.modulus
        lines.append(f"{step}={value}{step.operation}{step.number}={result}")
        value = result
    return "\n".join([*lines, f"#### {value}"])


def write_forged_trace(chain: Chain, rng: random.Random) -> str:
    """The trace with a random result in every sum, carried forward: only a policy that copies would write it."""
    forged = [chain.path[0]]
    for step in chain.path[1:]:
        forged.append(replace(step, value=rng.randrange(chain.modulus // 10, chain.modulus)))
    return write_trace(forged)


def _ancestors(name: str, known: dict[str, Assignment]) -> set[str]:
    found = {name}
    while parent := known[name].parent:
        found.add(name := parent)
    return found


def draw_chain(rng: random.Random, steps: int, distractors: int, modulus: int = 1000, operations: str = "+-") -> Chain:
    """Draw one chain of `steps` operations with `distractors` assignments that lead nowhere.

    Raises:
        InputError: the difficulty asked for cannot be met (too many variables, modulus too small).
    """
    _check(steps, distractors, modulus, operations)
    for _ in range(100):
        if (chain := _try_chain(rng, steps, distractors, modulus, operations)) is not None:
            return chain
    raise InputError(
        f"modulus {modulus} and operations {operations!r} leave no room for {steps} steps, {distractors} distractors",
        mend="raise the modulus or lower the difficulty",
    )


def _try_chain(rng: random.Random, steps: int, distractors: int, modulus: int, operations: str) -> Chain | None:
    """One attempt; None when a value has no legal successor (999 with only additions, for one)."""
    names = rng.sample(string.ascii_lowercase, steps + 1 + distractors)
    low = modulus // 10
    used: set[int] = {modulus}
    moves: set[tuple[str, int]] = set()

    def fresh(parent: Assignment | None, name: str) -> Assignment | None:
        for _ in range(500):
            if parent is None:
                candidate = Assignment(name, value := rng.randrange(low, modulus), value)
            else:
                operation = rng.choice(operations)
                number = rng.randrange(2, 10) if operation == "*" else _round_number(rng, low)
                value = apply(operation, parent.value, number, modulus)
                candidate = Assignment(name, number, value, parent.name, operation)
            move = (candidate.operation, candidate.number)
            if low <= value and value not in used and (parent is None or move not in moves):
                used.add(value)
                moves.add(move)
                return candidate
        return None

    path: list[Assignment] = []
    extra: list[Assignment] = []
    ends: list[Assignment] = []  # distractors that nothing goes on from yet
    for index, name in enumerate(names):
        if index <= steps:
            parent = path[-1] if path else None
        else:
            parent = rng.choice(ends) if ends and rng.random() < 0.6 else None
        if (assignment := fresh(parent, name)) is None:
            return None
        if index <= steps:
            path.append(assignment)
        else:
            extra.append(assignment)
            ends = [end for end in ends if end is not parent] + [assignment]
    shown = [*path, *extra]
    rng.shuffle(shown)
    return Chain(modulus, tuple(path), tuple(extra), tuple(shown))


def split_of(question: str) -> str:
    """The one split that a question belongs to."""
    bucket = int(hashlib.sha256(question.encode()).hexdigest(), 16) % 10
    return next(name for name, buckets in SPLITS.items() if bucket in buckets)


def generate(
    n: int,
    *,
    split: str = "train",
    seed: int = 0,
    steps: int | tuple[int, int] = 4,
    distractors: int | tuple[int, int] = 2,
    modulus: int = 1000,
    operations: str = "+-",
) -> list[Problem]:
    """`n` different problems of one split; the same arguments give the same problems on any machine.

    Args:
        n: how many problems.
        split: train, dev or test; no question can be in two of them.
        seed: draws the problems.
        steps, distractors: a number, or (least, most), drawn evenly for each problem.
        modulus: 100 or more; a blind guess is right about once in `modulus`.
        operations: any of "+-*".

    Raises:
        InputError: unknown split or impossible difficulty.
    """
    if split not in SPLITS:
        raise InputError(f"unknown split {split!r}", mend=f"use one of {', '.join(SPLITS)}")
    if n < 1:
        raise InputError(f"n must be at least 1, got {n}")
    rng = random.Random(f"arithmetic/{seed}/{split}")
    problems: dict[str, Problem] = {}
    while len(problems) < n:
        chain = draw_chain(rng, _draw(rng, steps), _draw(rng, distractors), modulus, operations)
        if split_of(chain.question) == split:
            problem = chain.problem()
            problems.setdefault(problem.id, problem)
    return list(problems.values())


def _round_number(rng: random.Random, below: int) -> int:
    """One digit and perhaps zeros: 7, 40. Adding it is one step for a small policy; chains still spread widely."""
    return int(rng.randrange(1, 10) * 10 ** rng.randrange(len(str(below)) - 1))


def _draw(rng: random.Random, bounds: int | tuple[int, int]) -> int:
    if isinstance(bounds, int):
        return bounds
    if bounds[0] > bounds[1]:
        raise InputError(f"bounds must be (least, most), got {bounds}")
    return rng.randint(*bounds)


def _check(steps: int, distractors: int, modulus: int, operations: str) -> None:
    if steps < 1 or distractors < 0:
        raise InputError(f"steps must be at least 1 and distractors at least 0, got {steps} and {distractors}")
    if steps + 1 + distractors > 26:
        raise InputError(
            f"{steps} steps and {distractors} distractors need more than 26 variable names", mend="lower one of them"
        )
    if modulus < 100:
        raise InputError(f"modulus must be at least 100, got {modulus}", mend="a smaller one pays guesses")
    if not operations or set(operations) - set(OPERATIONS):
        raise InputError(f"operations must be some of {OPERATIONS!r}, got {operations!r}")
