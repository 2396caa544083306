r"""What follows a number in digits and makes one value with it: percent, powers, dates, times, scales, fraction bars.

`extend` is asked only where the character after a number may begin such a thing. It gives back the values that begin
there: mostly one that is longer than the digits, for a division two with the slash between them left alone.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from cloze.masking.math.latex import DIGITS, Latex
from cloze.masking.math.values import MAX_DIGITS, fraction_key, key_value, number_key, product, root_key
from cloze.masking.math.words import DOZEN, SCALES


class Value(NamedTuple):
    """A written value: its place and key, keys of other numbers that are read in it, and of the fraction it is in."""

    start: int
    end: int
    key: str
    parts: tuple[str, ...] = ()
    whole: str = ""


EXTENDS = frozenset("/:^%\\_eE×·*√-½¼¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
EXTENDS_AFTER_SPACE = frozenset("%\\phtmbd/×·*√x½¼¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞0123456789")
PERCENT = re.compile(r"(?:[ \u00a0]|\\,)?\\?%|[ \u00a0]?per[ ]?cent(?![A-Za-z])")
SCALE = re.compile(rf"[ \u00a0-](?P<scale>{'|'.join(SCALES)})(?![A-Za-z])")
TEN = re.compile(
    r"[ ]?(?:\\times|\\cdot|[×·*x])[ ]?(?=10[ ]?(?:\^(?:\{[-\u2212]?\d{1,3}\}|-?\d{1,3}(?![\d.]))|[⁰¹²³⁴-⁹⁻]))"
)
EXPONENT = re.compile(r"[eE]([-+]?\d{1,3})(?![\w.])")
ISO_DATE = re.compile(r"-(?:0\d|1[0-2])-[0-3]\d(?!\d)")
SLASH_DATE = re.compile(r"/[0-3]?\d/(?:\d{4}|\d\d)(?![\d/])")
TIME = re.compile(
    r":[0-5]\d(?::[0-5]\d)?(?![\d:])(?P<half>[ ]?(?:[ap]\.m\.|[ap]m(?![A-Za-z])|o'clock))?(?! ?[=:])", re.IGNORECASE
)
BEFORE_TIME = re.compile(
    r"(?:at|by|until|till|from|to|before|after|around|about|is|was|time|and|now|it's)[ ]\Z", re.IGNORECASE
)
MIXED = re.compile(r"[ \u00a0](\d{1,3})/(\d{1,3})(?![\d/.])")
SLASH = re.compile(rf"(?P<bar> ?/ ?)(?P<bottom>(?>{DIGITS.pattern}))(?!\d)")
BASE = re.compile(r"_(?:\{(?:\d{1,2}|\\text\{\w{1,12}\})\}|\d(?![\d_]))")
OPERATORS = frozenset("*×/÷^")
FOLLOWS = re.compile(
    r"(?P<mixed>[ \u00a0]\d{1,3}/\d)|(?P<slash> ?/ ?\.?\d)"
    r"|(?P<latex>\^|[⁰¹²³⁴-⁹⁻]|[ ~]?(?:√|[¼-¾⅐-⅞]|\\(?:[,!;: ] ?\\)?(?:sqrt|[dtc]?frac))|\.?\d*\\(?:overline|bar|dot))"
    r"|(?P<dated>-\d\d-|:\d)"
    rf"|(?P<scaled>(?:[ \u00a0]|\\,)?(?:\\?%|per)|[ \u00a0-](?:dozen|{'|'.join(SCALES)})|[eE][-+\d]|_"
    r"|[ ]?(?:\\times|\\cdot|[×·*x])[ ]?10[ ]?[\^⁰¹²³⁴-⁹⁻])"
)
DATE = re.compile(
    r"[JFMASOND](?<![A-Za-z].)(?:(?<=J)(?:an(?:uary)?|une?|uly?)|(?<=F)eb(?:ruary)?|(?<=M)(?:ar(?:ch)?|ay)"
    r"|(?<=A)(?:pr(?:il)?|ug(?:ust)?)|(?<=S)ept?(?:ember)?|(?<=O)ct(?:ober)?|(?<=N)ov(?:ember)?|(?<=D)ec(?:ember)?)"
    r"(?![A-Za-z])(?:\.(?=[ \u00a0]\d))?(?P<after>[ \u00a0]\d{1,2}(?:st|nd|rd|th)?(?![\d.:%/A-Za-z])(?:,? \d{4}(?!\d))?"
    r"|(?P<year>,? \d{4}(?!\d)))?"
)
DAY_BEFORE = re.compile(r"(?<![\d.,/])\d{1,2}(?:st|nd|rd|th)? (?:of )?$")


def extend(text: str, start: int, end: int, latex: Latex) -> list[Value] | None:
    """The values that begin at the number `text[start:end]`, or None if it is one by itself."""
    values = _extend(text, start, end, latex)
    return values and [value if value.parts or value.whole else with_parts(text, value) for value in values]


def with_parts(text: str, value: Value) -> Value:
    """The value with the numbers that can be read in it as its parts."""
    return value._replace(parts=tuple(number_key(one) for one in DIGITS.findall(text, value.start, value.end)))


def _extend(text: str, start: int, end: int, latex: Latex) -> list[Value] | None:
    kind = FOLLOWS.match(text, end)
    if kind is None:
        return None
    digits = text[start:end]
    if kind["mixed"] and (mixed := MIXED.match(text, end)):
        top, bottom = int(mixed[1]), int(mixed[2])
        if 0 < top < bottom and digits.isdecimal() and len(digits) < 5:
            return [Value(start, mixed.end(), fraction_key(int(digits) + Fraction(top, bottom)))]
    elif kind["slash"]:
        if dated := _dated(text, start, end):
            return [dated]
        slash = SLASH.match(text, end)
        return _slash(text, start, end, slash) if slash else None
    elif kind["latex"]:
        read = latex.constant(start)
        if read is not None and read[0] > end:
            return [Value(start, *read)]
    elif kind["dated"]:
        dated = _dated(text, start, end)
        return [dated] if dated else None
    elif len(digits) <= MAX_DIGITS:
        scaled = _scaled(text, start, end)
        return [scaled] if scaled else None
    return None


def _scaled(text: str, start: int, end: int) -> Value | None:
    value = key_value(number_key(text[start:end]))
    if value is None:
        return None
    if percent := PERCENT.match(text, end):
        return Value(start, percent.end(), fraction_key(value / 100), (number_key(text[start:end]),))
    if DOZEN.match(text, end):
        return Value(start, end, number_key(text[start:end]), (), fraction_key(12 * value))
    if scale := SCALE.match(text, end):
        stop = scale.end()
        share = PERCENT.match(text, stop)
        return Value(start, share.end() if share else stop, fraction_key(value * SCALES[scale["scale"]]))
    if exponent := EXPONENT.match(text, end):
        if abs(int(exponent[1])) < MAX_DIGITS:
            return Value(start, exponent.end(), fraction_key(value * Fraction(10) ** int(exponent[1])))
    elif (ten := TEN.match(text, end)) and 1 <= value < 10:
        read = Latex(text[ten.end() : ten.end() + 24]).constant(0)
        power = key_value(read[1]) if read else None
        if read and power is not None:
            return Value(start, ten.end() + read[0], fraction_key(value * power))
    if base := BASE.match(text, end):
        return Value(start, base.end(), text[start : base.end()].replace("{", "").replace("}", ""))
    return None


def _dated(text: str, start: int, end: int) -> Value | None:
    if not text[start:end].isdecimal():
        return None
    length = end - start
    if text[end] == "-" and length == 4 and (date := ISO_DATE.match(text, end)):
        return Value(start, date.end(), text[start : date.end()])
    if text[end] == "/" and length <= 2 and (date := SLASH_DATE.match(text, end)):
        return Value(start, date.end(), text[start : date.end()])
    if (
        text[end] == ":"
        and length <= 2
        and int(text[start:end]) <= 24
        and (time := TIME.match(text, end))
        and (time["half"] or BEFORE_TIME.search(text[max(0, start - 8) : start]))
    ):
        return Value(start, time.end(), text[start : time.end()].lower().replace(" ", "").replace(".", ""))
    return None


def _slash(text: str, start: int, end: int, slash: re.Match[str]) -> list[Value]:
    """One fraction (`3/4 of it`), or two numbers with an operator between them."""
    top, bottom = number_key(text[start:end]), number_key(slash["bottom"])
    whole, proper = _ratio(top, bottom)
    if proper and slash["bar"] == "/":
        before, after = text[max(0, start - 2) : start].strip()[-1:], text[slash.end() : slash.end() + 2].strip()[:1]
        if before not in OPERATORS and after not in OPERATORS and after != "=":
            return [Value(start, slash.end(), whole)]
    return [
        Value(start, end, top, (top, bottom), whole),
        Value(slash.start("bottom"), slash.end("bottom"), bottom, (top, bottom), whole),
    ]


@lru_cache(maxsize=1 << 14)
def _ratio(top: str, bottom: str) -> tuple[str, bool]:
    """The key of a fraction, or nothing where it has no value; whether it is a proper one in lowest terms."""
    over, under = key_value(top), key_value(bottom)
    if over is None or not under:
        return "", False
    whole = over.denominator == under.denominator == 1
    return fraction_key(over / under), whole and 0 < over < under <= 1000 and gcd(int(over), int(under)) == 1


def root_over(text: str, end: int, key: str) -> tuple[int, str] | None:
    """A root that is divided by a number (`√3/2`): where that ends and its key."""
    slash = SLASH.match(text, end)
    under = key_value(number_key(slash["bottom"])) if slash else None
    rational, mark, radicand = key.partition("√")
    if slash is None or not under or not mark:
        return None
    top = key_value(rational or "1")
    made = product((top / under, 1), (Fraction(1), int(radicand))) if top is not None else None
    return (slash.end(), root_key(made)) if made else None


def dates(text: str) -> list[Value]:
    """Dates with the month in words: `March 5, 2020`, `5 March`, `the 5th of March 2020`."""
    found: list[Value] = []
    for match in DATE.finditer(text):
        before = DAY_BEFORE.search(text[max(0, match.start() - 12) : match.start()])
        if not before and not match["after"]:
            continue
        if match["year"] and not before:  # `March 2020`: the year alone is a number
            continue
        start = match.start() - len(before[0]) if before else match.start()
        if found and start < found[-1].end:
            start = match.start()
            if not match["after"]:
                continue
        parts = sorted(re.findall(r"\d+", text[start : match.end()]), key=lambda digits: (len(digits) > 2, digits))
        found.append(with_parts(text, Value(start, match.end(), "-".join([match[0][:3].lower(), *parts]))))
    return found
