"""Masking code traces: every form of code is hidden, the plan and the samples stay, and nothing is lost."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.masking.code import python as code_python
from cloze.masking.code.finder import LEVELS, find_code
from cloze.masking.spans import with_blanks

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "masking.jsonl"


def masked(text: str, level: str = "block") -> str:
    trace = with_blanks(text, find_code(text, level=level))
    assert trace.unmask(trace.rendered) == text
    return trace.rendered


# text, rendering at level "block"
BLOCKS = [
    # fences
    ("Plan.\n```python\nx = 1\n\ny = 2\n```\nDone.", "Plan.\n```python\n[C1]\n```\nDone."),
    ("~~~\nx = 1\n~~~\nok", "~~~\n[C1]\n~~~\nok"),
    ('```{.python title="a.py"}\nx\n```', '```{.python title="a.py"}\n[C1]\n```'),
    ("````md\n```py\nx=1\n```\n````\nafter it", "````md\n[C1]\n````\nafter it"),
    ("- a:\n  ```py\n  x = 1\n    y\n  ```\n- b", "- a:\n  ```py\n  [C1]\n  ```\n- b"),
    ("> ```\n> x = 1\n> y = 2\n> ```\n> end", "> ```\n> [C1]\n> ```\n> end"),
    ("1. a\n\n   > ```\n   > x\n   > ```\n2. b", "1. a\n\n   > ```\n   > [C1]\n   > ```\n2. b"),
    ("```sh\npip install x\n```\n```sql\nSELECT 1\n```", "```sh\n[C1]\n```\n```sql\n[C2]\n```"),
    ("```diff\n- x\n+ y\n```", "```diff\n[C1]\n```"),
    ('```json\n{"a": 1}\n```', "```json\n[C1]\n```"),
    ("```py\r\nx = 1\r\ny\r\n```\r\nend", "```py\r\n[C1]\r\n```\r\nend"),
    ("```py\nx\n```\nand\n```py\nx\n```", "```py\n[C1]\n```\nand\n```py\n[C1]\n```"),
    ("- one\n  ```py\n  x\n    y\n  ```\n\n```py\nx\n  y\n```", "- one\n  ```py\n  [C1]\n  ```\n\n```py\n[C1]\n```"),
    ("```py\n\n```\n```\n```", "```py\n\n```\n```\n```"),
    # fences that are none, or were never closed
    ("use ```x``` here\nKeep this.\n```py\ns()\n```", "use ```x``` here\nKeep this.\n```py\n[C1]\n```"),
    ("use ```a + b``` here", "use ```[C1]``` here"),
    ("```python\nA=1\n\nText stays.\n```python\nB=2\n```", "```python\n[C1]\n\nText stays.\n```python\n[C2]\n```"),
    ("```python\ndef f(x):\n    return x", "```python\n[C1]"),
    ("```py\nA=1\n\nIt is fast, since\nwe halve it.\n", "```py\n[C1]\n\nIt is fast, since\nwe halve it.\n"),
    ("```python\nA=1\n\n## Why\n\n- It takes O(n) time.\n", "```python\n[C1]\n\n## Why\n\n- It takes O(n) time.\n"),
    ("```\nA=1\n\nThen B.\n```\nB=2\n```\nThe text goes on.", "```\n[C1]\n```\n[C2]\n```\nThe text goes on."),
    ("```py\nx\n``` Then we stop.\nThe text goes on.", "```py\n[C1]\n``` Then we stop.\nThe text goes on."),
    ("So: ```python\nx = 1\ny```\nThe text goes on.", "So: ```python\n[C1]```\nThe text goes on."),
    ("- ```py\n  x = 1\n\nThe text goes on.", "- ```py\n  [C1]\n\nThe text goes on."),
    # indented blocks
    ("Use:\n\n    x = 1\n\n    y = 2\n\nEnd.", "Use:\n\n    [C1]\n\nEnd."),
    ("\tx = 1\n\nEnd.", "\t[C1]\n\nEnd."),
    ("- item\n\n      a + b\n\n- other", "- item\n\n      [C1]\n\n- other"),
    ("So:\n\n    1. Sort the array \n    2. Scan it.\n", "So:\n\n    1. Sort the array \n    2. Scan it.\n"),
    # HTML
    ("<pre><code>x = 1\n\ny</code></pre>\nok", "<pre><code>[C1]</code></pre>\nok"),
    ("so <code>a + b</code> and <code>n</code>", "so <code>[C1]</code> and <code>n</code>"),
    ("<code>return a+b</code> it is. <pre>\nx = 1\n</pre> so n", "<code>[C1]</code> it is. <pre>\n[C2]\n</pre> so n"),
    ("as <pre>x = 1</pre> and <pre>y</pre>, a.pop(1)", "as <pre>[C1]</pre> and <pre>[C2]</pre>, [C3]"),
    ("x = 1\n<pre>\ny = 2\n</pre>\nz = 3", "[C1]\n<pre>\n[C2]\n</pre>\n[C3]"),
    # LaTeX
    *(
        (f"So:\n\\begin{{{name}}}{options}\nint x;\nit goes on\n\\end{{{name}}}\nEnd.",
         f"So:\n\\begin{{{name}}}{options}\n[C1]\n\\end{{{name}}}\nEnd.")
        for name, options in [("lstlisting", "[language=C]"), ("verbatim", ""), ("verbatim*", ""),
                              ("minted", "{python}"), ("minted", "[linenos]{text}"),
                              ("algorithmic", "[1]"), ("Verbatim", "[a=b]")]
    ),
    (
        "\\begin{algorithm}[H]\n\\caption{Go on}\n\\begin{algorithmic}\n\\State $x \\gets 1$\n\\end{algorithmic}\n"
        "\\end{algorithm}",
        "\\begin{algorithm}[H]\n\\caption{Go on}\n\\begin{algorithmic}\n[C1]\n\\end{algorithmic}\n\\end{algorithm}",
    ),
    ("so \\begin{verbatim}f(x)\\end{verbatim} it is", "so \\begin{verbatim}[C1]\\end{verbatim} it is"),
    ("Input:\n\\begin{verbatim}\n3 4\n\\end{verbatim}", "Input:\n\\begin{verbatim}\n3 4\n\\end{verbatim}"),
    ("\\begin{lstlisting}\nx = 1\ngo on\n\nThe text goes on.", "\\begin{lstlisting}\n[C1]\n\nThe text goes on."),
    ("We use \\begin{verbatim} here.\nThe text.", "We use \\begin{verbatim} here.\nThe text."),
    # programs among prose
    ("The loop is\nfor i in a:\n    go on\nand it stops.", "The loop is\n[C1]\nand it stops."),
    (
        'We sort.\n\ndef f(a):\n    """Return the sum.\n\n    More of it.\n    """\n    s = 0\n\n    # add up\n'
        "    for x in a:\n        s += x\n    return s\n\nIt is fast.",
        "We sort.\n\n[C1]\n\nIt is fast.",
    ),
    (
        "The idea is to scan.\n#include <iostream>\n\nint main()\n{\n    int n;\n    cin >> n; // read it\n\n"
        "    for (int i = 0; i < n; i++) {\n        cout << i;\n    }\n}\nThis is O(n).",
        "The idea is to scan.\n[C1]\nThis is O(n).",
    ),
    ("A:\nx = f(\n    1,\n    2\n)\nThen stop.", "A:\n[C1]\nThen stop."),
    ("Visit(v):\n  take the first\n\nThat is all.", "Visit(v):\n  take the first\n\nThat is all."),
    ("Visit(v):\n  w = Q.pop()\n  mark it\n\nThat is all.", "[C1]\n\nThat is all."),
    ("lo = 0\nhi = n\nwhile lo < hi do\n  halve it\nreturn lo\n\nIt ends.", "[C1]\n\nIt ends."),
    ("x = 1\n# a note\ny = 2\n# the end", "[C1]\n# the end"),
    ("# Solution\nx = 1", "# Solution\n[C1]"),
    ("1. Sort the array.\n2. lo = 0\n3. Return it.", "1. Sort the array.\n2. [C1]\n3. Return it."),
    (">>> f(3)\n6\n>>> g(4)\n8", ">>> [C1]\n6\n>>> [C2]\n8"),
    # behind a label, in a sentence
    ("Answer: return max(a, b)", "Answer: [C1]"),
    ("**Transition:** dp[i] = dp[i-1] + 1", "**Transition:** [C1]"),
    ("So dp[i] = max(dp[i-1], 0) + a[i], since it is.", "So [C1], since it is."),
    ("Then sorted(a)[k-1] is it; call a.append(x) next.", "Then [C1] is it; call [C2] next."),
    ("Here we return f[n-1] + f[n-2] at once.", "Here we return [C1] at once."),
    ("The recurrence is $dp[i] = f(i) + 1$.", "The recurrence is $dp[i] = f(i) + 1$."),
    ("It is\n$$\nx = f(1)\n$$\nor\n\\[\ny = g[1]\n\\]\nx = 1", "It is\n$$\nx = f(1)\n$$\nor\n\\[\ny = g[1]\n\\]\n[C1]"),
    ("\\begin{align}\nx &= f(1) \\\\\ny = 2\n\\end{align}", "\\begin{align}\nx &= f(1) \\\\\ny = 2\n\\end{align}"),
    ("$$\nx = 1\n\nThe text.", "$$\n[C1]\n\nThe text."),
    # inline code
    ("Return `sorted(a)[k-1]` at once.", "Return `[C1]` at once."),
    ("Use ``a `b` + c`` or `a+b`.", "Use ``[C1]`` or `[C2]`."),
    ("Use `a +\nb` here.", "Use `[C1]\n[C2]` here."),
    ("A \\` b `x+1` c", "A \\` b `[C1]` c"),
    ("`x+1` and `x + 1` and `x+1`", "`[C1]` and `[C2]` and `[C1]`"),
    # what is masked already
    ("```py\n[C1]\n```\n`[C2]` and [N3]\n\n    [C4]\n[C5]", "```py\n[C1]\n```\n`[C2]` and [N3]\n\n    [C4]\n[C5]"),
    ("```py\n[C1], ( [N2] )\n```", "```py\n[C1], ( [N2] )\n```"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BLOCKS)
def test_blocks(text: str, expected: str) -> None:
    assert masked(text) == expected


# an intro and a block below it that stays, and a block that is hidden below the same intro
INTROS = ["Sample Input", "**Output:**", "### Example 1", "For example:", "It prints:", "stdin:", "Expected output"]
DATA = ["3\n1 2 3", "YES", "nums = [1, 2], k = 3", 's = "abc"', "[[1,2],[3,4]]", "#..#\n.##.", "add 5\nget", '{"a": 1}']
PROGRAMS = ["print(1)", "x = f(3)", "for i in range(3):\n    print(i)", "return x+1", "int x = 5;", ">>> f(3)\n4"]


@pytest.mark.parametrize("intro", INTROS)
def test_samples_stay_and_code_below_the_same_words_does_not(intro: str) -> None:
    for data in DATA:
        for block in (f"```\n{data}\n```", f"\n```python\n{data}\n```", "\n    " + data.replace("\n", "\n    ")):
            text = f"{intro}\n{block}\n\nThen we stop."
            assert masked(text) == text
    for program in PROGRAMS:
        assert masked(f"{intro}\n```\n{program}\n```\nThen stop.") == f"{intro}\n```\n[C1]\n```\nThen stop."


@pytest.mark.parametrize("info", ["text", "txt", "plain", "output", "input", "Text x"])
def test_what_a_fence_calls_text_is_believed_unless_it_is_code(info: str) -> None:
    for content in (*DATA[:2], "Sort first, then scan.", "The larger one wins."):
        assert find_code(f"```{info}\n{content}\n```") == []
    for program in PROGRAMS:
        assert masked(f"```{info}\n{program}\n```") == f"```{info}\n[C1]\n```"


def test_without_an_intro_numbers_in_a_fence_are_hidden_and_sentences_are_not() -> None:
    assert masked("```\n3 4\n```\n") == "```\n[C1]\n```\n"
    assert find_code("```\nThe larger one always wins.\n```\n") == []
    assert masked("```python\nThe larger one always wins.\n```\n") == "```python\n[C1]\n```\n"


CLASS = '''\
import os

@dec(1)
class A(B):
    """What A is."""

    x: int = 1

    @property
    async def f(self, y: int = 2) -> int:
        # keep this note
        # y = y + 1
        z = y; w = 1  # the value
        for i in range(z):
            if i > 3:
                continue
            elif i: pass
            else:
                print(i)
        return z

if __name__ == "__main__":
    A().f(1)
'''
CLASS_BODY = '''\
import os

@dec(1)
class A(B):
    """What A is."""

    [C1]

    @property
    async def f(self, y: int = 2) -> int:
        # keep this note
        # [C2]
        [C3]  # the value
        [C4]

[C5]
'''
CLASS_STATEMENTS = '''\
import os

@dec(1)
class A(B):
    """What A is."""

    [C1]

    @property
    async def f(self, y: int = 2) -> int:
        # keep this note
        # [C2]
        [C3]; [C4]  # the value
        for [C5] in [C6]:
            if [C7]:
                [C8]
            elif [C5]: [C9]
            else:
                [C10]
        [C11]

if [C12]:
    [C13]
'''

# Python, rendering at level "body", rendering at level "statement"
PYTHON = [
    (CLASS, CLASS_BODY, CLASS_STATEMENTS),
    ("def f(x):\n    return x*2\nprint(f(3))\n", "def f(x):\n    [C1]\n[C2]\n", "def f(x):\n    [C1]\n[C2]\n"),
    ("def f(x): return x\n", "def f(x): [C1]\n", "def f(x): [C1]\n"),
    (
        'def f(x):\n    """Add one.\n\n    >>> f(1)\n    2\n    >>> for i in a:\n    ...     f(i)\n'
        "    x = x + 1\n    Call `f(g(x))` then.\n    \"\"\"\n    def g(y):\n        return y\n    return g\n",
        'def f(x):\n    """Add one.\n\n    >>> [C1]\n    2\n    >>> [C2]\n    [C3]\n'
        "    [C4]\n    Call `[C5]` then.\n    \"\"\"\n    def g(y):\n        [C6]\n    [C7]\n",
        'def f(x):\n    """Add one.\n\n    >>> [C1]\n    2\n    >>> [C2]\n    [C3]\n'
        "    [C4]\n    Call `[C5]` then.\n    \"\"\"\n    def g(y):\n        [C6]\n    [C7]\n",
    ),
    (
        "try:\n    a()\nexcept E as e:\n    raise\nfinally:\n    with b as f:\n        while True:\n            f()\n",
        "[C1]\n",
        "try:\n    [C1]\nexcept [C2]:\n    [C3]\nfinally:\n    with [C4]:\n        while [C5]:\n            [C6]\n",
    ),
    # characters are not bytes
    (
        "ä = 'ü'  # größer\ndef ö(ß):\n    return ß + '😀' # ñ\n𝑥 = 1\n",
        "[C1]  # größer\ndef ö(ß):\n    [C2] # ñ\n[C3]\n",
        "[C1]  # größer\ndef ö(ß):\n    [C2] # ñ\n[C3]\n",
    ),
    # an f-string is no docstring, nor is a string that stands later
    ('def f():\n    f"{x}"\n    "s"\n', "def f():\n    [C1]\n", "def f():\n    [C1]\n    [C2]\n"),
    ("x = [\n    1,  # one\n    a,\n]\n", "[C1]  # one\n    [C2]\n", "[C1]  # one\n    [C2]\n"),
    # broken or cut off: what is not understood is hidden
    ("def f(x):\n    return (x +\n", "def f(x):\n    [C1]\n", "def f(x):\n    [C1]\n"),
    ("def f(x)\n    return x\n", "[C1]\n", "[C1]\n"),
    ("    return y\n", "    [C1]\n", "    [C1]\n"),
    ("while lo < hi do\n    lo += 1\n", "[C1]\n", "[C1]\n"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "body", "statements"), PYTHON)
