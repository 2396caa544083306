"""Code problems in a data set: which ground truths are tests, and the files of HumanEval and MBPP.

The tests become the target, as JSON text; `verifiers/code_tests` says what their forms mean. Here they are only told
from other targets.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any

from cloze.errors import InputError
from cloze.problems.values import Fields, is_absent, plain, read_id, read_list, read_text, structured


def as_tests(value: object, field: str) -> str | None:
    """Tests as JSON text, if a ground truth is recognisably that: as an object, a list, or JSON text of one.

    Args:
        value: the ground truth.
        field: its name, for messages.

    Returns:
        The tests, or None for any other ground truth.

    Raises:
        InputError: tests without a single test.
    """
    held: Any = structured(value)
    if isinstance(held, dict):
        # Columnar files give every row the keys of all rows; None stands for "not in this row".
        held = {key: inner for key, inner in held.items() if inner is not None}
        count = next((held[key] for key in ("test_list", "test", "inputs") if _fits(held, key)), None)
    elif (
        isinstance(held, list)
        and held
        and all(isinstance(one, dict) and {"input", "output"} <= one.keys() for one in held)
    ):
        count = held
    else:
        return None
    if count is None:
        return None
    if not count:
        raise InputError("holds no tests", field=field, mend="fill it in or drop the row")
    try:
        return json.dumps(held, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"holds tests that are not JSON ({error})", field=field, mend="write them as JSON") from None


def _fits(held: Mapping[str, object], key: str) -> bool:
    if key == "test":
        return isinstance(held.get(key), str) and isinstance(held.get("entry_point"), str)
    return isinstance(held.get(key), list) and (key != "inputs" or isinstance(held.get("outputs"), list))


def _code(target: Mapping[str, object], field: str) -> Fields:
    tests = as_tests(target, field)
    if tests is None:
        raise InputError("holds no tests", field=field, mend="fill it in or drop the row")
    return {"target": tests, "domain": "code", "verifier": "code"}


def human_eval(row: Mapping[str, object]) -> Fields:
    """HumanEval: `prompt`, `entry_point`, `test`; the trace is `prompt` with `canonical_solution`."""
    prompt = read_text(row.get("prompt"), "prompt")
    names = ("entry_point", "test")
    target = {"prompt": prompt, **{name: read_text(row.get(name), name) for name in names}}
    solution = plain(row.get("canonical_solution"))
    trace = None if is_absent(solution) else prompt + read_text(solution, "canonical_solution")
    return {**read_id(row.get("id"), row.get("task_id")), **_code(target, "test"), "question": prompt, "trace": trace}


def mbpp(row: Mapping[str, object]) -> Fields:
    """MBPP: `text` or `prompt`, and `test_list`, which the question shows, as is usual; the trace is `code`."""
    asked = "prompt" if is_absent(row.get("text")) else "text"
    tests = [read_text(test, "test_list") for test in read_list(row.get("test_list"), "test_list")]
    code = read_text(row.get("code"), "code")
    target: dict[str, object] = {"test_list": tests, "entry_point": _defined(code)}
    if not is_absent(setup := plain(row.get("test_setup_code"))):
        target["test_setup_code"] = read_text(setup, "test_setup_code")
    if imports := read_list(row.get("test_imports"), "test_imports"):
        target["test_imports"] = [read_text(line, "test_imports") for line in imports]
    shown = "\n".join(["", "", "Your code should pass these tests:", "", *tests])
    question = read_text(row.get(asked), asked).strip() + shown
    read = _code(target, "test_list")
    return {**read_id(row.get("id"), row.get("task_id")), **read, "question": question, "trace": code}


def _defined(code: str) -> list[str]:
    """What the solution defines, so that a test which names it means the program's and not Python's own."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        raise InputError("is not Python", field="code", mend="mend it or drop the row") from None
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [node.name for node in tree.body if isinstance(node, kinds)]
