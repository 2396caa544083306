"""From a path to a model and its tokenizer, with an error that a person can act on.

A path is a Hugging Face folder, a folder holding one .gguf file, a run folder (its newest complete checkpoint is
found by the caller), or the word `tiny` for the base policy that ships with Cloze. Nothing is downloaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging as transformers_logging

from cloze.errors import InputError

TINY = Path(__file__).parent.parent / "base"


def load_model(path: str | Path) -> tuple[Any, Any]:
    """Load a model in float32 and its tokenizer.

    Raises:
        InputError: no such folder, no model in it, no tokenizer in it, or a file that cannot be read.
    """
    folder = TINY if str(path) == "tiny" else Path(path).expanduser()
    if not folder.is_dir():
        raise InputError("no such model folder", file=path, mend="give a folder with config.json, or 'tiny'")
    transformers_logging.disable_progress_bar()
    ggufs = sorted(folder.glob("*.gguf"))
    if not (folder / "config.json").exists() and len(ggufs) != 1:
        raise InputError("no model in this folder (no config.json, no single .gguf file)", file=folder)
    options: dict[str, Any] = {"local_files_only": True}
    if not (folder / "config.json").exists():
        options["gguf_file"] = ggufs[0].name
    elif not any((folder / name).exists() for name in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        raise InputError(
            "the model folder has no tokenizer (no tokenizer.json)",
            file=folder,
            mend="save the tokenizer into it with tokenizer.save_pretrained(folder)",
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **options)
        model, loaded = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="sdpa", output_loading_info=True, **options
        )
    except Exception as error:  # whatever a broken file makes the library raise
        raise InputError(f"the model cannot be loaded: {error}", file=folder) from error
    if loaded["missing_keys"]:
        missing = sorted(loaded["missing_keys"])
        raise InputError(f"{len(missing)} weights are missing, {missing[0]} for one", file=folder)
    if options.get(
        "gguf_file"
    ):  # a model that came from gguf cannot be saved again; the same weights in a fresh one can
        fresh = AutoModelForCausalLM.from_config(model.config, dtype=torch.float32, attn_implementation="sdpa")
        fresh.load_state_dict(model.state_dict())
        fresh.generation_config = model.generation_config
        model = fresh
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model.eval(), tokenizer
