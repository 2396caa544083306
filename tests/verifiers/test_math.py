"""The math verifier: a table of cases, a search for texts that break it, and the shared cases."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.verifiers.math import MAX_CHARACTERS, extract_answer, judge, look, read_value, verify_math

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "verifier_math.jsonl"

# target, what stands in the box, status
BOXED = [
    # whole numbers, decimals, thousands
    ("654", "654", "correct"),
    ("654", "655", "wrong"),
    ("654", "0654", "correct"),
    ("24", "24.0", "correct"),
    ("24", "24.", "correct"),
    ("24", "24.0001", "wrong"),
    ("0.5", ".5", "correct"),
    ("2500000", "2,500,000", "correct"),
    ("2,500,000", "2500000", "correct"),
    ("12345.5", "12{,}345.50", "correct"),
    ("10000", r"10\,000", "correct"),
    ("1250", "12,50", "wrong"),
    ("1250", "1,2500", "wrong"),
    ("1250", "(1,250)", "wrong"),
    ("1.25", "1,25", "wrong"),
    # signs
    ("-7", "\u22127", "correct"),
    ("-7", "- 7", "correct"),
    ("-7", "7", "wrong"),
    ("7", "+7", "correct"),
    ("7", "--7", "wrong"),
    ("-7", "-(7)", "correct"),
    ("0", "-0", "correct"),
    # fractions and mixed numbers
    (r"\frac{3}{4}", "3/4", "correct"),
    ("3/4", "0.75", "correct"),
    ("0.75", r"\dfrac{6}{8}", "correct"),
    ("0.75", r"\tfrac34", "correct"),
    ("-0.75", r"-\frac{3}{4}", "correct"),
    ("-0.75", r"\frac{-3}{4}", "correct"),
    ("2.75", "2 3/4", "correct"),
    ("2.75", r"2\tfrac{3}{4}", "correct"),
    ("2.75", "2¾", "correct"),
    ("-2.75", r"-2\frac34", "correct"),
    ("5", r"\frac{10}{2}", "correct"),
    ("5", "5/0", "wrong"),
    ("3.5", r"2\frac{3}{2}", "wrong"),
    (r"\frac{\sqrt{2}}{2}", r"\dfrac{\sqrt{2}}{2}", "correct"),
    # repeating decimals and rounding
    ("2/3", r"0.\overline{6}", "correct"),
    ("1/6", r"0.1\overline{6}", "correct"),
    ("1/7", r"0.\overline{142857}", "correct"),
    ("2/3", r"0.\dot{6}", "correct"),
    ("1/6", "0.1(6)", "correct"),
    ("1/6", "0.(16)", "wrong"),
    ("1/6", "0.1667", "wrong"),
    ("1/3", "0.333...", "wrong"),
    # percent
    ("12.5%", "1/8", "correct"),
    ("0.125", r"12.5\%", "correct"),
    ("12.5", "12.5%", "wrong"),
    ("12.5%", "12.5 percent", "correct"),
    # currency and units
    ("18", r"\$18.00", "correct"),
    ("18", "18 dollars", "correct"),
    ("18", "€18", "correct"),
    ("6", r"6\text{ square metres}", "correct"),
    ("6", r"6\text{ cm}^2", "correct"),
    ("6", "6 km/h", "correct"),
    ("6 cm", "6", "correct"),
    ("6 cm", "6 m", "wrong"),
    ("60", r"60^\circ", "correct"),
    ("5", "5 million", "wrong"),
    ("5", "5x", "wrong"),
    ("5", "5 or six", "wrong"),
    ("2", r"2\pi", "wrong"),
    # names
    ("9", "n = 9", "correct"),
    ("9", "f(2)=9", "correct"),
    ("x = 9", "9", "correct"),
    ("x = 9", "y = 9", "wrong"),
    (r"\pi", r"x = \pi", "correct"),
    # powers and roots that come out exactly are numbers
    ("1024", "2^{10}", "correct"),
    ("1024", "2^10", "correct"),
    ("-4", "-2^2", "correct"),
    ("4", "(-2)^2", "correct"),
    (r"\frac{1}{8}", "2^{-3}", "correct"),
    (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}", "wrong"),
    (r"\frac{1}{2^{99}}", "2^{-99}", "correct"),
    ("4", r"\sqrt{16}", "correct"),
    ("3", r"\sqrt[3]{27}", "correct"),
    ("1.5", r"\sqrt{\frac94}", "correct"),
    ("1200", r"1.2 \times 10^3", "correct"),
    ("1200", "1.2e3", "correct"),
    ("8", r"2^3\text{ cm}", "correct"),
    ("0", "0^{-1}", "wrong"),
    # what is left to do is no answer to a number
    ("6", r"2 \cdot 3", "wrong"),
    ("2^{10}", "2^{10}", "correct"),
    ("2^{10}", "2^{11}", "wrong"),
    ("120", "5!", "wrong"),
    ("1", "9^{9^{9^{9}}}", "wrong"),
    ("1", "1e999999999", "wrong"),
    ("7", "3+4", "wrong"),
    ("7", "__import__('os').getpid()", "wrong"),
    # bases
    ("101_2", "101", "wrong"),
    ("101_2", "101_{2}", "correct"),
    ("101_2", r"101_{\text{two}}", "correct"),
    ("101_2", "0101_2", "correct"),
    ("101_2", "101_3", "wrong"),
    ("101_2", "5", "wrong"),
    ("101", "101_2", "wrong"),
    ("5_{10}", "5", "correct"),
    ("1A_{16}", "1a_{16}", "correct"),
    # chains
    ("7", "3+4=7", "correct"),
    ("7", "3+4=8", "wrong"),
    ("9", "9=x", "correct"),
    # both signs
    (r"\pm 6", "6", "wrong"),
    (r"\pm 6", "-6, 6", "correct"),
    (r"\pm 6", r"x = \pm 6", "correct"),
    ("6, -6", "±6", "correct"),
    (r"\pm 6", "6 or -6", "correct"),
    ("6", r"\pm 6", "wrong"),
    # sets and lists
    (r"\{1,2,3\}", r"\{3,1,2\}", "correct"),
    (r"\{1,2,3\}", "3, 1, 2", "correct"),
    (r"\{1,2,3\}", r"\{1,2\}", "wrong"),
    (r"\{1,2,3\}", r"\{1,2,3,4\}", "wrong"),
    (r"\{1,2\}", r"\{1,2,2\}", "correct"),
    ("1, 2, 2", "1, 2", "wrong"),
    ("1,2", "x = 2 or x = 1", "correct"),
    ("0.5, 3", r"3 \text{ and } \frac12", "correct"),
    (r"\{(1,2),(3,4)\}", "(3,4), (1,2)", "correct"),
    (r"\{(1,2),(3,4)\}", "(4,3), (1,2)", "wrong"),
    (r"\emptyset", r"\{\}", "correct"),
    (r"\{5\}", "5", "correct"),
    ("red, blue", "blue and red", "correct"),
    ("x = 1, y = 2", "y = 2, x = 1", "correct"),
    ("x = 1, y = 2", "x = 2, y = 1", "wrong"),
    ("x = 1, y = 2", "2, 1", "wrong"),
    ("x = 1, 2", "y = 1, 2", "wrong"),
    ("x = 1, 2", "x = 1 or x = 2", "correct"),
    ("7", "x = 3, y = 7", "wrong"),
    ("7", "x < 3 = 7", "wrong"),
    # tuples and matrices
    ("(1,2)", r"\left(1,\,2\right)", "correct"),
    (r"(\frac12, 3)", "(0.5, 3.0)", "correct"),
    ("(1,2,3)", "(1,3,2)", "wrong"),
    ("(5,1)", "(5,1.0)", "correct"),
    ("(5,1)", "(6,1)", "wrong"),
    ("(5,5)", "(4,4)", "wrong"),
    ("P = (1,2)", "Q = (1,2)", "wrong"),
    ("P = (1,2)", "(1,2)", "correct"),
    ("(1,2)", "[1,2]", "wrong"),
    (r"\langle 1,2,3 \rangle", r"\langle 1, 2, 3\rangle", "correct"),
    (r"\begin{pmatrix}1&2\\3&0.5\end{pmatrix}", r"\begin{bmatrix} 1 & 2 \\ 3 & 1/2 \end{bmatrix}", "correct"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&3\\2&4\end{pmatrix}", "wrong"),
    (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", "wrong"),
    (r"\begin{pmatrix}1\end{pmatrix}", r"\begin{vmatrix}1\end{vmatrix}", "wrong"),
    # intervals and inequalities, both ways
    (r"(-\infty, 3)", "x<3", "correct"),
    ("x<3", r"(-\infty, 3)", "correct"),
    ("x<3", "3 > x", "correct"),
    ("x<3", r"(-\infty, 3]", "wrong"),
    ("x<3", r"x \le 3", "wrong"),
    ("x<3", "y<3", "wrong"),
    (r"[2, 5)", r"2 \leq x < 5", "correct"),
    (r"5 > x \ge 2", "[2,5)", "correct"),
    ("(2,5)", "x > 2 and x < 5", "correct"),
    (r"(-\infty,-1)\cup[2,\infty)", r"x \ge 2 \text{ or } x < -1", "correct"),
    (r"(-\infty,3)\cup(3,\infty)", r"x \ne 3", "correct"),
    ("(1,3)", r"(1,2]\cup[2,3)", "correct"),
    ("(1,3)", r"(1,2)\cup(2,3)", "wrong"),
    (r"(-\infty,\infty)", r"\mathbb{R}", "correct"),
    (r"\{x \mid x > \frac12\}", r"(0.5, \infty)", "correct"),
    (r"\infty", r"-\infty", "wrong"),
    # letters of choice
    ("B", r"\text{B}", "correct"),
    ("B", r"\textbf{(B)}", "correct"),
    ("B", "b", "correct"),
    ("B", "B.", "correct"),
    ("B", "B) 12", "correct"),
    ("(B)", "B: it is red", "correct"),
    ("B", "C: not B", "wrong"),
    ("B", "(B) or (C)", "wrong"),
    ("B", "B) or C)", "wrong"),
    ("B", "Blue", "wrong"),
    # other text
    ("no solution", r"\text{No  solution}.", "correct"),
    ("(1, 2)", r"\left(1,2\right)", "correct"),
    ("(1,2)", "(2,1)", "wrong"),
    (r"\Delta", r"\delta", "wrong"),
    ("x+y", "x-y", "wrong"),
]

# target, what stands in the box, status: by algebra, in a worker
ALGEBRA = [
    ("x+y", "y+x", "correct"),
    (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt2}", "correct"),
    (r"\frac{\sqrt{2}}{2}", "sqrt(2)/2", "correct"),
    (r"\frac{\sqrt{2}}{2}", "√2/2", "correct"),
    (r"\sqrt{2}", "1.41421356", "wrong"),
    (r"\pi", "3.14159265358979", "wrong"),
    (r"\pi+3", r'\pi+len("abc")', "wrong"),
    (r"\pi+3", r"\pi+\sqrt{9}", "correct"),
    (r"\frac{\pi}{2^{99}}", r"\frac{\pi}{2^{98}}", "wrong"),
    (r"\pi", r"\pi+10^{-90}", "wrong"),
    ("5!", "120", "correct"),
    ("(x+1)^2", "x^2+2x+1", "correct"),
    ("(x+1)^2", "x^2+2x+2", "wrong"),
    ("|x|", r"\sqrt{x^2}", "correct"),
    (r"-\sqrt[3]{2}", r"\sqrt[3]{-2}", "correct"),
    (r"\pi", r"\pi + x - x", "wrong"),
    (r"\pm\sqrt2", r"\sqrt2", "wrong"),
    (r"\Delta+1", r"\delta+1", "wrong"),
    (r"2\pi", r"x = 2\pi = 6\pi/3", "correct"),
    ("x", r"\sqrt{x^2}", "wrong"),
    (r"\frac{1}{1+i}", r"\frac{1-i}{2}", "correct"),
    (r"e^{2x}", "(e^x)^2", "correct"),
    (r"\log_2 3", r"\frac{\ln 3}{\ln 2}", "correct"),
    ("y=2x+3", "2x-y+3=0", "correct"),
    ("y=2x+3", "2x+3", "correct"),
    ("y=2x+3", "y=2x+4", "wrong"),
    ("2x+y<4", "4>y+2x", "correct"),
    ("2x+y<4", "2x+y>4", "wrong"),
    ("f(x)+1", "1+f(x)", "correct"),
    ("f(x)+1", "1+f(y)", "wrong"),
    (r"2\sqrt{3}", r"\sqrt{12}\text{ cm}", "correct"),
    (r"2\sqrt{3}\text{ m}", r"2\sqrt{3}\text{ cm}", "wrong"),
    (r"\pm\sqrt{8}", r"2\sqrt2, -2\sqrt2", "correct"),
    (r"x = \frac{-1\pm\sqrt5}{2}", r"\frac{\sqrt5-1}{2}, -\frac{\sqrt5+1}{2}", "correct"),
    (r"[1,\sqrt{2}]", r"[1,\frac{2}{\sqrt2}]", "correct"),
    (r"(1,\sqrt{2})", r"(\sqrt2,1)", "wrong"),
    (r"\begin{pmatrix}\sqrt8\\1\end{pmatrix}", r"\begin{pmatrix}2\sqrt2\\1\end{pmatrix}", "correct"),
    (r"\sqrt2<x<\pi", r"(\sqrt{2},\pi)", "correct"),
]

# completion, extract, target, status
EXTRACTED = [
    (r"\boxed{3} and then \boxed{4}", "boxed", "4", "correct"),
    (r"\boxed{3} and then \boxed{4}", "boxed", "3", "wrong"),
    (r"\boxed{3} and then \boxed{4", "boxed", "3", "no_answer"),
    (r"\boxed{3} and then \boxed{ }", "last", "3", "no_answer"),
    (r"\boxed{3} and then \boxed{\text{}}", "last", "3", "no_answer"),
    (r"\boxed{3}, so \boxed 4", "last", "3", "no_answer"),
    (r"so \fbox{4}", "last", "4", "correct"),
    (r"\boxed{\frac{1}{2}}", "last", "0.5", "correct"),
    (r"\boxed{\{1\}}", "last", r"\{1\}", "correct"),
    ("a=1\n#### 3\nno:\n#### 4\n", "hash", "4", "correct"),
    ("#### 4", "last", "4", "correct"),
    ("#### 4 or so\n", "hash", "4", "wrong"),
    ("####\n4", "hash", "4", "no_answer"),
    ("4", "hash", "4", "no_answer"),
    ("The answer is 3. No, the answer is 4. Done.", "answer_is", "4", "correct"),
    ("**Final answer:** 3.5\nbye", "answer_is", "3.5", "correct"),
    (r"The answer is \boxed{4}.", "answer_is", "4", "correct"),
    ("The answer is", "last", "4", "no_answer"),
    ("4", "last", "4", "no_answer"),
    ("", "last", "4", "no_answer"),
    (r"#### 3 \boxed{4}", "last", "4", "correct"),
    (r"#### 3 \boxed{4}", "boxed", "3", "wrong"),
    ("The answer is 3\n#### 4", "last", "4", "correct"),
    ("**Answer:** 4", "bold", "4", "correct"),
    ("**Step 1**: 3.\n**Final Answer: 4**", "bold", "4", "correct"),
    ("It is **3**, no, it is **4**.", "bold", "4", "correct"),
    ("It is **3**, no, it is **4", "bold", "4", "wrong"),
    ("4", "bold", "4", "no_answer"),
    (r"**Answer:** $\boxed{4}$", "bold", "4", "correct"),
    (r"<think>\boxed{4}", "last", "4", "no_answer"),
    (r"<think>\boxed{3}</think>\boxed{4}", "last", "4", "correct"),
    (r"\boxed{4}</think>done", "last", "4", "no_answer"),
    (r"<think>a</think>\boxed{4}<think>", "last", "4", "no_answer"),
]


@pytest.mark.parametrize(("target", "answer", "status"), BOXED)
def test_the_box_against_the_target(target: str, answer: str, status: str) -> None:
    verdict = verify_math(rf"Hence \boxed{{{answer}}}", target)
    assert (verdict.status, verdict.reward) == (status, float(status == "correct")), verdict
    assert verdict.extracted == answer.strip() and verdict.target == target and verdict.reason


@pytest.mark.parametrize(("target", "answer", "status"), ALGEBRA)
def test_formulas_against_the_target(target: str, answer: str, status: str) -> None:
    assert verify_math(rf"Hence \boxed{{{answer}}}", target).status == status


@pytest.mark.parametrize(("completion", "extract", "target", "status"), EXTRACTED)
def test_which_answer_counts(completion: str, extract: str, target: str, status: str) -> None:
    verdict = verify_math(completion, target, extract=extract)  # type: ignore[arg-type]
    assert verdict.status == status, verdict
    assert verdict.reward == float(status == "correct")


@pytest.mark.parametrize("target", ["", "  ", "$$", r"\text{}", r"\left\right", r"\frac{1}{", "}{"])
def test_an_empty_target_pays_nobody(target: str) -> None:
    for completion in ("", r"\boxed{}", "#### 4"):
        verdict = verify_math(completion, target, aliases=("4",))
        assert (verdict.reward, verdict.status) == (None, "unparseable_gold")


def test_aliases_count_as_the_target() -> None:
    verdict = verify_math("#### NYC", "New York", aliases=("", "nyc"))
    assert verdict.status == "correct" and "alias" in verdict.reason


def test_an_unknown_policy_is_an_input_error() -> None:
    with pytest.raises(InputError, match="boxed, hash, answer_is, bold, last"):
        verify_math("4", "4", extract="box")  # type: ignore[arg-type]


def test_only_the_end_of_a_long_completion_is_looked_at() -> None:
    assert verify_math(r"\boxed{4}" + " " * MAX_CHARACTERS, "4").status == "no_answer"
    assert verify_math(" " * MAX_CHARACTERS + r"\boxed{4}", "4").status == "correct"
    assert verify_math("<think>" + " " * MAX_CHARACTERS + r"\boxed{4}", "4").status == "no_answer"


def test_a_number_too_long_to_read_is_text() -> None:
    long = "7" * 5_000
    assert read_value(long) is None
    assert verify_math(f"#### {long}", long).status == "correct"
    assert verify_math(f"#### {long}7", long).status == "wrong"


HARD = [
    "{" * 20_000,
    r"\boxed{" * 3_000,
    r"\boxed" + " " * 20_000,
    r"\boxed{" + r"\text{" * 3_000,
    r"\boxed{" + "1," * 9_000 + "}",
    r"\boxed{" + " 123" * 5_000 + "}",
    r"\boxed{" + "1,234" * 190 + "}",
    r"\boxed{" + "a " * 490 + "}",
    r"\boxed{" + "9" * 900 + "/" + "9" * 90 + "}",
    r"\boxed{0.\overline{" + "34" * 450 + "}}",
    "answer is " * 2_000,
    "answer " + "*" * 20_000,
    "#" * 20_000,
    "#### " + "(" * 19_000,
    "#### x" + "{" * 900 + "=",
    r"#### " + "\\" * 19_000,
]


@pytest.mark.parametrize("completion", HARD, ids=[text[:12] for text in HARD])
@pytest.mark.parametrize("target", ["1", r"\frac{1}{3}", "C", r"\pi", r"\{1,2\}", "x<3"])
def test_hard_texts_take_no_time(completion: str, target: str) -> None:
    started = time.perf_counter()
    assert verify_math(completion, target).status in ("wrong", "no_answer")
    assert time.perf_counter() - started < 0.5


PIECES = st.sampled_from(
    [r"\boxed{", r"\fbox{", "}", "{", "####", "answer is", "<think>", "</think>", r"\frac", r"\frac12", r"\overline{",
     r"\text{", r"\left", "\\", "$", "%", r"\%", "/", "=", "x", "C", "(", ")", ":", ".", ",", "{,}", " ", "\n", "-",
     "\u2212", "½", "^", "_", "!", "1", "23", "4.5", "1,250", "e9", "or", "cm", "°", "٣", "²", "*"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=200))


@settings(max_examples=400, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(["boxed", "hash", "answer_is", "bold", "last"]))
@example(r"\boxed{٣}", "3", "last")
def test_the_exact_stage_never_raises_and_is_fast(completion: str, target: str, extract: str) -> None:
    started = time.perf_counter()
    verdict, answer, undecided = look(completion, target, aliases=(target,), extract=extract)
    assert time.perf_counter() - started < 0.5
    assert (verdict is None) == bool(undecided)
    if verdict is None:
        assert answer and not any(judge(answer, one)[0] for one in undecided)
        return
    assert (verdict.reward is None) == (verdict.status == "unparseable_gold")
    assert (verdict.status == "correct") == (verdict.reward == 1.0)
    assert (verdict.extracted is None) == (verdict.status in ("no_answer", "unparseable_gold"))


@given(TEXTS.filter(lambda text: "think>" not in text and "box" not in text))
def test_the_target_itself_is_correct(target: str) -> None:
    line = " ".join(target.split()).replace("####", "")
    verdict = verify_math(f"#### {line}", line, extract="hash")
    answer, _ = extract_answer(f"#### {line}", "hash")
    if answer == line:
        assert verdict.status in ("correct", "unparseable_gold")


@given(st.fractions(max_denominator=10_000), st.fractions(max_denominator=10_000))
def test_numbers_are_equal_when_their_values_are(left: object, right: object) -> None:
    for one, other in ((left, right), (left, left)):
        assert (verify_math(rf"\boxed{{{one}}}", str(other)).status == "correct") == (one == other)


def test_the_shared_cases() -> None:
    if not CASES.exists():
        pytest.skip(f"no {CASES}")
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines() if line.strip()]
    accepted = {"wrong_or_timeout": ("wrong", "timeout")}
    failing = {
        (row["target"], row["answer"])
        for row in rows
        if verify_math(row["answer"], row["target"]).status not in accepted.get(row["right"], (row["right"],))
    }
    assert failing == set()
