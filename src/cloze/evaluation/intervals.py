"""Figures that people quote, with their intervals: pass@k, Wilson, bootstrap over problems."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

Z95 = 1.959963984540054


def wilson(correct: int, n: int) -> tuple[float, float]:
    """The 95% Wilson score interval of a share (Wilson 1927); (0, 1) when n is 0.

    Raises:
        ValueError: `correct` is not between 0 and n.
    """
    if not 0 <= correct <= n:
        raise ValueError(f"correct must be between 0 and n, got {correct} of {n}")
    if n == 0:
        return 0.0, 1.0
    share, z2 = correct / n, Z95 * Z95
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def bootstrap(values: Sequence[float], *, draws: int = 2000, seed: int = 0) -> tuple[float, float]:
    """The 95% percentile bootstrap interval of a mean, values (problems, seeds) drawn with replacement.

    Raises:
        ValueError: no values.
    """
    if not values:
        raise ValueError("no values to draw from")
    rng, n = random.Random(seed), len(values)
    means = sorted(sum(rng.choices(values, k=n)) / n for _ in range(draws))
    return means[int(0.025 * draws)], means[min(draws - 1, int(0.975 * draws))]


def pass_at_k(n: int, c: int, k: int) -> float:
    """`1 - C(n - c, k) / C(n, k)`: the chance that k of n completions, c of them right, hold a right one.

    The unbiased estimator of arXiv 2107.03374, equation 1.

    Raises:
        ValueError: k > n, or numbers that make no sense.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@k needs 0 <= c <= n and 1 <= k <= n, got n={n}, c={c}, k={k}")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)
