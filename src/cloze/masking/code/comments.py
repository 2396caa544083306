"""What of a comment or a docstring stays below the level of blocks: its words, without the code in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cloze.masking.code.blocks import judge
from cloze.masking.code.inline import code_in_prose

CONTINUED_EXAMPLE = re.compile(r"[ \t]*\.\.\.[ \t]+\S")


def kept_words(line: str) -> Iterator[tuple[int, int]]:
    """The stretches of one line of a comment (without its mark) that stay."""
    one = judge(line)
    if one.kind == "code" or CONTINUED_EXAMPLE.match(line):
        yield 0, one.column
        return
    at = 0
    for left, right, _ in code_in_prose(line, one.masked):
        yield at, left
        at = right
    yield at, len(line)
