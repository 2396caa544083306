"""Turn what pydantic says about a wrong key or value into one line: key, section, and the nearest spelling."""

from __future__ import annotations

import difflib
import types
import typing
from typing import Any

from pydantic import BaseModel, ValidationError

from cloze.errors import InputError


def explain(error: ValidationError, model: type[BaseModel], *, file: str | None = None, prefix: str = "") -> InputError:
    """The first fault of `error` as an `InputError`."""
    fault = error.errors()[0]
    place = [str(part) for part in fault["loc"] if not _is_tag(part)]
    section = ".".join(part for part in [prefix, *place[:-1]] if part) or "the top level"
    key = place[-1] if place else ""
    if fault["type"] == "extra_forbidden":
        known = _keys(model, place[:-1])
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        mend = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
        return InputError(f"unknown key {key!r} in section {section!r}", file=file, mend=mend)
    if fault["type"] == "missing":
        return InputError(f"missing key {key!r} in section {section!r}", file=file, mend="add it")
    message = fault["msg"].removeprefix("Value error, ")
    if not place:
        return InputError(message, file=file)
    got = f", got {fault['input']!r}" if not isinstance(fault["input"], dict) else ""
    return InputError(f"key {key!r} in section {section!r}: {message}{got}", file=file)


def _keys(model: Any, path: list[str]) -> list[str]:
    for part in path:
        field = model.model_fields.get(part) if _is_model(model) else None
        if field is None:
            return []
        candidates = typing.get_args(field.annotation) if _is_union(field.annotation) else (field.annotation,)
        model = next((candidate for candidate in candidates if _is_model(candidate)), None)
    return [field.alias or name for name, field in model.model_fields.items()] if _is_model(model) else []


def _is_tag(part: Any) -> bool:
    """Pydantic puts the members of a union it tried into the place of a fault; they are no keys."""
    return isinstance(part, int) or part in ("int", "float", "str") or "[" in str(part)


def _is_model(candidate: Any) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, BaseModel)


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)
