"""What a child in the sandbox does: run a program, answer calls to its functions, or judge with tests.

The first two hold the candidate, the program of the policy. The third holds the tests of a data set and never the
candidate: where the tests name the candidate's function they hold a `Remote`, and each call goes out over a pipe and
comes back as plain data. So a program that patches builtins, overloads `==`, walks the frames or ends the process does
all of that to itself alone.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from cloze.verifiers.code_values import decode, encode
from cloze.verifiers.sandbox_server import read_frame, write_frame

# What solutions of the LeetCode form use without importing it, as the judges of that form provide it.
PRELUDE = """
from typing import *
import bisect, collections, functools, heapq, itertools, math, operator, random, re, string, sys
from bisect import *
from collections import *
from functools import *
from heapq import *
from itertools import *
from math import *
from builtins import *
"""


NOTHING = '[[],{"dict":[]}]'  # no arguments, as `encode` writes them


def _module(name: str) -> ModuleType:
    module = ModuleType(name)
    sys.modules[name] = module
    return module


def _execute(source: str, name: str, space: dict[str, Any]) -> None:
    exec(compile(source, name, "exec", dont_inherit=True), space)


def run(job: dict[str, Any], ask: int, reply: int) -> None:
    """A program that reads its input and prints."""
    sys.argv = ["solution.py"]
    _execute(job["program"], "solution.py", _module("__main__").__dict__)


def answer(job: dict[str, Any], ask: int, reply: int) -> None:
    """A program whose functions are called from outside; `job` has `before` (code run first), `program`, `prelude`."""
    space = _module("solution").__dict__
    held: list[object] = []

    def refer(thing: object) -> int:
        held.append(thing)
        return len(held) - 1

    def find(name: str) -> Any:
        solution = space.get("Solution")
        if isinstance(solution, type) and name != "Solution" and hasattr(solution, name):
            return getattr(solution(), name)
        if name not in space:
            raise NameError(f"the program defines no {name!r}")
        return space[name]

    def act(question: dict[str, Any]) -> object:
        target = find(question["name"]) if "name" in question else held[question["ref"]]
        values: Any = decode(question.get("values", NOTHING), held.__getitem__)
        if question["op"] == "call":
            return target(*values[0], **values[1])
        if question["op"] == "get":
            return getattr(target, question["attribute"])
        if question["op"] == "set":
            setattr(target, question["attribute"], values[0][0])
            return None
        return list(target)

    import json

    if job["prelude"]:
        _execute(PRELUDE, "prelude", space)
    if job["before"]:
        _execute(job["before"], "prompt", space)
    _execute(job["program"], "solution.py", space)
    write_frame(reply, b"{}")
    while True:
        question = json.loads(read_frame(ask))
        try:
            said = {"value": encode(act(question), refer)}
        except Exception as error:
            said = {"raises": type(error).__name__, "text": str(error)[:500]}
        write_frame(reply, json.dumps(said).encode())


class _Refused(Exception):
    """Something that cannot be carried to the candidate: a fault of the tests, or of this way of running them."""


def judge(job: dict[str, Any], ask: int, reply: int) -> None:
    """The tests of a data set, against a candidate elsewhere.

    `job` has `setup` (code run before each test), `tests` (code), `remote` (names that the candidate defines) and
    `all`: stop at the first test that fails. Writes {"ask": ..., "test": its index} for each question, and in the end
    {"results": [[passed, why], ...]}, or {"fault": why} when the tests themselves cannot be run.
    """
    import json

    raised: list[BaseException] = []

    def question(about: dict[str, Any], values: object = None) -> object:
        try:
            sent = about if values is None else {**about, "values": encode(values, as_reference)}
        except TypeError as error:
            raise _Refused(str(error)) from None
        write_frame(reply, json.dumps({"ask": sent, "test": len(results)}).encode())
        said = json.loads(read_frame(ask))
        if "value" in said:
            return decode(said["value"], lambda number: Remote({"ref": number}))
        kind = getattr(builtins, str(said.get("raises")), None)
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            kind = RuntimeError
        try:
            theirs: BaseException = kind(str(said.get("text")))
        except TypeError:
            theirs = RuntimeError(str(said.get("text")))
        raised.append(theirs)
        raise theirs

    def as_reference(thing: object) -> int:
        where = object.__getattribute__(thing, "_where") if type(thing) is Remote else {}
        if "ref" not in where:
            raise TypeError(f"an argument of type {type(thing).__name__} cannot be given to a program elsewhere")
        return int(where["ref"])

    class Remote:
        """A function or object of the candidate. It can be called, read, written and walked; it equals only itself."""

        def __init__(self, where: dict[str, Any]) -> None:
            object.__setattr__(self, "_where", where)

        def __call__(self, *args: object, **named: object) -> object:
            return question({**object.__getattribute__(self, "_where"), "op": "call"}, [list(args), named])

        def __getattr__(self, name: str) -> object:
            return question({**object.__getattribute__(self, "_where"), "op": "get", "attribute": name})

        def __setattr__(self, name: str, value: object) -> None:
            question({**object.__getattribute__(self, "_where"), "op": "set", "attribute": name}, [[value], {}])

        def __iter__(self) -> Iterator[object]:
            things = question({**object.__getattribute__(self, "_where"), "op": "list"})
            return iter(things if isinstance(things, list) else [])

        def __bool__(self) -> bool:
            raise TypeError("an object of the candidate has no truth value here")

    results: list[tuple[bool, str]] = []
    fault = ""
    try:
        codes = [compile(text, "test", "exec", dont_inherit=True) for text in (job["setup"], *job["tests"])]
    except (SyntaxError, ValueError) as error:
        codes, fault = [], f"the tests do not parse: {error}"
    for code in codes[1:]:
        space: dict[str, Any] = {"__name__": "tests"}
        try:
            candidate = {name: Remote({"name": name}) for name in job["remote"]}
            space.update(candidate)
            exec(codes[0], space)
            space.update(candidate)  # where the setup has a stub of the same name
            exec(code, space)
            results.append((True, "passes"))
        except _Refused as error:
            fault = str(error)
        except BaseException as error:
            if isinstance(error, ImportError) and not any(error is theirs for theirs in raised):
                fault = f"the tests themselves fail: {type(error).__name__}: {error}"
            else:
                results.append((False, f"{type(error).__name__}: {error}"[:300].rstrip(": ")))
        if fault or (job["all"] and not results[-1][0]):
            break
    write_frame(reply, json.dumps({"fault": fault} if fault else {"results": results}).encode())


ROLES: dict[str, Callable[[dict[str, Any], int, int], None]] = {"run": run, "answer": answer, "judge": judge}
