r"""The math verifier, in its exact form: the same number, or the same text, and nothing in between.

A completion is right when the answer it names equals the target. The answer is found by a named policy (a box, a
`####` line, "the answer is"), always the last one of its kind: an earlier answer that was taken back does not count,
and a last box that is empty or never closes is no answer. Numbers are compared as exact fractions, whatever their
writing: 0.5 is 1/2, 1,250 is 1250, `3\frac{1}{2}` is 3.5. Everything else is compared as text after its
typesetting is taken away. Nothing that a policy wrote is ever evaluated.

Rules worth knowing:

- 40% is 0.4 and not 40, on either side.
- A rounded number is not the exact one: 0.333 is not 1/3.
- A unit after the answer is ignored when the target has none; when both have one, they must be spelled alike.
- A name before the answer (`x = 9`) is ignored when the target has none; when both have one, they must be the same.
- For a target that is a single letter, `(C)`, `C.`, `C)` and `C: the reason` all choose C.

Not covered yet, and so compared as text only: powers, roots, factorials, scientific notation, sums, intervals and
inequalities, sets in another order, tuples of numbers written differently, equivalent algebra.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Literal, get_args

from cloze.errors import InputError
from cloze.verifiers.verdict import Verdict

Extract = Literal["boxed", "hash", "answer_is", "last"]
EXTRACTS: tuple[str, ...] = get_args(Extract)
MAX_CHARACTERS = 20_000  # only the end of a longer completion is looked at
MAX_NUMBER = 1_000  # a longer text is not read as a number: int() on it is quadratic, and refused by Python at 4,300

BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*(\{)?")
ANSWER_IS = re.compile(r"(?<![A-Za-z])answer[*_ ]{0,4}(?:is\b|:)", re.IGNORECASE)
SENTENCE_END = re.compile(r"\.(?=\s|$)")

VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
CHARACTERS = {ord(dash): "-" for dash in "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"}
CHARACTERS |= {ord(one): " " + unicodedata.normalize("NFKC", one).replace("\u2044", "/") for one in VULGAR}
CHARACTERS |= {ord("~"): " ", ord("\u200b"): "", ord("²"): "^2", ord("³"): "^3"}
WRAPPED = re.compile(r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname)\s*\{([^{}]*)\}")
DROPPED = re.compile(r"(\\\\)|\\(?:left|right|displaystyle)(?![A-Za-z])|\\[$()\[\]!]|\$")
SPACED = re.compile(r"(\\\\)|\\(?:[,;: ]|q?quad(?![A-Za-z]))")
FRACTION_COMMAND = re.compile(r"\\(?:[dtc]|nice)frac(?![A-Za-z])")
DEGREE = re.compile(r"\^(?:\{ ?\\circ ?\}| ?\\circ(?![A-Za-z]))|\\degrees?(?![A-Za-z])")

NUMBER = r"(?:(?:[0-9]{1,3}(?:(?:,[0-9]{3})+|(?: [0-9]{3})+)(?![0-9])|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)"
DECIMAL = re.compile(NUMBER)
REPEATING = re.compile(r"([0-9]*)\.([0-9]*)\\(?:overline|bar) ?(?:\{([0-9]+)\}|([0-9]))")
SLASH = re.compile(rf"(?:([0-9]+) )?({NUMBER}) ?/ ?({NUMBER})")
FRAC = re.compile(
    rf"(?:([0-9]+) ?)?\\frac ?(?:\{{ ?([+-]? ?{NUMBER}) ?\}}|([0-9])) ?(?:\{{ ?([+-]? ?{NUMBER}) ?\}}|([0-9]))"
)
NAME = re.compile(r"(\\?[A-Za-z][A-Za-z0-9_{}]{0,40}(?:\([A-Za-z0-9]{0,20}\))?) ?= ?")
BODY = re.compile(r"(?:[^A-Za-z\\°]|\\(?:frac|overline|bar)(?![A-Za-z]))*+")
UNIT = re.compile(r"[A-Za-z]+(?: ?\^\{?[23]\}?)?(?:(?: ?/ ?|[ -])[A-Za-z]+(?: ?\^\{?[23]\}?)?){0,5}")
SHORT_UNIT = re.compile(r"[ckm]?m|[km]?g|m?[lL]|s|h|min|hrs?|ft|in|lbs?|oz|mph")
NOT_A_UNIT = re.compile(
    r"and|n?or|not|but|if|is|maybe|unless|squared|cubed|factorial|mod(?:ulo)?|base|binary|octal|hex|remainder"
    r"|pi|tau|sqrt|sin|cos|tan|log|ln|exp|half|halves"
    r"|(?:third|fourth|quarter|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth)s?"
    r"|zero|one|two|three|ten|eleven|twelve|thir(?:teen|ty)|fifteen|fifty|twenty|forty|eighty"
    r"|(?:four|five|six|seven|eight|nine)(?:teen|ty)?|(?:hundred|thousand|million|billion|trillion|dozen)s?"
)
CHOICE = re.compile(r"(?:\(([A-Za-z])\)|([A-Za-z])(?=[):]|\.(?:\s|$)|$)[).:]?+)(?!\s*(?:(?:or|and)\b|[,/&(]))")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A text read as one number: its exact value, the name before it (`x = `) and the unit after it, or empty."""

    value: Fraction
    name: str = ""
    unit: str = ""


