"""The leak audit: every writing of the target that a policy could read, and nothing that is not one."""

from __future__ import annotations

import ast
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cloze.masking.leaks.audit
from cloze.masking import mask
from cloze.masking.leaks import HOWS, Leak, find_leaks
from cloze.verifiers import verify_math

# what is shown, the target, what leaks and how
FOUND = [
    ("x=24. So 24.0 and 1,250 or 240", "24", [("24", "number"), ("24.0", "number")]),
    ("1,250 3 250 mg", "250", [("250", "number")]),
    ("x-5 or 5", "-5", []),
    ("=-5", "5", []),
    ("1/2", "2", [("2", "number")]),
    (r"40% 40\% 0.4 40", r"40\%", [("40%", "percent"), (r"40\%", "percent"), ("0.4", "number")]),
    ("5. Add 5 to 5.", "5", [("5", "label"), ("5", "number"), ("5", "number")]),
    ("no\n solution", "No solution", [("no\n solution", "text")]),
    ("[N1]+[N2]=[N3]", "24", []),
    ("", "24", []),
    ("24", " ", []),
]


@pytest.mark.parametrize(("shown", "target", "leaks"), FOUND)
def test_what_leaks(shown: str, target: str, leaks: list[tuple[str, str]]) -> None:
    assert [(leak.text, leak.how) for leak in find_leaks(shown, target)] == leaks


