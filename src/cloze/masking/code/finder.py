"""Code traces: hide the code, keep the plan.

A trace of a coding problem is a plan in prose and a program. The policy may read the plan and has to write the program,
so every program, statement and expression is hidden, whether it stands in a fence, by its indentation, between
backticks or with no mark at all, and so is pseudocode that is code in all but name. Kept are the prose, names and
costs that it speaks of, sample input and output, and everything that surrounds code: fences, list marks, indentation.

How much of a program goes is the level: the whole "block"; its "body", where signatures, docstrings and comments
stay; or each "statement" by itself, where the keywords of headers stay as well. The finer levels read Python. In
languages with braces signatures and comments stay and the rest is hidden line by line, in all others every line is.

The rooms behind this door: `regions` (fences), `lines` (is this line code?), `runs` (lines that belong
together), `blocks` (all three), `inline` (code within prose), `python` and `braces` (the finer levels).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from cloze.errors import InputError
from cloze.masking.code.blocks import Block, Prose, find_blocks
from cloze.masking.code.braces import hidden_lines, is_braced
from cloze.masking.code.inline import across_lines, code_in_prose
from cloze.masking.code.lines import has_code
from cloze.masking.spans import MaskedTrace, Span, with_blanks

MOST_PASSES = 8
LEVELS = ("block", "body", "statement")
PYTHON = re.compile(r"\{?\.?(?:py|python|sage|cython|ipython)[23]?\b", re.IGNORECASE)
UNKNOWN = re.compile(r"(?:code|text|txt|plain|plaintext|none|pseudo|pseudocode|solution)?(?!\S)", re.IGNORECASE)
LINE = re.compile(r"\S(?:[^\n]*\S)?")
SESSION = re.compile(r"\s*(?:>>>|In \[)")
NOT_PYTHON = re.compile(
    r"(?:;|(?:\)|\belse|\bdo|\btry)[ \t]*\{)[ \t]*$|^[ \t]*(?:\}|#include\b|\$ |//|```)"
    r"|^(?:struct|class|enum|interface|namespace|public|impl|fn|func|function)\b.*\{[ \t]*$",
    re.MULTILINE,
)


def find_code(text: str, *, level: str = "block") -> list[Span]:
    """Find the code in a trace.

    Args:
        text: the trace.
        level: of a program the whole "block", its "body", or each "statement".

    Returns:
        The spans in order, not overlapping; equal code has an equal value.

    Raises:
        InputError: no such level, or tree-sitter, which the finer levels need, is not installed.
    """
    if level not in LEVELS:
        raise InputError(f"level cannot be {level!r}", field="level", mend=f"use one of {', '.join(LEVELS)}")
    if level != "block":
        from cloze.masking.code.python import check_installed

        check_installed()
    spans = _find(text, level)
    for _ in range(MOST_PASSES):  # a second look at odd texts, where hiding one thing makes another look like code
        masked = with_blanks(text, spans)
        again = _find(masked.rendered, level) if spans else []
        if not again:
            break
        spans = _merged(masked, again)
    return spans


def _find(text: str, level: str) -> list[Span]:
    blocks, prose = find_blocks(text)
    places = [place for block in blocks for place in _in_block(block, level)]
    for one in prose:
        places += [
            (one.start + start, one.start + end, "", why) for start, end, why in code_in_prose(one.line, one.masked)
        ]
    for group in _paragraphs(prose):
        places += [(start, end, "", "inline code") for start, end in across_lines(group)]
    spans: list[Span] = []
    for start, end, value, why in sorted(places):
        hidden = text[start:end]
        if (not spans or start >= spans[-1].end) and has_code(hidden):
            spans.append(Span(start, end, "code", value or hidden.strip(), why))
    return spans


def _merged(masked: MaskedTrace, again: Sequence[Span]) -> list[Span]:
    """The spans of a masked trace together with those found in its rendering, as places of the original."""
    text, at, moved = masked.text, 0, 0
    edges = []  # where each blank stands in the rendering
    for span, blank in zip(masked.spans, masked.blanks, strict=True):
        start = moved + span.start - at
        edges.append((start, start + len(blank)))
        at, moved = span.end, start + len(blank)
    starts = [start for start, _ in edges]

    def original(place: int, end: bool) -> int:
        number = bisect_right(starts, place - end) - 1
        if number < 0:
            return place
        span, (_, after) = masked.spans[number], edges[number]
        if place - end < after:
            return span.end if end else span.start
        return span.end + place - after

    more = [one._replace(start=original(one.start, False), end=original(one.end, True)) for one in again]
    spans: list[Span] = []
    for one in sorted([*more, *masked.spans]):
        if spans and one.start < spans[-1].end:
            start, end = spans[-1].start, max(one.end, spans[-1].end)
            spans[-1] = spans[-1]._replace(end=end, value=text[start:end].strip())
        else:
            spans.append(one)
    return spans


Place = tuple[int, int, str, str]  # start, end, value, why


def _in_block(block: Block, level: str) -> Iterator[Place]:
    """What of a block is hidden."""
    lines = [line for line in block.lines if line.end > line.start]
    if not lines:
        return
    margin = min(len(line.text) - len(line.text.lstrip()) for line in lines)
    codes = [line.text[margin:] for line in block.lines]
    code = "\n".join(codes)
    if level == "block":
        yield lines[0].start, lines[-1].end, code.strip(), block.why
        return
    offsets = [0, *accumulate(len(one) + 1 for one in codes)]

    def place(offset: int) -> int:
        number = bisect_right(offsets, offset) - 1
        return block.lines[number].end - (len(codes[number]) - (offset - offsets[number]))

    if not _is_python(block.info, code):
        unknown = UNKNOWN.match(block.info) is not None and not SESSION.match(code)
        braced = is_braced(block.info, code, unknown)
        for start, end in hidden_lines(code) if braced else (line.span() for line in LINE.finditer(code)):
            yield place(start), place(end - 1) + 1, code[start:end], "line of code"
        return
    from cloze.masking.code.python import hidden_pieces

    for piece in hidden_pieces(code, statements=level == "statement"):
        yield place(piece.start), place(piece.end - 1) + 1, code[piece.start : piece.end], piece.why


def _is_python(info: str, code: str) -> bool:
    if SESSION.match(code):
        return False
    return PYTHON.match(info) is not None or (UNKNOWN.match(info) is not None and not NOT_PYTHON.search(code))


def _paragraphs(prose: Sequence[Prose]) -> Iterator[list[tuple[int, str]]]:
    """Lines that follow each other and hold backticks, since inline code may go on in the next line."""
    group: list[tuple[int, str]] = []
    for one in prose:
        follows = group and one.start - (group[-1][0] + len(group[-1][1])) <= 2
        if group and not (follows and one.line.strip()):
            yield group
            group = []
        if one.line.strip() and (group or "`" in one.line):
            group.append((one.start, one.line))
    if group:
        yield group
