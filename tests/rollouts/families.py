"""Small models of the families that the written-out decoder knows, each with and without shared key heads."""

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

KINDS = {
    "llama": (LlamaConfig, LlamaForCausalLM, {}),
    "llama_untied": (LlamaConfig, LlamaForCausalLM, {"tie_word_embeddings": False}),
    "mistral": (MistralConfig, MistralForCausalLM, {"sliding_window": None}),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, {}),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, {"head_dim": 12}),
}
CASES = [(kind, heads) for kind in KINDS for heads in (1, 2, 4)]


def build(kind, key_heads=2, seed=0, **changes):
    """A model of 4 query heads; norms and biases are drawn too, so that a forgotten one shows."""
    config, model, extra = KINDS[kind]
    torch.manual_seed(seed)
    settings = {
        "vocab_size": 97,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": key_heads,
        "max_position_embeddings": 256,
        "tie_word_embeddings": True,
        "initializer_range": 0.2,
        "bos_token_id": None,
        "eos_token_id": 1,
        "pad_token_id": 0,
        **extra,
        **changes,
    }
    built = model(config(**settings)).eval()
    for parameter in built.parameters():
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter, 1.0, 0.2)
    return built
