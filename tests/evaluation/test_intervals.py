import itertools

import pytest

from cloze.evaluation.intervals import bootstrap, pass_at_k, wilson


def test_wilson_against_published_values():
    # Newcombe 1998, table I: 81 of 263 and 0 of 20, score method without continuity correction
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="between"):
        wilson(3, 2)


def test_bootstrap_of_a_constant_and_of_a_coin():
    assert bootstrap([0.3] * 5) == pytest.approx((0.3, 0.3))
    low, high = bootstrap([0.0, 1.0] * 50)
    assert 0.38 < low < 0.43 and 0.57 < high < 0.62
    assert bootstrap([0.0, 1.0] * 50) == (low, high)
    with pytest.raises(ValueError, match="no values"):
        bootstrap([])


def test_pass_at_k_equals_enumeration():
    for n in range(1, 9):
        for c in range(n + 1):
            for k in range(1, n + 1):
                draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
                assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_at_k(4, 1, 4) == 1.0


@pytest.mark.parametrize("numbers", [(4, 1, 5), (4, 5, 1), (4, -1, 1), (4, 1, 0)])
def test_impossible_pass_at_k_is_refused(numbers):
    with pytest.raises(ValueError, match="pass@k"):
        pass_at_k(*numbers)
