"""Python below the level of blocks: keep the shape of a program, hide what its statements do.

tree-sitter reads code that is broken or cut off, so nothing has to run or even parse. What may stay is named: the
signature, the docstring, a comment, an import, and at the finest level the keyword and colon of a header. Everything
else is hidden, so what the parser did not understand is hidden as well. Examples within docstrings (`>>> f(3)`) and
comments that hold code are code.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from cloze.errors import InputError
from cloze.masking.code.comments import kept_words
from cloze.masking.code.lines import has_code
from cloze.masking.spans import blank_pattern

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

KEPT_KEYWORDS = frozenset(
    (
        "for",
        "in",
        "if",
        "elif",
        "else",
        "while",
        "try",
        "except",
        "except*",
        "finally",
        "with",
        "match",
        "case",
        "async",
        ":",
    )
)
COMPOUND = frozenset(
    (
        "for_statement",
        "if_statement",
        "while_statement",
        "try_statement",
        "with_statement",
        "match_statement",
        "elif_clause",
        "else_clause",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "case_clause",
    )
)
IMPORTS = frozenset(("import_statement", "import_from_statement", "future_import_statement"))
DEFINITIONS = frozenset(("function_definition", "class_definition"))
QUOTES = re.compile(r"(?i:[rbu]{0,2})(\"\"\"|'''|\"|')")
HASHES = re.compile(r"#[#!:]*[ \t]*")
LETTER = re.compile(r"[^\W\x00-\x7f]")
OTHER = re.compile(r"[^\x01-\x7f]")


class Piece(NamedTuple):
    """A stretch of the code that is to be hidden."""

    start: int
    end: int
    why: str


@cache
def _parser() -> Parser:
    try:
        import tree_sitter_python
        from tree_sitter import Language, Parser
    except ImportError:
        raise InputError(
            "hiding code by its body or its statements needs tree-sitter",
            field="level",
            mend="pip install 'cloze-rl[code]', or use level \"block\"",
        ) from None
    return Parser(Language(tree_sitter_python.language()))


def check_installed() -> None:
    """Refuse to go on without a parser.

    Raises:
        InputError: tree-sitter or its Python grammar is not installed.
    """
    _parser()


def hidden_pieces(code: str, *, statements: bool) -> list[Piece]:
    """What of a Python program is to be hidden.

    Where hiding it would change how the rest is read (broken code), every line is hidden instead, so that masking
    twice is masking once.

    Args:
        code: the program, whole, broken or cut off.
        statements: keep also the keywords of headers, and hide each statement and expression by itself.

    Returns:
        Pieces in order, without the white space around them.

    Raises:
        InputError: tree-sitter is not installed.
    """
    pieces = _pieces(code, statements)
    parts, at = [], 0
    for piece in pieces:
        parts += [code[at : piece.start], "[C1]"]
        at = piece.end
    masked = "".join(parts) + code[at:]
    if not any(has_code(masked[piece.start : piece.end]) for piece in _pieces(masked, statements)):
        return pieces
    return [Piece(*match.span(), "line of code") for match in re.finditer(r"\S(?:[^\n]*\S)?", code)]


def _pieces(code: str, statements: bool) -> list[Piece]:
    source = code
    if not code.isascii() or "\0" in code:  # one byte for each character, so that bytes are characters
        source = OTHER.sub("?", LETTER.sub("x", code))
    shape = _Shape(code, statements)
    shape.read(_parser().parse(source.encode("ascii")).root_node)
    inside = {place for match in blank_pattern().finditer(code) for place in range(match.start() + 1, match.end())}
    cuts = sorted({*shape.cuts, *(place for kept in shape.keep for place in kept), len(code)} - inside)
    kept, pieces, at = sorted(shape.keep), list[Piece](), 0
    number, until = 0, 0
    for cut in cuts:
        while number < len(kept) and kept[number][0] <= at:
            until = max(until, kept[number][1])
            number += 1
        hidden = code[at:cut].strip() if at >= until else ""
        if has_code(hidden):
            left = cut - len(code[at:cut].lstrip())
            pieces.append(Piece(left, left + len(hidden), "statement" if statements else "body"))
        at = cut
    return pieces


class _Shape:
    """What stays of a program (`keep`), and where a hidden piece has to end (`cuts`)."""

    def __init__(self, code: str, statements: bool) -> None:
        self.code, self.statements = code, statements
        self.hashes = [match.start() for match in re.finditer("#", code)]
        self.keep: list[tuple[int, int]] = []
        self.cuts: set[int] = set()

    def read(self, root: Node) -> None:
        """Walk the tree; a definition or a block may begin with a docstring."""
        stack = [(root, root.type == "module")]
        while stack:
            node, documented = stack.pop()
            kind = node.type
            if kind in ("module", "block"):
                if self.statements or documented:
                    self._cut(node)
                for child in node.children:
                    if documented and child.type != "comment":
                        documented = False
                        if self._keep_docstring(child):
                            continue
                    stack.append((child, False))
            elif kind == "comment":
                self._keep_comment(node)
            elif kind in IMPORTS and not node.has_error:
                self.keep.append((node.start_byte, node.end_byte))
            elif kind == "decorated_definition":
                for child in node.children:
                    if child.type == "decorator" and not child.has_error:
                        self.keep.append((child.start_byte, child.end_byte))
                    else:
                        stack.append((child, False))
            elif kind in DEFINITIONS:
                self._keep_signature(node)
                stack += [(child, True) for child in node.children if child.type in ("block", "comment")]
            elif kind in COMPOUND:
                stack += self._inside(node)
            elif kind != "ERROR":
                if self.statements:
                    self._cut(node)
                self._keep_comments(node)

    def _inside(self, node: Node) -> list[tuple[Node, bool]]:
        """The parts of a compound statement that are to be read on; its keywords stay if it is understood."""
        if self.statements:
            self._cut(node)
        understood = self.statements and not any(
            child.has_error or child.is_missing for child in node.children if child.type not in ("block", *COMPOUND)
        )
        rest = []
        for child in node.children:
            if child.type in KEPT_KEYWORDS and not child.is_named:
                if understood:
                    self.keep.append((child.start_byte, child.end_byte))
                continue
            if self.statements:
                self._cut(child)
            if child.type in ("block", "comment") or child.type in COMPOUND:
                rest.append((child, False))
            else:
                self._keep_comments(child)
        return rest

    def _keep_comments(self, node: Node) -> None:
        """Keep the comments within an expression of many lines."""
        stack = [node]
        while stack:
            one = stack.pop()
            if one.type == "comment":
                self._keep_comment(one)
            elif self._has_comment(one):
                stack += one.children

    def _cut(self, node: Node) -> None:
        self.cuts.update((node.start_byte, node.end_byte))

    def _has_comment(self, node: Node) -> bool:
        at = bisect_left(self.hashes, node.start_byte)
        return at < len(self.hashes) and self.hashes[at] < node.end_byte

    def _keep_signature(self, node: Node) -> None:
        for child in node.children:
            if child.has_error or child.is_missing:
                return
            if child.type == ":":
                self.keep.append((node.start_byte, child.end_byte))
                self.cuts.add(child.end_byte)
                return

    def _keep_docstring(self, node: Node) -> bool:
        string = node.children[0] if node.type == "expression_statement" and node.child_count == 1 else node
        if string.type != "string" or string.has_error:
            return False
        start, end = string.start_byte, string.end_byte
        quotes = QUOTES.match(self.code, start, end)
        if not quotes or end - quotes.end() < len(quotes[1]):
            return False
        self.keep += [quotes.span(), (end - len(quotes[1]), end)]
        at = quotes.end()
        for line in self.code[at : end - len(quotes[1])].split("\n"):
            self._keep_prose(at, line)
            at += len(line) + 1
        return True

    def _keep_comment(self, node: Node) -> None:
        comment = self.code[node.start_byte : node.end_byte]
        marks = HASHES.match(comment)
        at = marks.end() if marks else 0
        self.keep.append((node.start_byte, node.start_byte + at))
        self._keep_prose(node.start_byte + at, comment[at:])

    def _keep_prose(self, start: int, line: str) -> None:
        """Keep a line of a docstring or a comment, without the code in it."""
        self.cuts.add(start + len(line))
        self.keep += [(start + left, start + right) for left, right in kept_words(line)]