def test_the_finer_levels(code: str, body: str, statements: str) -> None:
    assert masked(f"Plan.\n```python\n{code}```\n", "body") == f"Plan.\n```python\n{body}```\n"
    assert masked(f"Plan.\n```python\n{code}```\n", "statement") == f"Plan.\n```python\n{statements}```\n"
    assert masked(f"Plan.\n```python\n{code}```\n") == f"Plan.\n```python\n{'    ' * code.startswith(' ')}[C1]\n```\n"


def test_the_finer_levels_within_a_quote_and_without_a_fence() -> None:
    quoted = "> ```py\n> def f(x):\n>     y = x\n>\n>     return y\n> ```\n"
    assert masked(quoted, "body") == "> ```py\n> def f(x):\n>     [C1]\n> ```\n"
    assert masked(quoted, "statement") == "> ```py\n> def f(x):\n>     [C1]\n>\n>     [C2]\n> ```\n"
    bare = "We add.\n\ndef f(x):\n    # one more\n    return x + 1\n\nThat is all."
    assert masked(bare, "body") == "We add.\n\ndef f(x):\n    # one more\n    [C1]\n\nThat is all."


# a program, and what the finer levels leave of it
BRACES = [
    (
        "cpp",
        "#include <set>\n/* Reads n\n * and prints it. */\nstruct A : B {\n    int x; // the value\n"
        '    A(int x) : y(x) {\n        y = "http://a"; // see it\n        // y = x + 1;\n    }\n};\n\n'
        "int main()\n{\n    // read, then `f(g(x))`\n"
        "    for (int i = 0; i < n; i++) {\n        sort(a, b, [](int x) {\n        });\n    }\n}\n",
        "[C1]\n/* Reads n\n * and prints it. */\nstruct A : B {\n    [C2] // the value\n    A(int x) : y(x) {\n"
        "        [C3] // see it\n        // [C4]\n    }\n};\n\nint main()\n{\n    // read, then `[C5]`\n"
        "    [C6]\n        [C7]\n        });\n    }\n}\n",
    ),
    (
        "java",
        "/** Solves it. */\npublic class Main {\n    public static int sum(int[] a) throws E {\n"
        "        if (a > 0) { /* go */\n            f();\n        } else {\n            g();\n"
        "        }\n        R r = new R() {\n        };\n    }\n}\n",
        "/** Solves it. */\npublic class Main {\n    public static int sum(int[] a) throws E {\n"
        "        [C1] /* go */\n            [C2]\n        [C3]\n            [C4]\n"
        "        }\n        [C5]\n        };\n    }\n}\n",
    ),
    (
        "js",
        "const f = (x) => {\n  return x; // it\n};\nfunction g(a) {\n  a.each((x) => {\n  });\n  /* x\n",
        "const f = (x) => {\n  [C1] // it\n};\nfunction g(a) {\n  [C2]\n  });\n  [C3]\n",
    ),
    (
        "go",
        "func (s *S) Go(x int) (int, error) {\n\tif x > 0 {\n\t}\n}\ntype T struct {\n\tx int\n}\n",
        "func (s *S) Go(x int) (int, error) {\n\t[C1]\n\t}\n}\ntype T struct {\n\t[C2]\n}\n",
    ),
    ("rs", "pub fn f<T: Ord>(x: &[T]) -> O<i32> {\n    x.len()\n}\n",
     "pub fn f<T: Ord>(x: &[T]) -> O<i32> {\n    [C1]\n}\n"),
    ("", "int f(int x) {\n    // double\n    return 2 * x;\n}\n", "int f(int x) {\n    // double\n    [C1]\n}\n"),
    # no such languages
    ("bash", "echo $((3 // 2))\n", "[C1]\n"),
    ("ruby", "x = a // b\n", "[C1]\n"),
    ("", ">>> 7 // 2\n3\n", "[C1]\n[C2]\n"),
]  # fmt: skip


