"""Where a trace holds code: fences, indented blocks, `<pre>`, and programs that stand among the prose with no fence.

Fences and indented blocks are what CommonMark says they are (markdown-it-py, its block rules alone). A fence that was
never closed ends where the next one opens, so it cannot turn prose into code and code into prose. All other lines are
judged one by one (`lines`), and code that follows code is one block. Sample input and output stay.

A block is a list of lines, each with its place in the text, so that a fence within a quote or a list is read without
its marks and hidden with every character outside of it untouched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cloze.masking.code.inline import as_words, without_marked
from cloze.masking.code.lines import (
    COST,
    DOCTEST,
    FORMS,
    has_code,
    is_clear_prose,
    is_data,
    is_statement,
    kind_of,
)
from cloze.masking.code.regions import FENCE, Region, find_regions
from cloze.masking.code.runs import Judged, join_code
from cloze.masking.spans import blank_pattern

LIST_MARK = r"[-*+•](?=[ \t]|$)|\(?\d{1,3}[.)](?=[ \t]|$)|\[[ xX]\](?=[ \t])"
MARKS = re.compile(rf"(?:{LIST_MARK}|#{{1,6}}(?=[ \t])|//+(?=[ \t])|[ \t])*+")
ITEM = re.compile(rf"[ \t]*(?:{LIST_MARK})")
QUOTE = re.compile(r"[ \t]{0,3}>[ ]?")
LABEL = re.compile(
    r"(?:\*\*|__)?(?P<label>[^\W\d_][^:\n*`=\[\]{}();\"]{0,60}?(?:\(\w+\))?)(?:\*\*|__)?:(?:\*\*|__)?[ \t]+(?=\S)"
)
SAMPLE = (
    r"(?:samples?|examples?|inputs?|outputs?|stdin|stdout|tests?(?:[ -]?cases?)?|expected|given|constraints?|cases?"
    r"|explanation)"
)
SAMPLE_LABEL = re.compile(rf"(?:{SAMPLE}[ #\d/]*)+$|e\.?g\.?$|for (?:example|instance)$", re.IGNORECASE)
SAMPLE_HEADING = re.compile(rf"[#*_> \t]*(?:{SAMPLE}[ #\d/]*)+[*_ \t]*:?[*_ \t]*$", re.IGNORECASE)
INTRODUCES = re.compile(
    r"\b(?:samples?|examples?|inputs?|outputs?|stdin|stdout|test ?cases?|prints?|printed|expected|displays?|shows?"
    r"|gives?|e\.g|instance)\b",
    re.IGNORECASE,
)
TEXT_INFO = re.compile(
    r"(?:text|txt|plain|plaintext|none|raw|output|input|out|in|stdin|stdout|console|sample|example|math|log|markdown|md)\b",
    re.IGNORECASE,
)
MATH_BEGIN = re.compile(
    r"(?:^[ \t>]*(?:\$\$(?=[^$]*$)|\\\[(?=[^\]]*$)|\\begin(?P<name>\{[a-z]+\*?\}))|(?:(?<!\$)\$\$|\\\[)[ \t]*$)",
    re.IGNORECASE,
)
MOST_MATH = 40  # lines of one formula
INTRO_LENGTH = 120
BLANK_LINE = Judged("blank", 0, 0, 0, False, "")


class Line(NamedTuple):
    """A line of code: the characters `start:end` of the trace, and how it reads (`text`: indented, without marks)."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Block:
    """Some code: its lines, what it was found as, and what its fence says it is written in."""

    lines: list[Line]
    why: str
    info: str = ""


class Prose(NamedTuple):
    """A line that is no code as a whole: its place, the line, and the line with inline code and math overwritten."""

    start: int
    line: str
    masked: str


