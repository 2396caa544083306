"""Runs in verl's own environment: what does its data set make of a file? Prints one JSON object.

with_verl.py FILE TOKENIZER OUT
"""

import json
import sys

from omegaconf import OmegaConf
from torch.utils.data import DataLoader
from transformers import AutoTokenizer
from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn
from verl.utils.reward_score import default_compute_score

file, folder, out = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder)
config = OmegaConf.create({"cache_dir": f"{out}/cache", "max_prompt_length": 512, "filter_overlong_prompts_workers": 1})
data = RLHFDataset(file, tokenizer, config)
batch = next(iter(DataLoader(data, batch_size=len(data), collate_fn=collate_fn)))
rows = []
for index in range(len(data)):
    source, gold = batch["data_source"][index], batch["reward_model"][index]["ground_truth"]
    rows.append(
        {
            "prompt": tokenizer.apply_chat_template(
                batch["raw_prompt"][index], tokenize=False, add_generation_prompt=True
            ),
            "index": batch["index"][index],
            "data_source": source,
            "ground_truth": gold,
            "ability": batch["ability"][index],
            "extra_info": batch["extra_info"][index],
            "scores": [default_compute_score(source, f"So\n#### {text}", gold) for text in (gold, gold + "1")],
        }
    )
print(json.dumps(rows))
