"""The arithmetic family: frozen texts, answers that another computation agrees with, disjoint splits."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.problems.arithmetic import (
    SPLITS,
    Chain,
    apply,
    draw_chain,
    generate,
    split_of,
    write_forged_trace,
    write_slipped_trace,
)

GOLDEN = [
    (
        "arithmetic-1107657e39be",
        "Modulo 1000: c=874, a=q-50, z=a-8, w=c+2, e=z-5, p=620, q=p-9. e?",
        "e<z<a<q<p=620\nq=p-9=620-9=611\na=q-50=611-50=561\nz=a-8=561-8=553\ne=z-5=553-5=548\n#### 548",
        "548",
    ),
    (
        "arithmetic-9f456d4d69f4",
        "Modulo 1000: c=l-2, w=547, f=c+9, g=r-8, r=497, j=w-70, l=g-3. f?",
        "f<c<l<g<r=497\ng=r-8=497-8=489\nl=g-3=489-3=486\nc=l-2=486-2=484\nf=c+9=484+9=493\n#### 493",
        "493",
    ),
]

chains = st.builds(
    lambda seed, steps, distractors, modulus, operations: draw_chain(
        random.Random(seed), steps, distractors, modulus, operations
    ),
    seed=st.integers(0, 10**9),
    steps=st.integers(1, 6),
    distractors=st.integers(0, 4),
    modulus=st.sampled_from([1000, 1050, 10_000]),
    operations=st.sampled_from(["+-", "+-*"]),
)
few = settings(max_examples=50, deadline=None)


def solve(question: str) -> int:
    """The answer by reading the question alone, with nothing of the family's code."""
    modulus, listing, asked = re.fullmatch(r"Modulo (\d+): (.*)\. ([a-z])\?", question).groups()
    rules = dict(assignment.split("=") for assignment in listing.split(", "))
    assert len(rules) == listing.count("="), "a variable is assigned twice"

    def value(name: str) -> int:
        parent, operation, number = re.fullmatch(r"([a-z]?)([-+*]?)(\d+)", rules[name]).groups()
        if not parent:
            return int(number)
        left, right = value(parent), int(number)
        return {"+": left + right, "-": left - right, "*": left * right}[operation] % int(modulus)

    return value(asked)


def computed(trace: str) -> list[int]:
    return [int(line.rpartition("=")[2]) for line in trace.splitlines()[1:-1]]


def test_texts_are_frozen() -> None:
    seen = [(problem.id, problem.question, problem.trace, problem.target) for problem in generate(2)]
    assert seen == GOLDEN


def test_the_target_is_read_after_the_hashes() -> None:
    assert generate(1)[0].verifier_settings == {"extract": "hash"}


def test_same_arguments_same_problems_and_a_longer_list_starts_alike() -> None:
    assert generate(20, seed=3) == generate(20, seed=3)
    assert generate(30, seed=3)[:20] == generate(20, seed=3)
    assert generate(20, seed=3) != generate(20, seed=4)


def test_problems_differ() -> None:
    problems = generate(200, steps=1, distractors=0, modulus=100)
    assert len({problem.id for problem in problems}) == len({problem.question for problem in problems}) == 200


@pytest.mark.parametrize("seeds", [(0, 0), (0, 1)])
def test_splits_share_no_question(seeds: tuple[int, int]) -> None:
    easy = {"steps": 1, "distractors": 0, "modulus": 100}
    questions = {
        split: {problem.question for seed in seeds for problem in generate(150, split=split, seed=seed, **easy)}
        for split in SPLITS
    }
    assert not questions["train"] & questions["dev"]
    assert not questions["train"] & questions["test"]
    assert not questions["dev"] & questions["test"]
    assert all(split_of(question) == split for split, those in questions.items() for question in those)


@pytest.mark.parametrize("operations", ["+", "-"])
def test_a_legal_difficulty_never_runs_into_a_dead_end(operations: str) -> None:
    assert len(generate(300, steps=2, distractors=0, operations=operations)) == 300


def test_difficulty_is_drawn_from_its_bounds() -> None:
    problems = generate(60, steps=(2, 4), distractors=(0, 2))
    steps = {len(computed(problem.trace)) for problem in problems}
    extra = {problem.question.count("=") - 1 - len(computed(problem.trace)) for problem in problems}
    assert (steps, extra) == ({2, 3, 4}, {0, 1, 2})


@few
@given(chains)
def test_the_target_is_the_answer(chain: Chain) -> None:
    assert solve(chain.question) == int(chain.target)


@few
@given(chains)
def test_each_line_of_the_trace_holds_and_follows_from_the_one_before(chain: Chain) -> None:
    plan, *lines, last = chain.trace.splitlines()
    assert plan == "<".join(step.name for step in reversed(chain.path)) + f"={chain.path[0].number}"
    before = chain.path[0].number
    for line in lines:
        assert line.rsplit("=", 2)[0] in chain.question
        left, operation, right, result = re.fullmatch(r"[a-z]=[a-z][-+*]\d+=(\d+)([-+*])(\d+)=(\d+)", line).groups()
        assert int(left) == before
        exact = {"+": int(left) + int(right), "-": int(left) - int(right), "*": int(left) * int(right)}[operation]
        assert exact % chain.modulus == int(result)
        before = int(result)
    assert last == f"#### {before}" == f"#### {chain.target}"


