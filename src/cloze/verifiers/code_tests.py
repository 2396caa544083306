"""The tests of a code problem, from each way in which the field writes them.

A target is JSON text. Three forms of test come out of it: input and output of a whole program, arguments and value of
one function, and test code with asserts.

| written as | form | who writes so |
|---|---|---|
| `{"inputs": [...], "outputs": [...]}` | stdin | APPS, TACO, CodeContests |
| the same with `"fn_name"` | call | APPS, TACO |
| `[{"input", "output", "testtype"}, ...]`, "stdin" or "functional" | stdin or call | LiveCodeBench, DeepCoder |
| `{"prompt", "test", "entry_point"}` | asserts | HumanEval |
| `{"test_list": [...]}`, maybe with `"test_setup_code"`, `"test_imports"`, `"entry_point"` | asserts | MBPP |

A functional test names its function in `fn_name` or in `metadata.func_name`, and holds one argument a line, as JSON.

Not covered: LiveCodeBench's private tests as it ships them (compressed pickle: unpack them once, where you trust the
file), pytest files, and special judges for problems with several right outputs.
"""

from __future__ import annotations

import ast
import builtins
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CodeTests:
    """CodeTests of one form.

    Attributes:
        form: "stdin", "call" or "asserts".
        cases: (input, output) as texts, or (list of arguments, value).
        name: the function that is called.
        wrapped: every value is a list of one, which APPS writes for the value itself too.
        prompt: code that stands before the program, as far as it parses: imports, helpers and the function's head.
        setup: code that runs before each of the asserts.
        asserts: test codes.
        remote: what the test codes expect the program to define.
    """

    form: str
    cases: tuple[tuple[Any, Any], ...] = ()
    name: str = ""
    wrapped: bool = False
    prompt: str = ""
    setup: str = ""
    asserts: tuple[str, ...] = ()
    remote: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.cases) + len(self.asserts)


def read_tests(target: str) -> CodeTests:
    """The tests in a target.

    Raises:
        ValueError: it holds none that can be read; the text says why.
    """
    try:
        held = json.loads(target)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the target is not JSON ({error})") from None
    if isinstance(held, dict) and "test_list" in held:
        tests = _mbpp(held)
    elif isinstance(held, dict) and "test" in held:
        tests = _human_eval(held)
    elif isinstance(held, dict) and {"inputs", "outputs"} <= held.keys():
        tests = _columns(held)
    elif isinstance(held, list) and all(isinstance(one, dict) and {"input", "output"} <= one.keys() for one in held):
        tests = _rows(held)
    else:
        raise ValueError("the target holds no tests in a known form")
    if not len(tests):
        raise ValueError("there are no tests")
    return tests


def _columns(held: Mapping[str, Any]) -> CodeTests:
    inputs, outputs, name = held["inputs"], held["outputs"], held.get("fn_name") or ""
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise ValueError("inputs and outputs must be lists of one length")
    if not isinstance(name, str):
        raise ValueError("fn_name must be a text")
    if not name:
        return CodeTests("stdin", tuple(zip(map(_lines, inputs), map(_lines, outputs), strict=True)))
    if any(isinstance(one, str) for one in inputs):
        return CodeTests("call", tuple(map(_written, inputs, outputs)), name)
    if not all(isinstance(one, list) for one in inputs):
        raise ValueError("the input of a function must be a list of arguments")
    wrapped = all(isinstance(one, list) and len(one) == 1 for one in outputs)
    return CodeTests("call", tuple(zip(inputs, outputs, strict=True)), name, wrapped)


