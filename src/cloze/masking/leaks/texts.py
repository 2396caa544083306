r"""Targets that are words for the leak audit: names, days, options, symbols, whatever is compared as text.

A text is found in any case and spacing and with any typesetting between its parts. A name is found also without its
article or accents, by its initials ("UCL") and, for a person, by the surname. A single letter is an option and read
in `options`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from cloze.masking.leaks.options import find_options
from cloze.masking.leaks.values import Place
from cloze.verifiers.math import bare

LONGEST = 300
FILLER = r"(?:[\s~$]|\\[,;:!]|\\(?:left|right|displaystyle|q?quad)(?![A-Za-z])|\\ )"
SAME = (
    (r"\le", r"\leq", r"\leqslant", "≤", "⩽", "<="),
    (r"\ge", r"\geq", r"\geqslant", "≥", "⩾", ">="),
    (r"\ne", r"\neq", "≠"),
    (r"\frac", r"\dfrac", r"\tfrac", r"\cfrac", r"\nicefrac"),
    (r"\binom", r"\dbinom", r"\tbinom"),
    (r"\infty", "∞"),
    (r"\pi", "π"),
    (r"\pm", "±"),
    (r"\cup", "∪"),
    (r"\cap", "∩"),
    (r"\emptyset", r"\varnothing", "∅"),
    (r"\cdot", "·", "⋅"),
    (r"\times", "×"),
    ("-", "\u2212", "\u2010", "\u2011", "\u2012", "\u2013"),
    ("'", "\u2019"),
    ("pmatrix", "bmatrix", "matrix", "vmatrix", "Bmatrix", "Vmatrix", "smallmatrix"),
)
SPELLINGS = {one: group for group in SAME for one in group}
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\w+|<=|>=|\S")
DETERMINERS = {"no", "all", "both", "some", "any", "each", "every", "more", "less", "other", "same"}
BEFORE_WORD = re.compile(r"\s+[A-Za-z]")

ARTICLES = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
SMALL = {"of", "the", "and", "for", "in", "on", "at", "to", "de", "la", "le", "du", "des", "di", "da", "y", "a", "an"}
PARTICLES = {
    "van", "von", "de", "der", "den", "di", "da", "del", "della", "la", "le", "bin", "ibn", "al", "el", "ter",
    "ten", "y",
}  # fmt: skip
SUFFIXES = {"jr", "sr", "ii", "iii", "iv", "phd", "md", "esq"}
TITLES = {
    "mr", "mrs", "ms", "dr", "sir", "dame", "lord", "lady", "king", "queen", "prince", "princess", "pope", "saint",
    "st", "president", "professor", "prof",
}  # fmt: skip
NOT_SURNAMES = frozenset(
    re.findall(
        "[a-z]+",
        "university college school institute academy church museum library hospital river lake sea ocean bay"
        " gulf mountain mountains mount valley island islands peninsula desert forest park garden gardens city"
        " town village county state states province region district street avenue road square bridge airport"
        " station tower building house palace castle kingdom republic empire union federation emirates nations"
        " war battle treaty revolution party company corporation group bank club team band orchestra"
        " association league cup prize award awards medal games olympics series film movie show book song"
        " album times post news press day night year century age era language people theory theorem law act"
        " court council committee congress parliament army navy force forces north south east west america"
        " africa asia europe australia zealand york angeles francisco diego jersey england britain ireland"
        " korea carolina dakota virginia mexico delhi rica lanka arabia",
    )
)
LETTERS = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "\u2019": "'"})


def find_texts(shown: str, target: str) -> Iterator[Place]:
    """Every place of a target that is no number: "text", "mention" or "label"."""
    plain = bare(target)
    option = re.fullmatch(r"(?:(?:option|choice|answer)\s+)?\(?([A-Za-z])\)?[.:]?", plain, re.IGNORECASE)
    if option:
        yield from find_options(shown, option[1])
        return
    if len(target) > LONGEST:
        for word in filter(None, dict.fromkeys((target, plain))):
            at = shown.find(word)
            while at >= 0:
                yield at, at + len(word), "text"
                at = shown.find(word, at + len(word))
        return
    weak = plain.lower() in DETERMINERS
    for word in dict.fromkeys((plain, target)):
        if not TOKEN.search(word):
            continue
        for match in _pattern(word).finditer(shown):
            determines = weak and BEFORE_WORD.match(shown, match.end())
            yield match.start(), match.end(), "label" if determines else "text"
    if not weak and "\\" not in plain and any(character.isalpha() for character in plain):
        yield from _mentions(shown, plain)


@lru_cache(maxsize=1024)
def _pattern(word: str) -> re.Pattern[str]:
    tokens = list(TOKEN.finditer(word))
    pieces: list[str] = []
    for index, match in enumerate(tokens):
        token = match.group()
        if index:
            words = token[0].isalnum() and tokens[index - 1].group()[-1].isalnum()
            pieces.append(FILLER + ("++" if words else "*+"))
        spellings = sorted(SPELLINGS.get(token, (token,)), key=len, reverse=True)
        piece = "|".join(
            re.escape(one) + ("(?![A-Za-z])" if one[:1] == "\\" and one[-1].isalpha() else "") for one in spellings
        )
        pieces.append(f"(?-i:{piece})" if token[0] == "\\" else f"(?:{piece})")
    left, right = _edges(tokens[0].group(), tokens[-1].group())
    return re.compile(left + "".join(pieces) + right, re.IGNORECASE)


def _edges(first: str, last: str) -> tuple[str, str]:
    """What must not stand before a first and after a last token: more of the same word or number, an operand."""
    left = right = ""
    if first in SPELLINGS["-"]:
        left = r"(?<![\w)}\]])(?<![\w)}\]] )"
    elif first[0].isalnum():
        left = r"(?<![\w\\])(?<![0-9][.,])" if first[0].isdigit() else r"(?<![\w\\])"
    if last[-1].isdigit():
        right = r"(?:(?!\w|[.,][0-9])|(?=[ap]\.?m\b))"
    elif last[-1].isalnum() and last[0] != "\\":
        right = r"(?!\w)"
    return left, right


def _mentions(shown: str, plain: str) -> Iterator[Place]:
    words = re.findall(r"\w[\w'\u2019.&-]*\w|\w|&", ARTICLES.sub("", plain, count=1))
    if not words or len(words) > 12:
        return
    folded = _fold(shown)
    core = [_fold(word) for word in words]
    joined = r"[\s~.'-]{1,3}".join(r"(?:&|and)" if word.lower() in ("&", "and") else re.escape(word) for word in core)
    if len("".join(core)) > 1:
        yield from _found(rf"(?<!\w){joined}(?!\w)", folded, re.IGNORECASE)
    if len(words) == 1:
        if re.fullmatch(r"[A-Z]{3,6}", words[0]):
            yield from _spelled_out(shown, words[0])
        return
    words = [word for word in words if word.lower().strip(".") not in SUFFIXES] or words
    large = [word for word in words if word.lower() not in SMALL | PARTICLES]
    if not large or not all(word[0].isupper() for word in large if word[0].isalpha()) or not large[0][0].isalpha():
        return
    for letters in dict.fromkeys(("".join(word[0] for word in large), "".join(word[0] for word in words).upper())):
        if 2 <= len(letters) <= 8:
            yield from _found(r"(?<![\w.])" + r"(?:\. ?)?".join(_fold(letters)) + r"(?!\w)", folded)
    surname = _surname(words)
    if surname:
        name = _fold(surname)
        yield from _found(rf"(?<![\w-])(?:{re.escape(name)}|{re.escape(name.upper())})(?!\w)", folded)


def _found(pattern: str, text: str, flags: re.RegexFlag = re.NOFLAG) -> Iterator[Place]:
    for match in re.compile(pattern, flags).finditer(text):
        yield match.start(), match.end(), "mention"


def _fold(text: str) -> str:
    """Without accents, each letter in its place."""
    if text.isascii():
        return text
    text = text.translate(LETTERS)
    return "".join(unicodedata.normalize("NFD", one)[0] for one in text)


def _surname(words: list[str]) -> str:
    names = words[1:] if words[0].lower().strip(".") in TITLES else words
    if not 2 <= len(names) <= 5 or any(not word[0].isalpha() for word in names):
        return ""
    if any(word.lower() in NOT_SURNAMES or (word[0].islower() and word.lower() not in PARTICLES) for word in names):
        return ""
    return names[-1] if len(names[-1]) > 2 and names[-1][0].isupper() else ""


def _spelled_out(shown: str, letters: str) -> Iterator[Place]:
    for match in re.finditer(r"(?<!\w)[A-Z]\w*+(?:[ -](?:(?:of|the|and|for|in|on)[ -]){0,2}[A-Z]\w*+)++", shown):
        words = list(re.finditer(r"[A-Z]\w*", match.group()))
        initials = "".join(word.group()[0] for word in words)
        at = initials.find(letters)
        if at >= 0:
            yield match.start() + words[at].start(), match.start() + words[at + len(letters) - 1].end(), "mention"
