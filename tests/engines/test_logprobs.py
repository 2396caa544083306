"""Log-probs and gradients of both paths against a plain pass, row by row."""

import pytest
import torch

from cloze.engines import logprobs
from cloze.engines.logprobs import completion_logprobs
from rollouts.families import CASES, build

PAIRS = [
    ((10, 11, 12), (40, 41)),
    ((20,), (50, 51, 52, 53)),
    ((10, 11, 12), (60,)),
    ((5,) * 9, (70, 71, 72)),
    ((10, 11, 12), (61, 62, 63, 64, 65)),
]
ALIKE = [((7, 8, 9), (40, 41, 42)), ((7, 8, 9), (43, 44, 45)), ((1, 2, 3), (46, 47, 48))]
SINGLE = [((7, 8, 9), (40,)), ((7, 8), (41,))]


def plain(model, prompt, completion, temperature):
    logits = model(input_ids=torch.tensor([prompt + completion])).logits[0].float() / temperature
    return torch.log_softmax(logits[len(prompt) - 1 : -1], -1).gather(1, torch.tensor(completion)[:, None])[:, 0]


def compare(model, other, pairs, temperature=1.0):
    """Log-probs equal to 1e-5; gradients of their weighted mean too."""
    got = completion_logprobs(model, pairs, 0, temperature)
    rows = [values[: len(completion)] for values, (_, completion) in zip(got, pairs, strict=True)]
    want = [plain(other, prompt, completion, temperature) for prompt, completion in pairs]
    weights = torch.randn(sum(map(len, want)), generator=torch.Generator().manual_seed(1)) / sum(map(len, want))
    assert torch.allclose(torch.cat(rows), torch.cat(want), atol=1e-5)
    (torch.cat(rows) * weights).sum().backward()
    (torch.cat(want) * weights).sum().backward()
    for (name, a), b in zip(model.named_parameters(), other.parameters(), strict=True):
        assert torch.allclose(a.grad, b.grad, atol=1e-5), name
    assert sum(float(p.grad.norm()) for p in model.parameters()) > 1e-2


@pytest.mark.parametrize("pairs", [PAIRS, ALIKE, SINGLE], ids=["ragged", "alike", "single"])
@pytest.mark.parametrize(("kind", "heads"), CASES)
def test_one_packed_pass_equals_plain_passes(kind, heads, pairs):
    compare(build(kind, heads), build(kind, heads), pairs)


def test_temperature_divides_the_logits():
    compare(build("qwen3"), build("qwen3"), PAIRS, temperature=0.7)


@pytest.mark.parametrize("pairs", [PAIRS, ALIKE, SINGLE], ids=["ragged", "alike", "single"])
def test_the_way_through_the_models_own_forward_equals_plain_passes(pairs, monkeypatch):
    monkeypatch.setattr(logprobs, "lean", lambda model: None)
    compare(build("qwen2"), build("qwen2"), pairs)


def test_a_sliding_window_is_left_to_the_model():
    window = {"sliding_window": 4}
    model, other = build("mistral", **window), build("mistral", **window)
    assert logprobs.lean(model) is None
    got = completion_logprobs(model, PAIRS[:2], 0)
    for values, (prompt, completion) in zip(got, PAIRS[:2], strict=True):
        assert torch.allclose(values[: len(completion)], plain(other, prompt, completion, 1.0), atol=1e-5)


def test_frozen_weights_get_no_gradient_and_change_no_other():
    model, other = build("llama"), build("llama")
    for layer in model.model.layers:
        layer.mlp.gate_proj.weight.requires_grad_(False)
        layer.input_layernorm.weight.requires_grad_(False)
    completion_logprobs(model, PAIRS, 0).sum().backward()
    completion_logprobs(other, PAIRS, 0).sum().backward()
    for (name, a), b in zip(model.named_parameters(), other.parameters(), strict=True):
        if "gate_proj" in name or "input_layernorm" in name:
            assert a.grad is None, name
        else:
            assert torch.equal(a.grad, b.grad), name
