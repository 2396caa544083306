"""The written-out gradients against finite differences, and the values against the library's own modules."""

import pytest
import torch
from torch.autograd import gradcheck
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm, apply_rotary_pos_emb

from cloze.rollouts.fused import gated_mlp, project, rms_norm, rotate


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype).requires_grad_()


def angles(tokens, size, dtype=torch.float64):
    half = torch.rand(tokens, 1, size // 2, generator=torch.Generator().manual_seed(9), dtype=dtype)
    both = torch.cat([half, half], dim=-1)
    return both.cos(), both.sin()


def test_gradients_equal_finite_differences():
    eps = torch.tensor(1e-6)
    assert gradcheck(lambda x, w: rms_norm(x, w, eps), (draw(5, 8), draw(8, seed=1)))
    assert gradcheck(lambda x, *w: project(x, w), (draw(5, 4), draw(6, 4, seed=1), draw(2, 4, seed=2)))
    assert gradcheck(lambda x: rotate(x, *angles(5, 6)), (draw(5, 2, 6),))
    inputs = (draw(5, 4), draw(5, 4, seed=1), draw(6, 4, seed=2), draw(6, 4, seed=3), draw(4, 6, seed=4))
    assert gradcheck(gated_mlp, inputs)


def test_the_halves_of_a_rotation_may_differ():
    cos, sin = torch.randn(2, 5, 1, 6, dtype=torch.float64)
    assert gradcheck(lambda x: rotate(x, cos, sin), (draw(5, 2, 6),))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_values_are_those_of_the_library(dtype):
    x, weight = draw(7, 16, dtype=dtype), draw(16, seed=1, dtype=dtype)
    norm = Qwen3RMSNorm(16, eps=1e-5).to(dtype)
    norm.weight.data.copy_(weight.detach())
    assert torch.allclose(rms_norm(x, weight, torch.tensor(1e-5)), norm(x), atol=1e-6)
    heads = draw(7, 2, 8, dtype=dtype)
    cos, sin = angles(7, 8, dtype)
    want = apply_rotary_pos_emb(heads, heads, cos, sin, unsqueeze_dim=0)[0]
    assert torch.allclose(rotate(heads, cos, sin), want, atol=1e-6 if dtype == torch.float32 else 2e-2)


def test_with_and_without_gradient_the_values_are_the_same():
    x, eps = draw(7, 4, dtype=torch.float32), torch.tensor(1e-6)
    gate, up, down = (draw(*shape, dtype=torch.float32) for shape in ((6, 4), (6, 4), (4, 6)))
    cos, sin = angles(7, 4, torch.float32)
    with_gradient = (rms_norm(x, x[0], eps), *project(x, (gate, up)), rotate(x[:, None], cos, sin))
    with torch.no_grad():
        without = (rms_norm(x, x[0], eps), *project(x, (gate, up)), rotate(x[:, None], cos, sin))
        mlp = gated_mlp(x, x, gate, up, down)
    assert all(torch.equal(a, b) for a, b in zip(with_gradient, without, strict=True))
    assert torch.equal(gated_mlp(x, x, gate, up, down), mlp)
    assert torch.allclose(mlp, x + (torch.nn.functional.silu(x @ gate.t()) * (x @ up.t())) @ down.t(), atol=1e-6)