@pytest.mark.parametrize("level", ["body", "statement"])
@pytest.mark.parametrize(("info", "code", "expected"), BRACES)
def test_signatures_and_comments_stay_in_languages_with_braces(info: str, code: str, expected: str, level: str) -> None:
    assert masked(f"Plan.\n```{info}\n{code}```\n", level) == f"Plan.\n```{info}\n{expected}```\n"


def test_a_program_with_braces_and_no_fence() -> None:
    text = "We do it.\n\nint g(int x) {\n  // double it\n  return 2 * x;\n}\n\nIt ends.\n"
    assert masked(text, "body") == text.replace("return 2 * x;", "[C1]")


def test_what_a_span_says() -> None:
    text = "So `a+b`, and f.go(x) too:\n\n```py\n x = 1\n```\n\n    y = 2\n\nz = 3\n\n```\nw = 4"
    assert [(text[span.start : span.end], span.category, span.value, span.why) for span in find_code(text)] == [
        ("a+b", "code", "a+b", "inline code"),
        ("f.go(x)", "code", "f.go(x)", "code in prose"),
        ("x = 1", "code", "x = 1", "fenced code"),
        ("y = 2", "code", "y = 2", "indented code"),
        ("z = 3", "code", "z = 3", "unfenced code"),
        ("w = 4", "code", "w = 4", "unclosed fence"),
    ]