def find_blocks(text: str) -> tuple[list[Block], list[Prose]]:
    """Find the code that stands on lines of its own.

    Args:
        text: the trace.

    Returns:
        The blocks, and every line that is left.
    """
    starts, lines = split_lines(text)
    regions, outside = find_regions(lines)
    lines = [outside.get(number, line) for number, line in enumerate(lines)]
    whole = [region for region in regions if region.kind in ("fenced", "html", "latex")]
    fenced = {piece.number for region in whole for piece in region.content if piece.number not in outside}
    fenced.update(number for number, line in outside.items() if not has_code(line))
    judged = [None if number in fenced else judge(line) for number, line in enumerate(lines)]
    _keep_math(judged)
    why = {}
    for region in regions:
        if region.kind == "unclosed":
            numbers = [piece.number for piece in region.content]
            _judge_unclosed(numbers, lines, judged)
            why.update(dict.fromkeys(numbers, "unclosed fence"))
    _keep_samples(lines, judged)
    for region in regions:
        if region.kind != "indented":
            continue
        stays = _stays(region, lines, judged)
        for piece in region.content:
            one = judged[piece.number]
            if one is not None and one.kind != "blank":
                judged[piece.number] = one._replace(
                    kind="prose" if stays else "code", item=False, column=piece.start, region=True
                )
                why[piece.number] = "indented code"
    runs = join_code(lines, judged, outside)
    blocks = [_block_of_run(run, starts, lines, judged, why.get(run[0], "unfenced code")) for run in runs]
    taken = {number for run in runs for number in run}
    judged = [None if number in taken else one for number, one in enumerate(judged)]
    for region in whole:
        if not _stays(region, lines, judged):
            content = [
                Line(starts[one.number] + one.start, starts[one.number] + one.end, one.text) for one in region.content
            ]
            blocks.append(Block(content, f"{region.kind} code", region.info))
    left = [Prose(starts[number], lines[number], one.masked) for number, one in enumerate(judged) if one is not None]
    return blocks, left


def split_lines(text: str) -> tuple[list[int], list[str]]:
    """Where each line begins, and the lines without their ends (`\\n`, `\\r\\n` or `\\r`)."""
    starts, lines, at = [], [], 0
    for match in re.finditer(r"\r\n|\n|\r", text):
        starts.append(at)
        lines.append(text[at : match.start()])
        at = match.end()
    return [*starts, at], [*lines, text[at:]]


def judge(line: str) -> Judged:
    """Judge one line outside of a fence: code behind a quote mark, a list mark or a label is code from there on."""
    if not line or line.isspace():
        return BLANK_LINE
    base = 0
    masked, math = without_marked(line)
    prompt = DOCTEST.match(line) if ">>>" in line else None
    if prompt and is_statement(blank_pattern().sub("blank", line)):
        return Judged("code", prompt.end(), prompt.end(), prompt.start("prompt"), False, masked)
    while ">" in line and (found := QUOTE.match(line, base)):
        base = found.end()
    found = MARKS.match(masked, base)
    column = found.end() if found else base
    marks = line[base:column]
    indent = len(marks) - len(marks.lstrip(" \t")) + 3 * marks[: len(marks) - len(marks.lstrip())].count("\t")
    item = ITEM.match(marks) is not None
    body = masked[column:].strip()
    if body[:2] == "**" == body[-2:] and len(body) > 4 and "**" not in body[2:-2]:
        body = body[2:-2].strip()
    kind = kind_of(body)
    if math and kind != "blank" and not FORMS.match(body):
        kind = "prose"
    elif kind != "code" and kind != "blank":
        if "##" in marks:
            kind = "prose"
        elif "#" in marks or "/" in marks:
            kind = "other"
        at = _after_label(masked, column) if ":" in body else 0
        if at:
            kind, column = "code", at
    return Judged(kind, column, base, indent, item, masked)


def _after_label(line: str, at: int) -> int:
    """Where the code after `Transition: ` begins, or 0; what stands after `Input: ` is data."""
    for _ in range(3):
        found = LABEL.match(line, at)
        if not found:
            return 0
        at = found.end()
        rest = line[at:].strip().strip("*")
        if is_statement(rest):
            return 0 if SAMPLE_LABEL.match(found["label"]) and is_data(rest) else at
    return 0


