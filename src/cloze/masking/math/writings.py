r"""In how many ways can a symbolic target be written? Its tokens in normal form, and the writings made from it.

A *writing* is a row of tokens: size and spacing commands, dollars, braces and font wrappers fall away, `\dfrac` is
`\frac`, `≤` is `\le`. From a target come its fraction with a slash or `\over`, the terms of a sum in another order, a
product the other way round, a set or list in another order, an interval as inequalities and back, and what it is
without its name (`y = `).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import permutations

from cloze.masking.math.latex import Latex
from cloze.masking.math.values import fraction_key, key_value, number_key
from cloze.verifiers.math import bare, read_value

MAX_WRITINGS = 96

TOKEN = re.compile(
    r"\\(?:begin|end)\s*\{[bpvBV]?matrix\}|\\(?:text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf|bb)|mbox|operatorname)\s*(?=\{)|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?"
    r"|(?:infinity|infty|sqrt|theta|pi|or|and|sin|cos|tan|log|ln|exp)(?![A-Za-z])"
    r"|[<>]=|\S"
)
DROPPED = re.compile(
    r"\\(?:left|right|[bB]ig+[lr]?|displaystyle|textstyle|limits|q?quad|,|!|;|:| |\(|\)|\[|\]|cdot|times|boxed|fbox|"
    r"text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf|bb)|mbox|operatorname)\s*|[{}$*~·×]"
)
SAME = {
    "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac", "\\leq": "\\le", "\\leqslant": "\\le", "≤": "\\le",
    "<=": "\\le", "\\geq": "\\ge", "\\geqslant": "\\ge", "≥": "\\ge", ">=": "\\ge", "\\lt": "<", "\\gt": ">",
    "∞": "\\infty", "infinity": "\\infty", "infty": "\\infty", "π": "\\pi", "pi": "\\pi", "−": "-", "–": "-",
    "√": "\\sqrt", "sqrt": "\\sqrt", "∪": "\\cup", "θ": "\\theta", "theta": "\\theta", "±": "\\pm",
    "\\div": "/", "÷": "/", "\\dbinom": "\\binom", "\\tbinom": "\\binom", "sin": "\\sin", "cos": "\\cos",
    "tan": "\\tan", "log": "\\log", "ln": "\\ln", "exp": "\\exp", "²": "^\0002", "³": "^\0003", "⁴": "^\0004",
    "\\lbrace": "\\{", "\\rbrace": "\\}", "∅": "\\emptyset", "\\varnothing": "\\emptyset",
}  # fmt: skip
INTERVAL = re.compile(r"([\[(])([^,()\[\]]+),([^,()\[\]]+)([\])])")
INEQUALITY = re.compile(r"([A-Za-z])\s*(<=?|>=?|\\leq?|\\geq?|≤|≥)\s*([^<>≤≥A-Za-z=]+)")
BETWEEN = re.compile(r"([^<>≤≥A-Za-z=]+?)\s*(<=?|\\leq?|≤)\s*([A-Za-z])\s*(<=?|\\leq?|≤)\s*([^<>≤≥A-Za-z=]+)")

plain_text = lru_cache(maxsize=4096)(bare)


@lru_cache(maxsize=1 << 14)
def normal(token: str) -> str:
    """A token in normal form, empty if it falls away."""
    if token[0].isdecimal():
        return number_key(token)
    if token.endswith("matrix}"):
        return token[:4] + "matrix"
    return "" if token == "\0" or DROPPED.fullmatch(token) else SAME.get(token, token)


@lru_cache(maxsize=1 << 14)
def value_key(text: str) -> str | None:
    """The key of a text that is one value and nothing else (unit, name and typesetting aside), or None."""
    value = read_value(text)
    if value is not None:
        return fraction_key(value)
    plain = plain_text(text)
    sign = plain.startswith("-")
    read = Latex(plain).constant(int(sign)) if plain else None
    if read is None or read[0] != len(plain):
        return None
    return "-" + read[1] if sign else read[1]


@lru_cache(maxsize=4096)
def writings(goal: str) -> tuple[str, ...]:
    """A symbolic target in its writings, each as its tokens, ended by NUL; `?` in a writing is any one letter."""
    plain = plain_text(goal)
    made = dict.fromkeys([goal, plain])
    for step in (_unnamed, _fractions, _sums, _ranges, _lists, _products, _fractions):
        for one in list(made)[:MAX_WRITINGS]:
            made.update(dict.fromkeys(step(one)))
    joined: dict[str, None] = {}
    for one in list(made)[:MAX_WRITINGS]:
        tokens = [token for token in map(normal, TOKEN.findall(one)) if token]
        while tokens and tokens[-1] in (".", ","):
            tokens.pop()
        if tokens and any(re.search(r"\w", token) for token in tokens):
            joined["".join(token + "\0" for token in tokens)] = None
    return tuple(joined)


def _fractions(text: str) -> Iterator[str]:
    r"""`\frac{A}{B}` as `A/B` with brackets or without, and back, and `\frac{kA}{B}` as `\frac{k}{B}A`."""
    latex = Latex(text)
    for match in re.finditer(r"\\[dtc]?frac\s*(\{|\d|\\[A-Za-z]+)", text):
        parts, at = [], match.start(1)
        for _ in range(2):
            close = latex.pairs.get(at)
            if close is not None:
                parts.append(text[at + 1 : close])
                at = close + 1
            elif single := re.compile(r"\s*(\d|\\[A-Za-z]+|[A-Za-z])").match(text, at):
                parts.append(single[1])
                at = single.end()
        if len(parts) < 2:
            continue
        top, bottom, before, after = *parts, text[: match.start()], text[at:]
        for written in (f"{top}/{bottom}", f"({top})/{bottom}", f"{top}/({bottom})", f"({top})/({bottom})"):
            yield before + written + after
        yield f"{before}{top}\\over {bottom}{after}"
        yield from (f"{before}\\frac{{{turned}}}{{{bottom}}}{after}" for turned in _sums(top))
        if factor := re.match(r"(\d+)(?=\D)", top):
            yield f"{before}\\frac{{{factor[1]}}}{{{bottom}}}{top[factor.end() :]}{after}"
        elif not top[:1].isdigit() and not re.search(r"[-+]", top):
            yield f"{before}\\frac{{1}}{{{bottom}}}{top}{after}"
    if slash := re.fullmatch(r"\(?([^/()]+)\)?\s*/\s*\(?([^/()]+)\)?", text):
        yield f"\\frac{{{slash[1]}}}{{{slash[2]}}}"


def _unnamed(text: str) -> Iterator[str]:
    """`y = 2x+3` without its name, and a function's argument with brackets."""
    if named := re.fullmatch(r"\\?[A-Za-z](?:\([a-z]\))?\s*=\s*(.+)", text):
        yield named[1]
    if call := re.fullmatch(r"(\\(?:ln|log|sin|cos|tan|exp))\s*([A-Za-z0-9]+|\\[a-z]+)", text):
        yield f"{call[1]}({call[2]})"
    if root := re.fullmatch(r"(.*)\\sqrt\{([A-Za-z0-9]+)\}", text):
        yield f"{root[1]}\\sqrt({root[2]})"


