"""Runs in TRL's own environment: what do its trainers make of a file? Prints one JSON object.

with_trl.py FILE TOKENIZER OUT
"""

import json
import sys

from datasets import load_dataset
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

file, folder, out = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder)


def model():
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def dataset():
    kind = "parquet" if file.endswith(".parquet") else "json"
    return load_dataset(kind, data_files=file, split="train", cache_dir=f"{out}/cache")


seen = []


def reward(prompts, completions, answer, solution, id, **kwargs):
    columns = zip(id, prompts, answer, solution, strict=True)
    seen.extend({"id": i, "prompt": p, "answer": a, "solution": s} for i, p, a, s in columns)
    assert all(completion[0]["role"] == "assistant" for completion in completions)
    return [float(len(completion[0]["content"])) for completion in completions]


common = dict(report_to=[], use_cpu=True, save_strategy="no", logging_steps=1, disable_tqdm=True)
size = len(dataset())
grpo = GRPOTrainer(
    model=model(),
    reward_funcs=reward,
    args=GRPOConfig(
        f"{out}/grpo",
        per_device_train_batch_size=2 * size,
        num_generations=2,
        max_completion_length=4,
        max_steps=1,
        **common,
    ),
    train_dataset=dataset(),
    processing_class=tokenizer,
)
grpo.train()
traced = dataset().filter(lambda row: row["completion"] is not None)
sft = SFTTrainer(
    model=model(),
    args=SFTConfig(f"{out}/sft", per_device_train_batch_size=len(traced), max_steps=1, max_length=None, **common),
    train_dataset=traced,
    processing_class=tokenizer,
)
sft.train()
texts = []
for row in sft.train_dataset:
    mask = row.get("completion_mask") or [int(label != -100) for label in row["labels"]]
    trained = [token for token, used in zip(row["input_ids"], mask, strict=True) if used]
    texts.append({"all": tokenizer.decode(row["input_ids"]), "trained": tokenizer.decode(trained)})
print(json.dumps({"grpo": seen, "sft": texts}))
