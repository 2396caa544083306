"""The loss against an independent slow reference, number by number, for every aggregation, and its gradient."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.algorithms.aggregate import AGGREGATIONS, token_weights
from cloze.algorithms.objectives import ppo_clip, unclipped


def slow_token_loss(new, old, advantage, low, high, dual):
    ratio = math.exp(new - old)
    clipped = min(max(ratio, 1 - low), 1 + high)
    loss = -min(ratio * advantage, clipped * advantage)
    if dual is not None and advantage < 0:
        loss = min(loss, -dual * advantage)
    return loss


def slow_loss(new, old, advantages, mask, how, length, low, high, dual):
    rows = []
    for i, advantage in enumerate(advantages):
        losses = [
            slow_token_loss(n, o, advantage, low, high, dual)
            for n, o, m in zip(new[i], old[i], mask[i], strict=True)
            if m
        ]
        if losses:
            rows.append(losses)
    if not rows:
        return 0.0
    if how == "token_mean":
        return sum(map(sum, rows)) / sum(map(len, rows))
    if how == "seq_mean_token_mean":
        return sum(sum(row) / len(row) for row in rows) / len(rows)
    if how == "seq_mean_token_sum":
        return sum(map(sum, rows)) / len(rows)
    return sum(sum(row) / length for row in rows) / len(rows)


BOUNDS = [(0.2, 0.2, None), (0.2, 0.28, None), (0.0, 5.0, 3.0)]


@pytest.mark.parametrize("how", AGGREGATIONS)
@pytest.mark.parametrize("bounds", BOUNDS)
def test_loss_equals_the_slow_reference(how, bounds):
    low, high, dual = bounds
    generator = torch.Generator().manual_seed(1)
    new = torch.randn(6, 9, generator=generator, dtype=torch.float64) - 1
    old = new + torch.randn(6, 9, generator=generator, dtype=torch.float64)
    advantages = torch.randn(6, 1, generator=generator, dtype=torch.float64)
    mask = torch.rand(6, 9, generator=generator) < 0.7
    mask[3] = False
    out = ppo_clip(new, old, advantages, clip_low=low, clip_high=high, dual_clip=dual)
    got = float((token_weights(mask, how, length=12).double() * out.loss_BT).sum())
    want = slow_loss(new.tolist(), old.tolist(), advantages[:, 0].tolist(), mask.tolist(), how, 12, low, high, dual)
    assert got == pytest.approx(want, abs=1e-6)
    assert abs(want) > 1e-3


def gradient(ratio, advantage, **bounds):
    new = torch.tensor([[math.log(ratio)]], dtype=torch.float64, requires_grad=True)
    out = ppo_clip(
        new, torch.zeros(1, 1, dtype=torch.float64), torch.tensor([[advantage]], dtype=torch.float64), **bounds
    )
    out.loss_BT.sum().backward()
    return float(new.grad), bool(out.clipped_BT)


SMEPO = dict(clip_low=0.0, clip_high=5.0, dual_clip=3.0)


@pytest.mark.parametrize(
    ("ratio", "advantage", "want"),
    [
        (0.5, 1.0, -0.5),
        (5.9, 1.0, -5.9),
        (6.1, 1.0, 0.0),
        (0.9, -1.0, 0.0),
        (1.0, -1.0, 1.0),
        (2.9, -1.0, 2.9),
        (3.1, -1.0, 0.0),
    ],
)
def test_smepo_clip_by_hand(ratio, advantage, want):
    # d loss / d logprob = -A r where there is a gradient: A > 0 up to ratio 6, A < 0 only for 1 <= ratio <= 3
    got, clipped = gradient(ratio, advantage, **SMEPO)
    assert got == pytest.approx(want)
    assert clipped == (want == 0.0)


@pytest.mark.parametrize(
    ("ratio", "advantage", "want"),
    [(1.19, 1.0, -1.19), (1.21, 1.0, 0.0), (0.5, 1.0, -0.5), (0.81, -1.0, 0.81), (0.79, -1.0, 0.0), (4.0, -1.0, 4.0)],
)
def test_symmetric_clip_by_hand(ratio, advantage, want):
    assert gradient(ratio, advantage)[0] == pytest.approx(want)


def test_gradient_equals_finite_differences_of_the_logits():
    torch.manual_seed(0)
    logits = torch.randn(3, 4, 7, dtype=torch.float64)
    ids = torch.randint(0, 7, (3, 4, 1))
    old = torch.log_softmax(logits + 0.3 * torch.randn_like(logits), -1).gather(2, ids)[..., 0]
    advantages = torch.tensor([[1.0], [-0.5], [2.0]], dtype=torch.float64)
    weights = token_weights(torch.ones(3, 4, dtype=torch.bool), "token_mean").double()

    def loss(values):
        new = torch.log_softmax(values, -1).gather(2, ids)[..., 0]
        return (weights * ppo_clip(new, old, advantages).loss_BT).sum()

    assert torch.autograd.gradcheck(loss, logits.requires_grad_(True), eps=1e-7, atol=1e-5)


def test_unclipped_is_the_ratio_times_the_advantage():
    out = unclipped(torch.tensor([[math.log(3.0)]]), torch.zeros(1, 1), torch.tensor([[-2.0]]))
    assert float(out.loss_BT) == pytest.approx(6.0)
    assert not bool(out.clipped_BT)


def test_token_mean_of_two_rows_with_one_masked():
    # two sequences of two tokens, one masked, token losses 1: the mean is 1, not 1/2
    mask = torch.tensor([[True, True], [False, False]])
    for how in ("token_mean", "seq_mean_token_mean"):
        assert float(token_weights(mask, how).sum()) == 1.0


def test_all_masked_gives_zero_and_no_nan():
    for how in AGGREGATIONS:
        assert float(token_weights(torch.zeros(3, 2, dtype=torch.bool), how, length=4).sum()) == 0.0


def test_bad_input_is_refused():
    ones = torch.ones(2, 3)
    with pytest.raises(ValueError, match=r"\[B, T\]"):
        ppo_clip(ones, torch.ones(2, 2), torch.ones(2, 1))
    with pytest.raises(ValueError, match="advantages"):
        ppo_clip(ones, ones, torch.ones(2))
    with pytest.raises(ValueError, match="clip bounds"):
        ppo_clip(ones, ones, torch.ones(2, 1), dual_clip=0.5)
    with pytest.raises(ValueError, match="unknown aggregation"):
        token_weights(torch.ones(1, 1, dtype=torch.bool), "mean")
    with pytest.raises(ValueError, match="length"):
        token_weights(torch.ones(1, 1, dtype=torch.bool), "constant_length")
    with pytest.raises(ValueError, match="bool"):
        token_weights(torch.ones(1, 1), "token_mean")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from(AGGREGATIONS), st.integers(0, 2**31), st.integers(0, 3))
def test_weights_do_not_change_with_row_order_or_padding(rows, tokens, how, seed, padding):
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(rows, tokens, generator=generator) < 0.6
    order = torch.randperm(rows, generator=generator)
    weights = token_weights(mask, how, length=9)
    padded = torch.cat([mask, torch.zeros(rows, padding, dtype=torch.bool)], dim=1)
    assert torch.equal(token_weights(mask[order], how, length=9), weights[order])
    assert torch.equal(token_weights(padded, how, length=9)[:, :tokens], weights)
    assert float(weights[~mask].sum()) == 0.0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31))
def test_on_policy_the_ratio_is_one_and_the_gradient_is_the_policy_gradient(seed):
    generator = torch.Generator().manual_seed(seed)
    new = torch.randn(3, 4, generator=generator, requires_grad=True)
    advantages = torch.randn(3, 1, generator=generator)
    out = ppo_clip(new, new.detach(), advantages, **SMEPO)
    out.loss_BT.sum().backward()
    assert torch.equal(out.ratio_BT, torch.ones(3, 4))
    assert torch.allclose(new.grad, -advantages.expand(3, 4))
