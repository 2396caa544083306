"""The four pieces a Llama-shaped decoder is made of, each as few passes over memory as plain tensor operations allow.

Written with the library's modules, a decoder spends as long on norms, rotations and gates as on a third of its matrix
products, because autograd keeps and walks through every intermediate. Each function here has its gradient written out:
it keeps less, sums into matrix products in place of separate additions, and writes over what is no longer needed
(writing a new tensor costs several times an operation in place). The formulas are those of transformers; tests hold
values and gradients to them. Shape letters: N tokens, H hidden size, D head size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional as F


def rms_norm(x_NH: Tensor, weight_H: Tensor, eps: Tensor) -> Tensor:
    """`x / sqrt(mean(x^2) + eps) * weight`, the mean in at least float32; `eps` is a float32 scalar on the device."""
    if torch.is_grad_enabled():
        return _typed(_RmsNorm.apply(x_NH, weight_H, eps))
    return _normed(x_NH, weight_H, _inverse_rms(x_NH, eps))


def project(x_NH: Tensor, weights: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`x W^T` for each weight [K, H]; the gradients to x are added up inside the matrix products."""
    if torch.is_grad_enabled():
        found: tuple[Tensor, ...] = _Project.apply(x_NH, *weights)
        return found
    return tuple(x_NH.mm(weight.t()) for weight in weights)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding: halves (a, b) of the last axis become (a cos - b sin, b cos + a sin).

    Args:
        x: [N, heads, D].
        cos, sin: [N, 1, D], no gradient.
    """
    if torch.is_grad_enabled():
        return _typed(_Rotate.apply(x, cos, sin))
    return _rotated(x, cos, sin)


def gated_mlp(residual_NH: Tensor, x_NH: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """`residual + (silu(x G^T) * x U^T) D^T`; the gated product is computed again for the gradient, not kept."""
    if torch.is_grad_enabled():
        return _typed(_GatedMlp.apply(residual_NH, x_NH, gate, up, down))
    hidden = F.silu(x_NH.mm(gate.t()), inplace=True).mul_(x_NH.mm(up.t()))
    return torch.addmm(residual_NH, hidden, down.t())


def _typed(tensor: Any) -> Tensor:
    assert isinstance(tensor, Tensor)  # `Function.apply` has no type
    return tensor


def _inverse_rms(x: Tensor, eps: Tensor) -> Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    norm: Tensor = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=wide)
    return torch.addcmul(eps, norm, norm, value=1.0 / x.shape[-1]).rsqrt_()


def _normed(x: Tensor, weight: Tensor, inverse: Tensor) -> Tensor:
    return (x * inverse).to(x.dtype).mul_(weight)


class _RmsNorm(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: Tensor) -> Tensor:
        inverse = _inverse_rms(x, eps)
        ctx.save_for_backward(x, weight, inverse)
        return _normed(x, weight, inverse)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight, inverse = ctx.saved_tensors
        dtype, wide = x.dtype, inverse.dtype
        grad, x, weight = grad.to(wide), x.to(wide), weight.to(wide)
        product = grad * x
        # y_i = x_i r w_i with r = (mean(x^2) + eps)^(-1/2), so dr/dx_j = -r^3 x_j / H
        along = (product @ weight)[:, None] * inverse**3 / x.shape[-1]
        to_weight = (inverse.t() @ product).squeeze(0)
        to_x = torch.mul(grad, weight, out=product).mul_(inverse).addcmul_(x, along, value=-1)
        return to_x.to(dtype), to_weight.to(dtype), None


class _Project(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.save_for_backward(x, *weights)
        return tuple(x.mm(weight.t()) for weight in weights)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, *weights = ctx.saved_tensors
        return _sum_of_products(grads, weights), *(grad.t() @ x for grad in grads)


class _Rotate(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        return _rotated(x, cos, sin)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        cos, sin = ctx.saved_tensors
        # the transpose of a rotation turns the other way; the halves of sin change places with those of x
        return _rotated(grad, cos, -sin.roll(sin.shape[-1] // 2, -1)), None, None


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    out = x * cos
    out[..., :half].addcmul_(x[..., half:], sin[..., :half], value=-1)
    out[..., half:].addcmul_(x[..., :half], sin[..., half:])
    return out


class _GatedMlp(Function):
    @staticmethod
    def forward(ctx: Any, residual: Tensor, x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
        gated, upped = x.mm(gate.t()), x.mm(up.t())
        ctx.save_for_backward(x, gated, upped, gate, up, down)
        return torch.addmm(residual, F.silu(gated).mul_(upped), down.t())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, gated, upped, gate, up, down = ctx.saved_tensors
        activated = F.silu(gated)
        to_down = grad.t() @ (activated * upped)
        to_hidden = grad @ down
        to_upped = activated.mul_(to_hidden)
        to_gated = to_hidden.mul_(upped)
        torch.ops.aten.silu_backward.grad_input(to_gated, gated, grad_input=to_gated)
        to_x = _sum_of_products((to_gated, to_upped), (gate, up))
        return grad, to_x, to_gated.t() @ x, to_upped.t() @ x, to_down


def _sum_of_products(grads: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    total = grads[0] @ weights[0]
    for grad, weight in zip(grads[1:], weights[1:], strict=True):
        total.addmm_(grad, weight)
    return total
