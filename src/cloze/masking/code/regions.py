"""Fences, indented blocks and `<pre>`: the parts of a trace that Markdown itself marks as code.

markdown-it-py says where they are, by its block rules alone, so nothing inside of a line can confuse it or cost time.
Two things that it cannot know are mended here. An opening fence with a language inside of an open fence means that the
first was never closed. And a fence at the end of a line ("so: ```python", "print(1)```") is none in CommonMark, but it
is one to everybody who writes so.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_NESTING = 12  # of lists and quotes within each other, a list counts twice; what is deeper is read by `_scan`
FENCE = re.compile(r"(?P<marks>`{3,}(?=[^`]*$)|~{3,})[ \t]*(?P<info>\S.*?|)[ \t]*$")
LATE_FENCE = re.compile(r"(?![ \t>]*~~~)[^`]*?[^`\s>][ \t]*(?P<fence>```(?:[A-Za-z][\w+#.-]*)?)[ \t]*$")
CONTAINER = re.compile(r"(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*+")
LANGUAGE = re.compile(r"\{?\.?[\w+#.-]+[,:;}]*(?:\s+(?:\S+=\S*|\{.*\}|\S+\.\w+))*$")
PRE = re.compile(r"<(?P<close>/?)pre\b[^<>]{0,200}>(?:\s*<code\b[^<>]{0,200}>)?", re.IGNORECASE)
CODE_END = re.compile(r"</code>\s*$", re.IGNORECASE)

Kind = Literal["fenced", "indented", "html", "unclosed"]


class Piece(NamedTuple):
    """A line of a region: its number, the columns between which it stands, and how it reads without outer marks."""

    number: int
    start: int
    end: int
    text: str


class Region(NamedTuple):
    """Lines that are marked as code.

    Attributes:
        kind: "fenced", "indented", "html", or "unclosed" for what follows a fence that was never closed.
        opened: the line of the opening mark, or the first line where there is none.
        info: what the fence says about its content.
        content: the lines.
    """

    kind: Kind
    opened: int
    info: str
    content: list[Piece]


class Fence(NamedTuple):
    """A fence as CommonMark has it: the line where it opens, the line after its end, and the content lines."""

    opened: int
    after: int
    marks: str
    info: str
    content: list[str]


def find_regions(lines: Sequence[str]) -> tuple[list[Region], dict[int, int]]:
    """Find what is marked as code.

    Args:
        lines: the trace.

    Returns:
        The regions in order; and every line that holds a fence, with the column where the fence begins: what stands
        before it is no part of the fence.
    """
    late = {
        number: found.start("fence")
        for number, line in enumerate(lines)
        if "```" in line and (found := LATE_FENCE.match(line)) is not None
    }
    source = list(lines)
    for number, column in late.items():
        source[number] = lines[number][: _indent(lines[number])] + lines[number][column:]
    fences, indented, complete = _parse(source)
    marks: dict[int, int] = {}
    regions: list[Region] = []
    for fence in fences:
        for kind, opened, first, last, info, closed in _segments(fence):
            texts = fence.content[first - fence.opened - 1 : last - fence.opened - 1]
            content = [_piece(number, lines[number], text, late) for number, text in enumerate(texts, start=first)]
            for number in (opened, closed):
                if number >= 0:
                    marks[number] = late.get(number, _indent(lines[number]))
            if closed in late:
                before = lines[closed][: late[closed]]
                content.append(_piece(closed, before, before, late))
            regions.append(Region(kind, opened if opened >= 0 else first, info, content))
    for first, texts in indented:
        content = [_piece(number, lines[number], text, late) for number, text in enumerate(texts, start=first)]
        regions.append(Region("indented", first, "", content))
    regions = _with_html(lines, regions, marks)
    if not complete:
        regions += _gaps(lines, regions, marks)
    return sorted(regions, key=lambda region: region.opened), marks


def _indent(line: str) -> int:
    """Where a line begins behind the marks of quotes and lists."""
    found = CONTAINER.match(line)
    return found.end() if found else 0


def _piece(number: int, raw: str, content: str, late: Container[int] = ()) -> Piece:
    raw, text = raw.rstrip(), content.rstrip()
    if number in late:  # what was parsed is not what stands there
        text = raw[_indent(raw) :] if ">" in raw[: _indent(raw)] else raw
    inner = text.lstrip()
    return Piece(number, len(raw) - len(inner), len(raw), text)


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    return markdown.disable(["html_block", "reference", "lheading", "heading", "hr"])


def _parse(source: Sequence[str]) -> tuple[list[Fence], list[tuple[int, list[str]]], bool]:
    """The fences, the indented blocks, and whether nothing was nested too deep to be read."""
    if not any("```" in line or "~~~" in line or "    " in line or "\t" in line for line in source):
        return [], [], True
    tokens: list[Token] = []
    markdown = _markdown()
    markdown.block.parse("\n".join(source), markdown, {}, tokens)
    fences, indented = [], []
    for token in tokens:
        if token.map is None:
            continue
        if token.nesting == 1 and token.level + 2 > MAX_NESTING:
            return _scan(source), [], False
        first, after = token.map
        content = token.content.removesuffix("\n").split("\n") if token.content else []
        if token.type == "fence":
            fences.append(Fence(first, after, token.markup, token.info.strip(), content[: after - first - 1]))
        elif token.type == "code_block":
            indented.append((first, content[: after - first]))
    return fences, indented, True


def _scan(source: Sequence[str]) -> list[Fence]:
    """Fences where lists and quotes are nested too deep: whatever they stand in, they are told by their marks alone."""
    fences, opened, marks, info = [], -1, "", ""
    for number, line in enumerate([*source, None]):
        found = FENCE.match(line[_indent(line) :]) if line is not None else None
        if opened < 0:
            if found:
                opened, marks, info = number, found["marks"], found["info"]
        elif line is None or (found and found["marks"].startswith(marks) and not found["info"]):
            content = [one[_indent(one) :] for one in source[opened + 1 : number]]
            fences.append(Fence(opened, number + (line is not None), marks, info, content))
            opened = -1
    return fences


def _segments(fence: Fence) -> Iterator[tuple[Kind, int, int, int, str, int]]:
    """A fence cut where another one opens inside: kind, opening line, first, last, info, closing line (-1: none)."""
    opened, first, info = fence.opened, fence.opened + 1, fence.info
    kind: Kind = "fenced"
    end = first + len(fence.content)
    for number, line in enumerate(fence.content, start=first):
        found = FENCE.match(line.strip()) if fence.marks[0] in line else None
        if not found or not found["info"] or not found["marks"].startswith(fence.marks):
            continue
        if LANGUAGE.match(found["info"]):
            yield "unclosed", opened, first, number, info, -1
            opened, info, kind = number, found["info"], "fenced"
        else:  # "``` Then we stop." closes a fence for everybody but CommonMark
            yield kind, opened, first, number, info, -1
            opened, info, kind = -1, "", "unclosed"
        first = number + 1
    closed = fence.after - 1 if fence.after > end else -1
    yield "fenced" if kind == "fenced" and closed >= 0 else "unclosed", opened, first, end, info, closed


def _with_html(lines: Sequence[str], regions: list[Region], marks: dict[int, int]) -> list[Region]:
    """Add what stands in `<pre>`, unless a fence stands between the tags."""
    fenced = {piece.number for region in regions if region.kind != "indented" for piece in region.content} | set(marks)
    found, start = [], (-1, 0)
    for number, line in enumerate(lines):
        if number in fenced:
            start = (-1, 0)
        elif "<" in line:
            for tag in PRE.finditer(line):
                if not tag["close"]:
                    start = (number, tag.end())
                elif start[0] >= 0:
                    found.append((*start, number, tag.start()))
                    start = (-1, 0)
    covered = {number for first, _, last, _ in found for number in range(first, last + 1)}
    regions = [one for one in regions if one.kind != "indented" or one.opened not in covered]
    for first, left, last, right in found:
        content = []
        for number in range(first, last + 1):
            raw = lines[number][: right if number == last else None]
            raw = CODE_END.sub("", raw) if number == last else raw
            text = raw[left:] if number == first else raw
            content.append(_piece(number, raw, text) if text.strip() else Piece(number, len(raw), len(raw), ""))
        regions.append(Region("html", first, "", content))
    return regions


def _gaps(lines: Sequence[str], regions: list[Region], marks: dict[int, int]) -> list[Region]:
    """All lines that belong to no region, to be read as what follows an unclosed fence: hidden unless prose."""
    taken = {piece.number for region in regions for piece in region.content} | set(marks)
    gaps: list[Region] = []
    for number, line in enumerate(lines):
        if number in taken:
            continue
        if not gaps or gaps[-1].content[-1].number != number - 1:
            gaps.append(Region("unclosed", number, "", []))
        gaps[-1].content.append(_piece(number, line, line))
    return gaps
