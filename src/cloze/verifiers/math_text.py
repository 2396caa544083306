r"""The text of an answer without its typesetting, and units: what every way to read an answer begins with.

`bare` takes away what only changes how a text looks; `text_key` is what two texts that are not numbers must share to
be equal. A unit is told from other words by rule, not by a list: a short list of abbreviations, and longer words
that are neither numbers nor operators.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
CHARACTERS = {ord(dash): "-" for dash in "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"}
CHARACTERS |= {ord(one): " " + unicodedata.normalize("NFKC", one).replace("\u2044", "/") for one in VULGAR}
CHARACTERS |= {ord("~"): " ", ord("\u200b"): "", ord("²"): "^2", ord("³"): "^3"}
WRAPPED = re.compile(r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname)\s*\{([^{}]*)\}")
DROPPED = re.compile(r"(\\\\)|\\(?:left|right|displaystyle)(?![A-Za-z])|\\[$()\[\]!]|\$")
SPACED = re.compile(r"(\\\\)|\\(?:[,;: ]|q?quad(?![A-Za-z]))")
FRACTION_COMMAND = re.compile(r"\\(?:[dtc]|nice)frac(?![A-Za-z])")
DEGREE = re.compile(r"\^(?:\{ ?\\circ ?\}| ?\\circ(?![A-Za-z]))|\\degrees?(?![A-Za-z])")

BESIDE_WORDS = re.compile(r"(?<![^\W_]) | (?![^\W_])")
BRACED_SIGN = re.compile(r"(?<![A-Za-z])\{([A-Za-z])\}|\{([0-9])\}")
COMMAND = re.compile(r"(\\[A-Za-z]+)")
KEPT = 300  # texts of so many characters are remembered: targets come again and again, and so do answers

UNIT = re.compile(r"[A-Za-z]+(?: ?\^\{?[23]\}?)?(?:(?: ?/ ?|[ -])[A-Za-z]+(?: ?\^\{?[23]\}?)?){0,5}")
SHORT_UNIT = re.compile(r"[ckm]?m|[km]?g|m?[lL]|s|h|min|hrs?|ft|in|lbs?|oz|mph")
NOT_A_UNIT = re.compile(
    r"and|n?or|not|but|if|is|maybe|unless|squared|cubed|factorial|mod(?:ulo)?|base|binary|octal|hex|remainder"
    r"|pi|tau|sqrt|sin|cos|tan|log|ln|exp|half|halves"
    r"|(?:third|fourth|quarter|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth)s?"
    r"|zero|one|two|three|ten|eleven|twelve|thir(?:teen|ty)|fifteen|fifty|twenty|forty|eighty"
    r"|(?:four|five|six|seven|eight|nine)(?:teen|ty)?|(?:hundred|thousand|million|billion|trillion|dozen)s?"
)


def bare(text: str) -> str:
    r"""Take the typesetting away: dollars, `\text{}`, `\left`, spacing commands, emphasis, one final full stop."""
    if text.isascii() and text.isalnum():
        return text
    return _kept_bare(text) if len(text) <= KEPT else _bare(text)


def _bare(text: str) -> str:
    text = text.translate(CHARACTERS)
    if "\\" in text or "$" in text:
        for _ in range(3):  # nested three deep at most
            text = WRAPPED.sub(r" \1 ", text)
        text = DROPPED.sub(r"\1", text)
        text = SPACED.sub(r"\1 ", text)
        text = DEGREE.sub("°", FRACTION_COMMAND.sub(r"\\frac", text)).replace("\\%", "%")
    text = " ".join(text.replace("{,}", ",").split()).strip(" *`")
    text = text.rstrip(" ,;:")
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1]
    return text.strip(" *`")


_kept_bare = lru_cache(maxsize=4096)(_bare)


def text_key(text: str) -> str:
    """What two texts that are not numbers must share to be equal; case counts only in the names of commands."""
    if text.isascii() and text.isalnum():
        return text.casefold()
    return _kept_key(text) if len(text) <= KEPT else _key(text)


def _key(text: str) -> str:
    key = BESIDE_WORDS.sub("", bare(text))
    key = BRACED_SIGN.sub(r"\1\2", key)
    return "".join(piece if piece.startswith("\\") else piece.casefold() for piece in COMMAND.split(key))


_kept_key = lru_cache(maxsize=4096)(_key)


def is_unit(unit: str, glued: bool) -> bool:
    """Whether words are a unit; `glued` says that they follow their number without a space (`5m`, but not `5x`)."""
    if re.fullmatch(r"° ?[CF]?", unit):
        return True
    if not UNIT.fullmatch(unit):
        return False
    words = re.findall("[A-Za-z]+", unit)
    if glued and not SHORT_UNIT.fullmatch(words[0]):
        return False
    return all(
        SHORT_UNIT.fullmatch(word) or (len(word) > 1 and not NOT_A_UNIT.fullmatch(word.lower())) for word in words
    )


def split_unit(text: str) -> tuple[str, str]:
    """A bare formula and the unit after it, or an empty one; short letters could be variables and are left alone."""
    found = re.search(r"(?:(?<=[0-9)}\]])|(?<=[0-9)}\]A-Za-z]) )(°|[A-Za-z][A-Za-z /^{}23-]*)$", text)
    if found is None:
        return text, ""
    unit = found[1]
    long = all(len(word) > 3 or SHORT_UNIT.fullmatch(word) for word in re.findall("[A-Za-z]+", unit))
    if not long or not is_unit(unit, False) or re.search(r"\\[A-Za-z]*$", text[: found.start()]):
        return text, ""
    return text[: found.start()].rstrip(), text_key(unit)
