"""One thread, no network, and the small models that several rooms' tests share."""

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from cloze.training.pretrain import build_tokenizer

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer():
    return build_tokenizer(384)


@pytest.fixture
def make_model(tokenizer):
    def make(seed: int = 0, **changes):
        torch.manual_seed(seed)
        config = dict(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
            pad_token_id=tokenizer.pad_token_id,
            initializer_range=0.3,
        )
        return LlamaForCausalLM(LlamaConfig(**{**config, **changes})).eval()

    return make
