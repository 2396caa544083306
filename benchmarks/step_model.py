"""The small model and the prompts on which one training step is timed.

A benchmark of engines needs inputs that favour none: `make_model` writes a folder that any of them loads with
`from_pretrained` (a Qwen3-shaped decoder of 2.2 million random weights and a tokenizer with one token a character), and
`make_prompts` writes arithmetic questions of about 24 tokens that this tokenizer can spell. The weights are untrained
on purpose: a step costs the same whatever the model knows, as long as every completion is cut at the same length.

Not covered: long prompts, large vocabularies, and models whose weights do not fit the processor's cache. Nothing
measured here says how engines compare there.
"""

from __future__ import annotations

import json
import random
import string
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

SPECIAL = ("<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
CHARACTERS = string.digits + string.ascii_lowercase + " \n+-*=/().,?:#"
VOCABULARY = (*SPECIAL, *CHARACTERS)  # 5 + 50
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def make_model(folder: str | Path, seed: int) -> None:
    """Write the model (float32, tied embeddings) and its tokenizer into `folder`.

    Args:
        folder: made if missing; loads with `AutoModelForCausalLM` and `AutoTokenizer`.
        seed: draws the weights; the same seed and library versions give the same weights.
    """
    tokenizer = _build_tokenizer()
    torch.manual_seed(seed)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(VOCABULARY),
            hidden_size=192,
            num_hidden_layers=4,
            num_attention_heads=6,
            num_key_value_heads=3,
            head_dim=32,
            intermediate_size=768,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    model.float().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_prompts(path: str | Path, n: int, seed: int, *, chat: bool = False) -> None:
    """Write `n` different questions as JSON lines with the one field `prompt`.

    Lengths differ a little (22 to 26 tokens), so that an engine has to deal with padding.

    Args:
        path: the file to write.
        n: how many questions.
        seed: draws them.
        chat: write a list with one user message in place of plain text; the chat template's three tokens count as part
            of the 22 to 26, so both forms cost the same.
    """
    rng = random.Random(f"prompts/{seed}")
    questions: dict[str, None] = {}
    while len(questions) < n:
        width = rng.randint(22, 26) - (3 if chat else 0)
        questions[_draw_question(rng, width)] = None
    with Path(path).open("w", encoding="utf-8") as file:
        for question in questions:
            prompt: Any = [{"role": "user", "content": question}] if chat else question
            file.write(json.dumps({"prompt": prompt}) + "\n")


def _draw_question(rng: random.Random, width: int) -> str:
    """A sum like `a=31-7+406*2-58+9. a?` of exactly `width` characters."""
    head, tail = "{0}=", ". {0}?"
    body = ""
    room = width - len("a=. a?")
    while len(body) < room:
        body += str(rng.randrange(1, 1000)) + rng.choice("+-*")
    body = body[:room]
    if not body[-1].isdigit():
        body = body[:-1] + rng.choice(string.digits)
    return (head + body + tail).format(rng.choice(string.ascii_lowercase))


def _build_tokenizer() -> Any:
    """One token a character; a character outside the vocabulary reads as a question mark."""
    tokenizer = Tokenizer(models.WordLevel({token: at for at, token in enumerate(VOCABULARY)}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(list(SPECIAL))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<|pad|>", eos_token="<|end|>", chat_template=CHAT_TEMPLATE
    )
