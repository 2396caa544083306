r"""Which numbers are no values but structure: labels, list numbers, subscripts, names, ordinals, units, references.

These stay readable, since they carry the plan and not the answer: `Step 1`, `2) Multiply`, `x_1`, `the 3rd term`,
`cm^2`, `\tag{4}`. Every test here looks at a bounded stretch before or after the number.
"""

from __future__ import annotations

import re

LABELS = frozenset(
    ["step", "case", "part", "lemma", "theorem", "claim", "figure", "fig", "example", "equation", "eq", "section",
     "problem", "question", "method", "solution", "option", "table", "chapter", "proposition", "corollary",
     "definition", "note", "stage", "phase", "exercise", "page", "remark", "subcase", "approach", "property", "rule"]
)  # fmt: skip
LABELS |= frozenset(label + "s" for label in LABELS)
ABBREVIATED = frozenset(["eq", "eqs", "fig", "figs", "sec", "thm", "ch", "ex", "no", "prop", "def", "cor", "eqn"])
CURRENCY = frozenset(("Rs", "RM", "USD", "EUR", "GBP", "INR", "CAD", "AUD", "US", "HK", "NT"))
UNIT = (
    r"(?:[cdkm]?m|km|in|ft|yd|mi|s|sec|inch(?:es)?|feet|foot|yards?|miles?|units?|(?:centi|kilo|milli)?met(?:er|re)s?)"
)
UNIT_POWER = re.compile(
    rf"(?:\\(?:text|mathrm|rm|mbox|textrm)\s*\{{[^{{}}]{{0,24}}?{UNIT}[.\s]*\}}|(?<![A-Za-z\\]){UNIT})\}}?\s*\^\{{?$"
)
UNIT_RAISED = re.compile(rf"(?<![A-Za-z\\]){UNIT}$")
ORDINAL = re.compile(
    r"(?:\^ ?\{? ?)?(?:\\(?:text(?:rm|superscript)?|mathrm|mbox)\{ ?)?(?:st|nd|rd|th)(?![A-Za-z])", re.IGNORECASE
)
REFERENCE = re.compile(
    r"\\(?:tag\*?|(?:eq|auto|c)?ref|label|cite[pt]?|[hv]space\*?|begin)\s*\{[A-Za-z:_. -]{0,40}$|\\\\\[$"
)
LIST_LINE = re.compile(
    r"^[ \t>]*(?:(?:[#*+-]{1,6}[ \t]+|\*\*)){0,2}\(?(\d{1,3})(?:[.):]\**[ \t]+|\*{2}[ \t]+)(?=\S)", re.MULTILINE
)
WINDOW = 48


def list_numbers(text: str) -> set[int]:
    """Where list numbers stand: first on their line, text after them, and counting up from 0 or 1."""
    places, seen = set(), {-1, 0}
    for match in LIST_LINE.finditer(text):
        number = int(match[1])
        if number - 1 in seen and not (match.start() and text[match.start() - 1] != "\n"):
            places.add(match.start(1))
            seen.add(number)
    return places


def is_structure(text: str, start: int, end: int) -> bool:
    """Whether the number `text[start:end]` (without its sign) is a label, part of a name, an ordinal or a reference."""
    before = text[max(0, start - WINDOW) : start]
    line = before[before.rfind("\n") + 1 :]
    return _in_name(line) or _labelled(line) or ORDINAL.match(text, end) is not None or _referred(line)


def _in_name(line: str) -> bool:
    subscript = line.removesuffix("{").rstrip(" ") if line.endswith("{") else line
    if subscript.endswith("_"):
        last = subscript[-2:-1]
        return last.isalnum() or last in (")", "}")
    last = line[-1:]
    if last in ("^", "{") and UNIT_POWER.search(line):
        return True
    if not last.isalpha():
        return False
    word = last_word(line)
    return word not in CURRENCY and (bool(word) or not last.isascii())


def _labelled(line: str) -> bool:
    left = line.rstrip("#( \t*~")
    word = last_word(left.removesuffix("."))
    if left.endswith("."):
        return word.lower() in ABBREVIATED
    return word.lower() in LABELS or word in ("Round", "Day", "Line", "Row")


def _referred(line: str) -> bool:
    return "\\" in line and REFERENCE.search(line) is not None


def last_word(line: str) -> str:
    r"""The ASCII letters that a line ends with; empty for a command such as `\pi`."""
    rest = line.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return "" if rest.endswith("\\") else line[len(rest) :]
