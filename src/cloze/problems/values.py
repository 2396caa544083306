"""Single values of a row, read strictly: text, targets, lists and objects that a csv cell holds as text.

Public data sets disagree most about targets (the number 4, the text "4", a list of one, an object with a `target`), so
all of them pass through `read_target`, which reads what is clear and refuses the rest.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TypedDict

from cloze.errors import InputError


class Fields(TypedDict, total=False):
    """Arguments of `Problem`; what a row does not say is left out."""

    id: str
    question: str
    target: str
    trace: str | None
    domain: str
    verifier: str
    verifier_settings: Mapping[str, object]
    source: str
    system: str
    aliases: tuple[str, ...]


def read_text(value: object, field: str) -> str:
    """Text that is there and that any later stage can hold.

    Raises:
        InputError: missing, blank, not text, or with a lone surrogate or a NUL byte.
    """
    value = plain(value)
    if value is None:
        raise InputError("is missing", field=field, mend="fill it in")
    if not isinstance(value, str):
        kind = "NaN" if value != value else type(value).__name__
        raise InputError(f"must be text, not {kind}", field=field, mend="convert it to text")
    if not value.strip():
        raise InputError("is empty", field=field, mend="fill it in")
    if "\0" in value:
        raise InputError("holds a NUL byte", field=field, mend="take it out")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("holds a lone surrogate, half a character", field=field, mend="encode it again") from None
    return value


def read_target(value: object, field: str) -> tuple[str, tuple[str, ...]]:
    """A target and its aliases, from any of the forms that are clear.

    Args:
        value: text, a number (4.0 is "4"), a list of one of them, a list of several texts (the first is the target,
            the rest are aliases), or an object with one of these under `target` or `ground_truth`.
        field: its name, for messages.

    Raises:
        InputError: anything else: None, NaN, True, empty text, {}, [], a mixed or nested list.
    """
    value = plain(value)
    if isinstance(value, dict):
        inner = [value[key] for key in ("target", "ground_truth") if value.get(key) is not None]
        if not inner or inner[0] != inner[-1]:
            held = ", ".join(map(repr, value)) or "nothing"
            raise InputError(
                f"must hold one 'target' or 'ground_truth', holds {held}", field=field, mend="give the target alone"
            )
        value = inner[0]
    if not isinstance(value, list):
        return read_scalar(value, field), ()
    if len(value) != 1 and not (value and all(isinstance(item, str) for item in value)):
        raise InputError(
            f"a list of {len(value)} that is not all text", field=field, mend="give one target, or texts that all count"
        )
    target, *others = (read_scalar(item, field) for item in value)
    return target, without_target(others, target)


def plain(value: object) -> Any:
    """Numpy scalars and arrays as Python's own, all the way down; float32 by its shortest decimal."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        is_float = isinstance(value, Real) and not isinstance(value, Integral)
        value = float(str(value)) if is_float else value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def structured(value: object) -> Any:
    """As `plain`, and a list or object that a csv cell holds as text (JSON, or Python's own writing) is read."""
    value = plain(value)
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        # Python's writing only with an object in it: it would join the texts of ['a' 'b'], as numpy prints them.
        parsers = (json.loads, ast.literal_eval) if "{'" in value.lstrip()[:3] else (json.loads,)
        for parse in parsers:
            try:
                return parse(value.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    return value


def read_scalar(value: object, field: str) -> str:
    """A text or number as text.

    Raises:
        InputError: anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        if not isinstance(value, str | None):
            kind = type(value).__name__
            raise InputError(f"must be text or a number, not {kind}", field=field, mend="convert it to text")
        text = read_text(value, field).strip()
        if text in ("nan", "NaN"):
            raise InputError("is NaN", field=field, mend="fill it in or drop the row")
        return text
    number = Decimal(str(value))
    if not number.is_finite():
        raise InputError(f"is {value}", field=field, mend="fill it in or drop the row")
    return str(int(number)) if number == number.to_integral_value() else f"{number:f}".rstrip("0")


def is_absent(value: object) -> bool:
    """Whether a value stands for none: None or blank text."""
    return value is None or (isinstance(value, str) and not value.strip())


def read_id(*candidates: object) -> Fields:
    """The first of some ids that is there, as a field; no field if none is."""
    found = next((candidate for candidate in candidates if not is_absent(candidate)), None)
    return {} if found is None else {"id": read_scalar(plain(found), "id")}


def without_target(texts: Iterable[str], target: str) -> tuple[str, ...]:
    """Aliases: each once, and not the target itself."""
    return tuple(text for text in dict.fromkeys(texts) if text != target)


def read_object(value: object, field: str) -> dict[str, object]:
    """An object, empty if absent.

    Raises:
        InputError: it is something else.
    """
    value = structured(value)
    if is_absent(value):
        return {}
    if not isinstance(value, dict):
        raise InputError(f"must be an object, not {type(value).__name__}", field=field, mend="write it as JSON")
    return value


def read_list(value: object, field: str) -> list[object]:
    """A list, empty if absent.

    Raises:
        InputError: it is something else.
    """
    value = structured(value)
    if is_absent(value):
        return []
    if not isinstance(value, list):
        raise InputError(f"must be a list, not {type(value).__name__}", field=field, mend="write it as JSON")
    return value
