"""Fences, indented blocks, `<pre>` and LaTeX listings: the parts of a trace that are marked as code.

markdown-it-py says where they are, by its block rules alone, so nothing inside of a line can confuse it or cost time.
Two things that it cannot know are mended here. An opening fence with a language inside of an open fence means that the
first was never closed. And a fence at the end of a line ("so: ```python", "print(1)```") is none in CommonMark, but it
is one to everybody who writes so. `<pre>` and the listings of LaTeX may begin and end anywhere in a line; what is left
of that line is read like any other.
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
EDGE = re.compile(
    r"<(?P<close>/?)pre\b[^<>]{0,200}>(?:\s*<code\b[^<>]{0,200}>)?"
    r"|\\(?P<edge>begin|end)\{(?P<name>lstlisting|[vV]erbatim|minted|alltt|algorithm|algorithmic|algorithm2e|pseudocode"
    r"|python|cppcode|javacode|code)(?P<star>\*?)\}(?P<options>(?:\[[^\]\n]{0,200}\]|\{[^{}\n]{0,200}\})*)",
    re.IGNORECASE,
)
WRITTEN_IN = re.compile(r"language\s*=\s*\{?(?:\[\w+\])?(?P<listing>[\w+#]+)|\{(?P<minted>[\w+#]+)\}$", re.IGNORECASE)
KEPT_LINE = re.compile(r"\s*\\(?:begin|end|caption|label|centering)\b")
CODE_END = re.compile(r"</code>\s*$", re.IGNORECASE)

Kind = Literal["fenced", "indented", "html", "latex", "unclosed"]


class Piece(NamedTuple):
    """A line of a region: its number, the columns between which it stands, and how it reads without outer marks."""

    number: int
    start: int
    end: int
    text: str


class Region(NamedTuple):
    """Lines that are marked as code.

    Attributes:
        kind: "fenced", "indented", "html", "latex", or "unclosed" for what follows a mark that was never closed.
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


def find_regions(lines: Sequence[str]) -> tuple[list[Region], dict[int, str]]:
    """Find what is marked as code.

    Args:
        lines: the trace.

    Returns:
        The regions in order; and for every line that holds a mark, how it reads without the marks and the code between
        them, which are cut off or overwritten by spaces.
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
    outside: dict[int, str] = {}
    regions: list[Region] = []
    for fence in fences:
        for kind, opened, first, last, info, closed in _segments(fence):
            texts = fence.content[first - fence.opened - 1 : last - fence.opened - 1]
            content = [_piece(number, lines[number], text, late) for number, text in enumerate(texts, start=first)]
            for number in (opened, closed):
                if number >= 0:
                    outside[number] = lines[number][: late.get(number, _indent(lines[number]))]
            if closed in late:
                content.append(_piece(closed, outside[closed], outside[closed], late))
                if kind == "fenced":
                    outside[closed] = ""
            regions.append(Region(kind, opened if opened >= 0 else first, info, content))
    for first, texts in indented:
        content = [_piece(number, lines[number], text, late) for number, text in enumerate(texts, start=first)]
        regions.append(Region("indented", first, "", content))
    regions = _with_pairs(lines, regions, outside)
    if not complete:
        regions += _gaps(lines, regions, outside)
    return sorted(regions, key=lambda region: region.opened), outside


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


class Pair(NamedTuple):
    """`<pre>` or `\\begin{...}` and what closes it: the lines and columns of both marks; the last line is -1: none."""

    first: int
    start: int
    left: int
    last: int
    right: int
    end: int
    name: str
    info: str


def _with_pairs(lines: Sequence[str], regions: list[Region], outside: dict[int, str]) -> list[Region]:
    """Add what stands in `<pre>` and in LaTeX listings, unless a fence stands between the marks."""
    fenced = {piece.number for region in regions if region.kind != "indented" for piece in region.content} | set(
        outside
    )
    found = _pairs(lines, fenced)
    covered: set[int] = set()
    holes: dict[int, list[tuple[int, int]]] = {}
    added: list[Region] = []
    for one in found:
        last = one.last if one.last >= 0 else len(lines) - 1
        covered.update(range(one.first, last + 1))
        for number in {one.first, last} if one.last >= 0 else {one.first}:
            hole = (one.start if number == one.first else 0, one.end if number == one.last else len(lines[number]))
            holes.setdefault(number, []).append(hole)
        added += _within(one, lines, last)
    for number, places in holes.items():
        parts, at = [], 0
        for start, end in places:
            parts += [lines[number][at:start], " " * (end - start)]
            at = end
        outside[number] = "".join(parts) + lines[number][at:]
    return [one for one in regions if one.kind != "indented" or one.opened not in covered] + added


def _pairs(lines: Sequence[str], fenced: Container[int]) -> list[Pair]:
    """What is closed, the outermost alone, and the last mark that is not, if it ends its line."""
    opened: dict[str, tuple[int, re.Match[str]]] = {}
    found: list[Pair] = []
    for number, line in enumerate(lines):
        if number in fenced:
            opened.clear()
        elif "<" in line or "\\" in line:
            for mark in EDGE.finditer(line):
                name = (mark["name"] or "pre").lower()
                if not (mark["close"] or mark["edge"] == "end"):
                    opened[name] = number, mark
                elif name in opened:
                    first, begin = opened.pop(name)
                    pair = Pair(first, begin.start(), begin.end(), number, *mark.span(), name, _language(begin))
                    while found and found[-1][:2] >= pair[:2]:
                        found.pop()
                    if not found or (found[-1].last, found[-1].end) <= pair[:2]:
                        found.append(pair)
    for first, begin in opened.values():
        after = not found or (found[-1].last, found[-1].end) <= (first, begin.start())
        if begin["edge"] and after and not lines[first][begin.end() :].strip():
            found.append(Pair(first, begin.start(), begin.end(), -1, 0, 0, begin["name"].lower(), _language(begin)))
            break
    return found


def _language(mark: re.Match[str]) -> str:
    if mark["edge"] is None:
        return ""
    language = WRITTEN_IN.search(mark["options"])
    return (language["listing"] or language["minted"]).lower() if language else "code"


def _within(pair: Pair, lines: Sequence[str], last: int) -> Iterator[Region]:
    """The content of a pair; marks and captions within it stay, and part it."""
    kind: Kind = "html" if pair.name == "pre" else "latex" if pair.last >= 0 else "unclosed"
    content: list[Piece] = []
    for number in range(pair.first + (pair.last < 0), last + 1):
        left = pair.left if number == pair.first else 0
        text = lines[number][left : pair.right] if number == pair.last else lines[number][left:]
        text = CODE_END.sub("", text) if number == pair.last else text
        if pair.name.startswith("algorithm") and number > pair.first and KEPT_LINE.match(text):
            yield Region(kind, pair.first, pair.info, content)
            content = [Piece(number, left, left, "")]
            continue
        text = text.rstrip()
        inner = text.lstrip()
        end = left + len(text)
        content.append(Piece(number, end - len(inner), end, text if inner else ""))
    yield Region(kind, pair.first, pair.info, content)


def _gaps(lines: Sequence[str], regions: list[Region], outside: Container[int]) -> list[Region]:
    """All lines that belong to no region, to be read as what follows an unclosed fence: hidden unless prose."""
    taken = {piece.number for region in regions for piece in region.content}
    gaps: list[Region] = []
    for number, line in enumerate(lines):
        if number in taken or number in outside:
            continue
        if not gaps or gaps[-1].content[-1].number != number - 1:
            gaps.append(Region("unclosed", number, "", []))
        gaps[-1].content.append(_piece(number, line, line))
    return gaps
