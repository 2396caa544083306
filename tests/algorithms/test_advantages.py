import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.algorithms.advantages import group_advantages

NAN = float("nan")


def one_group(rewards, **options):
    return group_advantages(torch.tensor(rewards), torch.zeros(len(rewards), dtype=torch.long), **options).tolist()


def test_group_mean_without_std_by_hand():
    assert one_group([1.0, 0.0, 0.0, 0.0], divide_by_std=False) == [0.75, -0.25, -0.25, -0.25]


def test_group_mean_with_std_by_hand():
    # mean 1/4, sample standard deviation sqrt((9/16 + 3/16) / 3) = 1/2
    assert one_group([1.0, 0.0, 0.0, 0.0], eps=0.0) == pytest.approx([1.5, -0.5, -0.5, -0.5])


def test_leave_one_out_by_hand():
    assert one_group([1.0, 0.0, 0.5], baseline="leave_one_out", divide_by_std=False) == pytest.approx(
        [0.75, -0.75, 0.0]
    )


def test_equal_rewards_give_exactly_zero_in_float32():
    assert one_group([0.7] * 7, eps=1e-8) == [0.0] * 7


def test_unscored_rewards_are_left_out_of_the_mean():
    got = one_group([1.0, NAN, 0.0, 0.0], divide_by_std=False)
    assert got == pytest.approx([2 / 3, 0.0, -1 / 3, -1 / 3])


def test_one_member_group_is_zero_and_none_gives_the_rewards():
    assert one_group([1.0]) == [0.0]
    assert one_group([1.0, NAN, 0.5], baseline="none") == [1.0, 0.0, 0.5]


def test_wrong_shape_and_name_are_refused():
    with pytest.raises(ValueError, match=r"\[B\]"):
        group_advantages(torch.zeros(3), torch.zeros(2, dtype=torch.long))
    with pytest.raises(ValueError, match="unknown baseline"):
        one_group([1.0, 0.0], baseline="median")


def slow_reference(rewards, groups, baseline, divide):
    out = []
    for reward, group in zip(rewards, groups, strict=True):
        peers = [r for r, g in zip(rewards, groups, strict=True) if g == group and not math.isnan(r)]
        if math.isnan(reward) or len(peers) < 2 or max(peers) == min(peers):
            out.append(0.0)
            continue
        mean = sum(peers) / len(peers)
        std = math.sqrt(sum((r - mean) ** 2 for r in peers) / (len(peers) - 1))
        value = reward - mean if baseline == "group_mean" else reward - (sum(peers) - reward) / (len(peers) - 1)
        out.append(value / (std + 1e-6) if divide else value)
    return out


rewards = st.lists(st.one_of(st.sampled_from([0.0, 1.0, NAN]), st.floats(-2, 2, width=32)), min_size=1, max_size=16)


@settings(max_examples=60, deadline=None)
@given(rewards, st.sampled_from(["group_mean", "leave_one_out"]), st.booleans(), st.randoms())
def test_equals_the_slow_reference_whatever_the_order(values, baseline, divide, rng):
    groups = [rng.randrange(3) for _ in values]
    spread = [abs(a - b) for a in values for b in values if a != b and not math.isnan(a - b)]
    if spread and min(spread) < 1e-3:
        return  # float32 against float64: nearly equal rewards are not what this compares
    got = group_advantages(
        torch.tensor(values, dtype=torch.float64), torch.tensor(groups), baseline=baseline, divide_by_std=divide
    )
    assert got.tolist() == pytest.approx(slow_reference(values, groups, baseline, divide), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=8), st.floats(-3, 3))
def test_a_constant_shift_of_the_rewards_changes_nothing(values, shift):
    base = one_group(torch.tensor(values, dtype=torch.float64).tolist())
    assert one_group([v + shift for v in values]) == pytest.approx(base, abs=1e-5)
