"""A Llama-shaped decoder run over a flat list of tokens, with the attention left to the caller.

Sampling and training both want the same model in a form that the library does not offer: no padding in the matrix
products, prompts once however many rollouts share them, and nothing between one small operation and the next. So the
decoder is written out here over the library's own weights, for the families that are built alike (Llama, Mistral,
Qwen2, Qwen3). `lean` says whether a model is one of them, exactly as the library made it; any other model (sliding
windows, adapters, hooks, quantised layers, gradient checkpointing) takes the plain path through its own `forward`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from cloze.rollouts.fused import gated_mlp, project, rms_norm, rotate

FAMILIES = ("llama.modeling_llama.Llama", "mistral.modeling_mistral.Mistral") + tuple(
    f"{name}.modeling_{name}.{name.title()}" for name in ("qwen2", "qwen3")
)
SMALL = 256 * 2**20  # bytes
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
ROPE_TYPES = ("default", "linear", "llama3", "yarn")  # in the others a token's angle depends on its batch

# from a layer's number and queries [N, heads, D], keys and values [N, KV heads, D] to the attended values [N, heads, D]
Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]


class Layer(NamedTuple):
    """The weights of one layer; biases and head norms are None where the family has none."""

    first_norm: Tensor
    qkv: tuple[Tensor, Tensor, Tensor]
    qkv_bias: tuple[Tensor, Tensor, Tensor] | None
    head_norms: tuple[Tensor, Tensor] | None
    out: Tensor
    second_norm: Tensor
    gate: Tensor
    up: Tensor
    down: Tensor


class LeanDecoder(NamedTuple):
    """A decoder's parts; made by `lean`."""

    embed: nn.Module
    rotary: nn.Module
    layers: list[Layer]
    final_norm: Tensor
    head: nn.Module
    head_dim: int
    scaling: float
    eps: Tensor

    def run(self, ids_N: Tensor, positions_N: Tensor, attend: Attend) -> Tensor:
        """Hidden states [N, H] of tokens, after the last norm; `attend` decides who sees whom."""
        x = self.embed(ids_N)
        cos, sin = (part.squeeze(0)[:, None] for part in self.rotary(x[None], positions_N[None]))
        for at, layer in enumerate(self.layers):
            normed = rms_norm(x, layer.first_norm, self.eps)
            mixed = attend(at, *self._heads(layer, normed, cos, sin))
            x = torch.addmm(x, mixed.reshape(len(x), -1), layer.out.t())
            x = gated_mlp(x, rms_norm(x, layer.second_norm, self.eps), layer.gate, layer.up, layer.down)
        return rms_norm(x, self.final_norm, self.eps)

    def _heads(self, layer: Layer, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values as `Attend` takes them."""
        *turned, v = project(x, layer.qkv)
        if layer.qkv_bias:
            *turned, v = (part + bias for part, bias in zip((*turned, v), layer.qkv_bias, strict=True))
        if layer.head_norms:
            turned = [
                rms_norm(part.view(-1, self.head_dim), norm, self.eps)
                for part, norm in zip(turned, layer.head_norms, strict=True)
            ]
        q, k = (rotate(part.view(len(x), -1, self.head_dim), cos, sin) for part in turned)
        return q, k, v.view(len(x), -1, self.head_dim)

    def for_few_rows(self) -> LeanDecoder:
        """The same decoder with its weights stored the other way round where that makes small products faster.

        That is on a processor, where a step of decoding spends most of its time on them. It takes a copy of the
        layers' weights, so large models are left alone.
        """
        size = sum(weight.nbytes for layer in self.layers for weight in (*layer.qkv, *layer[4:]))
        if self.final_norm.device.type != "cpu" or size > SMALL:
            return self
        turned = [
            layer._replace(
                qkv=(_turn(layer.qkv[0]), _turn(layer.qkv[1]), _turn(layer.qkv[2])),
                out=_turn(layer.out),
                gate=_turn(layer.gate),
                up=_turn(layer.up),
                down=_turn(layer.down),
            )
            for layer in self.layers
        ]
        return self._replace(layers=turned)

    def logits(self, hidden_NH: Tensor) -> Tensor:
        """Logits [N, V] in float32."""
        logits: Tensor = self.head(hidden_NH)
        return logits.float()


def _turn(weight: Tensor) -> Tensor:
    return weight.t().contiguous().t()


def lean(model: Any) -> LeanDecoder | None:
    """The model's parts, or None if it has to go through its own `forward`.

    Cheap enough to ask for each pass, so that what is done to a model in between (an adapter, a hook) counts.
    """
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    families = {f"transformers.models.{family}ForCausalLM" for family in FAMILIES}
    if kind not in families or not _is_untouched(model) or not _is_plain(model.config, model.training):
        return None
    body = model.model
    try:
        layers = [_read_layer(layer) for layer in body.layers]
    except _Unlike:
        return None
    attention = body.layers[0].self_attn
    return LeanDecoder(
        body.embed_tokens,
        body.rotary_emb,
        layers,
        body.norm.weight,
        model.lm_head,
        attention.head_dim,
        attention.scaling,
        torch.tensor(body.norm.variance_epsilon, dtype=torch.float32, device=body.norm.weight.device),
    )


class _Unlike(Exception):
    """A layer is not built as `Layer` says."""


def _is_plain(config: Any, training: bool) -> bool:
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = getattr(config, "layer_types", None)
    windowed = set(kinds) != {"full_attention"} if kinds else getattr(config, "sliding_window", None) is not None
    dropped = training and getattr(config, "attention_dropout", 0.0) > 0.0
    return rope.get("rope_type", "default") in ROPE_TYPES and not windowed and not dropped


def _is_untouched(model: nn.Module) -> bool:
    """No hook, patched `forward` or gradient checkpointing anywhere, and parameters of one kind."""
    for module in model.modules():
        state = vars(module)
        if any(state[name] for name in HOOKS) or "forward" in state or state.get("gradient_checkpointing"):
            return False
    return len({(p.dtype, p.device) for p in model.parameters()}) == 1


def _read_layer(layer: Any) -> Layer:
    attention, mlp = layer.self_attn, layer.mlp
    inputs = (attention.q_proj, attention.k_proj, attention.v_proj)
    linears = (*inputs, attention.o_proj, mlp.gate_proj, mlp.up_proj, mlp.down_proj)
    if any(type(part) is not nn.Linear for part in linears) or any(part.bias is not None for part in linears[3:]):
        raise _Unlike
    if mlp.config.hidden_act != "silu":
        raise _Unlike
    return Layer(
        layer.input_layernorm.weight,
        (attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight),
        (attention.q_proj.bias, attention.k_proj.bias, attention.v_proj.bias) if inputs[0].bias is not None else None,
        (attention.q_norm.weight, attention.k_norm.weight) if hasattr(attention, "q_norm") else None,
        attention.o_proj.weight,
        layer.post_attention_layernorm.weight,
        mlp.gate_proj.weight,
        mlp.up_proj.weight,
        mlp.down_proj.weight,
    )
