r"""Which masker suits a trace, guessed from the trace and its target when the row does not say.

A program in the trace, or one that is asked for, and a target that is no number make it code. A target that is a
number, LaTeX or a letter of choice, or a trace that calculates, make it math. A target or trace with names in it makes
it entities, if the package that finds them is installed, else text (the target alone is hidden). What fits nothing is
math, whose masker also hides the target wherever it stands. A guess is a guess: whoever knows better names the domain.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec

FENCE = re.compile(r"^[ \t]{0,3}(?:```+|~~~+)[ \t]*[\w+#.-]*[ \t]*$", re.MULTILINE)
PROGRAM = re.compile(
    r"^[ \t]*(?:(?:async )?def \w+\(.*\)|class \w+.*:$|import [\w.]+(?: as \w+)?$|from [\w.]+ import |#include\s*<"
    r"|public (?:static )?\w+|(?:int|void|long|double) \w+\(|function \w+\(|(?:for|while|if|elif) .+:$"
    r"|return\b.*[\w)\]]$|print\(|assert .+[=(]|SELECT .+ FROM )",
    re.MULTILINE,
)
INLINE = re.compile(r"`([^`\n]+)`")
ASKS = re.compile(
    r"\b(?:write|implement|complete)\b[^.?!\n]{0,60}\b(?:function|program|code|class|method|query)\b", re.IGNORECASE
)
NUMBER = re.compile(r"[-+\u2212$(\[{]*\.?\d[\d.,/:%^\s]*[^\d]{0,20}")
LATEX = re.compile(r"\\[A-Za-z]+|\$.+\$|[A-Za-z0-9)}]\s?(?:[\^=]\s?[-{(\\A-Za-z0-9]|_[{\d])")
CHOICE = re.compile(r"\(?[A-Za-z]\)?\.?")
CALCULATES = re.compile(r"\\(?:boxed|[dt]?frac|sqrt|cdot|times)(?![a-z])|####|=\s?[-(\\$]?\d|\d\s?[+*\u00d7=]\s?\S")
NAME = re.compile(r"(?<![.!?:\n] )(?<!^)(?<![\w'])[A-Z][^\W\d_]+", re.MULTILINE)
CAPITAL = re.compile(r"(?<!\w)[A-Z][^\W\d_]")
LOOKED_AT = 20_000


def guess_domain(text: str, target: str = "", question: str = "") -> str:
    """Guess the domain of a trace.

    Args:
        text: the trace; its first `LOOKED_AT` characters are looked at.
        target: what it arrives at, or empty.
        question: what it answers, or empty.

    Returns:
        "code", "math", "entities" or "text".
    """
    text, target = text[:LOOKED_AT], target.strip()[:LOOKED_AT]
    formula = _is_formula(target)
    if not formula and (_has_program(text) or ASKS.search(question[:LOOKED_AT]) or (not target and _has_inline(text))):
        return "code"
    if formula or CALCULATES.search(text):
        return "math"
    if CAPITAL.search(target) or (target and NAME.search(text)):
        return "entities" if _finds_names() else "text"
    return "text" if target and not re.search(r"\d", text) else "math"


def _has_program(text: str) -> bool:
    return FENCE.search(text) is not None or PROGRAM.search(text) is not None


def _has_inline(text: str) -> bool:
    return any(re.search(r"[()\[\]=]", match[1]) for match in INLINE.finditer(text))


def _is_formula(target: str) -> bool:
    """Whether a target is a number (perhaps with a unit), LaTeX or a letter of choice, and no program or test."""
    if not target or "\n" in target or re.search(r"assert|def |==|\"inputs?\"|\{\"", target):
        return False
    return any(pattern.fullmatch(target) for pattern in (NUMBER, CHOICE)) or LATEX.search(target) is not None


@cache
def _finds_names() -> bool:
    return find_spec("spacy") is not None