@few
@given(chains)
def test_a_computed_value_is_no_number_of_the_question_and_comes_once(chain: Chain) -> None:
    values = computed(chain.trace)
    assert not set(values) & {int(number) for number in re.findall(r"\d+", chain.question)}
    assert len(set(values)) == len(values)
    assert min(values) >= chain.modulus // 10


@few
@given(chains)
def test_no_two_assignments_do_the_same(chain: Chain) -> None:
    moves = re.findall(r"[a-z]=[a-z]([-+*]\d+)", chain.question)
    assert len(moves) == len(chain.shown) - sum(not step.parent for step in chain.shown)
    assert len(set(moves)) == len(moves)


@few
@given(chains)
def test_each_variable_is_used_once(chain: Chain) -> None:
    parents = re.findall(r"[a-z]=([a-z])", chain.question)
    assert len(set(parents)) == len(parents)


@few
@given(chains, st.integers(0, 100))
def test_without_slips_the_slipped_trace_is_the_trace(chain: Chain, seed: int) -> None:
    assert write_slipped_trace(chain, random.Random(seed), value_rate=0.0, plan_rate=0.0) == chain.trace


@few
@given(chains, st.integers(0, 100))
def test_hinted_lines_do_not_slip(chain: Chain, seed: int) -> None:
    lines = len(chain.path) + 1
    assert (
        write_slipped_trace(chain, random.Random(seed), value_rate=1.0, plan_rate=1.0, lines_seen=lines) == chain.trace
    )
    text = write_slipped_trace(
        chain, random.Random(seed), value_rate=0.0, plan_rate=1.0, lines_seen=lines, seen_rate=1.0
    )
    assert text.splitlines()[0] == chain.trace.splitlines()[0]
    assert text.splitlines()[1] != chain.trace.splitlines()[1]


@few
@given(chains, st.integers(0, 100))
def test_a_value_slip_is_off_by_one_and_later_lines_go_on_from_it(chain: Chain, seed: int) -> None:
    text = write_slipped_trace(chain, random.Random(seed), value_rate=1.0, plan_rate=0.0)
    before = chain.path[0].value
    for line, step in zip(text.splitlines()[1:], chain.path[1:], strict=False):
        head, _, result = line.rpartition("=")
        assert head == f"{step}={before}{step.operation}{step.number}"
        right = apply(step.operation, before, step.number, chain.modulus)
        assert int(result) == (right + 10 ** (len(str(step.number)) - 1)) % chain.modulus
        before = int(result)
    assert text.endswith(f"#### {before}")


@few
@given(chains, st.integers(0, 100))
def test_a_forged_trace_keeps_the_plan_and_carries_its_results(chain: Chain, seed: int) -> None:
    plan, *lines, last = write_forged_trace(chain, random.Random(seed)).splitlines()
    assert plan == chain.trace.splitlines()[0]
    results = [line.rpartition("=")[2] for line in lines]
    assert [line.split("=")[2].split(step.operation)[0] for line, step in zip(lines, chain.path[1:], strict=True)] == [
        str(chain.path[0].value),
        *results[:-1],
    ]
    assert last == f"#### {results[-1]}"


@few
@given(st.integers(0, 10**6))
def test_a_plan_slip_goes_on_from_a_wrong_name_and_ends_at_a_given_number(seed: int) -> None:
    chain = draw_chain(random.Random(seed), 3, 4)
    text = write_slipped_trace(chain, random.Random(seed), value_rate=0.0, plan_rate=0.5)
    plan = text.splitlines()[0].partition("=")[0].split("<")
    known = {step.name: step for step in chain.shown}
    assert plan[0] == chain.path[-1].name and not known[plan[-1]].parent and len(set(plan)) == len(plan)
    before = known[plan[-1]].value
    for name, line in zip(reversed(plan[:-1]), text.splitlines()[1:-1], strict=True):
        after = apply(known[name].operation, before, known[name].number, chain.modulus)
        assert line == f"{known[name]}={before}{known[name].operation}{known[name].number}={after}"
        before = after


def test_plan_slips_happen_as_often_as_asked() -> None:
    chain = draw_chain(random.Random(1), 3, 4)
    slipped = [
        write_slipped_trace(chain, random.Random(seed), value_rate=0.0, plan_rate=0.3) != chain.trace
        for seed in range(500)
    ]
    assert abs(sum(slipped) / 500 - (1 - 0.7**3)) < 0.07


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"split": "eval"}, "train, dev, test"),
        ({"n": 0}, "at least 1"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"distractors": -1}, "distractors at least 0"),
        ({"steps": 20, "distractors": 6}, "26 variable names"),
        ({"modulus": 99}, "at least 100"),
        ({"operations": "/"}, "operations"),
        ({"operations": ""}, "operations"),
    ],
)
def test_impossible_wishes_are_refused(arguments: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        generate(**{"n": 1, **arguments})
