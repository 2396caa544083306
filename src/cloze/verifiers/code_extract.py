"""Where the program stands in a completion: the last fenced block, or the whole text."""

from __future__ import annotations

import ast
import re

from cloze.verifiers.code_tests import CodeTests, parses

FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^\s`{]*)[^`\n]*")
PYTHON = ("python", "py", "python3", "python2", "pycon")


def extract_program(completion: str, tests: CodeTests | None = None) -> tuple[str | None, str]:
    """The program in a completion: (program, where it was), or (None, why there is none)."""
    closed = completion.rfind("</think>")
    if completion.rfind("<think>") > closed:
        return None, "the <think> block is not closed"
    text = completion[closed + len("</think>") :] if closed >= 0 else completion
    prompt = tests.prompt if tests else ""
    entry = tests.remote[0] if tests and prompt else ""
    blocks = fenced_blocks(text)
    python = [block for block in blocks if block[0] in PYTHON] or [block for block in blocks if not block[0]]
    if blocks and not python:
        return None, "no code block is Python"
    if not python:
        for whole in (text, prompt + text) if prompt else (text,):
            tree = parses(whole)
            if tree and _does_something(tree) and (not entry or _binds(tree, entry)):
                return whole, "the whole text"
        return None, "there is no code block, and the text is not a program"
    _, code, complete = python[-1]
    if not complete and (len(blocks) > 1 or not parses(code)):
        return None, "the last code block never closes"
    if not code.strip():
        return None, "the last code block is empty"
    tree = parses(code)
    if entry and (tree is None or not _binds(tree, entry)) and parses(prompt + code):
        return prompt + code, "the last code block, after the prompt"
    return code, "the last code block"


def fenced_blocks(text: str) -> list[tuple[str, str, bool]]:
    """The fenced code blocks of a text: (language in lower case, code, whether it is closed)."""
    blocks: list[tuple[str, str, bool]] = []
    opened, language = "", ""
    lines: list[str] = []
    for line in text.splitlines():
        mark = FENCE.fullmatch(line.rstrip())
        if not opened and mark:
            opened, language, lines = mark[1], mark[2].lower(), []
        elif mark and mark[1].startswith(opened) and not mark[2]:
            blocks.append((language, "\n".join(lines) + "\n", True))
            opened = ""
        elif opened:
            lines.append(line)
    if opened:
        blocks.append((language, "\n".join(lines) + "\n", False))
    return blocks


def _does_something(tree: ast.Module) -> bool:
    """Prose may parse ("Yes"); a program calls, binds or defines something."""
    return any(not isinstance(node, ast.Expr) for node in tree.body) or any(
        isinstance(node, ast.Call) for node in ast.walk(tree)
    )


def _binds(tree: ast.Module, name: str) -> bool:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            return True
    return False
