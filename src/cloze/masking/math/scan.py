r"""Where do values begin? One compiled scan over a text, and every value in it that is not written in words.

Plain digits are taken on the spot; what begins with a command, a root, a unicode fraction or a raised digit, and what
follows a number and makes one value with it, is read by `latex` and `compounds`. Structure is not told apart here.
"""

from __future__ import annotations

import re

from cloze.masking.math.compounds import EXTENDS, EXTENDS_AFTER_SPACE, Value, dates, extend, root_over, with_parts
from cloze.masking.math.latex import GROUP, Latex
from cloze.masking.math.structure import UNIT_RAISED, last_word
from cloze.masking.math.values import SUPERSCRIPTS, negative, number_key
from cloze.masking.math.writings import value_key
from cloze.verifiers.math import text_key

SCAN = re.compile(
    rf"[\d.\\¼-¾⅐-⅞√⁰¹²³⁴-⁹](?:(?<=\d)(?:\d{{0,2}}(?:{GROUP}\d{{3}})++(?!\d)(?:\.\d+)?"
    r"|\d{0,2}(?:[ \u00a0\u202f]\d{3})++(?!\d)(?:\.\d+)?|\d*+(?:\.\d+)?)"
    r"|(?<=\.)(?<!\w.)\d+|(?P<special>(?<=\\)(?:[dtc]?frac|nicefrac|sfrac|sqrt|boxed|fbox)(?![A-Za-z])"
    r"|(?<=[¼-¾⅐-⅞√])|(?<=[⁰¹²³⁴-⁹])[⁰¹²³⁴-⁹]*))"
)
BOX = "box"
BOX_OPEN = re.compile(r"\\f?box(?:ed)?\s*\{")
MAX_BOX = 1000
RAISED_DIGITS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
WINDOW = 48
MAY_EXTEND = frozenset(" .")
MINUS = frozenset("-\u2212\u2013")

Read = tuple[int, int, str, tuple[str, ...], str]  # a Value, or as plain a tuple where speed counts


def scan(text: str) -> list[Read]:
    """Every value that is not written in words, from left to right, labels and other structure among them."""
    found: list[Read] = []
    latex: Latex | None = None
    skip = 0
    written = dates(text)
    matches = SCAN.finditer(text)
    while (match := next(matches, None)) is not None:
        start, end = match.span()
        if start < skip:
            if end > skip:  # its beginning belongs to another value, its end may be one
                matches = SCAN.finditer(text, skip)
            continue
        if written and end > written[0].start:
            found.append(written[0])
            skip = written.pop(0).end
            matches = SCAN.finditer(text, skip)
            continue
        values: list[Value] | None = None
        if match.lastindex is None:
            after = text[end : end + 1]
            if after in EXTENDS or (after in MAY_EXTEND and text[end + 1 : end + 2] in EXTENDS_AFTER_SPACE):
                latex = latex or Latex(text)
                values = extend(text, start, end, latex)
        else:
            latex = latex or Latex(text)
            values = _special(text, start, end, latex)
            if not values:
                continue
        sign = start and text[start - 1] in MINUS and _is_sign(text, start - 1)
        if values is None or (written and values[-1].end > written[0].start):
            key = number_key(match[0])
            found.append((start - 1, end, negative(key), (), "") if sign else (start, end, key, (), ""))
            continue
        skip = values[-1].end
        if sign:
            start, end, key, parts, whole = values[0]
            whole = negative(whole) if whole and whole != BOX else whole
            values[0] = Value(start - 1, end, negative(key), parts, whole)
        found += values
    return found


def _special(text: str, start: int, end: int, latex: Latex) -> list[Value]:
    """The value that begins with a command, a root, a unicode fraction or a raised digit; empty if there is none."""
    first = text[start]
    if first in RAISED_DIGITS:
        unit = UNIT_RAISED.search(text[max(0, start - 24) : start])
        return [] if unit else [Value(start, end, number_key(text[start:end].translate(SUPERSCRIPTS)))]
    if first == "\\" and text[start + 1] in "bf" and (box := BOX_OPEN.match(text, start)):
        close = latex.pairs.get(box.end() - 1)
        if close is None or not text[box.end() : close].strip():
            return []
        inner = text[box.end() : close]
        left = box.end() + len(inner) - len(inner.lstrip())
        key = value_key(inner) if len(inner) < MAX_BOX else None
        return [Value(left, left + len(inner.strip()), key or text_key(inner[:MAX_BOX]), (), BOX)]
    read = latex.constant(start)
    if read is None:
        return []
    over = root_over(text, *read)
    return [with_parts(text, Value(start, *(over or read)))]


def _is_sign(text: str, at: int) -> bool:
    """Whether the minus at `at`, right before a number, is a sign: nothing is there that could be subtracted from.

    After a word (`so -7`, `yields -7`) it is a sign, after a single letter or a number with its unit (`n -7`,
    `5 cm -3`) an operator.
    """
    before = text[max(0, at - WINDOW) : at]
    line = before[before.rfind("\n") + 1 :]
    left = line.rstrip()
    last = left[-1:]
    if last in ("|", "'", "$"):  # the end of |x|, of f', of $x$; or the beginning of something
        last = left[-2:-1]
    if not last or not (last.isalnum() or last in "_)]}%!\u00b0"):
        return True
    word = last_word(left)
    return left != line and len(word) > 1 and not left[: -len(word)].rstrip()[-1:].isdecimal()


def numbers(text: str) -> list[tuple[str, int, int]]:
    """Every value that is written in digits: key, start, end; a minus that is a sign belongs to it."""
    return [(key, start, end) for start, end, key, _, _ in scan(text)]


def parse_number(text: str) -> str | None:
    """The key of a text that is one number and nothing else (currency and percent signs aside), or None."""
    bare = text.strip().strip("$\\% ").rstrip(".")
    found = numbers(bare)
    return found[0][0] if len(found) == 1 and found[0][1:] == (0, len(bare)) else None