# the target, how it leaks, and a text in which every leak, and nothing else, stands between ⟦ and ⟧
MARKED = [
    # digits
    ("24", "number", "⟦24⟧cm, $⟦24⟧, ⟦24⟧-3, ⟦24⟧x, (⟦24⟧), {⟦24⟧}, **⟦24⟧**, _⟦24⟧_, [⟦24⟧], ⟦0024⟧, ⟦24.00⟧, +⟦24⟧."),
    ("24", "number", "⟦24⟧%, ⟦24⟧°, ⟦24⟧!, ⟦24⟧/7, March ⟦24⟧, Rs⟦24⟧"),
    ("24", "number", "3x⟦24⟧, ⟦24⟧USD, ⟦24⟧-hour, around ⟦24⟧, #### ⟦24⟧"),
    ("24", "number", "240, 2024, 124, 3.24, 24.5, 1.24.3, 24,000, 2 4, .24, 0.24, x=⟦24⟧"),
    ("24", "number", "at 24:00, 12:24 or 0:24:10, but the ratio 12:⟦24⟧ or ⟦24⟧:1"),
    ("24", "number", "20+4, 48\\div 2, 6\\cdot 4, 25-1, 4!, 48/[N1], [N24], [NN24], \\frac{20+28}{2}, xxiv, ⟦24⟧"),
    ("5", "number", "2.5 25 .5 5,000 1.5e3 =-5 (-5) |-5| $-5$ \\cdot -5 x-⟦5"),
    ("5", "number", "3 - ⟦5⟧ |x|-⟦5⟧ $x$-⟦5⟧ [N1]-⟦5⟧\n- ⟦5⟧ pears"),
    ("-5", "number", "⟦-5⟧, ⟦\u22125⟧, ⟦–5⟧, (⟦-5⟧), ⟦-5.0⟧, x=⟦- 5⟧"),
    ("-5", "number", "$⟦-5⟧$, ⟦-$5⟧, \\le ⟦-5⟧, is ⟦-5⟧; x-5, 7 - 5, 5"),
    ("-7", "number", "so ⟦-7⟧, then ⟦-7⟧, it yields ⟦-7⟧. Hence ⟦-7⟧; we have ⟦-7⟧. A root ⟦-7⟧, that ⟦-7⟧ works"),
    ("-7", "number", "x = ⟦- 7⟧, $⟦- 7⟧$, the sum ⟦–7⟧, or ⟦−7⟧ at n=3 then ⟦-7⟧"),
    ("-7", "number", "x=⟦-(7)⟧, ⟦-{7}⟧, ⟦-\\left(7\\right)⟧, -(7+1), 5-(7), 10–7"),
    ("-7", "number", "⟦minus 7⟧, ⟦negative 7⟧, is ⟦minus $7⟧$, so ⟦Minus 7.0⟧, the total ⟦minus 7⟧"),
    ("-7", "number", "n -7, 10 -7, (a) -7, $x$ -7, [N1] -7, \\pi -7, ten -7, 5 minus 7, n minus 7"),
    ("7", "number", "n -⟦7⟧, 10 -⟦7⟧, (a) -⟦7⟧, $x$ -⟦7⟧, [N1] -⟦7⟧, 5 minus ⟦7⟧"),
    ("7", "number", "n minus ⟦7⟧, the total minus ⟦7⟧, 5-(⟦7⟧)"),
    ("7", "number", "so -7, then -7, - ⟦7⟧ pears, is minus 7, negative 7, x=-(7), $- 7$, 10 cm -⟦7⟧ cm, 10–⟦7⟧"),
    ("24", "number", "⟦２４⟧, x＝⟦２４⟧．, ２４０, １２４"),
    ("２４", "number", "⟦24⟧, ⟦２４⟧"),
    ("4", "number", "3x⟦4⟧, 10x⟦4⟧, (3)x⟦4⟧, [N1]x⟦4⟧, [N1] X⟦4⟧"),
    ("4", "label", "x⟦4⟧, ax⟦4⟧, 0x⟦4⟧, 0xF⟦4⟧"),
    ("1250", "number", "⟦1,250⟧ ⟦1250.00⟧ ⟦1 250⟧ ⟦1{,}250⟧ ⟦1\\,250⟧ ⟦1\\;250"),
    ("1250", "number", "\\$⟦1,250⟧ ⟦1.25e3⟧ 12,50 11,250 1,2500 1,250,000"),
    ("100", "number", "(0,⟦100⟧) and (1,⟦100⟧), \\{200,⟦100⟧\\} but 1,100 and \\boxed{1,100}"),
    ("1/3", "number", r"⟦0.\overline{3}⟧ ⟦0.\bar{3}⟧ 0.333 33%"),
    ("0", "number", r"0.\overline{3}, 0.5, 10, x=⟦0⟧ ⟦0.0⟧ ⟦00⟧"),
    ("18", "number", "$⟦18⟧, ⟦18⟧ dollars, \\$⟦18⟧, £⟦18⟧, $⟦18.00⟧, $18.50"),
    (r"\text{24 cm}", "number", "⟦24⟧"),
    ("x = 9", "number", "x=⟦9⟧, ⟦9.0⟧, 19"),
    # percent
    ("0.4", "percent", r"⟦40%⟧ ⟦40\%⟧ ⟦40 %⟧ ⟦40\,\%⟧ ⟦40$\%⟧$ ⟦40 percent⟧ ⟦40 per cent⟧ ⟦forty percent⟧ 40 4%"),
    ("1", "percent", "⟦100%⟧, ⟦one hundred percent⟧"),
    ("40", "number", "⟦40⟧%"),
    # fractions
    ("0.5", "fraction", r"⟦\frac{1}{2}⟧ ⟦\dfrac12⟧ ⟦1/2⟧ ⟦½⟧ ⟦48/96⟧ ⟦1 / 2⟧ ⟦1⁄2⟧"),
    ("0.5", "fraction", r"⟦{1 \over 2}⟧ ⟦\frac{\frac{3}{2}}{3}⟧ 1/20"),
    ("7/2", "fraction", r"⟦3 1/2⟧, ⟦3½⟧, ⟦3\frac{1}{2}⟧, ⟦3 \tfrac12⟧, ⟦7/2⟧, ⟦\frac72⟧, ⟦350/100⟧, 3/2, 31/2"),
    ("1/2", "fraction", r"3 ⟦1/2⟧"),
    ("24", "fraction", r"⟦48/2⟧=, ⟦48 / 2⟧, ⟦\frac{48}{2}⟧, ⟦24/1⟧, 24.5/1"),
    ("-0.5", "fraction", r"⟦-1/2⟧, 3-1/2, ⟦-\frac{1}{2}⟧, ⟦\frac{-1}{2}⟧, x-\frac12, 1/2"),
    ("-0.5", "fraction", r"so ⟦-1/2⟧ = x, ⟦-(1/2)⟧, ⟦minus 1/2⟧, ⟦minus \frac{1}{2}⟧"),
    ("-0.5", "fraction", r"⟦-{1}/{2}⟧, x minus \frac12, 5-(1/2)"),
    ("14/3", "fraction", r"⟦{14}/{3}⟧, ⟦(14)/(3)⟧, ⟦14/(3)⟧, ⟦14\div 3⟧, ⟦14 ÷ 3⟧, ⟦{14 \over 3}⟧, 28 \div 6"),
    ("1/6", "fraction", r"⟦\frac{\frac12}{3}⟧, ⟦\dfrac16⟧, ⟦2/12⟧, 1/60"),
    # powers and roots
    ("1024", "power", "⟦2^{10}⟧, ⟦2^10⟧, ⟦2¹⁰⟧, ⟦2**10⟧, ⟦4^5⟧, 2^{1}0, 2^9, x^{2}"),
    ("100000", "power", r"⟦10⁵⟧, ⟦10^5⟧, ⟦1.0 \times 10^5⟧, 10^{50}"),
    ("1250", "power", r"⟦1.25\times 10^{3}⟧, ⟦1.25·10³⟧, ⟦1.25 x 10^3⟧, 1.25 \times 1000"),
    ("4", "power", r"⟦\sqrt{16}⟧, ⟦√16⟧, ⟦2²⟧, ⟦2^2⟧, ⟦\sqrt[3]{64}⟧, ⟦16^{1/2}⟧, \sqrt{2}"),
    ("1/8", "power", r"⟦2^{-3}⟧, ⟦\frac{1}{2^3}⟧, ⟦(\frac12)^3⟧, (\frac12)^2"),
    ("2^{10}", "number", "⟦1024⟧, 210"),
    # number words
    ("24", "word", "⟦twenty-four⟧. ⟦Twenty four⟧"),
    ("24", "word", "⟦TWENTY-FOUR⟧ ⟦two dozen⟧ ⟦twenty-\nfour⟧ a dozen, ⟦twenty-four⟧-hour"),
    ("24", "word", "one hundred twenty-four, twenty-four hundred, twenty four thousand, twentyfour, ⟦2 dozen⟧"),
    ("105", "word", "⟦a hundred and five⟧, ⟦one hundred five⟧, a hundred, five"),
    ("12", "word", "⟦a dozen⟧ eggs, ⟦one dozen⟧, dozens of eggs, half a dozen, ⟦twelve⟧"),
    ("6", "word", "⟦half a dozen⟧, ⟦six⟧, sixty, sixteen"),
    ("3000000", "word", r"⟦3 million⟧, ⟦three million⟧, $⟦3\text{ million⟧}$, thirty million, millions"),
    ("1500", "word", "⟦1.5 thousand⟧, ⟦fifteen hundred⟧, ⟦one thousand, five hundred⟧, one thousand, five"),
    ("1/2", "word", "⟦half⟧ of it, ⟦one half⟧, ⟦a half⟧, ⟦point five⟧, one and a half"),
    ("2.5", "word", "⟦two and a half⟧, ⟦2 and a half⟧, ⟦two point five⟧, ⟦two and one half⟧"),
    ("3/4", "word", "⟦three quarters⟧, ⟦three-fourths⟧, ⟦zero point seven five⟧, a quarter, seventy-five"),
    ("2/3", "word", "⟦two-thirds⟧, ⟦two thirds⟧, ⟦2 thirds⟧, one third, the third"),
    ("-3", "word", "⟦minus three⟧, ⟦negative three⟧, three, ten minus three, so ⟦minus three⟧, the sum ⟦minus three⟧"),
    ("3", "word", "minus three, negative three, ten minus ⟦three⟧, 10 minus ⟦three⟧"),
    ("3", "word", "n minus ⟦three⟧, the sum minus ⟦three⟧"),
    ("-1/2", "word", "⟦minus one half⟧, ⟦minus a half⟧, ⟦negative one half⟧, ⟦minus half⟧, three minus a half"),
    ("24", "word", r"⟦twenty\,four⟧, ⟦twenty\;four⟧, ⟦twenty–four⟧, ⟦twenty\ four⟧"),
    ("5th", "word", "the ⟦fifth⟧ and ⟦Fifth⟧, not 5, five, the sixth"),
    ("fifth", "number", "the ⟦5th⟧, ⟦5^{th}⟧ or $⟦5^{\\text{th}}⟧$, 5, 15th, 6th"),
    ("twenty-first", "number", "⟦21st⟧, 121st, 21"),
    ("1984", "word", "⟦nineteen eighty-four⟧, nineteen, eighty-four"),
    ("1", "word", "the answer is ⟦one⟧. exactly ⟦one⟧; plus ⟦one⟧, he has ⟦one⟧ apple, none, alone, oneself"),
    ("2", "word", "so there are ⟦two⟧. ⟦two⟧ apples, in ⟦two⟧ ways"),
    ("twenty-four", "number", "⟦24⟧"),
    # labels
    ("5", "label", "Step ⟦5⟧: x_⟦5⟧, a_{⟦5⟧}, ⟦5⟧th, y⟦5⟧, Steps 1 and ⟦5⟧"),
    ("5", "label", "cases 3, 4 and ⟦5⟧, **Step ⟦5⟧**, the ⟦fifth⟧"),
    ("24", "label", "page ⟦24⟧, p. ⟦24⟧, No. ⟦24⟧, Eq. (⟦24⟧), eq.~(⟦24⟧)"),
    ("24", "label", "\\eqref{⟦24⟧}, \\tag{⟦24⟧}, Fig. ⟦24⟧, x_{i,⟦24⟧}, ⟦24⟧-th"),
    ("1", "label", "⟦One⟧ of them, no ⟦one⟧, ⟦one⟧ another, the ⟦one⟧"),
    ("1", "label", "each ⟦one⟧, ⟦first⟧ step, ⟦one⟧ by ⟦one⟧, ⟦one⟧ can see"),
    ("2", "label", "there are ⟦two⟧ cases, the ⟦two⟧ numbers, ⟦two⟧-digit"),
    ("2", "label", "case ⟦two⟧, the ⟦second⟧, x^⟦2⟧, m^{⟦2⟧}, x²"),
    ("3", "label", "1. Add.\n2. Go.\n⟦3⟧. End, in note ⟦3⟧"),
    ("3", "number", "So it is\n⟦3⟧. End, round ⟦3⟧ up, in round ⟦3⟧"),
    ("3", "number", "Day ⟦3⟧, Row ⟦3⟧, Line ⟦3⟧, Round ⟦3⟧, on line ⟦3⟧"),
    ("0", "label", "non-⟦zero⟧, nonzero, x_⟦0⟧"),
    # expressions
    (r"$\pi$", "text", r"so ⟦\pi⟧ and 2⟦\pi⟧, not \pitchfork or \Pi, ⟦π⟧"),
    (r"\frac{\sqrt{3}}{2}", "text", r"⟦\frac{\sqrt{3}}{2}⟧ ⟦\dfrac{ \sqrt{3} }{2}⟧, ⟦\frac{\sqrt{3}}{\,2}⟧"),
    (r"\frac{\sqrt{3}}{2}", "expression", r"⟦\sqrt{3}/2⟧, ⟦\dfrac{\sqrt3}{2}⟧, ⟦\frac12\sqrt3⟧"),
    (r"\frac{\sqrt{3}}{2}", "expression", r"⟦√3/2⟧, \sqrt{3}, \frac{\sqrt{3}}{4}"),
    (r"\frac{\pi}{2}", "expression", r"⟦\frac{\pi}2⟧, ⟦\pi/2⟧, ⟦\frac{1}{2}\pi⟧, x=⟦π/2⟧"),
    (r"\frac{\pi}{2}", "expression", r"⟦\tfrac12 \cdot \pi⟧, 2\pi, \pi/3, \pi/[N1]"),
    (r"-\sqrt{2}", "expression", r"x=⟦-\sqrt2⟧, ⟦-2^{1/2}⟧, ⟦-√2⟧, 3-\sqrt2, \sqrt{2}"),
    (r"1+\sqrt{2}", "expression", r"⟦\sqrt{2}+1⟧, ⟦1+√2⟧, 2+\sqrt{2}, 1-\sqrt{2}"),
    (r"\frac{1+\sqrt5}{2}", "expression", r"⟦(1+√5)/2⟧, ⟦\frac{\sqrt{5}+1}{2}⟧"),
    (r"\frac{1+\sqrt5}{2}", "expression", r"⟦\frac12(1+\sqrt{5})⟧, \frac{1-\sqrt5}{2}"),
    ("x^2+1", "expression", "⟦x^{2}+1⟧, ⟦1+x^2⟧, ⟦x²+1⟧, x^2+2, x^2-1"),
    (r"\ln 2", "expression", r"⟦ln 2⟧, ⟦ln(2)⟧, ⟦\ln{2}⟧, ln 3, log 2, kiln 2"),
    (r"\binom52", "expression", r"⟦\dbinom52⟧, ⟦\binom{5}{2}⟧, ⟦{5 \choose 2}⟧, \binom53, \frac52"),
    (r"\sqrt[3]{4}", "expression", r"⟦∛4⟧, ⟦∛{4}⟧, ⟦\sqrt[3]4⟧, ∜4, √4"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "text", r"⟦\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}⟧"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "text", r"⟦\begin{vmatrix}1&2\\3&4\end{vmatrix}⟧"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "text", r"\begin{pmatrix}1&2\\3&5\end{pmatrix}"),
    (r"\log_2 3", "expression", r"⟦\log_{2} 3⟧, ⟦\log_2(3)⟧, \log_3 2"),
    (r"2\sqrt{3}\text{ cm}", "expression", r"⟦2√3⟧, ⟦\sqrt{12}⟧, \sqrt{3}"),
    (r"\pm 6", "expression", "x = ⟦±6⟧, 6, -6"),
    (r"\frac{1}{2^{99}}", "power", r"⟦2^{-99}⟧, ⟦1/2^{99}⟧, \frac{1}{2^{98}}"),
    # forms
    (r"(0,\infty)", "text", r"in ⟦(0,\infty)⟧ or ⟦(0, ∞)⟧"),
    (r"(-\infty,3)", "form", r"⟦x<3⟧, ⟦3>x⟧, ⟦t \lt 3⟧, ⟦(-\infty,3.0)⟧, x\le3, (-\infty,3], x<30, x>3"),
    (r"x \le 3", "form", r"⟦(-\infty,3]⟧, ⟦x≤3.0⟧, ⟦3 \ge x⟧, ⟦3 ⩾ x⟧, x<3, y \le 3, x \le 30"),
    ("[1,2)", "form", r"⟦1 \le x < 2⟧, ⟦2 > x \geq 1⟧, ⟦[1, \frac42)⟧, (1,2), 1<x<2, 1 \le x \le 2"),
    (r"(-\infty,1)\cup(2,\infty)", "form", r"⟦x<1 or x>2⟧; ⟦(2,\infty) \cup (-\infty, 1)⟧; (2,\infty)"),
    (r"\{1,2,3\}", "form", r"⟦\{3,1,2\}⟧, ⟦\{3, \frac22, 2.0\}⟧; ⟦x = 2, 3, 1⟧; \{1,2\}, \{1,2,4\}"),
    ("(1,2)", "form", r"⟦(1.0, 2)⟧, ⟦(\frac{2}{2},2)⟧, (2,1), (1,3), (1,2,3)"),
    ("2,-2", "form", r"⟦x = 2 or x = -2⟧; ⟦-2, 2⟧; ⟦2 and -2⟧; $⟦x=2$ or $x=-2⟧$; ⟦-2 \text{ or } 2⟧; 2 or 3"),
    (r"(0,1)\cup(2,3)", "form", r"⟦(2,3) \cup (0,1)⟧; ⟦(2, 3) ∪ (0, 1)⟧; (2,3) \cup (0,2)"),
    ("2, 3", "form", r"⟦3 and 2⟧; ⟦\{3,2\}⟧; ⟦x=3 or x=2⟧; 3 and 4"),
    ("y=2x+3", "form", "⟦y=3+2x⟧, y=2x+4"),
    ("3:45", "text", "at ⟦3:45⟧, ⟦3:45⟧pm, 13:45, 3:450, 345"),
    ("101_2", "text", "⟦101_2⟧, 101, 101_20"),
    # options
    ("C", "text", "(⟦C⟧), option ⟦C⟧, \\text{⟦C⟧}, choice ⟦c⟧, (⟦c⟧)"),
    ("C", "text", "\\boxed{⟦C⟧}, **⟦C⟧**, so it is ⟦C⟧. c, ABC, Cat"),
    ("(B)", "text", r"The answer is $\boxed{\textbf{(⟦B⟧)}\ 12}$. #### ⟦b⟧"),
    ("C", "label", "f(⟦C⟧, D), f(⟦C⟧), [N1](⟦C⟧) and [N1](⟦C⟧"),
    ("C", "label", r"point ⟦C⟧, \angle ⟦C⟧, P(⟦C⟧), ⟦C⟧=5, A, B and ⟦C⟧, vitamin ⟦C⟧, (A) 3 (B) 4 (⟦C⟧) 5 (D) 6"),
    ("D", "label", "A. one\nB. two\nC. three\n⟦D⟧. four"),
    ("D", "text", "(A) 1 (B) 2 (C) 3. The answer is (⟦D⟧)."),
    ("A", "label", "⟦A⟧ train leaves. (⟦a⟧) First, a second train, and a third."),
    # words and names
    (r"\text{Tuesday}", "text", "On ⟦TUESDAY⟧, ⟦tuesday⟧. Tuesdays, ⟦Tuesday⟧'s"),
    ("No", "label", "⟦no⟧ one, there is ⟦no⟧ apple, nothing"),
    ("No", "text", "The answer: ⟦No⟧. So ⟦no⟧, knot"),
    ("University College London", "mention", "at ⟦UCL⟧ or ⟦U.C.L⟧., College London, ucl"),
    ("UCL", "mention", "at ⟦University College London⟧, University College"),
    ("The Beatles", "mention", "⟦Beatles⟧ and ⟦beatles⟧, beat"),
    ("Marie Curie", "mention", "⟦Curie⟧'s, M. ⟦Curie⟧, Madame ⟦CURIE⟧, curie, Marie, Curies"),
    ("Vincent van Gogh", "mention", "van ⟦Gogh⟧, Van Eyck"),
    ("Martin Luther King Jr.", "mention", "⟦King⟧, a king, ⟦MLK⟧"),
    ("Henri Poincaré", "mention", "⟦Henri Poincare⟧, ⟦POINCARÉ⟧"),
    ("New York City", "mention", "⟦NYC⟧, New York, City Hall"),
    ("São Paulo", "mention", "⟦Sao Paulo⟧"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "how", "marked"), MARKED)
