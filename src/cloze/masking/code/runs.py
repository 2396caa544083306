"""Join lines of code that stand among the prose to blocks.

Code that follows code belongs to it, with blank lines between them or not, and so does what is indented below a header
(a docstring, a step in words), what goes on with an open bracket, and a comment or a value between two lines of code.
A list item begins a block of its own, so that its number stays, and nothing is joined over a fence or the edge of a
quote: whatever is hidden, the shape of the text around it stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

from cloze.masking.code.lines import LINE_COMMENT, Kind

GOES_ON = ("(", "[", "{", ",", "\\", "=", "+", "&", "|")
HEADER = re.compile(r"[:{(\[]$|\b(?:then|do|begin)$|\|\w+\|$", re.IGNORECASE)


class Judged(NamedTuple):
    """What a line outside of fences is.

    Attributes:
        kind: see `code_lines.Kind`.
        column: where its code begins, behind list marks and labels.
        base: where its quote marks end.
        indent: how far it is indented behind them.
        item: whether a list mark stands before it.
        masked: the line with inline code and math overwritten.
        region: whether it lies in an indented block.
    """

    kind: Kind
    column: int
    base: int
    indent: int
    item: bool
    masked: str
    region: bool = False


def join_code(lines: Sequence[str], judged: Sequence[Judged | None], alone: Container[int]) -> list[list[int]]:
    """Join code that follows code.

    Args:
        lines: the trace.
        judged: what each line is; nothing is joined over a line that is None.
        alone: lines that are never joined to others.

    Returns:
        The numbers of the lines of each block, blank ones left out.
    """
    kinds = [one.kind if one is not None else None for one in judged]
    for number in range(len(kinds) - 2, -1, -1):
        if kinds[number] == "opener" and kinds[number + 1] == "code" and number not in alone:
            kinds[number] = "code"
    runs: list[list[int]] = []
    run: list[int] = []  # empty while no block is open
    waiting: list[int] = []  # lines that belong to the block if code follows
    suite, goes_on, quoted, region = -1, False, 0, False
    for number, one in enumerate(judged):
        kind = kinds[number]
        if one is None:
            run, waiting, suite = [], [], -1
            continue
        if kind == "blank":
            if waiting:
                run, waiting = [], []
            continue
        if one.indent <= suite:
            suite = -1
        quotes = lines[number].count(">", 0, one.base)
        follows = bool(run) and not one.item and quoted == quotes and region <= one.region and number not in alone
        close = follows and number - 1 == (waiting or run)[-1]
        continued = goes_on and (kind != "prose" or one.indent > 0)
        if kind == "code" or suite >= 0 or (close and (kind == "closer" or continued)):
            if follows:
                run += [*waiting, number]
            else:
                run, quoted, region = [number], quotes, one.region
                runs.append(run)
            waiting = []
            line = LINE_COMMENT.sub("", lines[number].rstrip())
            if suite < 0 and HEADER.search(line):
                suite = one.indent
            goes_on = line.endswith(GOES_ON)
            if number in alone:
                run, suite = [], -1
        elif close and kind != "prose":
            waiting.append(number)
        else:
            run, waiting = [], []
    return runs
