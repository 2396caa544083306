"""Values on their way between a program in the sandbox and whoever asked for them: plain data as JSON, nothing else.

Pickle would let the program run code on the other side, `repr` would need a parser for it; here a value is null, a
truth value, a number, a text, a list, or an object that names one of the known types. What arrives is therefore a value
of Python's own types with Python's own `==`, whatever class the program made it of. An object of any other type stays
where it is and travels as a reference, if both sides keep such references.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any

DEEP = 200
SMALL = 1 << 63


def encode(value: object, refer: Callable[[object], int] | None = None) -> str:
    """A value as JSON text.

    Args:
        value: the value.
        refer: called with an object of no known type; its answer stands for the object.

    Raises:
        TypeError: an object of no known type, and no `refer`.
        ValueError: nested more than `DEEP` levels.
    """
    return json.dumps(_pack(value, refer, 0), separators=(",", ":"))


def _pack(value: Any, refer: Callable[[object], int] | None, depth: int) -> object:
    if depth > DEEP:
        raise ValueError("the value is nested too deep")

    def inner(items: Any) -> list[object]:
        return [_pack(item, refer, depth + 1) for item in items]

    packed: tuple[str, object]
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__int__(value)
        if -SMALL < number < SMALL:
            return number
        packed = "int", hex(number)
    elif isinstance(value, float):
        real = float.__float__(value)
        if real - real == 0:
            return real
        packed = "float", repr(real)
    elif isinstance(value, list):
        return inner(list.__iter__(value))
    elif isinstance(value, tuple):
        packed = "tuple", inner(tuple.__iter__(value))
    elif isinstance(value, dict):
        packed = "dict", [inner(pair) for pair in dict.items(value)]
    elif isinstance(value, frozenset):
        packed = "frozenset", inner(frozenset.__iter__(value))
    elif isinstance(value, set):
        packed = "set", inner(set.__iter__(value))
    elif isinstance(value, deque):
        packed = "deque", inner(deque.__iter__(value))
    elif isinstance(value, bytes | bytearray):
        packed = type(value).__name__ if type(value) in (bytes, bytearray) else "bytes", bytes(value).hex()
    elif isinstance(value, complex):
        packed = "complex", [repr(value.real), repr(value.imag)]
    elif isinstance(value, range):
        packed = "range", [value.start, value.stop, value.step]
    elif _is(value, "fractions", "Fraction"):
        packed = "fraction", [hex(value.numerator), hex(value.denominator)]
    elif _is(value, "decimal", "Decimal"):
        packed = "decimal", str(value)
    elif refer is not None:
        packed = "ref", refer(value)
    else:
        raise TypeError(f"a value of type {type(value).__name__} cannot leave its program")
    return {packed[0]: packed[1]}


def _is(value: object, module: str, name: str) -> bool:
    """Whether a value is of a class in a module that is slow to import: if it is, the module is there."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name, ()))


def _listed(maker: Callable[[Any], object]) -> Callable[[Any], object]:
    """A maker that takes a list and nothing that only stands for one, as a range of any length does."""

    def make(held: object) -> object:
        if not isinstance(held, list):
            raise TypeError("not a list")
        return maker(held)

    return make


MAKERS: dict[str, Callable[[Any], object]] = {
    "int": lambda held: int(held, 16),
    "float": float,
    "tuple": _listed(tuple),
    "dict": _listed(dict),
    "set": _listed(set),
    "frozenset": _listed(frozenset),
    "deque": _listed(deque),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "complex": lambda held: complex(float(held[0]), float(held[1])),
    "range": lambda held: range(*held),
    "fraction": lambda held: import_module("fractions").Fraction(int(held[0], 16), int(held[1], 16)),
    "decimal": lambda held: import_module("decimal").Decimal(held),
}


class Unordered(list[object]):
    """A set whose members were not hashed: a hostile program may choose them to be slow together."""


INERT = {
    **MAKERS,
    "dict": _listed(lambda pairs: {str(key): value for key, value in pairs}),
    "set": _listed(Unordered),
    "frozenset": _listed(Unordered),
}


def decode(
    text: str,
    resolve: Callable[[int], object] | None = None,
    makers: dict[str, Callable[[Any], object]] = MAKERS,
) -> object:
    """The value in a text made by `encode`.

    Args:
        text: JSON; from a hostile program, so anything.
        resolve: gives the object that a reference stands for.
        makers: `INERT` where a hostile program must not choose what is hashed: sets are `Unordered` and keys texts.

    Raises:
        ValueError: it is not such a text.
    """

    def unpack(value: object) -> object:
        if isinstance(value, list):
            return [unpack(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((kind, held),) = value.items()
        if kind == "ref" and resolve is not None:
            return resolve(held)
        return makers[kind](unpack(held))

    try:
        return unpack(json.loads(text))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"no readable value ({type(error).__name__})") from None
