"""A method is data: one TOML file that names its parts. This is the typed schema which loads it.

Every choice that papers leave silent is a named key here. An unknown key is refused, with the nearest spelling.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cloze.errors import InputError
from cloze.masking.mask import Control, Level, MaskSettings
from cloze.methods.spelling import explain

FOLDER = Path(__file__).parent


class Part(BaseModel):
    """A section whose keys are all known."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class About(Part):
    """What `cloze methods NAME` prints."""

    title: str
    reference: str
    formula: str
    published: str = ""
    inferred: str = ""


class Mask(Part):
    """Which spans of the trace are hidden.

    Attributes:
        kind: `none`; `domain`, what the masker of the problem's domain finds; or a control: as many random spans
            (`random_spans`) or words (`random_tokens`) as that masker would hide.
        ratio: share of the hidden values that are hidden; the target always is.
        critical_path: only values on which the target depends.
        hide_given: also what the question gives.
        level: of code, see `cloze.masking.MaskSettings`.
    """

    kind: Literal["none", "domain", "random_spans", "random_tokens"] = "none"
    ratio: float = Field(1.0, ge=0.0, le=1.0)
    critical_path: bool = False
    hide_given: bool = False
    level: Level = "block"

    def settings(self, seed: int) -> MaskSettings:
        """What the masker takes."""
        controls: dict[str, Control] = {"random_spans": "spans", "random_tokens": "tokens"}
        return MaskSettings(
            ratio=self.ratio,
            seed=seed,
            control=controls.get(self.kind, ""),
            critical_path=self.critical_path,
            hide_given=self.hide_given,
            level=self.level,
        )


class Guidance(Part):
    """How much of the (masked) trace is seen, where, by which rollouts, until when.

    Attributes:
        show: `none`, or the expert `trace`.
        placement: see `cloze.guidance.placement`.
        members: how many rollouts of a group are guided; 0 means all.
        gate: `always`, or `group_fails`: sample unguided first, and guide only the groups in which none was right.
        schedule, start, end, steps: the prefix ratio; 0 steps means the whole run.
        update_prompt: the update is computed under the prompt that was sampled from (`guided`), or under the
            unguided one with the ratio corrected (`unguided`).
    """

    show: Literal["none", "trace"] = "none"
    placement: Literal["user_turn", "assistant_turn", "assistant_prefix"] = "user_turn"
    members: int = Field(0, ge=0)
    gate: Literal["always", "group_fails"] = "always"
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    start: float = Field(1.0, ge=0.0, le=1.0)
    end: float = Field(0.0, ge=0.0, le=1.0)
    steps: int = Field(0, ge=0)
    update_prompt: Literal["guided", "unguided"] = "guided"


class Advantage(Part):
    """What a rollout is worth; `within` says whether guided and unguided rollouts of a problem share statistics."""

    baseline: Literal["group_mean", "leave_one_out", "none"] = "group_mean"
    divide_by_std: bool = True
    within: Literal["problem", "prompt"] = "problem"


class ObjectivePart(Part):
    """How the policy's own tokens learn, and the denominator."""

    kind: Literal["ppo_clip", "unclipped"] = "ppo_clip"
    clip_low: float = Field(0.2, ge=0.0, le=1.0)
    clip_high: float = Field(0.2, ge=0.0)
    dual_clip: float | None = Field(None, gt=1.0)
    aggregation: Literal["token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "constant_length"] = (
        "seq_mean_token_mean"
    )


class Method(Part):
    """A whole method."""

    about: About
    mask: Mask = Mask()
    guidance: Guidance = Guidance()
    advantage: Advantage = Advantage()
    objective: ObjectivePart = ObjectivePart()

    @model_validator(mode="after")
    def _fits(self) -> Method:
        prefix = self.guidance.placement == "assistant_prefix"
        if prefix and self.mask.kind != "none":
            raise ValueError("a masked trace cannot begin the policy's own turn: it would have to write blanks itself")
        if prefix and self.guidance.update_prompt == "unguided":
            raise ValueError("update_prompt 'unguided' needs the trace in an earlier turn, not in the policy's own")
        return self

    @property
    def needs_traces(self) -> bool:
        return self.guidance.show == "trace"


def method_names() -> list[str]:
    """The methods that come with Cloze."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_method(name: str, overrides: dict[str, Any] | None = None) -> Method:
    """Load a method by name, or from the path of a TOML file, with some keys replaced.

    Args:
        name: one of `method_names()`, or a path that ends in .toml.
        overrides: sections as dictionaries, laid over the file.

    Raises:
        InputError: no such method, or a key or value that the schema does not know.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        raise InputError(f"no such method {name!r}", mend=f"use one of {', '.join(method_names())}, or a .toml file")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"broken TOML: {error}", file=path) from error
    for section, values in (overrides or {}).items():
        if not isinstance(values, dict) or not isinstance(data.get(section, {}), dict):
            raise InputError(f"{section!r} is a section, not a value", field=f"method.{section}")
        data[section] = {**data.get(section, {}), **values}
    try:
        return Method.model_validate(data)
    except ValidationError as error:
        raise explain(error, Method, file=path.name, prefix="method") from error
