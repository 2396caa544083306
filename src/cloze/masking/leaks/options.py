r"""Options for the leak audit: is a letter the answer that is chosen, or a point, a variable, an article?

The verifier takes `(C)`, `C.` and "c" for C alike. An option is chosen where it stands in brackets, in a box, in bold,
in quotes, after "option" or "the answer is", or where a capital stands alone in prose ("so it is C"). It is a label
where it is listed with the other options, named by a noun ("point C"), used in a formula or as a function (`P(C)`), or
where it may be an article ("A train"). In lower case it is found only where it is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from cloze.masking.leaks.values import Place

WRAP = r"(?:\\(?:text[a-z]*|math(?:rm|bf|sf|bb)|mbox)\s*\{\s*)"
ANSWERED = re.compile(
    r"(?:(?<![A-Za-z])(?:options?|choices?|answers?|alternative|letter|select|choose|pick|mark|circle)"
    r"(?:\s+(?:is|was|are|would be|must be|choice|option|letter))?\s*[:=]?|####|\\(?:boxed|fbox)\s*\{)"
    rf"\s*[*\"'$(]{{0,4}}{WRAP}{{0,2}}\(?$",
    re.IGNORECASE,
)
CHOOSING = (
    "answer",
    "option",
    "choice",
    "choose",
    "####",
    "box",
    "pick",
    "select",
    "letter",
    "alternative",
    "mark",
    "circle",
)
CONCLUDED = re.compile(r"(?<![A-Za-z])(?:so|hence|thus|therefore|gives?|is|be|i\.e\.|to|only)[,:]? *\($", re.IGNORECASE)
QUOTED = re.compile(rf"{WRAP}\(?$|\*\*\(?$|[\"\u201c]$")
FUNCTION = re.compile(r"[\w}\]\0]\($")
ENUMERATED = re.compile(r"[ \t]*(?:[-*>][ \t]*)?\*{0,2}\(?$")
MARK = re.compile(r"\)|[.:)](?=\s)")
SENTENCE = re.compile(r"[.;:]\s{1,2}\($")
CONTENT = re.compile(r"(?:[^\S\n]+|(?=\\))(?!(?:is|must|works|holds|because|since|fits)\b)\S")
NOUNS = frozenset(
    re.findall(
        "[a-z]+",
        "point vertex vertices angle side line segment set event city town person player team box boxes class grade"
        " vitamin plan machine car train circle center centre node matrix constant variable group type bag tank pipe"
        " worker building school room station country company house store stock candidate student child friend triangle"
        " let part case step column row plane ball cube jar urn from at through",
    )
)
NEIGHBOUR = re.compile(r"(?<![A-Za-z])[A-Z]\$?(?:,| and| or|,? and|,? or)[ ]\$?$")
FOLLOWER = re.compile(r"\$?(?:,|,? and|,? or) \$?[A-Z](?![A-Za-z])")
ARTICLE = re.compile(
    r"\s+(?!(?:is|are|was|must|can|and|or|because|since|as|works|holds|only|alone|fits)\b)[A-Za-z0-9$\\]|'"
)
OPERATORS = "=+-*/^_<>|{}\\&×·°'\u2019∠△!~\u2212"


def find_options(shown: str, letter: str) -> Iterator[Place]:
    """Every place of an option: "text" where it is chosen, "label" where it is not."""
    lower, upper = letter.lower(), letter.upper()
    for match in re.finditer(rf"(?<![\w\\])[{lower}{upper}](?![\w])", shown):
        start, end = match.span()
        before, after = shown[max(0, start - 48) : start], shown[end : end + 24]
        own = match.group() == letter
        bracketed = before.endswith("(") and after.startswith(")")
        if FUNCTION.search(before) and not (_is_answer(before) and not bracketed):  # f(c), f(c, d)
            if own:
                yield start, end, "label"
        elif (_is_answer(before) and not FOLLOWER.match(after)) or (bracketed and CONCLUDED.search(before)):
            yield start, end, "text"
        elif _is_listed(shown, start, end):
            yield start, end, "label"
        elif bracketed or QUOTED.search(before):
            yield start, end, "text"
        elif own:
            yield start, end, "label" if _is_name(letter, before, after) else "text"


def _is_answer(before: str) -> bool:
    lower = before.lower()
    return any(word in lower for word in CHOOSING) and ANSWERED.search(before) is not None


def _is_listed(shown: str, start: int, end: int) -> bool:
    """An option in a list of them: at the start of its line, or right after or before two others."""
    mark = MARK.match(shown, end)
    if not mark:
        return False
    line_start = shown.rfind("\n", max(0, start - 12), start) + 1
    if (
        (line_start or start < 12)
        and ENUMERATED.fullmatch(shown, line_start, start)
        and CONTENT.match(shown, mark.end())
    ):
        return True
    if shown[start].islower() and SENTENCE.search(shown, max(0, start - 4), start) and CONTENT.match(shown, mark.end()):
        return True
    around = shown[max(0, start - 80) : end + 80]
    near = [f"({chr(ord(shown[start]) + step)})" in around for step in (-2, -1, 1, 2)]
    return shown[start - 1 : start] == "(" and any(one and other for one, other in pairwise(near))


def _is_name(letter: str, before: str, after: str) -> bool:
    if before.rstrip(" $")[-1:] in tuple(OPERATORS) or after.lstrip(" $")[:1] in tuple(OPERATORS):
        return True
    noun = before.rstrip(" $").rpartition(" ")[2].lstrip("\\").lower()
    if (
        noun in NOUNS
        or noun.removesuffix("s") in NOUNS
        or NEIGHBOUR.search(before[-12:])
        or FOLLOWER.match(after)
        or after[:1] == "("
    ):
        return True
    return letter in "AaI" and ARTICLE.match(after) is not None