def test_what_leaks_and_what_does_not(target: str, how: str, marked: str) -> None:
    found = find_leaks(marked.replace("⟦", "").replace("⟧", ""), target)
    expected = [piece.partition("⟧")[0] for piece in marked.split("⟦")[1:]]
    assert [(leak.text, leak.how) for leak in found] == [(text, how) for text in expected]


def test_place_and_aliases() -> None:
    assert find_leaks("At UCL\nin 1826,\nucl", "University College London", ("UCL", "1826.0", "")) == [
        Leak(3, 6, 1, "UCL", "text"),
        Leak(10, 14, 2, "1826", "number"),
        Leak(16, 19, 3, "ucl", "text"),
    ]


def test_a_place_is_named_once_and_the_wider_one() -> None:
    assert [leak.text for leak in find_leaks("It is 3.50 or 7/2 or 3½", "7/2", ("3.5", r"\frac{7}{2}"))] == [
        "3.50",
        "7/2",
        "3½",
    ]


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ("[{letter}{index}]", "[N24] [NN24] [A24] [C24] [E24] [R24] [N24"),
        ("<blank_{index}>", "<blank_24> <blank_24"),
        ("___{letter}{index}__", "___N24__ ___N24_"),
        ("{{{letter}-{index}}}", "{N-24} {E-24"),
    ],
)
def test_a_blank_is_no_leak_even_when_it_is_cut(style: str, shown: str) -> None:
    assert find_leaks(shown, "24", style=style) == []
    assert [leak.text for leak in find_leaks(shown + " 24", "24", style=style)][-1:] == ["24"]