def verify_math(completion: str, target: str, *, aliases: Sequence[str] = (), extract: Extract = "last") -> Verdict:
    r"""Score a completion against a target, exactly.

    Args:
        completion: what the policy wrote. If it opens a `<think>` block, only what follows the last `</think>` counts.
        target: the right answer, as a number or as text, typeset or plain.
        aliases: other texts that count as the target.
        extract: which answer counts: "boxed", the last `\boxed{}` or `\fbox{}`; "hash", the rest of the line after
            the last `####`; "answer_is", what follows the last "answer is" or "answer:" up to the end of the sentence
            or line; "last", the first of these three that is there at all.

    Returns:
        The verdict: reward 1.0 or 0.0, or None with status "unparseable_gold" when nothing is left of the target.

    Raises:
        InputError: there is no such policy.
    """
    started = perf_counter()
    if extract not in EXTRACTS:
        raise InputError(f"extract cannot be {extract!r}", mend=f"use one of {', '.join(EXTRACTS)}")

    def verdict(reward: float | None, status: str, reason: str, extracted: str | None = None) -> Verdict:
        return Verdict(reward, status, extracted, target, reason, perf_counter() - started)

    if not text_key(target):
        return verdict(None, "unparseable_gold", "the target is empty once its typesetting is taken away")
    answer, reason = extract_answer(completion, extract)
    if answer is None:
        return verdict(0.0, "no_answer", reason)
    if not text_key(answer):
        return verdict(0.0, "no_answer", f"{reason} is empty")
    for accepted in (target, *(alias for alias in aliases if text_key(alias))):
        how = compare(answer, accepted)
        if how:
            also = "" if accepted is target else f" to the alias {accepted!r}"
            return verdict(1.0, "correct", f"{reason} is {how}{also}", answer)
    return verdict(0.0, "wrong", f"{reason} is not the target", answer)


def extract_answer(completion: str, extract: str) -> tuple[str | None, str]:
    """Find the answer by one of the policies: (answer, where it was), or (None, why there is none)."""
    closed = completion.rfind("</think>")
    if completion.rfind("<think>") > closed:
        return None, "the <think> block is not closed"
    text = completion[closed + len("</think>") :] if closed >= 0 else completion
    text = text[-MAX_CHARACTERS:]
    if extract == "boxed" or (extract == "last" and BOX.search(text)):
        return _last_box(text)
    if extract == "hash" or (extract == "last" and "####" in text):
        if "####" not in text:
            return None, "there is no #### line"
        return _line(text.rpartition("####")[2], "the text after the last ####")
    phrases = list(ANSWER_IS.finditer(text))
    if not phrases:
        return None, f"there is no {'box, no #### line and no ' if extract == 'last' else ''}'answer is'"
    return _line(text[phrases[-1].end() :], "the text after the last 'answer is'", SENTENCE_END)


def _line(rest: str, where: str, end: re.Pattern[str] | None = None) -> tuple[str | None, str]:
    line = rest.partition("\n")[0]
    if BOX.search(line):
        return _last_box(line)
    if end is not None and (cut := end.search(line)):
        line = line[: cut.start()]
    return line.strip(" \t\r:*"), where


def _last_box(text: str) -> tuple[str | None, str]:
    boxes = list(BOX.finditer(text))
    if not boxes:
        return None, "there is no box"
    if boxes[-1][1] is None:
        return None, "the last box has no braces"
    depth, at = 1, boxes[-1].end()
    for mark in re.finditer(r"\\.|[{}]", text[at:], re.DOTALL):  # an escaped brace is part of the answer
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth == 0:
            return text[at : at + mark.start()].strip(), "the last box"
    return None, "the last box never closes"


