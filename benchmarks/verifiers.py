r"""Answers a second, by kind of answer, beside math-verify called directly.

    python benchmarks/verifiers.py                 every kind, and hostile answers among honest ones
    python benchmarks/verifiers.py --workers 1     with one worker

Every answer is distinct, so that nothing is remembered from one to the next. "one by one" is `verify` in a loop;
"batch" is `score` with so many workers. math-verify is called as its README says, `verify(parse(target),
parse(answer))`, in the main thread of this process. Half of the answers are right. The rounds take turns; a figure is
the median over them, and "times" is the batch over math-verify. "Right" is the share of verdicts that are.

Not covered: the code verifier and its sandbox (`sandbox.py` here), and other machines.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from functools import partial

from cloze.problems.record import Problem
from cloze.verifiers import Verdict, verify
from cloze.verifiers.math_verify_plain import outcome as plain
from cloze.verifiers.pool import score
from cloze.verifiers.workers import compare_formulas

Pair = tuple[str, str]  # target, what stands in the box

KINDS: dict[str, Callable[[int, int], Pair]] = {
    "whole numbers": lambda n, off: (str(n), str(n + off)),
    "decimals": lambda n, off: (f"{n}.25", f"{n + off}.250"),
    "fractions": lambda n, off: (rf"\frac{{{n}}}{{7}}", rf"\frac{{{2 * n + off}}}{{14}}"),
    "mixed, percent, units": lambda n, off: (f"{n}.5", rf"{n + off}\frac{{1}}{{2}}\text{{ cm}}"),
    "words": lambda n, off: (f"case {n}", rf"\text{{Case {n + off}}}"),
    "sets of numbers": lambda n, off: (rf"\{{{n},{n + 1},{n + 2}\}}", rf"\{{{n + 2},{n},{n + 1 + off}\}}"),
    "tuples": lambda n, off: (rf"({n},\frac12)", rf"({n},0.5{off or ''})"),
    "inequalities": lambda n, off: (rf"(-\infty,{n})", f"x<{n + off}"),
    "constants": lambda n, off: (rf"{n}\pi+3", rf"3+{n + off}\pi"),
    "roots": lambda n, off: (rf"\frac{{{n}\sqrt{{2}}}}{{2}}", rf"\frac{{{n + off}}}{{\sqrt{{2}}}}"),
    "polynomials": lambda n, off: (f"x^2+{2 * n}x+{n * n}", f"(x+{n + off})^2"),
    "functions": lambda n, off: (rf"e^{{-{n}x}}\cos x", rf"\cos(x)e^{{-{n + off}x}}"),
    "equations": lambda n, off: (f"y=2x+{n}", f"y={n + off}+2x"),
    "sets of formulas": lambda n, off: (rf"\{{1,{n}\sqrt{{2}}\}}", rf"\{{{n + off}\sqrt{{2}},1\}}"),
}
HOSTILE = [
    "9^{9^{9^{9}}}+{n}", "((10^{7})!)+{n}", r"\sum_{k=1}^{10^{8}}\frac{1}{k^3+{n}}", r"\pi+len('{n}')",
    "9" * 4_000 + "{n}", r"\frac{1}{" * 50 + "{n}", r"\pi^{9999999999}+{n}", r"\binom{99999999}{9999{n}}",
    "x" * 900 + "{n}", "(" * 300 + "{n}",
    r"\int_0^{{n}} e^x dx", "__import__('os').abort({n})", "1," * 900 + "{n}", r"\sqrt{" * 60 + "{n}", "{n}" + "!" * 40,
]  # fmt: skip


def rows(kind: str, count: int, start: int) -> tuple[list[Problem], list[str]]:
    """Distinct problems of one kind and completions for them, every other one right."""
    pairs = [KINDS[kind](start + index, index % 2) for index in range(count)]
    problems = [Problem(id=str(index), question="?", target=target) for index, (target, _) in enumerate(pairs)]
    return problems, [rf"We work it out step by step, so the answer is \boxed{{{answer}}}." for _, answer in pairs]


def rate(work: Callable[[], object], count: int) -> float:
    """How many a second."""
    compare_formulas.cache_clear()
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def one_by_one(problems: list[Problem], texts: list[str]) -> None:
    for pair in zip(problems, texts, strict=True):
        verify(*pair)


def in_a_batch(problems: list[Problem], texts: list[str], workers: int, verdicts: list[Verdict]) -> None:
    verdicts += score(problems, texts, workers=workers)


def by_peer(problems: list[Problem], texts: list[str], said: list[str]) -> None:
    said += [plain(text, problem.target) for problem, text in zip(problems, texts, strict=True)]


def by_kind(rounds: int, workers: int) -> None:
    """The table by kind of answer."""
    print(
        f"| answers | one by one, /s | batch of {workers} workers, /s | math-verify, /s | times | ours right"
        " | its right |"
    )
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        rates: dict[str, list[float]] = {"one": [], "batch": [], "plain": []}
        right = {"ours": 0, "plain": 0}
        count = 60 if kind in list(KINDS)[8:] else 200
        for turn in range(rounds):
            start = 100 + 10 * count * turn
            verdicts: list[Verdict] = []
            said: list[str] = []
            rates["one"].append(rate(partial(one_by_one, *rows(kind, count, start)), count))
            problems, texts = rows(kind, 5 * count, start + count)
            rates["batch"].append(rate(partial(in_a_batch, problems, texts, workers, verdicts), 5 * count))
            rates["plain"].append(rate(partial(by_peer, *rows(kind, count, start + 7 * count), said), count))
            right["ours"] += sum((v.reward == 1.0) == (index % 2 == 0) for index, v in enumerate(verdicts))
            right["plain"] += sum((s == "correct") == (index % 2 == 0) for index, s in enumerate(said))
        one, batch, direct = (statistics.median(rates[name]) for name in ("one", "batch", "plain"))
        shares = f"{right['ours'] / (5 * count * rounds):.0%} | {right['plain'] / (count * rounds):.0%}"
        print(f"| {kind} | {one:,.0f} | {batch:,.0f} | {direct:,.0f} | {batch / direct:.1f} | {shares} |", flush=True)


def with_hostile(workers: int) -> None:
    """Honest answers a second, with and without one hostile answer in ten."""
    mixed_kinds = [rows(kind, 300, 50_000) for kind in KINDS]
    problems = [one for group in zip(*(problems for problems, _ in mixed_kinds), strict=True) for one in group]
    texts = [one for group in zip(*(texts for _, texts in mixed_kinds), strict=True) for one in group]
    clean = rate(partial(in_a_batch, problems, texts, workers, []), len(texts))
    hostile = [
        rf"\boxed{{{HOSTILE[(index // 10) % len(HOSTILE)].replace('{n}', str(index))}}}" if index % 10 == 5 else text
        for index, text in enumerate(texts)
    ]
    verdicts: list[Verdict] = []
    mixed = rate(partial(in_a_batch, problems, hostile, workers, verdicts), len(texts))
    paid = sum(verdict.reward != 0.0 for index, verdict in enumerate(verdicts) if index % 10 == 5)
    print(
        f"\n{len(texts):,} answers of all kinds: {clean:,.0f}/s; with one in ten hostile: {mixed:,.0f}/s; {paid} paid"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    options = parser.parse_args()
    for kind in KINDS:  # start the workers, fill the grammars' tables of both
        problems, texts = rows(kind, 20, 10)
        score(problems, texts, workers=options.workers)
        list(map(plain, texts, [problem.target for problem in problems]))
    by_kind(options.rounds, options.workers)
    with_hostile(options.workers)


if __name__ == "__main__":
    main()