def test_a_blank_takes_part_in_nothing() -> None:
    assert find_leaks(r"48/[N1], [N1]/2, 2[N1]4, \frac{[N1]}{2}, 2^{[N2]}, ([N1],2)", "24", ("(1,2)",)) == []
    assert [leak.text for leak in find_leaks("[N1]-5", "5")] == ["5"]


@pytest.mark.parametrize(
    "cut", ["so 2", "so 24.", "so 1,2", "so [N", "so [", r"so \frac{4", r"so \frac", "so 24^", "so 48/"]
)
def test_a_text_may_end_anywhere(cut: str) -> None:
    assert all(leak.text == "24" for leak in find_leaks(cut, "24"))


@pytest.mark.parametrize(
    "shown", [r"\boxed{x = (-3, 5)}", "#### (-3, 5)", "The answer is $(-3,5)$.", r"so \[(-3,5)\] holds"]
)
def test_where_an_answer_is_expected_the_verifier_is_asked(shown: str) -> None:
    assert [leak.how for leak in find_leaks(shown, r"\left(-3,\,5\right)")] != []


def test_an_answer_that_only_the_verifier_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    def accepts(answer: str, target: str) -> str:
        return "alike" if "zebra" in answer else ""

    monkeypatch.setattr(cloze.masking.leaks.audit, "compare", accepts)
    assert [(leak.text, leak.how) for leak in find_leaks("zebra \\boxed{a zebra} \\boxed{[N1] zebra}", "24")] == [
        ("a zebra", "form")
    ]


