r"""A target that is one letter: where is it the option that is chosen, and where a variable, a point or an article?

`(C)`, `\text{C}`, "option C", "the answer is C" and a capital alone in a sentence are the choice and hidden; the C of
`$C = 2\pi r$`, `\angle C`, "point C" or `P(C)`, and the A of "A dog", stay. In the other case a letter is hidden only
where it is marked as a choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CHOSEN = re.compile(
    r"(?:(?<![A-Za-z])(?:options?|choices?|answers?|alternative|letter|select|choose|pick|mark|circle)"
    r"(?:\s+(?:is|was|are|would be|must be|choice|option|letter))?\s*[:=]?|####|\\f?box(?:ed)?\s*\{)"
    r"\s*[*\"'$({]{0,4}(?:\\(?:text[a-z]*|math[a-z]+|mbox)\s*\{\s*)?\(?\Z",
    re.IGNORECASE,
)
WRAPPED = re.compile(r"(?:\\(?:text[a-z]*|math(?:rm|bf|sf|bb)|mbox)\s*\{\s*\(?|\*\*\(?|[\"\u201c])\Z")
FUNCTION = re.compile(r"(?:(?<![A-Za-z])[A-Za-z]{1,2}|\\[A-Za-z]+|sin|cos|tan|log)\(\Z")
OPERATORS = frozenset("=+-*/^_<>|{}\\&×·°'\u2019∠△!~\u2212")
NAMED = frozenset(
    ["point", "vertex", "angle", "side", "line", "segment", "set", "event", "city", "town", "person", "player", "team",
     "box", "class", "grade", "plan", "machine", "car", "train", "circle", "center", "centre", "node", "matrix",
     "constant", "variable", "group", "type", "bag", "tank", "pipe", "worker", "building", "triangle", "let", "from",
     "at", "through"]
)  # fmt: skip
ARTICLE = re.compile(r"\s+(?!(?:is|are|was|must|can|and|or|because|since|as|works|holds|only|alone|fits)\b)[a-z]|'")


def choices(text: str, letter: str) -> Iterator[tuple[int, int]]:
    """The places in which a letter is the choice."""
    other = letter.swapcase()
    for match in re.finditer(f"[{letter}{other}]", text):
        start, end = match.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if before.isalpha() or before in ("_", "\\", "'", "\u2019") or (after.isalnum() or after == "_"):
            continue
        left = text[max(0, start - 48) : start]
        if (
            CHOSEN.search(left)
            or (before == "(" and after == ")" and not FUNCTION.search(left))
            or (match[0] == letter and (WRAPPED.search(left) or not _is_name(letter, left, text[end : end + 16])))
        ):
            yield start, end


def _is_name(letter: str, left: str, right: str) -> bool:
    if FUNCTION.search(left):  # `P(C)`
        return True
    if left.rstrip(" $")[-1:] in OPERATORS or right.lstrip(" $")[:1] in OPERATORS or right[:1] == "(":
        return True
    noun = left.rstrip(" $").rpartition(" ")[2].lower()
    return noun in NAMED or (letter in "AaI" and ARTICLE.match(right) is not None)
