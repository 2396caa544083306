r"""Which numbers are no values but structure: labels, list numbers, subscripts, names, ordinals, units, references.

These stay readable, since they carry the plan and not the answer: `Step 1`, `2) Multiply`, `x_1`, `the 3rd term`,
`cm^2`, `\tag{4}`. Every test here looks at a bounded stretch before or after the number.
"""

from __future__ import annotations

import re

LABELS = frozenset(
    ["step", "case", "lemma", "theorem", "thm", "claim", "figure", "fig", "equation", "eq", "eqn", "section", "sec",
     "problem", "part", "table", "chapter", "proposition", "corollary", "definition", "remark", "exercise", "subcase",
     "substep", "subproblem", "subtask", "subgoal", "scenario", "axiom", "conjecture", "appendix", "algorithm",
     "observation", "identity", "formula", "inequality", "assumption", "iteration", "attempt"]
)  # fmt: skip
WEAK = frozenset(  # these name a value as often as they label one
    ["example", "question", "method", "solution", "option", "note", "stage", "phase", "page", "approach", "property",
     "rule", "round", "day", "line", "row", "fact", "way", "task", "trial", "condition", "constraint", "situation",
     "possibility", "hint", "statement", "principle", "conclusion", "criterion", "requirement", "item", "choice", "q",
     "ex", "no"]
)  # fmt: skip
ABBREVIATED = frozenset(
    ["eq", "fig", "sec", "thm", "ch", "ex", "no", "prop", "def", "cor", "eqn", "lem", "alg", "tab"]
)  # fmt: skip
PLURALS = frozenset(ending for label in LABELS for ending in (f"{label}s", f"{label}es")) | {
    "inequalities",
    "identities",
}
LOWER_PLURALS = frozenset(["steps", "cases", "equations", "lemmas", "claims", "sections"])
ANY_LABEL = LABELS | WEAK | PLURALS | ABBREVIATED | {f"{one}s" for one in ABBREVIATED}
LINK = re.compile(r"\s*(?:,\s*(?:and|or)?|&|and|or|to|through|[-\u2013]|\)\s*(?:,|and|or|[-\u2013]))?\s*\(?|\.")
CURRENCY = frozenset(("Rs", "RM", "USD", "EUR", "GBP", "INR", "CAD", "AUD", "US", "HK", "NT"))
UNIT = (
    r"(?:[cdkm]?m|km|in\.?|hr?|min|ft|yd|mi|s|sec|inch(?:es)?|feet|foot|yards?|miles?|units?"
    r"|(?:centi|kilo|milli)?met(?:er|re)s?)"
)
UNIT_POWER = re.compile(
    rf"(?:\\(?:text|mathrm|rm|mbox|textrm)\s*\{{[^{{}}]{{0,24}}?{UNIT}[.\s]*\}}|(?<![A-Za-z\\]){UNIT})\}}?\s*\^\{{?$"
)
UNIT_RAISED = re.compile(rf"(?<![A-Za-z\\]){UNIT}$")
ORDINAL = re.compile(
    r"-?(?:\^ ?\{? ?)?(?:\\(?:text(?:rm|superscript)?|mathrm|mbox)\{ ?)?(?:st|nd|rd|th)(?![A-Za-z])", re.IGNORECASE
)
REFERENCE = re.compile(
    r"\\(?:tag\*?|(?:eq|auto|c)?ref|label|cite[pt]?|[hv]space\*?|begin)\s*\{[A-Za-z:_. -]{0,40}$|\\\\\[$"
)
LIST_LINE = re.compile(
    r"^[ \t>]*(?:(?:[#*+-]{1,6}[ \t]+|\*\*)){0,2}\(?(\d{1,3})(?:[.):]{1,2}\**[ \t]+|\*{2}[ \t]+)(?=\S)", re.MULTILINE
)
SUBSCRIPT = re.compile(r"[A-Za-z)}'][ ]?_\{[^{}]*\Z")
HEXADECIMAL = re.compile(r"(?<!\d)0[xX]\Z")
INVERSE = re.compile(r"(?:[A-Za-z]|\))\^\{?-\Z")
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


def in_name(text: str, start: int) -> bool:
    """Whether the number at `start` is a subscript, part of a name, the exponent of a unit or an inverse."""
    before = text[max(0, start - WINDOW) : start]
    line = before[before.rfind("\n") + 1 :]
    if SUBSCRIPT.search(line):
        return True
    if line.endswith("_"):
        last = line[-2:-1]
        return last.isalnum() or last in (")", "}")
    last = line[-1:]
    if last in ("^", "{") and UNIT_POWER.search(line):
        return True
    if not last.isalpha():
        return False
    if last in "xX" and (line[-2:-1].isdecimal() or line[-2:-1] in (")", "]")) and not HEXADECIMAL.search(line):
        return False  # `3x4` is a product
    word = last_word(line)
    return word not in CURRENCY and (bool(word) or not last.isascii())


def is_referred(text: str, start: int) -> bool:
    r"""Whether the number stands in a reference or a measure of the layout (`\tag{3}`, `\\[2pt]`)."""
    return REFERENCE.search(text[max(0, start - WINDOW) : start]) is not None


def label_before(text: str, at: int) -> tuple[str, bool]:
    """The label word before the number at `at`, if any, in small letters; and whether it is a plural."""
    left = text[max(0, at - 32) : at].rstrip(" \t\u00a0~(#[$\\-:*_")
    dotted = left.endswith(".")
    word = last_word(left.removesuffix("."))
    if word.lower() == "number":
        word = last_word(left[: -len("number")].rstrip())
    plain = word.lower()
    if plain not in ANY_LABEL:
        return "", False
    if dotted:
        return (plain if plain.removesuffix("s") in ABBREVIATED else ""), plain.endswith("s")
    if plain in LABELS or (plain in WEAK and word[0].isupper()):
        return plain, False
    return (plain, True) if plain in LOWER_PLURALS or (plain in PLURALS and word[0].isupper()) else ("", False)


def last_word(line: str) -> str:
    r"""The ASCII letters that a line ends with; empty for a command such as `\pi`."""
    rest = line.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return "" if rest.endswith("\\") else line[len(rest) :]