def compare(answer: str, target: str) -> str:
    """How an answer equals a target ("equal in value", "equal as text", "the same choice"), or empty if it does not."""
    goal = read_quantity(target)
    if goal is not None:
        got = read_quantity(answer)
        if got is not None and got.value == goal.value:
            alike = (not goal.name or not got.name or goal.name == got.name) and (
                not goal.unit or not got.unit or goal.unit == got.unit
            )
            return "equal in value" if alike else ""
    left, right = bare(answer), bare(target)
    if "=" not in left or "=" not in right:
        left, right = _unnamed(left), _unnamed(right)
    if text_key(left) == text_key(right):
        return "equal as text"
    letter, chosen = CHOICE.fullmatch(bare(target)), CHOICE.match(bare(answer))
    if letter and chosen and (letter[1] or letter[2]).lower() == (chosen[1] or chosen[2]).lower():
        return "the same choice"
    return ""


def _unnamed(text: str) -> str:
    named = NAME.match(text)
    return text[named.end() :] if named else text


def read_value(text: str) -> Fraction | None:
    """The exact value of a text that is one number (a unit and `x =` aside), or None."""
    quantity = read_quantity(text)
    return quantity.value if quantity is not None else None


def read_quantity(text: str) -> Quantity | None:
    """Read a text as one number, or None when it is anything else or longer than `MAX_NUMBER` characters."""
    if len(text) > MAX_NUMBER:
        return None
    rest, name = re.sub("[€£¥₹]", "", bare(text)).strip(), ""
    if named := NAME.match(rest):
        name, rest = text_key(named[1]), rest[named.end() :]
    sign, rest = _sign(rest)
    if rest[:1] + rest[-1:] in ("()", "{}") and "," not in rest:  # (1,250) is a pair
        inner, rest = _sign(rest[1:-1].strip())
        sign *= inner
    cut = BODY.match(rest)
    body, unit = (rest[: cut.end()], rest[cut.end() :].strip()) if cut else (rest, "")
    if re.match(r"percent(?![A-Za-z])", unit):
        body, unit = body.strip() + "%", unit[len("percent") :].strip()
    glued, body = not body.endswith((" ", "%")), body.rstrip()
    per = 100 if body.endswith("%") else 1
    value = _magnitude(body.removesuffix("%").rstrip())
    if value is None or (unit and not _is_unit(unit, glued)):
        return None
    return Quantity(sign * value / per, name, "degrees" if unit in ("°", "degree") else text_key(unit))


def _sign(text: str) -> tuple[int, str]:
    return (-1 if text.startswith("-") else 1), (text[1:].lstrip() if text[:1] in ("-", "+") else text)


def _magnitude(body: str) -> Fraction | None:
    if DECIMAL.fullmatch(body):
        return _decimal(body)
    if match := REPEATING.fullmatch(body):
        whole, fixed, repeats = match[1], match[2], match[3] or match[4]
        scale = 10 ** len(fixed)
        tail = Fraction(int(repeats), scale * (10 ** len(repeats) - 1))
        return Fraction(int((whole + fixed) or "0"), scale) + tail
    if match := SLASH.fullmatch(body):
        mixed, top, bottom = match[1], _decimal(match[2]), _decimal(match[3])
    elif match := FRAC.fullmatch(body):
        mixed, top, bottom = match[1], _decimal(match[2] or match[3]), _decimal(match[4] or match[5])
    else:
        return None
    if bottom == 0 or (mixed and not 0 <= top < bottom):
        return None
    return Fraction(int(mixed or "0")) + top / bottom


def _decimal(text: str) -> Fraction:
    return Fraction(re.sub("[, ]", "", text).rstrip("."))


def _is_unit(unit: str, glued: bool) -> bool:
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


def bare(text: str) -> str:
    r"""Take the typesetting away: dollars, `\text{}`, `\left`, spacing commands, emphasis, one final full stop."""
    text = text.translate(CHARACTERS)
    for _ in range(3):  # nested three deep at most
        text = WRAPPED.sub(r" \1 ", text)
    text = DROPPED.sub(r"\1", text)
    text = SPACED.sub(r"\1 ", text)
    text = FRACTION_COMMAND.sub(r"\\frac", text).replace("{,}", ",").replace("\\%", "%")
    text = " ".join(DEGREE.sub("°", text).split()).strip(" *`")
    text = text.rstrip(" ,;:")
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1]
    return text.strip(" *`")


def text_key(text: str) -> str:
    """What two texts that are not numbers must share to be equal; case counts only in the names of commands."""
    key = re.sub(r"(?<![^\W_]) | (?![^\W_])", "", bare(text))
    key = re.sub(r"(?<![A-Za-z])\{([A-Za-z])\}|\{([0-9])\}", r"\1\2", key)
    return "".join(piece if piece.startswith("\\") else piece.casefold() for piece in re.split(r"(\\[A-Za-z]+)", key))