AUDIT = sorted(Path(cloze.masking.leaks.audit.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", AUDIT, ids=lambda path: path.name)
def test_the_audit_is_independent_of_the_maskers(path: Path) -> None:
    tree = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    imported = {node.module or "" for node in tree if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names}
    ours = {module for module in imported if module.startswith("cloze")}
    assert all(module.startswith(("cloze.masking.leaks", "cloze.verifiers")) for module in ours)


def test_what_the_masker_hides_does_not_leak() -> None:
    text = "Step 1: 24+2=26\nStep 2: 26-2=24, i.e. 24.0.\n#### 24"
    assert [leak.how for leak in find_leaks(text, "24")] == ["number"] * 4
    assert find_leaks(mask(text, "math", target="24").rendered, "24") == []


EMPTY = ["$" * 301, "~" * 301, "$ " * 200, "\u200b" * 400, "`" * 301, ":" * 301, "\\,|" * 200, "*" * 301, "." * 301]


@pytest.mark.parametrize("target", EMPTY)
def test_a_long_target_without_a_text_of_its_own_ends(target: str) -> None:
    assert find_leaks("abc", target) == []
    assert [(leak.text, leak.how) for leak in find_leaks("abc " + target, target)][-1:] in (
        [(target, "text")],
        [(target.strip(), "text")],
    )


MEGABYTE = {
    "one line": "12+34=46 " * 110_000,
    "many lines": "x=5 \n" * 200_000,
    "one number": "7" * 1_000_000,
    "minus signs": "-5" * 250_000,
    "groups": ",123" * 250_000,
    "spaced groups": " 123" * 250_000,
    "slashes": "1/2" * 300_000,
    "fractions": r"\frac{1}" * 120_000,
    "spaces": " " * 1_000_000 + "5",
    "number words": "five hundred and " * 60_000,
    "boxes": r"\boxed{" * 140_000,
    "braces": "{" * 500_000 + "}" * 500_000,
}


@pytest.mark.parametrize("name", MEGABYTE)
def test_a_megabyte_takes_seconds(name: str) -> None:
    started = time.perf_counter()
    find_leaks(MEGABYTE[name], "5")
    assert time.perf_counter() - started < 15  # about 3 on a slow core; a quadratic one takes minutes


HOSTILE = [
    r"\frac{111" * 890, r"\frac{" + "1" * 8_000, r"\frac{1}{1" * 800, r"\frac" * 1_600, r"\sqrt{" * 1_300,
    "√2" * 4_000, "{" * 10_000 + "5" + "}" * 10_000, "{" * 10_000, "(" * 4_000 + "5" + ")" * 4_000,
    "(1+" * 2_000 + "1" + ")" * 2_000, "$" * 8_000, "$1" * 4_000, "$" + "x+1 " * 2_000, r"\(" * 4_000,
    r"\boxed{" * 1_100, "answer is " * 800, "####" * 2_000, "2^{" * 2_600, "x_{" * 2_600, "1+" * 4_000, "1," * 4_000,
    "x<1<" * 2_000, r"\{1," * 2_000, "1/2/" * 2_000, "5 " * 4_000, "(C) " * 2_000, "C " * 4_000, "twenty " * 1_100,
    "half a " * 1_100, "minus " * 1_300, "-5 " * 2_600, "-(" * 4_000 + "5", "so -5 " * 1_300, "minus 5 " * 1_000,
    "$ or $5" * 1_100, "14 \\div 3 " * 800, "5th " * 2_000, "{5}/{2}" * 1_100, r"\binom" * 1_300, "{5 \\choose " * 700,
    "∛" * 8_000, "ln " * 2_600, "Steps 5 and " * 600, "Ab Cd " * 1_300,
]  # fmt: skip
TARGETS = ["5", "-5", "1/2", "5th", r"\ln 2", r"\frac{\sqrt{3}}{2}", r"(-\infty,3)", r"\{1,2,3\}", "C"]
TARGETS += ["University College London"]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: f"{text[:12]}*{len(text)}")
def test_a_hostile_page_takes_milliseconds(text: str) -> None:
    for target in TARGETS:
        best = 9.0
        for _ in range(5):  # the machine may be busy with something else
            started = time.process_time()
            find_leaks(text, target)
            best = min(best, time.process_time() - started)
            if best < 0.05:
                break
        assert best < 0.1, target  # about 0.03; a quadratic one takes many times that


def test_numeric_targets_are_audited_at_megabytes_a_second() -> None:
    rows = [
        (f"She sold {n}+{n + 7} = <<{n}+{n + 7}={2 * n + 7}>>{2 * n + 7} cups.\n" * 4, str(n + 7)) for n in range(900)
    ]
    started = time.process_time()
    found = sum(len(find_leaks(shown, target)) for shown, target in rows)
    took = time.process_time() - started
    assert found >= 8 * len(rows)
    assert sum(len(shown) for shown, _ in rows) / took > 500_000  # about 4 million on a quiet core


PIECES = st.sampled_from(
    ["1", "23", "4.5", "1,250", "{,}", ".", ",", "-", "\u2212", "/", "=", " ", "\n", "x", "_", "{", "}", "(", ")",
     "Step ", "[N1]", "[", "]", "th", "$", "\\", r"\frac", r"\overline", "%", r"\%", "٣", "²", "½", "pi", "0", "^",
     r"\sqrt", "√", r"\{", r"\}", "<", r"\le", r"\infty", r"\cup", "±", "twenty", "-four", " one ", "half", " and ",
     "hundred", "point", "C", "(C)", "####", r"\boxed{", "answer is ", "The ", "Ünï ", "İ", "ß", r"\log", r"\over",
     "e5", "minus ", "negative ", "so ", "ten ", "４", "ln ", r"\binom", "∛", " or ", r"\div ", "th ", "x", "fifth",
     "\0", "10", "*", "·", ":", "30", " dozen", "|", "USA", "Curie"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=100))


@settings(max_examples=600, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_never_raises_and_says_where(shown: str, target: str, alias: str) -> None:
    at = 0
    for leak in find_leaks(shown, target, (alias,)):
        assert leak.text == shown[leak.start : leak.end] != ""
        assert leak.end > at and leak.line == shown.count("\n", 0, leak.start) + 1 and leak.how in HOWS
        at = leak.end


ENDINGS = st.sampled_from(["so \\boxed{%s}", "\n#### %s", "the answer is %s", "Answer: %s.", "\\fbox{\\text{%s}}"])


@settings(max_examples=600, deadline=None)
@given(TEXTS, TEXTS, st.booleans(), ENDINGS)
def test_what_the_verifier_accepts_is_found(target: str, other: str, same: bool, ending: str) -> None:
    answer = target if same else other
    assume("[N" not in answer and "\0" not in answer and len(answer) < 200)
    shown = "We see that " + ending.replace("%s", answer)
    if verify_math(shown, target).reward == 1.0:
        assert any(leak.how != "label" for leak in find_leaks(shown, target))


@given(st.integers(-(10**6), 10**6), st.sampled_from(["{}", "{:,}", "{}.0", "{}/1", r"\frac{{{}}}{{1}}", "{}e0"]))
def test_every_writing_of_a_number_is_found(value: int, writing: str) -> None:
    shown = "so y=" + writing.format(value) + "\nend"
    assert [leak.start for leak in find_leaks(shown, str(value))] == [5]
    if value + 1 != 1:  # the denominator
        assert find_leaks(shown, str(value + 1)) == []


ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ONES += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(value: int, joint: str) -> str:
    """A number below a million in words; `joint` goes before what follows the hundreds."""
    if value >= 1_000:
        rest = spelled(value % 1_000, joint) if value % 1_000 else ""
        return f"{spelled(value // 1_000, joint)} thousand {rest}".strip()
    if value >= 100:
        rest = joint + spelled(value % 100, joint) if value % 100 else ""
        return f"{ONES[value // 100]} hundred{rest}"
    if value < 20:
        return ONES[value]
    return TENS[value // 10] + ("-" + ONES[value % 10] if value % 10 else "")


@given(st.integers(4, 999_999), st.sampled_from([" ", " and "]), st.booleans())
def test_every_number_in_words_is_found(value: int, joint: str, upper: bool) -> None:
    words = spelled(value, joint)
    shown = f"So he has {words.upper() if upper else words} pears."
    assert [(leak.text.lower(), leak.how) for leak in find_leaks(shown, str(value))] == [(words, "word")]
    assert find_leaks(shown, str(value + 1)) == []


@given(
    st.integers(1, 99),
    st.integers(2, 60),
    st.sampled_from([r"\frac{{{}}}{{{}}}", "{}/{}", r"\left(\dfrac{{{}}}{{{}}}\right)"]),
)
def test_every_fraction_is_found_by_value(top: int, bottom: int, writing: str) -> None:
    shown = f"It is ${writing.format(top * 3, bottom * 3)}$ of all."
    value = Fraction(top, bottom)
    assert any(leak.how in ("fraction", "number") for leak in find_leaks(shown, str(value)))
    assert find_leaks(shown, str(value + Fraction(1, 7))) == [] or (value + Fraction(1, 7)).denominator == 1


@given(st.integers(1, 30), st.sampled_from([2, 3, 5, 6, 7]), st.integers(1, 9))
def test_every_writing_of_a_radical_is_found(factor: int, under: int, bottom: int) -> None:
    target = rf"\frac{{{factor}\sqrt{{{under}}}}}{{{bottom}}}"
    for writing in (
        rf"{factor}\sqrt{{{under}}}/{bottom}",
        rf"\dfrac{{{factor}\sqrt {under}}}{{{bottom}}}",
        rf"\frac{{{factor}}}{{{bottom}}}√{under}",
        rf"\frac{{\sqrt{{{under * factor**2}}}}}{bottom}",
    ):
        assert any(leak.how in ("text", "expression") for leak in find_leaks(f"so x = {writing}, done", target)), (
            writing
        )
        assert find_leaks(f"so x = {writing}, done", target.replace(r"\sqrt", r"\sqrt{11}\sqrt")) == []