def _rows(held: Sequence[Mapping[str, Any]]) -> CodeTests:
    kinds = {str(one.get("testtype") or ("functional" if _name(one) else "stdin")) for one in held}
    if kinds <= {"stdin", "stdin_stdout"}:
        return CodeTests("stdin", tuple((_lines(one["input"]), _lines(one["output"])) for one in held))
    names = {_name(one) for one in held}
    if kinds != {"functional"} or len(names) != 1:
        raise ValueError("the tests are of several kinds or functions")
    (name,) = names
    if not name:
        raise ValueError("the tests do not name their function")
    return CodeTests("call", tuple(_written(one["input"], one["output"]) for one in held), name)


def _name(one: Mapping[str, Any]) -> str:
    about = one.get("metadata")
    if isinstance(about, str):
        try:
            about = json.loads(about)
        except ValueError:
            about = None
    inner = about.get("func_name") if isinstance(about, dict) else None
    return str(one.get("fn_name") or inner or "")


def _lines(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(map(_lines, value))
    if isinstance(value, dict) or value is None:
        raise ValueError("an input or output of a program must be text")
    return str(value)


def _written(given: object, value: object) -> tuple[list[Any], Any]:
    """One argument a line and a value, each as JSON text."""
    if not isinstance(given, str) or not isinstance(value, str):
        raise ValueError("the tests of a function mix texts and values")
    try:
        return [json.loads(line) for line in given.splitlines() if line.strip()], json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError("an argument or value of a function is not JSON") from None


def _human_eval(held: Mapping[str, Any]) -> CodeTests:
    test, entry, prompt = (held.get(key, "") for key in ("test", "entry_point", "prompt"))
    if not isinstance(test, str) or not isinstance(entry, str) or not isinstance(prompt, str) or not entry:
        raise ValueError("test, entry_point and prompt must be texts")
    if not test.strip():
        raise ValueError("there are no tests")
    prompt = prompt if parses(prompt) else ""
    imports, remote = _missing([prompt, test])
    return CodeTests(
        "asserts",
        prompt=prompt,
        setup=imports + prompt,
        asserts=(f"{test}\n\ncheck({entry})\n",),
        remote=tuple(dict.fromkeys((entry, *remote))),
    )


def _mbpp(held: Mapping[str, Any]) -> CodeTests:
    asserts, setup, more = held["test_list"], held.get("test_setup_code") or "", held.get("test_imports") or []
    if not isinstance(asserts, list) or not all(isinstance(one, str) for one in asserts):
        raise ValueError("test_list must be a list of texts")
    if not isinstance(setup, str) or not isinstance(more, list):
        raise ValueError("test_setup_code must be a text and test_imports a list of texts")
    asserts = [one for one in asserts if one.strip()]
    if not asserts:
        raise ValueError("there are no tests")
    setup = "\n".join([*map(str, more), setup, ""])
    imports, remote = _missing([setup, *asserts])
    entry = held.get("entry_point") or ([] if remote else _first_called(asserts))
    named = [entry] if isinstance(entry, str) else list(map(str, entry))
    return CodeTests(
        "asserts", setup=imports + setup, asserts=tuple(asserts), remote=tuple(dict.fromkeys((*named, *remote)))
    )


def parses(text: str) -> ast.Module | None:
    """The text as Python, or None."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def defined(tree: ast.AST) -> set[str]:
    """All names that some code binds anywhere: definitions, assignments, imports, arguments."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


def _missing(codes: Sequence[str]) -> tuple[str, list[str]]:
    """Names that some codes use and do not bind: imports of the library's modules, as code, and the others."""
    bound, used = set(dir(builtins)), []
    for code in codes:
        tree = parses(code)
        if tree is None:
            raise ValueError("the tests are not Python")
        bound |= defined(tree)
        used += [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    free = [name for name in dict.fromkeys(used) if name not in bound and not name.startswith("__")]
    modules = [name for name in free if name in sys.stdlib_module_names]
    return "".join(f"import {name}\n" for name in modules), [name for name in free if name not in modules]


def _first_called(asserts: Sequence[str]) -> list[str]:
    for code in asserts:
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                return [node.func.id]
    raise ValueError("the tests call nothing")
