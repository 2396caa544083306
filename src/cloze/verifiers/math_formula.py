r"""The gate before the symbolic reader: is this text a formula at all, and one that can be compared in bounded time?

What a policy wrote is only handed on if every character, command, word and size in it is one that answers have. The
rest is text, and text that differs from the target is wrong: prose, code, quotes, `__`, numbers of hundreds of digits,
sums, products, integrals and limits left to work out. What passes comes out as plain LaTeX for the reader of
math-verify: `sqrt(2)/2`, `√2/2` and `\sqrt2/2` are one text then. Decimals become fractions, so that the comparison
stays exact and a rounded value is never taken for the value.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cloze.verifiers.math_numbers import MAX_FORMULA
from cloze.verifiers.math_text import bare

MAX_DIGITS = 30  # of one number
MAX_DEPTH = 8  # of brackets
MAX_PIECES = 120  # commands, numbers, letters and signs

GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau phi"
    " varphi chi psi omega pi"
)  # no capitals: the reader takes Delta for delta
TRIGONOMETRY = ("sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh")
FUNCTIONS = (*TRIGONOMETRY, "log", "ln", "lg", "exp")
VARIABLES = frozenset(GREEK.split()) - {"pi"}
COMMANDS = {
    *GREEK.split(), *FUNCTIONS, "frac", "sqrt", "cdot", "times", "div", "pm", "mp", "binom", "infty", "lfloor",
    "rfloor", "lceil", "rceil", "lvert", "rvert", "vert", "mid", "le", "leq", "leqslant", "ge", "geq", "geqslant",
    "lt", "gt", "ne", "neq", "ell", "bmod", "mod", "imath", "circ",
}  # fmt: skip
SYMBOLS = {
    "π": r"\pi ", "√": r"\sqrt ", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "÷": "/", "≤": r"\le ",
    "≥": r"\ge ", "≠": r"\ne ", "∞": r"\infty ", "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "λ": r"\lambda ",
    "⁴": "^4", "⁵": "^5", "⁻¹": "^{-1}", "°": r"\cdot \frac{\pi}{180}",
}  # fmt: skip
RENAMED = {"leqslant": "le", "geqslant": "ge", "lvert": "vert", "rvert": "vert", "bmod": "mod", "div": "/", "lg": "log"}
PLAIN = re.compile(rf"(?<![A-Za-z\\])(?:{'|'.join((*FUNCTIONS, 'sqrt', 'pi', 'theta', 'alpha', 'beta'))})(?![a-z])")
ALLOWED = re.compile(r"(?:[A-Za-z0-9 +\-*/^_=<>()\[\]{}|!.]|\\[A-Za-z]+)*")
WORD = re.compile(r"(?<!\\)(?<![A-Za-z\\])[A-Za-z]{4,}")
CHAIN = re.compile(r"(?:\\(?:[a-z]{2,6}) ?){6}")  # functions of functions
SUBSCRIPT = re.compile(r"(?<!\\log)(?<!\\log )_ ?(?![A-Za-z0-9]|\{ ?[A-Za-z0-9]{1,4} ?\})")
PIECES = re.compile(r"\\[A-Za-z]+|[0-9]+|[^ ]")


@lru_cache(maxsize=4096)
def formula(text: str) -> str | None:
    """A text as LaTeX for the symbolic reader, or None if it is no formula or too large to be compared."""
    if len(text) > MAX_FORMULA:
        return None
    text = bare(text)
    text = re.sub("√ ?([0-9]+)", r"\\sqrt{\1}", text)
    for symbol, written in SYMBOLS.items():
        text = text.replace(symbol, written)
    text = re.sub(r"(?<![0-9])([0-9]{1,3}(?:,[0-9]{3})+)(?![0-9])", lambda found: found[0].replace(",", ""), text)
    text = PLAIN.sub(r"\\\g<0>", text.replace("**", "^"))
    if not ALLOWED.fullmatch(text) or not re.search(r"[0-9\\+*/^=<>!|-]", text):
        return None
    commands = re.findall(r"\\([A-Za-z]+)", text)
    pieces = PIECES.findall(text)
    if not COMMANDS.issuperset(commands) or len(pieces) > MAX_PIECES:
        return None
    if WORD.search(re.sub(r"\\[A-Za-z]+", " ", text)) or "__" in text or re.search(r"(?<![A-Za-z}])[0-9)] ?_", text):
        return None
    if any(piece.isdigit() and len(piece) > MAX_DIGITS for piece in pieces) or _depth(pieces) > MAX_DEPTH:
        return None
    if pieces.count("|") > 4 or text.count("!") > 2:
        return None
    if CHAIN.search(text) or SUBSCRIPT.search(text):
        return None
    if r"\binom" in text and re.search("[0-9]{4}", text):  # the reader works binomials out
        return None
    for old, new in RENAMED.items():
        text = re.sub(rf"\\{old}(?![A-Za-z])", new if new == "/" else rf"\\{new}", text)
    text = re.sub(r"(?<![0-9])\.?([0-9]+)\.([0-9]*)|(?<![0-9])\.([0-9]+)", _fraction, text)
    return None if "." in text else _braced(text.replace("*", r"\cdot "))


@lru_cache(maxsize=4096)
def letters(text: str) -> frozenset[str]:
    """The variables in a formula: its letters, Greek ones too, but not the constants e, i and pi."""
    greek = {command for command in re.findall(r"\\([A-Za-z]+)", text) if command in VARIABLES}
    return frozenset(greek | set(re.findall("[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", text)))) - {"e", "i"}


def _fraction(found: re.Match[str]) -> str:
    whole, part = (found[1] or "0"), (found[2] or found[3] or "")
    return rf"{{\frac{{{int(whole + part)}}}{{{10 ** len(part)}}}}}" if part else whole


def _depth(pieces: list[str]) -> int:
    """How deep brackets nest, or too deep when they do not match."""
    depth = deepest = 0
    for piece in pieces:
        depth += (piece in "([{") - (piece in ")]}") if len(piece) == 1 else 0
        if depth < 0:
            return MAX_DEPTH + 1
        deepest = max(depth, deepest)
    return deepest if depth == 0 else MAX_DEPTH + 1


def _braced(text: str) -> str:
    r"""Give every argument its braces: `\frac12`, `\sqrt2`, `sqrt(2)`, `x^12`, `x^(1/2)`."""
    done: list[str] = []
    at, wanted = 0, 0  # how many arguments the last command still takes
    while at < len(text):
        found = re.compile(r"\\[A-Za-z]+|[0-9]+|.").match(text, at)
        if found is None:
            return text
        piece = found[0]
        if piece == " ":
            done.append(piece)
        elif piece in (r"\frac", r"\sqrt", r"\binom", "^", "_"):
            done.append(piece)
            wanted = 2 if piece in (r"\frac", r"\binom") else 1
            if index := re.compile(r" *\[[^\]]*\]").match(text, found.end()) if piece == r"\sqrt" else None:
                done.append(index[0])
                at = index.end()
                continue
            if wanted == 1 and piece != "_" and (inner := _bracket(text, found.end())) is not None:
                done.append("{" + _braced(inner[0]) + "}")
                at, wanted = inner[1], 0
                continue
            if piece == "^" and (signed := re.compile(r" *(-? ?(?:[0-9]+|[A-Za-z]))").match(text, found.end())):
                done.append("{" + signed[1] + "}")
                at, wanted = signed.end(), 0
                continue
        elif wanted and piece != "{":
            first = piece if done[-1] == "_" or not piece.isdigit() else piece[0]
            done.append("{" + first + "}")
            at, wanted = at + len(first), wanted - 1
            continue
        elif wanted:
            inner = _bracket(text, at, "{}")
            if inner is None:
                return text
            done.append("{" + _braced(inner[0]) + "}")
            at, wanted = inner[1], wanted - 1
            continue
        else:
            done.append(piece)
        at = found.end()
    return "".join(done)


def _bracket(text: str, at: int, kind: str = "()") -> tuple[str, int] | None:
    """What the bracket that opens at `at` (after spaces) holds, and where it ends."""
    start = at + len(text[at:]) - len(text[at:].lstrip())
    if text[start : start + 1] != kind[0]:
        return None
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == kind[0]) - (text[index] == kind[1])
        if depth == 0:
            return text[start + 1 : index], index + 1
    return None
