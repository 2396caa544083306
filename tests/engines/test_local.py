"""The local engine: log-probs, gradients that do not depend on how a batch is cut, state that survives."""

import math
from dataclasses import replace

import pytest
import torch

from cloze.algorithms.aggregate import AGGREGATIONS
from cloze.algorithms.objectives import ppo_clip, unclipped
from cloze.engines.local import LocalEngine
from cloze.engines.logprobs import completion_logprobs, micro_batches
from cloze.methods.schema import ObjectivePart
from cloze.rollouts.rows import Row
from cloze.training.loop import set_loss_weights

PAIRS = [((10, 11, 12), (40, 41)), ((20,), (50, 51, 52, 53)), ((10, 11, 12), (60,)), ((5,) * 9, (70, 71, 72))]


def plain(model, prompt, completion, temperature=1.0):
    logits = model(input_ids=torch.tensor([prompt + completion])).logits[0].float() / temperature
    return torch.log_softmax(logits[len(prompt) - 1 : -1], -1).gather(1, torch.tensor(completion)[:, None])[:, 0]


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_equal_a_plain_pass(make_model, temperature):
    model = make_model()
    got = completion_logprobs(model, PAIRS, 0, temperature)
    for row, (prompt, completion) in enumerate(PAIRS):
        assert torch.allclose(got[row, : len(completion)], plain(model, prompt, completion, temperature), atol=1e-5)


def test_gradients_flow_through_the_shared_prompt(make_model):
    model, other = make_model(), make_model()
    sum(
        values[: len(c)].sum() for values, (_, c) in zip(completion_logprobs(model, PAIRS, 0), PAIRS, strict=True)
    ).backward()
    sum(plain(other, p, c).sum() for p, c in PAIRS).backward()
    for (name, a), b in zip(model.named_parameters(), other.parameters(), strict=True):
        assert torch.allclose(a.grad, b.grad, atol=1e-4), name


def make_rows(seed=0):
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for i, (prompt, completion) in enumerate(PAIRS * 2):
        n = len(completion)
        rows.append(
            Row(
                problem_id=f"p{i}",
                group=i // 2,
                member=i,
                prompt_ids=prompt,
                completion_ids=completion,
                behavior_logprobs=tuple((-3 + torch.randn(n, generator=generator)).tolist()),
                entropy=(0.0,) * n,
                truncated=False,
                policy_version=-1,
                text="",
                advantage=float(torch.randn(1, generator=generator)),
            )
        )
    return rows


def gradient(make_model, tokenizer, rows, budget, how="token_mean", objective=unclipped):
    engine = LocalEngine(make_model(), tokenizer, micro_batch_tokens=budget)
    set_loss_weights(rows, ObjectivePart(aggregation=how), 16)
    report = engine.forward_backward(rows, objective)
    return report.loss, {name: p.grad.clone() for name, p in engine.model.named_parameters()}


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_gradient_does_not_change_with_micro_batch_size_or_row_order(make_model, tokenizer, how):
    rows = make_rows()
    loss, whole = gradient(make_model, tokenizer, rows, 10_000, how)
    assert sum(float(g.norm()) for g in whole.values()) > 1e-3
    for budget, order in ((1, 1), (30, 1), (10_000, -1)):
        other_loss, other = gradient(make_model, tokenizer, rows[::order], budget, how)
        assert other_loss == pytest.approx(loss, abs=1e-6)
        for name in whole:
            assert torch.allclose(whole[name], other[name], atol=1e-6, rtol=1e-4), (budget, order, name)


@pytest.mark.parametrize("how", AGGREGATIONS)
def test_loss_equals_a_slow_reference_on_the_same_rows(make_model, tokenizer, how):
    rows, model = make_rows(), make_model()
    loss, _ = gradient(make_model, tokenizer, rows, 40, how, ppo_clip)
    sums, counts = [], []
    for row in rows:
        new = plain(model, row.prompt_ids, row.completion_ids).tolist()
        terms = []
        for n, o in zip(new, row.behavior_logprobs, strict=True):
            ratio = math.exp(n - o)
            terms.append(-min(ratio * row.advantage, min(max(ratio, 0.8), 1.2) * row.advantage))
        sums.append(sum(terms))
        counts.append(len(terms))
    want = {
        "token_mean": sum(sums) / sum(counts),
        "seq_mean_token_mean": sum(s / c for s, c in zip(sums, counts, strict=True)) / len(rows),
        "seq_mean_token_sum": sum(sums) / len(rows),
        "constant_length": sum(sums) / len(rows) / 16,
    }
    assert loss == pytest.approx(want[how], abs=1e-6)
    assert abs(loss) > 1e-3


def test_masked_tokens_and_zero_advantage_have_no_gradient(make_model, tokenizer):
    rows = [replace(row, completion_mask=(False,) * len(row.completion_ids)) for row in make_rows()]
    _, grads = gradient(make_model, tokenizer, rows, 100)
    assert all(float(g.abs().max()) == 0.0 for g in grads.values())
    _, grads = gradient(make_model, tokenizer, [replace(row, advantage=0.0) for row in make_rows()], 100)
    assert all(float(g.abs().max()) == 0.0 for g in grads.values())


def test_rows_of_the_same_weights_have_ratio_exactly_one(make_model, tokenizer):
    rows = [replace(row, policy_version=0) for row in make_rows()]
    engine = LocalEngine(make_model(), tokenizer)
    set_loss_weights(rows, ObjectivePart(), 16)
    assert engine.forward_backward(rows, ppo_clip).ratio_max == 1.0
    engine.optim_step(1e-3)
    assert engine.forward_backward(rows, ppo_clip).ratio_max != 1.0


def test_a_loss_that_is_not_finite_stops_before_anything_is_applied(make_model, tokenizer):
    rows = make_rows()
    set_loss_weights(rows, ObjectivePart(), 16)
    rows[3].advantage = float("nan")
    engine = LocalEngine(make_model(), tokenizer)
    before = [p.clone() for p in engine.model.parameters()]
    with pytest.raises(FloatingPointError, match="p3"):
        engine.forward_backward(rows, unclipped)
    assert all(torch.equal(a, b) and b.grad is None for a, b in zip(before, engine.model.parameters(), strict=True))


def test_micro_batches_hold_every_row_once_within_the_budget():
    for budget in (1, 12, 25, 1000):
        cut = list(micro_batches(PAIRS, budget))
        assert sorted(i for batch in cut for i in batch) == [0, 1, 2, 3]
        for batch in cut:
            prompts = {PAIRS[i][0] for i in batch}
            cost = len(prompts) * max(map(len, prompts)) + len(batch) * max(len(PAIRS[i][1]) for i in batch)
            assert len(batch) == 1 or cost <= budget
    assert len(list(micro_batches(PAIRS, 1000))) == 1


def test_saved_engine_goes_on_to_the_same_weights(make_model, tokenizer, tmp_path):
    def step(engine):
        rows = make_rows()
        set_loss_weights(rows, ObjectivePart(), 16)
        engine.forward_backward(rows, unclipped)
        engine.optim_step(1e-3)

    engine = LocalEngine(make_model(), tokenizer)
    step(engine)
    engine.save(tmp_path)
    step(engine)
    other = LocalEngine(make_model(9), tokenizer)
    other.load(tmp_path)
    step(other)
    assert other.version == engine.version == 2
    for a, b in zip(engine.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(a, b)