def test_an_unknown_level_is_an_input_error() -> None:
    with pytest.raises(InputError, match="use one of block, body, statement"):
        find_code("x", level="line")


def test_only_the_finer_levels_need_tree_sitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    code_python._parser.cache_clear()
    try:
        assert masked("```py\nx\n```") == "```py\n[C1]\n```"
        for level in ("body", "statement"):
            with pytest.raises(InputError, match=r"pip install 'cloze-rl\[code\]'"):
                find_code("no code at all", level=level)
    finally:
        code_python._parser.cache_clear()


@pytest.mark.skipif(not CASES.exists(), reason="shared cases are not beside the repository")
def test_shared_cases() -> None:
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["domain"] == "code"]
    assert rows
    for row in rows:
        for level in LEVELS:
            shown = masked(row["text"], level)
            assert [part for part in row["hide"] if part in shown] == [], row["text"]
            assert [part for part in row["keep"] if part not in shown] == [], row["text"]


PIECES = st.sampled_from(
    ["```python\n", "```\n", "~~~\n", "````", "```", "`", "``", "    ", "  ", "\t", "\n", "\n\n", "\r\n", "- ", "1. ",
     "> ", "# ", "x = 1", "def f(x):\n", "    return x\n", "if a > b", "else:\n", "(", ")", "[", "{\n", "}\n", ";",
     '"""', "'", "Text stays here.\n", "The plan is simple", "Use `a+b` here", "dp[i] = dp[i-1] + 1", "a.append(x)",
     "# note\n", "# return x\n", ">>> f(3)\n", "... g\n", "Input:\n", "n = 5\n", "3 4\n", "[C1]", "[N2]", "<pre>",
     "</pre>", "<code>", "</code>", "$", "\\[", "\\", "int main() {\n", "for i in y: z\n", "Step 1: ", "match x:\n",
     "\\begin{verbatim}\n", "\\end{verbatim}", "\\begin{algorithm}", "\\caption{a}\n", "<pre>\n", "/* it */", "// it\n",
     "int f(int x) { return x; }\n", "```cpp\n", "the answer is ", "a // b", "n % 2", "2**n", "class A {\n",
     "\x00", "\ud800", "ä", "=", "**", ": ", "*", "__", ",", "."]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=60))


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(LEVELS))
def test_never_raises_and_masking_twice_finds_nothing(text: str, level: str) -> None:
    spans = find_code(text, level=level)
    at = 0
    for span in spans:
        assert at <= span.start < span.end <= len(text) and span.category == "code" and span.value == span.value.strip()
        assert text[span.start : span.end] == text[span.start : span.end].strip() != ""
        at = span.end
    assert find_code(masked(text, level), level=level) == []


