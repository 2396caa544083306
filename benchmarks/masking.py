r"""Masking: how fast, how it grows, and what it leaves readable or destroys, beside the plain regex approach.

    python benchmarks/masking.py                              solutions made here, in LaTeX and in words
    python benchmarks/masking.py --gsm8k train.jsonl          GSM8K's worked solutions as well
    python benchmarks/masking.py --rows 1000000               and `cloze mask` over a file of so many rows

Both maskers run on one core in the same process, in turns; a figure is the median over the rounds. MB/s counts the
characters of traces, "with questions" those of the questions too, which ours reads and the peer does not. "Leaks" are
traces in which our audit finds the target after masking (labels and targets that the question gives aside).
"Operators lost" are traces in which a binary operator or relation sign between two numbers is gone; a fraction bar is
none. "Labels lost" are those that lost a `Step 3:`. The peer is ours to blame: `peers/regex_mask.py` was written for
this table, from how such scripts are known to work.

Not covered: code and entities (the NER model sets their pace), other machines.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cloze.masking import mask
from cloze.masking.leaks import find_leaks
from cloze.problems.readers import read_problems
from cloze.problems.record import Problem
from peers.regex_mask import MARK, regex_mask

HOSTILE = {
    r"8,000 characters of \frac{111...": r"\frac{" + "1" * 7994,
    "10,000 nested braces": "{" * 10_000 + "1" + "}" * 10_000,
    r"1,300 nested \frac{": r"\frac{" * 1300,
    "4,000 powers 1^1^...": "1^" * 4000,
}
WORDS = ["", "", "", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
PROSE = """Let us first see what is asked. We know how the two quantities depend on each other, so it is natural to
introduce a variable for the smaller one and to write the other in terms of it. Before we do so, note that the condition
is symmetric, hence we may assume without loss of generality that the first is at most the second. The idea is to bound
the expression from both sides and to show that the bounds agree. If they do, we are done, and if not, we have to look
at the boundary more carefully. It helps to recall the definition: a value is attained when the inequality is tight."""


def solutions(count: int, seed: int) -> list[Problem]:
    """Worked solutions in the manner of competition problems, each with its target."""
    rng = random.Random(seed)
    made = []
    for index in range(count):
        a, b, c, n = rng.randint(2, 40), rng.randint(2, 40), rng.randint(41, 99), rng.randint(3, 12)
        kind = index % 8
        if kind == 0:
            question, target = "How long is the diagonal of the box?", rf"\sqrt{{{a * a + b * b}}}"
            trace = (
                "Step 1: By the theorem of Pythagoras the square of the diagonal is the sum of the squares.\n"
                rf"Step 2: So $d^2 = {a}^2 + {b}^2 = {a * a} + {b * b} = {a * a + b * b}$."
                "\n"
                rf"Step 3: Hence $d = {target}$, which does not simplify. $\boxed{{{target}}}$"
            )
        elif kind == 1:
            question, target = "With what probability are both balls red?", rf"\frac{{{a}}}{{{a + c}}}"
            trace = (
                "1. Count the balls.\n2. Divide the favourable outcomes by all of them.\n"
                rf"There are ${a}$ favourable outcomes out of ${a}+{c}={a + c}$, so the probability is "
                rf"$\dfrac{{{a}}}{{{a + c}}}$, that is $\boxed{{\frac{{{a}}}{{{a + c}}}}}$."
            )
        elif kind == 2:
            question, target = "For which numbers does the inequality hold?", rf"(-\infty,{c})"
            trace = (
                rf"We have ${a}x - {b} < {a * c - b}$. Adding ${b}$ on both sides gives ${a}x < {a * c}$, so $x < {c}$."
                " "
                rf"In interval notation this is $x \in (-\infty, {c})$, which is $\boxed{{(-\infty,{c})}}$."
            )
        elif kind == 3:
            question, target = "How many apples are left in the end?", WORDS[n]
            trace = (
                f"First there are {a + n} apples. After {a} are eaten, {a + n}-{a}={n} remain.\n"
                f"So {WORDS[n]} apples are left. The answer is {WORDS[n]}."
            )
        elif kind == 4:
            question, target = "What is the angle in radians?", rf"\frac{{\pi}}{{{n}}}"
            trace = (
                rf"Case 1: the angle is acute. Then $\theta = \frac{{\pi}}{{{n}}}$, since $\sin\theta$ is positive."
                "\n"
                rf"Case 2: it is obtuse, and there is no solution. So $\theta=\pi/{n}$ and we get $\boxed{{{target}}}$."
            )
        elif kind == 5:
            question, target = "What is the value of the expression?", f"{a * b * c:,}".replace(",", "")
            trace = (
                rf"Let $x_1 = {a}$ and $x_2 = {b}$. By Lemma 3 the value is "
                rf"$x_1 x_2 \cdot {c} = {a * b} \cdot {c} = {a * b * c}$."
                "\n"
                rf"Written with a separator that is {a * b * c:,}, so the answer is $\boxed{{{a * b * c:,}}}$."
            )
        elif kind == 6:
            question, target = r"Which one is it? (A) red (B) green (C) blue", "BCA"[n % 3]
            trace = (
                f"If we remove {a} of the {a + b} marbles, {b} are left, and by symmetry only one colour is possible.\n"
                f"Therefore option {target} is correct. The answer is ({target})."
            )
        else:
            question, target = "How much does it cost?", f"{a * b / 4:g}"
            trace = (
                f"Each of the {a} boxes costs {b / 4:g} dollars, 25% of ${b}.\n"
                f"So the total is {a}*{b / 4:g}={a * b / 4:g}.\n"
                f"That is ${a * b / 4:,.2f} in all, or {a * b}/4 dollars.\n#### {a * b / 4:g}"
            )
        made.append(Problem(f"made-{index}", question, target, trace))
    return made


def long_traces(count: int, seed: int) -> list[Problem]:
    """Traces of some 10,000 characters, as reasoning models write them: much prose, and a calculation now and then."""
    short = solutions(count * 8, seed)
    traces = []
    for index in range(count):
        part = short[index * 8 : index * 8 + 8]
        body = "\n\n".join(f"{PROSE}\n\n{PROSE}\n\n{problem.trace}" for problem in [*part[1:], part[0]])
        traces.append(Problem(f"long-{index}", part[0].question, part[0].target, body))
    return traces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gsm8k", type=Path, help="GSM8K's train.jsonl")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=0, help="also run `cloze mask` over so many rows")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    corpora = {"short, LaTeX": solutions(8000, options.seed), "long, mostly prose": long_traces(300, options.seed)}
    if options.gsm8k:
        corpora["GSM8K"] = read_problems(options.gsm8k)
    print("| corpus | traces | masker | MB/s | with questions | leaks | operators lost | labels lost |")
    print("|---|---|---|---|---|---|---|---|")
    for name, problems in corpora.items():
        compare(name, problems, options.rounds)
    print("\n| rows | ms | ms per 1,000 rows |\n|---|---|---|")
    base = solutions(400, options.seed)
    for times in (1, 10, 100):
        took = timed(ours, base * times)
        print(f"| {len(base) * times:,} | {1000 * took:.0f} | {1e6 * took / len(base) / times:.1f} |")
    print("\n| hostile input | ms |\n|---|---|")
    for name, text in HOSTILE.items():
        took = statistics.median(timed(ours, [Problem("hostile", "Q", "5", text)]) for _ in range(options.rounds))
        print(f"| {name} | {1000 * took:.1f} |")
    line = "Then 12+34=46 and \\frac{1}{2} of it is 23, so we go on. " * 18_000
    took = timed(ours, [Problem("line", "Q", "5", line)])
    print(f"| one line of {len(line) / 1e6:.1f} MB | {1000 * took:.0f} ({len(line) / 1e6 / took:.1f} MB/s) |")
    if options.rows:
        whole_file(options.rows, options.seed)


def ours(problem: Problem) -> str:
    return mask(problem.trace or "", target=problem.target, question=problem.question).rendered


def theirs(problem: Problem) -> str:
    return regex_mask(problem.trace or "")


def timed(masker: Callable[[Problem], str], problems: Sequence[Problem]) -> float:
    started = time.process_time()
    for problem in problems:
        masker(problem)
    return time.process_time() - started


def compare(name: str, problems: Sequence[Problem], rounds: int) -> None:
    """Print a row for each masker; they run in turns."""
    size = sum(len(problem.trace or "") for problem in problems) / 1e6
    asked = sum(len(problem.question) for problem in problems) / 1e6
    times: dict[str, list[float]] = {"Cloze": [], "plain regex": []}
    maskers = {"Cloze": ours, "plain regex": theirs}
    for _ in range(rounds):
        for label, masker in maskers.items():
            times[label].append(timed(masker, problems))
    for label, masker in maskers.items():
        leaks = operators = labels = 0
        for problem in problems:
            shown = masker(problem)
            leaks += leaks_in(shown, problem)
            operators += count_operators(problem.trace or "", r"\d") > count_operators(shown, r"[\d\[\]]")
            labels += LABELS.findall(problem.trace or "") != LABELS.findall(shown)
        speed = size / statistics.median(times[label])
        count = len(problems)
        print(
            f"| {name} | {count:,} | {label} | {speed:.1f} | {speed * (size + asked) / size:.1f}"
            f" | {leaks} ({leaks / count:.1%})"
            f" | {operators} ({operators / count:.1%}) | {labels} ({labels / count:.1%}) |"
        )


LABELS = re.compile(r"(?:Step|Case|Lemma) \d+")


def count_operators(text: str, value: str) -> int:
    """Operators and relation signs between two values; `value` is what stands at the edge of one."""
    pattern = rf"(?<={value})(?<!20\d\d)\s?[-+*=<>\u00d7\u00f7]\s?(?={value})"
    return len(re.findall(pattern, text.replace(MARK, "[M1]")))


def leaks_in(shown: str, problem: Problem) -> bool:
    shown = shown.replace(MARK, "[N0]")
    told = [leak for leak in find_leaks(shown, problem.target) if leak.how != "label"]
    return bool(told) and not any(leak.how != "label" for leak in find_leaks(problem.question, problem.target))


def whole_file(rows: int, seed: int) -> None:
    """Time and memory of `cloze mask` over a jsonl file."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        some = [
            json.dumps({"question": p.question, "target": p.target, "trace": p.trace}) for p in solutions(8000, seed)
        ]
        with data.open("w") as file:
            file.writelines(some[index % len(some)] + "\n" for index in range(rows))
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "cloze.cli.main", "mask", str(data), "-o", str(out), "--domain", "math"], check=True
        )
        took = time.perf_counter() - started
    peak: Any = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(
        f"\n`cloze mask`, one process: {rows:,} rows in {took:.0f} s ({rows / took:,.0f} a second),"
        f" peak {peak / 1e3:.0f} MB"
    )


if __name__ == "__main__":
    main()
