r"""Reading expressions for the leak audit: fractions, powers, roots, symbols, products and sums.

A text is cut into tokens once. Going from the last token to the first, the reader notes for each token the value of
the smallest whole that begins there (a number, `\frac{}{}`, `\sqrt{}`, a bracket, each with its exponent), so that
what stands inside is known before what stands around it: linear time, no recursion, however deep the brackets.
Products and sums are then read from any token. What stands between brackets and around relations is read in
`forms`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from cloze.masking.leaks.values import Value, add, negative, number, over, power, rational, symbol, times, whole

GREEK = (
    "(?:var)?(?:epsilon|theta|phi)|alpha|beta|gamma|delta|zeta|eta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon"
    "|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega|emptyset|varnothing"
)
LETTERS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "λ": "lambda", "μ": "mu",
    "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi",
    "Ω": "Omega", "∅": "emptyset", "varnothing": "emptyset", "varphi": "phi", "varepsilon": "epsilon",
    "vartheta": "theta",
}  # fmt: skip
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
END = "(?![A-Za-z])"
TOKEN = re.compile(
    rf"""(?P<number>[0-9]++(?:(?:\{{,\}}|\\,|,\\!)[0-9]{{3}}(?![0-9]))*+(?:\.[0-9]++)?|\.[0-9]++)
    |(?P<skip>[ \t~\u00a0]++|\\[,;:!\ ]|\\(?:left|right|displaystyle|q?quad|[bB]igg?[lr]?){END}
        |\^(?:\{{\\circ\}}|\\circ)|°)
    |(?P<word>(?!sqrt{END})[A-Za-z]{{4,}}+)
    |(?P<split>\\(?:(?:[dtc]|nice)?frac|[dt]?binom)\ *+[0-9](?=\ *+[0-9{{\\]))
    |(?P<frac>\\(?:(?:[dtc]|nice)?frac|[dt]?binom){END})
    |(?P<root>\\sqrt{END}|[√∛∜]|(?<![A-Za-z])sqrt{END})
    |(?P<over>\\(?:over|choose){END})
    |(?P<power>\^|\*\*)
    |(?P<times>[*×·⋅]|\\(?:times|cdot|ast){END})
    |(?P<raised>[⁻⁺]?[⁰¹²³⁴-⁹]++)
    |(?P<vulgar>[¼-¾⅐-⅞])
    |(?P<infinity>\\infty{END}|∞)
    |(?P<relation><=|>=|[≤≥⩽⩾<>=]|\\(?:[lg]eqslant|[lg]eq?|[lg]t){END})
    |(?P<union>\\cup{END}|∪)
    |(?P<sign>[-+±\u2212\u2010-\u2013\ufe63\uff0d]|\\pm{END})
    |(?P<slash>/)
    |(?P<open>\\\{{|[(\[{{])
    |(?P<close>\\\}}|[)\]}}])
    |(?P<comma>\$?\ ?(?:[,;]|(?<![A-Za-z])(?:and|or){END}|\\(?:text|mathrm|mbox)\{{\ ?(?:and|or)\ ?\}})(?:\ ?\$)?)
    |(?P<function>(?:\\|(?<![A-Za-z\\]))(?:arc)?(?:sin|cos|tan|cot|sec|csc|ln|log|lg|exp){END})
    |(?P<symbol>\\(?:{GREEK}){END}|(?<![A-Za-z\\])(?:pi|[A-Za-z]){END}|[α-ωϕΓΔΘΛΠΣΦΨΩ∅])
    |(?P<letters>(?<![A-Za-z\\])[A-Za-z]{{2,3}}{END})
    |(?P<under>_)
    |(?P<other>[A-Za-z]++|\\[A-Za-z]++|[^\\A-Za-z0-9]|\\.?)""",
    re.VERBOSE | re.DOTALL,
)
COMMA = re.compile(r"[,;]|and|or")
DEGREES = {"∛": 3, "∜": 4}
GROUPED = re.compile(r"\{([0-9]{1,3}(?:,[0-9]{3})+)\}")
BEGINS = {"number", "split", "frac", "root", "vulgar", "infinity", "open", "function", "symbol"}
LONGEST = 80
FACTORS = 6


class Whole(NamedTuple):
    """What begins at one token: its value, the token after it, and whether it is a plain or a power of ten."""

    value: Value
    end: int
    kind: str = ""


class Reader:
    """The tokens of one text and the whole that begins at each of them."""

    def __init__(self, text: str, symbols: frozenset[str] = frozenset()) -> None:
        """Cut `text` into tokens; two or three letters count as a product if all of them are in `symbols`."""
        tokens: list[tuple[str, str, int, int]] = []
        for match in TOKEN.finditer(text):
            kind = str(match.lastgroup)
            if kind == "skip":
                continue
            piece, (start, end) = match.group(), match.span()
            if kind == "comma":
                piece = "".join(COMMA.findall(piece))
            if kind == "letters" and symbols.issuperset(piece.lower()):
                tokens += [("symbol", letter, at, at + 1) for at, letter in enumerate(piece, start)]
            else:
                tokens.append((kind, piece, start, end))
        tokens += [("other", "", len(text), len(text))] * 3  # whoever looks ahead never leaves the list
        self.kinds = [token[0] for token in tokens]
        self.texts = [token[1] for token in tokens]
        self.starts = [token[2] for token in tokens]
        self.ends = [token[3] for token in tokens]
        self.wholes: list[Whole | None] = [None] * len(self.kinds)
        self._sums: dict[int, tuple[Value | None, int]] = {}
        for at in range(len(self.kinds) - 3, -1, -1):
            if self.kinds[at] in BEGINS:
                self.wholes[at] = self._whole(at)

    def _whole(self, at: int) -> Whole | None:
        whole = self._base(at)
        if whole is None or whole.end - at > LONGEST:
            return None
        value, end, plain = whole
        kind = self.kinds[end]
        if kind == "raised":
            exponent, end = number(int(self.texts[end].translate(RAISED))), end + 1
        elif kind == "power":
            minus = self.texts[end + 1] in ("-", "\u2212")
            inner = self.wholes[end + 1 + minus]
            if inner is None:
                return None
            exponent, end = (negative(inner.value) if minus else inner.value), inner.end
        else:
            return None if kind == "under" else whole
        exact = rational(exponent)
        raised = power(value, exact) if exact is not None else symbol(("power", value, exponent))
        ten = plain == "plain" and self.texts[at] == "10" and exact is not None and exact.denominator == 1
        return Whole(raised, end, "ten" if ten else "") if raised else None

    def _base(self, at: int) -> Whole | None:
        kind, text = self.kinds[at], self.texts[at]
        if kind == "number":
            if len(text) > 60:
                return None
            return Whole(
                number(int(text) if text.isdigit() else Fraction(re.sub(r"[^0-9.]", "", text))), at + 1, "plain"
            )
        if kind == "vulgar":
            return Whole(number(Fraction(unicodedata.normalize("NFKC", text).replace("\u2044", "/"))), at + 1)
        if kind == "infinity":
            return Whole(symbol("infinity"), at + 1)
        if kind == "symbol":
            return self._symbol(at)
        if kind == "open":
            return self._group(at) if text != r"\{" else None
        if kind == "split":
            return self._ratio(at, number(int(text[-1])), at + 1)
        if kind == "frac":
            top = self._argument(at + 1)
            return self._ratio(at, top.value, top.end) if top else None
        if kind == "root":
            index = self.wholes[at + 1] if self.texts[at + 1] == "[" else None
            degree = rational(index.value) if index else DEGREES.get(text, 2)
            under = self.wholes[index.end if index else at + 1]
            if under is None or not degree:
                return None
            value = power(under.value, whole(1 / Fraction(degree)))
            return Whole(value, under.end) if value else None
        return self._function(at)

    def _symbol(self, at: int) -> Whole:
        text = self.texts[at].lstrip("\\")
        name = LETTERS.get(text, text.lower() if len(text) == 1 else text)
        if self.kinds[at + 1] != "under":
            return Whole(symbol(name), at + 1)
        end = at + 3
        if self.texts[at + 2] == "{":
            while end - at < 12 and self.texts[end - 1] != "}" and end < len(self.texts) - 1:
                end += 1
        return Whole(symbol(name + "_" + "".join(self.texts[at + 2 : end]).strip("{}")), end)

    def _group(self, at: int) -> Whole | None:
        value, end = self.sum(at + 1)
        if value is not None and self.kinds[end] == "over":
            command = end
            bottom, end = self.sum(end + 1)
            value = self._divided(command, value, bottom) if bottom else None
        elif self.texts[at] == "{" and self.texts[end] == ",":  # {1,250} is a number, (1,250) a pair
            grouped = GROUPED.match("".join(self.texts[at : at + 12]))
            if grouped:
                value = number(int(grouped[1].replace(",", "")))
                end = at + 2 + 2 * grouped[1].count(",")
        if value is None or self.texts[end] != CLOSING[self.texts[at]]:
            return None
        return Whole(value, end + 1)

    def _argument(self, at: int) -> Whole | None:
        if self.kinds[at] == "number" and len(self.texts[at]) > 1:
            return None
        return self._base(at) if self.kinds[at] in ("number", "symbol") else self.wholes[at]

    def _ratio(self, command: int, top: Value, at: int) -> Whole | None:
        bottom = self._argument(at)
        value = self._divided(command, top, bottom.value) if bottom else None
        return Whole(value, bottom.end) if value and bottom else None

    def _divided(self, command: int, top: Value, bottom: Value) -> Value | None:
        r"""A fraction, or what `\binom` or `\choose` makes of its two parts."""
        if "bin" in self.texts[command] or "choose" in self.texts[command]:
            return symbol(("choose", top, bottom))
        return over(top, bottom)

    def _function(self, at: int) -> Whole | None:
        name, end = self.texts[at].lstrip("\\"), at + 1
        extra: list[Value] = []
        for kind in ("under", "power"):
            if self.kinds[end] == kind:
                inner = self.wholes[end + 1]
                if inner is None:
                    return None
                extra.append(inner.value)
                end = inner.end
            else:
                extra.append(())
        argument = self.wholes[end]
        if argument is None:
            return None
        value, end = argument.value, argument.end
        follower = self.wholes[end] if argument.kind == "plain" and self.kinds[end] == "symbol" else None
        if follower:  # \sin 2x
            product = times(value, follower.value)
            if product is None:
                return None
            value, end = product, follower.end
        return Whole(symbol((name, *extra, value)), end)

    def products(self, at: int, factors: int = FACTORS) -> Iterator[tuple[Value, int]]:
        """Every product that begins at a token: the first factor, the first two, and so on, with where each ends.

        Two plain numbers are not multiplied: that is arithmetic, which is left to the reader. A quotient of two is a
        fraction, a number times a power of ten a number, a whole number before a fraction a mixed one.
        """
        first = self.wholes[at]
        if first is None:
            return
        value, end, plain = first
        yield value, end
        for _ in range(factors - 1):
            kind, joined = self.kinds[end], end
            if kind == "symbol" and self.texts[end] in "xX" and self.texts[end + 1] == "10":
                kind = "times"  # 1.2 x 10^3
            if kind in ("slash", "times"):
                joined += 1
            elif kind not in BEGINS or kind == "number" or self.texts[end] in ("[", r"\{"):
                return
            other = self.wholes[joined]
            if other is None:
                return
            both = rational(value) is not None and rational(other.value) is not None
            product: Value | None = None
            if kind == "slash":
                product = over(value, other.value)
            elif not both or (kind == "times" and other.kind == "ten" and plain == "plain"):
                product = times(value, other.value)
            elif plain == "plain" and kind in ("split", "frac", "vulgar"):
                whole, part = rational(value), rational(other.value)
                if whole is not None and part is not None and whole.denominator == 1 and 0 < part < 1:
                    product = number(whole + part)
            if product is None:
                return
            value, end, plain = product, other.end, ""
            yield value, end

    def sum(self, at: int) -> tuple[Value | None, int]:
        """The longest sum that begins at a token, and the token after it; None if there is none."""
        if at not in self._sums:
            self._sums[at] = self._sum(at)
        return self._sums[at]

    def _sum(self, at: int) -> tuple[Value | None, int]:
        terms: list[Value] = []
        end = at
        while True:
            signed = self.kinds[end] == "sign"
            if terms and not signed:
                break
            products = list(self.products(end + signed))
            if not products:
                break
            value, after = products[-1]
            if signed and self.texts[end] in ("±", r"\pm"):
                value = times(value, symbol("±")) or value
            elif signed and self.texts[end] != "+":
                value = negative(value)
            terms.append(value)
            end = after
            if end - at > LONGEST:
                return None, end
        return (terms[0] if len(terms) == 1 else add(terms) if terms else None), end
