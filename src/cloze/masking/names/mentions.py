"""Every mention of a name: the target and its aliases wherever they stand in a text, in any usual writing.

A name is turned into patterns once (`writings`), and each pattern walks over the *folded* text, in which accents,
letter forms, curly quotes and the many dashes and spaces of Unicode are gone; the places found are carried back to the
text itself. What is matched:

- the name in any case, its words parted by spaces, line ends, hyphens, marks of emphasis or a bracket, its letters by
  the stops of an abbreviation (`U.S.A.`, `J. R. R. Tolkien`); an article or title in front of it is optional;
- the acronym of a name of several words, in capitals only, and the words that an acronym stands for;
- of a name that looks like a person's (two to four capitalised words, not ended by a month or a word such as `River`):
  with any of the given names or their initials, with further names between, and the capitalised surname alone;
- a number however it is grouped, and in words; a date in the usual orders.

An ending (`'s`, the `s` of a plural) stays readable, and a name inside of another word is no mention. A name of one
letter counts in its own case only, and "no" only where it answers. In doubt a mention too many is hidden, never one too
few. Not covered: translations, nicknames, demonyms (`Polish` for `Poland`), the year alone for a whole date.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from cloze.masking.math.values import number_key
from cloze.masking.math.words import number_words
from cloze.masking.names.writings import ARTICLES, NUMBER, TOKEN, writings
from cloze.masking.spans import Span

THE_TARGET = "the target"

PLAIN = {"ß": "ss", "ẞ": "SS", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D"}
PLAIN |= {"þ": "th", "Þ": "Th", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ı": "i", "´": "'", "ʼ": "'", "′": "'"}
PLAIN |= dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("“”„‟«»″", '"')
PLAIN |= dict.fromkeys("‐‑‒–—―−⁃\u00ad\u200b\u200c\u200d\u2060\ufeff", "-")
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def find_mentions(text: str, names: Sequence[str]) -> list[Span]:
    """Find every mention of a name.

    Args:
        text: where to look.
        names: the target and its aliases; empty ones are passed over.

    Returns:
        Spans in order, of category "target" and of one value, the key of the first name, so that all share a blank.
    """
    wanted = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not wanted or not text:
        return []
    patterns, numbers = _patterns(wanted)
    folded, places = fold(text)
    found = [match.span(match.lastindex or 0) for pattern in patterns for match in pattern.finditer(folded)]
    if numbers:
        found += [(word.start, word.end) for word in number_words(folded) if word.key in numbers and not word.loose]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif end > start:
            merged.append((start, end))
    if places is not None:
        merged = [(places[start], max(places[end], places[end - 1] + 1)) for start, end in merged]
    value = name_key(wanted[0])
    return [Span(start, end, "target", value, THE_TARGET) for start, end in merged]


def name_key(name: str) -> str:
    """What two writings of a name share: its words in small letters without accents, article and punctuation."""
    words = [word.lower() for word in TOKEN.findall(fold(name)[0])]
    if len(words) > 1 and words[0] in ARTICLES:
        del words[0]
    return " ".join(words) or " ".join(name.split())


def fold(text: str) -> tuple[str, list[int] | None]:
    """The text with plain letters, quotes, dashes and spaces, case kept.

    Returns:
        The folded text, and where each of its characters (and its end) stands in `text`, or None if nothing has moved.
    """
    if text.isascii():
        return text, None
    pieces = [_fold(character) for character in text]
    folded = "".join(pieces)
    if all(len(piece) == 1 for piece in pieces):
        return folded, None
    return folded, [*(at for at, piece in enumerate(pieces) for _ in piece), len(text)]


@lru_cache(maxsize=1 << 14)
def _fold(character: str) -> str:
    if character in PLAIN:
        return PLAIN[character]
    kind = unicodedata.category(character)
    if kind == "Mn":
        return ""
    if kind == "Nd":
        return str(unicodedata.decimal(character))
    if kind[0] not in "LPZ" or kind in ("Zl", "Zp"):
        return character
    plain = "".join(one for one in unicodedata.normalize("NFKD", character) if unicodedata.category(one) != "Mn")
    return plain or character


@lru_cache(maxsize=256)
def _patterns(names: tuple[str, ...]) -> tuple[tuple[re.Pattern[str], ...], frozenset[str]]:
    """The patterns of all names, and the keys of those that are numbers."""
    patterns: dict[str, None] = {}
    numbers = set()
    for name in names:
        for written in dict.fromkeys((name, name.translate(UMLAUTS))):
            folded = " ".join(fold(written)[0].split())
            if not folded:
                continue
            number = NUMBER.fullmatch(folded)
            word = next(number_words(folded), None)
            if number:
                numbers.add(number_key(re.sub("[, ]", "", number["digits"])))
            elif word and not word.start and re.fullmatch("(?: [a-z]+)?", folded[word.end :]):
                numbers.add(word.key)
                patterns.update(dict.fromkeys(writings(word.key)))
            patterns.update(dict.fromkeys(writings(folded)))
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns), frozenset(numbers)