def _sums(text: str) -> Iterator[str]:
    """The terms of a sum in every other order, each with its sign."""
    if re.search(r"[=,<>(\[]|\{[^{}]*[-+][^{}]*\}", text):
        return
    terms = re.findall(r"[-+]?[^-+]+", re.sub(r"\s+", "", text))
    if 1 < len(terms) <= 4:
        for order in permutations(term if term[0] in "-+" else "+" + term for term in terms):
            yield "".join(order).removeprefix("+")


def _products(text: str) -> Iterator[str]:
    r"""A number times a symbol the other way round: `\pi 2` for `2\pi`."""
    if factor := re.fullmatch(r"(\d+(?:\.\d+)?)\s*([^-+=,<>()\[\]/]+)", text):
        yield f"{factor[2]} {factor[1]}"


def _lists(text: str) -> Iterator[str]:
    """A set without its braces, tuples with their numbers as decimals or fractions, two values in another order."""
    inner = re.fullmatch(r"\\\{(.*)\\\}|\((.*)\)|(.*)", re.sub(r"\\left|\\right|\s", "", text))
    parts = next((part for part in inner.groups() if part is not None), "").split(",") if inner else []
    if not 1 < len(parts) <= 4 or not all(parts):
        return
    if text.lstrip("\\").startswith("(") or "\\left(" in text:
        keys = [value_key(part) for part in parts]
        if all(keys):
            yield f"({','.join(map(str, keys))})"
            values = [key_value(key) for key in keys if key]
            if None not in values:
                yield f"({','.join(map(str, values))})"
        return
    for order in permutations(parts):
        yield ",".join(order)
        yield "{" + ",".join(order) + "}"
        if len(order) == 2:
            yield " and ".join(order)
            yield " or ".join(order)


def _ranges(text: str) -> Iterator[str]:
    """An interval as inequalities (`?` for the variable), an inequality the other way round and as an interval."""
    interval = INTERVAL.fullmatch(re.sub(r"\\left|\\right|\s", "", text))
    between, single = BETWEEN.fullmatch(text), INEQUALITY.fullmatch(text)
    if interval:
        opens, low, high, closes = interval.groups()
        yield from _inequalities("?", low if "infty" not in low and "∞" not in low else "", opens, high, closes)
    elif between:
        low, first, name, second, high = between.groups()
        opens, closes = ("(" if first == "<" else "["), (")" if second == "<" else "]")
        yield f"{opens}{low},{high}{closes}"
        yield from _inequalities(name, low, opens, high, closes)
    elif single:
        name, sign, edge = single.groups()
        below, strict = sign[0] in "<≤" or sign.startswith("\\l"), sign in ("<", ">")
        opens, closes = ("(" if not below and strict else "["), (")" if below and strict else "]")
        yield f"(-\\infty,{edge}{closes}" if below else f"{opens}{edge},\\infty)"
        low, high = ("", edge) if below else (edge, "\\infty")
        yield from _inequalities(name, low, opens, high, closes)
        yield f"{name}\\in(-\\infty,{edge}{closes}" if below else f"{name}\\in{opens}{edge},\\infty)"


def _inequalities(name: str, low: str, opens: str, high: str, closes: str) -> Iterator[str]:
    under, over = ("<" if opens == "(" else "\\le"), ("<" if closes == ")" else "\\le")
    turned = {"<": ">", "\\le": "\\ge"}
    if "infty" in high or "∞" in high:
        if low:
            yield f"{name}{turned[under]}{low}"
            yield f"{low}{under}{name}"
    elif not low:
        yield f"{name}{over}{high}"
        yield f"{high}{turned[over]}{name}"
    else:
        yield f"{low}{under}{name}{over}{high}"
        yield f"{high}{turned[over]}{name}{turned[under]}{low}"