def _judge_unclosed(numbers: Sequence[int], lines: Sequence[str], judged: list[Judged | None]) -> None:
    """Behind a fence that was never closed all is code but what is clearly prose, and the lines that go on with it."""
    paragraph = False
    for number in numbers:
        one = judged[number]
        if one is None or one.kind == "blank":
            paragraph = False
        elif not FENCE.match(lines[number].strip()):
            words = as_words(lines[number], one.masked, one.column)
            begins = (
                one.kind == "prose"
                and one.indent < 2
                and ("##" in lines[number][one.base : one.column] or is_clear_prose(words))
            )
            goes_on = paragraph and (
                one.kind == "prose" or (one.kind == "other" and not re.search(r"[=;{}\[(]", COST.sub("", words)))
            )
            paragraph = begins or goes_on
            if not paragraph:
                column = len(lines[number]) - len(lines[number][one.base :].lstrip())
                judged[number] = one._replace(kind="code", item=False, column=column)


def _keep_math(judged: list[Judged | None]) -> None:
    """Formulas displayed over lines are no code: `$$`, `\\[` or `\\begin{align}` up to what closes it."""
    until = 0
    for number, one in enumerate(judged):
        if number < until or one is None or one.kind == "code" or not (opening := MATH_BEGIN.search(one.masked)):
            continue
        closing = "$$" if "$$" in opening[0] else rf"\end{opening['name']}" if opening["name"] else r"\]"
        for last in range(number + 1, min(len(judged), number + MOST_MATH)):
            other = judged[last]
            if other is None or other.kind == "blank":
                break
            if closing in other.masked:
                until = last + 1
                for inner in range(number, until):
                    line = judged[inner]
                    if line is not None:
                        judged[inner] = line._replace(kind="prose", masked="m" * len(line.masked))
                break


def _keep_samples(lines: Sequence[str], judged: list[Judged | None]) -> None:
    """A heading such as `Input` stays, and values below it that are written as `n = 5` are data."""
    sample = False
    for number, one in enumerate(judged):
        if one is None:
            sample = False
        elif one.indent == 0 and SAMPLE_HEADING.match(lines[number][one.base : one.base + INTRO_LENGTH]):
            sample = True
            judged[number] = one._replace(kind="prose")
        elif sample and one.kind != "blank":
            sample = is_data(one.masked[one.column :])
            if sample and one.kind == "code":
                judged[number] = one._replace(kind="prose")


def _stays(region: Region, lines: Sequence[str], judged: Sequence[Judged | None]) -> bool:
    """Whether a block is sample data or prose."""
    content = [piece.text for piece in region.content if piece.text.strip()]
    if not content:
        return True
    if _is_introduced(region, lines, judged) and all(is_data(line) for line in content):
        return True
    if region.info and not TEXT_INFO.match(region.info):
        return False
    ones = [judge(line) for line in content]
    kinds = [one.kind for one in ones]
    if "code" in kinds or "opener" in kinds or any(FENCE.match(line.strip()) for line in content):
        return False
    if region.info:
        return True
    words = [as_words(line, one.masked, one.column) for line, one in zip(content, ones, strict=True)]
    clear = [is_clear_prose(line) for line in words]
    return any(clear) and all(
        sure or not re.search(r"[={}<>]|;$" if kind == "prose" else r"[=(\[;]", line)
        for sure, kind, line in zip(clear, kinds, words, strict=True)
    )


def _is_introduced(region: Region, lines: Sequence[str], judged: Sequence[Judged | None]) -> bool:
    """Whether the line before the block announces a sample."""
    own = judged[region.opened] if region.kind != "indented" else None
    before = region.opened if own is not None and own.kind != "blank" else region.opened - 1
    intro = judged[before] if before >= 0 else None
    while before > max(0, region.opened - 3) and intro is not None and intro.kind == "blank":
        before -= 1
        intro = judged[before]
    if intro is None or intro.kind not in ("prose", "other") or len(intro.masked) > INTRO_LENGTH:
        return False
    return INTRODUCES.search(as_words(lines[before], intro.masked, 0)) is not None


def _block_of_run(
    run: list[int], starts: Sequence[int], lines: Sequence[str], judged: Sequence[Judged | None], why: str
) -> Block:
    pieces = []
    for number in run:
        line, one = lines[number], judged[number]
        if one is None:
            continue
        column = one.column if number == run[0] else one.base
        text = line[column:].rstrip()
        inner = text.lstrip()
        start = column + len(text) - len(inner)
        pad = one.indent if number == run[0] else len(text) - len(inner)
        pieces.append(Line(starts[number] + start, starts[number] + column + len(text), " " * pad + inner))
    return Block(pieces, why)
