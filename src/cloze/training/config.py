"""The typed configuration of a run: a TOML file, then dotted overrides, then explicit flags.

Every key is known and checked; a misspelt one is refused with its section and the nearest spelling. The resolved
configuration is written into the run folder, and one seed in it reaches every random draw.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from cloze.errors import InputError
from cloze.methods.schema import Part, load_method
from cloze.methods.spelling import explain

Bounds = int | tuple[int, int]


class Source(Part):
    """Where problems come from: a file (`path`), or a built-in `family` with its difficulty.

    Attributes:
        path, schema_name: a data file and its schema (detected when empty; key `schema` in TOML).
        skip_bad: go on past rows that cannot be read.
        limit: only the first so many problems; 0 for all.
        family, n, split, seed: a built-in family, how many problems, which split, and the seed that draws them.
        steps, distractors, modulus, operations: the difficulty of the family "arithmetic".
        task, config: of the family "gym", the task of reasoning-gym and its own settings (`config.max_terms = 3`).
    """

    path: str = ""
    schema_name: str = Field("", alias="schema")
    skip_bad: bool = False
    limit: int = Field(0, ge=0)
    family: Literal["", "arithmetic", "gym"] = ""
    n: int = Field(512, ge=1)
    split: Literal["train", "dev", "test"] = "train"
    seed: int = 0
    steps: Bounds = 4
    distractors: Bounds = 2
    modulus: int = 1000
    operations: str = "+-"
    task: str = ""
    config: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_of(self) -> Source:
        if bool(self.path) == bool(self.family):
            raise ValueError("give either a path or a family")
        if (self.task or self.config) and self.family != "gym":
            raise ValueError("task and config belong to the family 'gym'")
        return self


class Run(Part):
    out: str = ""
    seed: int = 0
    threads: int = Field(1, ge=1)


class ModelPart(Part):
    path: str = "tiny"


class Data(Part):
    train: Source
    eval: Source | None = None


class Sampling(Part):
    """Temperature and limits of sampling; `instruction` goes after every question, guided or not."""

    prompts_per_step: int = Field(16, ge=1)
    group_size: int = Field(8, ge=1)
    temperature: float = Field(1.0, gt=0.0)
    top_p: float = Field(1.0, gt=0.0, le=1.0)
    max_prompt_tokens: int = Field(1024, ge=1)
    max_completion_tokens: int = Field(256, ge=1)
    instruction: str = ""

    @model_validator(mode="after")
    def _one_convention(self) -> Sampling:
        if self.top_p < 1.0:
            raise ValueError(
                "top_p below 1 makes the log-probs of sampling and training different distributions;"
                " train with top_p 1 (evaluation may use another)"
            )
        return self


class Optim(Part):
    """AdamW with linear warm-up and a cosine to `final_lr_ratio` times the peak."""

    steps: int = Field(100, ge=1)
    lr: float = Field(1e-6, gt=0.0)
    warmup_ratio: float = Field(0.1, ge=0.0, le=1.0)
    final_lr_ratio: float = Field(0.0, ge=0.0, le=1.0)
    weight_decay: float = Field(0.1, ge=0.0)
    max_grad_norm: float = Field(1.0, gt=0.0)
    updates_per_step: int = Field(1, ge=1)
    micro_batch_tokens: int = Field(8192, ge=1)


class Eval(Part):
    """Evaluation on `data.eval` before the first step and after every `every` steps (0: never)."""

    every: int = Field(0, ge=0)
    samples: int = Field(1, ge=1)
    copying: bool = True


class Checkpoint(Part):
    """A checkpoint after every `every` steps (0: only the last); the newest `keep` stay."""

    every: int = Field(0, ge=0)
    keep: int = Field(2, ge=1)


class Config(Part):
    """A whole run. `method` names a method file; `overrides` replaces some of its keys."""

    method: str = "grpo"
    overrides: dict[str, dict[str, Any]] = Field(default_factory=dict)
    run: Run = Run()
    model: ModelPart = ModelPart()
    data: Data
    sampling: Sampling = Sampling()
    optim: Optim = Optim()
    eval: Eval = Eval()
    checkpoint: Checkpoint = Checkpoint()

    @model_validator(mode="after")
    def _fits(self) -> Config:
        if self.optim.updates_per_step > self.sampling.prompts_per_step:
            raise ValueError("optim.updates_per_step cannot exceed sampling.prompts_per_step")
        if self.eval.every and self.data.eval is None:
            raise ValueError("eval.every needs a data.eval section")
        return self


def load_config(path: Path | None, sets: Sequence[str] = (), flags: dict[str, Any] | None = None) -> Config:
    """Read a TOML file, lay dotted overrides (`a.b=1`) and then flags over it, and check the result.

    Raises:
        InputError: no such file, broken TOML, an unknown key or a bad value.
    """
    data: dict[str, Any] = {}
    if path is not None:
        if not path.is_file():
            raise InputError("no such configuration file", file=path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"broken TOML: {error}", file=path) from error
        if not data:
            raise InputError(
                "the configuration file is empty", file=path, mend="see `cloze train --help` for an example"
            )
    for item in sets:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set takes key=value, got {item!r}")
        _put(data, key.strip(), _value(value))
    for key, value in (flags or {}).items():
        _put(data, key, value)
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise explain(error, Config, file=str(path) if path else None) from error
    if config.method.endswith(".toml"):  # so that the run can be resumed from anywhere
        config = config.model_copy(update={"method": str(Path(config.method).expanduser().resolve())})
    load_method(config.method, config.overrides)
    return config


def write_config(config: Config) -> str:
    """The configuration as TOML, every key written out."""
    return _toml(config.model_dump(by_alias=True))


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _put(data: dict[str, Any], key: str, value: Any) -> None:
    *sections, last = key.split(".")
    for section in sections:
        data = data.setdefault(section, {})
        if not isinstance(data, dict):
            raise InputError(f"{section!r} in {key!r} is a value, not a section")
    data[last] = value


def _toml(table: dict[str, Any], prefix: str = "") -> str:
    lines, tables = [], []
    for key, value in table.items():
        if isinstance(value, dict):
            if value:
                tables.append(_toml(value, f"{prefix}{key}."))
        elif value is not None:
            lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    head = f"[{prefix[:-1]}]\n" if prefix and lines else ""
    return "\n".join([head + "\n".join(lines)] * bool(lines) + tables) + ("\n" if lines else "")