KILOBYTES = 8_000
HOSTILE = {
    "quotes in quotes": ">" * 10_000 + "a",
    "lists in lists": "- " * (KILOBYTES // 2),
    "brackets": "[" * KILOBYTES,
    "calls": "f(" * (KILOBYTES // 2) + ")" * KILOBYTES,
    "stars": "*" * KILOBYTES,
    "backticks": "` " * (KILOBYTES // 2),
    "runs of backticks": " ".join("`" * n for n in range(1, 126)),
    "one word": "a" * KILOBYTES,
    "assignments": "a = " * (KILOBYTES // 4),
    "cells": "a[" * (KILOBYTES // 2),
    "strings": '"\\' * (KILOBYTES // 2),
    "dollars": "$a " * (KILOBYTES // 3),
    "tags": "<pre" * (KILOBYTES // 4),
    "listings": "\\begin{verbatim}" * (KILOBYTES // 16),
    "answers": "the answer is " * (KILOBYTES // 14),
    "quotients": "a//b " * (KILOBYTES // 5),
    "quotient of all": "a//" * (KILOBYTES // 3),
    "powers": "2**" * (KILOBYTES // 3),
    "open quotients": "a//b ( " * (KILOBYTES // 7),
    "functions": "int f(a){;" * (KILOBYTES // 10),
    "spaces": " " * KILOBYTES + "x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_takes_milliseconds(name: str) -> None:
    find_code("x", level="statement")
    best = 1.0
    for _ in range(3):
        started = time.perf_counter()
        find_code(HOSTILE[name])
        best = min(best, time.perf_counter() - started)
    assert best < 0.1  # about 10 ms; a quadratic one takes seconds


LONG = {
    "prose": "For each element we keep the maximum of a[i] and x.\n" * 5_000,
    "one line": "the sum of a and b is " * 12_000,
    "fences": "Plan it.\n```python\nx = f(1)\n```\n" * 7_000,
    "never closed": "```python\nx = 1\n\nThe text goes on.\n" * 6_000,
    "brackets": "(" * 250_000,
    "quotes": "> " * 125_000,
    "backticks": "`\n" * 125_000,
    "lists": "- a\n" * 60_000,
    "code spans": "`a` " * 60_000,
    "marked up": "<code>a</code> " * 17_000,
    "<pre>": "<pre>a</pre>" * 20_000,
    "listings": "\\begin{verbatim}a=1\\end{verbatim}" * 7_000,
    "algorithms": "\\begin{algorithm}\n\\caption{}\n" * 7_500 + "\\end{algorithm}",
    "statements": "x = 1\n3\n" * 30_000,
}


@pytest.mark.parametrize("name", LONG)
def test_a_quarter_of_a_megabyte_takes_seconds(name: str) -> None:
    started = time.perf_counter()
    find_code(LONG[name])
    assert time.perf_counter() - started < 15  # about 1 on a slow core; a quadratic one takes minutes


SIGNATURES = ["a, " * 130 + "{\n", "f(" * 130 + "{\n", "a<" * 130 + "{\n", "/*", "// a\n", "f() " * 90 + "{\n", '"/*']


@pytest.mark.parametrize("line", SIGNATURES)
def test_lines_with_braces_take_seconds(line: str) -> None:
    started = time.perf_counter()
    find_code("```cpp\n" + line * (100_000 // len(line)) + "\n```", level="body")
    assert time.perf_counter() - started < 10  # below 1 on a slow core


@pytest.mark.parametrize("level", LEVELS)
def test_deep_code_ends(level: str) -> None:
    for code in (
        "x = " + "(" * 20_000 + ")" * 20_000,
        "".join(" " * n + "if a:\n" for n in range(300)),
        "[\n" * 10_000,
    ):
        assert masked(f"```python\n{code}\n```\nEnd.", level).endswith("```\nEnd.")
