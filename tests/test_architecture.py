"""The house rules that a machine can check: imports run leftwards only, files stay small, names say something."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "cloze"
ORDER = [
    "problems",
    "verifiers",
    "masking",
    "guidance",
    "rollouts",
    "algorithms",
    "methods",
    "evaluation",
    "engines",
    "training",
    "cli",
]
FILES = sorted(SRC.rglob("*.py"))


def imported_rooms(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            if node.module == "cloze":
                names = [f"cloze.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "cloze" and len(parts) > 1:
                yield parts[1]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_imports_run_leftwards_only(path):
    parts = path.relative_to(SRC).parts
    if len(parts) == 1:
        return
    room = parts[0]
    assert room in ORDER, f"{room} is not a room of the house"
    for other in imported_rooms(path):
        if other in ("errors", "__version__"):
            continue
        assert other in ORDER, f"{path}: unknown room {other}"
        assert ORDER.index(other) <= ORDER.index(room), f"{path}: {room} may not import {other}"
        if room == "algorithms":
            assert other == "algorithms", "algorithms imports nothing else of ours"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SRC)))
def test_files_are_small_named_and_introduced(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    assert path.stem not in {"utils", "util", "helpers", "helper", "common", "misc", "base"}
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), f"{path} does not say what it is"


def test_masking_and_the_command_line_start_without_torch():
    import subprocess
    import sys

    code = (
        "import sys; import cloze.cli.main, cloze.masking, cloze.masking.leaks, cloze.problems.readers;"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
