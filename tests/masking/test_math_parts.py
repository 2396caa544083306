"""The readers under the math masker: values, LaTeX constants, number words, forms, options, structure."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylatexenc.latexwalker import LatexMacroNode, LatexWalker

from cloze.masking.math.forms import find_forms, read_goals
from cloze.masking.math.latex import Latex
from cloze.masking.math.options import split_options
from cloze.masking.math.structure import list_numbers
from cloze.masking.math.values import (
    fraction_key,
    key_value,
    negative,
    number_key,
    power,
    product,
    quotient,
    root_key,
    square_root,
)
from cloze.masking.math.words import number_words
from cloze.masking.math.writings import value_key, writings


@pytest.mark.parametrize(
    ("digits", "key"),
    [("007", "7"), ("1,250.50", "1250.5"), (".50", "0.5"), ("1{,}000", "1000"), ("0.0", "0"), ("٢٤", "24"),
     ("1 000", "1000")],
)  # fmt: skip
def test_number_keys(digits: str, key: str) -> None:
    assert number_key(digits) == key


@given(st.fractions(max_denominator=10**6))
def test_a_key_is_the_value_and_its_sign_can_be_turned(value: Fraction) -> None:
    key = fraction_key(value)
    assert key_value(key) == value
    assert key_value(negative(key)) == -value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=0, max_value=10**6))
def test_a_decimal_and_the_fraction_of_its_value_have_one_key(value) -> None:
    assert number_key(f"{value:f}") == fraction_key(Fraction(value))


@given(st.integers(0, 10**6))
def test_a_square_root_is_taken_apart_exactly(radicand: int) -> None:
    outside, inside = square_root(Fraction(radicand)) or (None, None)
    assert outside is not None and outside * outside * inside == radicand
    assert all(inside % (prime * prime) for prime in range(2, 32)) or radicand == 0


def test_calculating_with_roots() -> None:
    two, three = square_root(Fraction(2)), square_root(Fraction(3))
    assert two == (1, 2) and three == (1, 3)
    assert product(two, two) == (2, 1)
    assert quotient((Fraction(3), 1), three) == (1, 3)
    assert quotient(two, (Fraction(0), 1)) is None
    assert power((Fraction(2), 1), Fraction(10)) == (1024, 1)
    assert power((Fraction(2), 1), Fraction(10**9)) is None
    assert power((Fraction(0), 1), Fraction(-1)) is None
    assert root_key((Fraction(1, 2), 3)) == "0.5√3"
    assert square_root(Fraction(10**9)) is None  # too large to factor
    assert key_value("9" * 500) is None  # too long to calculate with


CONSTANTS = [
    (r"\frac12", r"\frac12", "0.5"),
    (r"\frac{1}{2}x", r"\frac{1}{2}", "0.5"),
    (r"\frac 1 2", r"\frac 1 2", "0.5"),
    (r"\dfrac{\sqrt{3}}{2}", r"\dfrac{\sqrt{3}}{2}", "0.5√3"),
    (r"\frac{\frac12}{3}", r"\frac{\frac12}{3}", "1/6"),
    (r"\frac{-1}{2}", r"\frac{-1}{2}", "-0.5"),
    (r"\sqrt{\frac{1}{4}}", r"\sqrt{\frac{1}{4}}", "0.5"),
    (r"\sqrt[3]{5}", r"\sqrt[3]{5}", r"\sqrt[3]{5}"),
    (r"2\,\sqrt{3}+1", r"2\,\sqrt{3}", "2√3"),
    ("2^{10}", "2^{10}", "1024"),
    ("2^10", "2^10", "1024"),
    (r"x^2", None, None),
    ("2^{n}", "2", "2"),
    (r"90^\circ", "90", "90"),
    ("2⁻¹", "2⁻¹", "0.5"),
    ("√12", "√12", "2√3"),
    ("√(9)", "√(9)", "3"),
    (r"0.1\overline{6}", r"0.1\overline{6}", "1/6"),
    (r"\frac{x}{2}", None, None),
    (r"\frac{1}{0}", r"\frac{1}{0}", r"\frac{1}{0}"),
    (r"\frac{1}{2", None, None),
    (r"\fraction{1}{2}", None, None),
    (r"\pi", None, None),
    ("", None, None),
]


@pytest.mark.parametrize(("text", "constant", "key"), CONSTANTS)
def test_constants(text: str, constant: str | None, key: str | None) -> None:
    assert Latex(text).constant(0) == (None if constant is None else (len(constant), key))


DEPTH = st.recursive(
    st.integers(0, 99).map(lambda n: f"{{{n}}}"),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([r"\frac", r"\dfrac", r"\tfrac"]), inner, inner).map(lambda t: f"{{{''.join(t)}}}"),
        inner.map(lambda arg: "{\\sqrt" + arg + "}"),
    ),
    max_leaves=6,
)


WRITTEN = st.one_of(st.tuples(DEPTH, DEPTH).map(lambda t: r"\frac" + "".join(t)), DEPTH.map(lambda arg: r"\sqrt" + arg))


@given(WRITTEN, st.text("x+ }", max_size=4))
def test_a_constant_ends_where_pylatexenc_says(written: str, rest: str) -> None:
    node = LatexWalker(written + " " + rest, tolerant_parsing=True).get_latex_nodes()[0][0]
    assert isinstance(node, LatexMacroNode) and node.len == len(written)
    read = Latex(written + " " + rest).constant(0)
    assert read is not None and read[0] == len(written)


WORDS = [
    ("twenty-four", [("24", "twenty-four")]),
    ("Twenty four apples and TWO", [("24", "Twenty four"), ("2", "TWO")]),
    ("a hundred and five", [("105", "a hundred and five")]),
    ("one hundred two thousand four hundred six", [("102406", "one hundred two thousand four hundred six")]),
    ("two million", [("2000000", "two million")]),
    ("five six", [("5", "five"), ("6", "six")]),
    ("five and six", [("5", "five"), ("6", "six")]),
    ("three and a half", [("3.5", "three and a half")]),
    ("two-thirds, a third, three quarters", [("2/3", "two-thirds"), ("1/3", "a third"), ("0.75", "three quarters")]),
    ("a dozen", [("12", "a dozen")]),
    ("hundred, 3 hundred, dozens", []),
    ("twenty-third, the third", []),
    ("step two, Case one", []),
    ("someone often weighs attention", []),
    ("non-zero", []),
    ("_two_ \\two", [("2", "two")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_number_words(text: str, words: list[tuple[str, str]]) -> None:
    assert [(word.key, text[word.start : word.end]) for word in number_words(text)] == words


@pytest.mark.parametrize(
    ("text", "loose"),
    [("two cases", True), ("two apples", False), ("one of them", True), ("no one", True), ("is one.", False),
     ("one must", True)],
)  # fmt: skip
def test_words_that_belong_to_the_sentence(text: str, loose: bool) -> None:
    assert [word.loose for word in number_words(text)] == [loose]


def test_dozens_are_parts_of_a_product() -> None:
    assert [(word.key, word.whole) for word in number_words("two dozen")] == [("2", "24")]


@pytest.mark.parametrize(
    ("target", "keys", "texts"),
    [
        ("24", {"24"}, ()),
        (r"$\frac{1}{2}$", {"0.5"}, ()),
        (r"40\%", {"0.4"}, ()),
        ("5 cm", {"5"}, ()),
        ("x = 9", {"9"}, ()),
        (r"-\sqrt{12}", {"-2√3"}, ()),
        (r"\pi", set(), (r"\pi",)),
        ("", set(), ()),
    ],
)
def test_goals(target: str, keys: set[str], texts: tuple[str, ...]) -> None:
    goals = read_goals(target)
    assert (goals.keys, goals.texts) == (keys, texts)


def test_writings_of_a_symbolic_target() -> None:
    def spaced(goal: str) -> set[str]:
        return {writing.replace("\0", " ").strip() for writing in writings(goal)}

    assert spaced(r"\frac{\pi}{2}") >= {r"\frac \pi 2", r"\pi / 2", r"( \pi ) / 2", r"\frac 1 2 \pi"}
    assert spaced("x<3") >= {"x < 3", "3 > x", r"( - \infty , 3 )"}
    assert spaced("[2,5)") >= {"[ 2 , 5 )", r"2 \le ? < 5", r"5 > ? \ge 2"}
    assert spaced(r"a+b+1") == {" + ".join(order) for order in ("ab1", "a1b", "ba1", "b1a", "1ab", "1ba")}
    assert spaced("a-b") == {"a - b", "- b + a"}
    assert spaced("2\\pi") == {"2 \\pi", "\\pi 2"}
    assert spaced("1,6") >= {"1 , 6", "6 , 1", "1 and 6"}


@pytest.mark.parametrize("text", [r"maximum", r"\pitch", "(1,23)", "f(1, 2)3"])
def test_forms_are_whole_tokens(text: str) -> None:
    goal = {r"maximum": "x=1", r"\pitch": r"\pi", "(1,23)": "(1,2)", "f(1, 2)3": "(1,2)"}[text]
    found = [text[span.start : span.end] for span in find_forms(text, read_goals(goal))]
    assert found == (["(1, 2)"] if text == "f(1, 2)3" else [])


def test_value_keys_of_what_is_no_value() -> None:
    assert [value_key(text) for text in ("", "x", "3 or 4", r"\frac{x}{2}")] == [None] * 4


OPTIONS = [
    ("Which? (A) 12 (B) 24 (C) 36", "Which? ", {"A": "12", "B": "24", "C": "36"}),
    ("Which?\nA. red\nB. blue\nC. 3 dogs\n", "Which?\n", {"A": "red", "B": "blue", "C": "3 dogs"}),
    (r"$\textbf{(A)}\ 12 \qquad \textbf{(B)}\ \frac12 \qquad\textbf{(C)}\ 4$", r"$\textbf{",
     {"A": "12", "B": r"\frac12", "C": "4"}),
    ("Which? (A) 12 (B) 24", "Which? (A) 12 (B) 24", {}),
    ("In triangle ABC, A. and C. meet", "In triangle ABC, A. and C. meet", {}),
]  # fmt: skip


@pytest.mark.parametrize(("question", "stem", "options"), OPTIONS)
def test_options(question: str, stem: str, options: dict[str, str]) -> None:
    assert split_options(question) == (stem, options)


def test_list_numbers_count_up() -> None:
    text = "1. a\n2. b\n4. no\n3) c\n 2.5 no\n**4.** d\n5.\n"
    assert sorted(text[at] for at in list_numbers(text)) == ["1", "2", "3", "4"]
