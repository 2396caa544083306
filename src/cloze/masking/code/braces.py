"""Languages with braces below the level of blocks: comments and signatures stay, all else is hidden line by line.

C++, Java, JavaScript, Go and their like are not parsed. A comment is what begins with `//` or stands between `/*` and
`*/` outside of a string; a signature is a line that declares a function or a class and opens its body. Comments that
hold code are code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cloze.masking.code.comments import kept_words
from cloze.masking.code.lines import has_code

LANGUAGE = re.compile(
    r"\{?\.?(?:c|h|cc|cpp|c\+\+(?:\d+)?|cpp\d+|cxx|hpp|java\d*|jsx?|tsx?|javascript|typescript|go|golang|rust|rs|cs|c#"
    r"|csharp|kotlin|kt|swift|scala|php|dart|objective-?c|objc|d|zig|cuda|solidity)(?![\w+#])",
    re.IGNORECASE,
)
BRACED = re.compile(r"[;{][ \t]*$|^[ \t]*(?:\}|//|/\*)", re.MULTILINE)
STRING_OR_COMMENT = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|(?P<line>//[^\n]*)|/\*(?:[^*]|\*(?!/))*+(?P<block>\*/)?"
)
MARK = re.compile(r"[ \t]*(?:/\*+!?|\*+(?!/)|//+[!<]*)?[ \t]*")
END_MARK = re.compile(r"[ \t]*\**\*/$")
ARGUMENTS = r"\((?:[^(){};]|\([^(){};]*\))*+\)"
TYPE_ARGUMENTS = r"<[^<>;=(){}]*(?:<[^<>;=(){}]*>[^<>;=(){}]*)*>"
SIGNATURE = re.compile(
    "|".join(
        (
            rf"(?:[\w:&*\[\]~?@.]|{TYPE_ARGUMENTS}|,(?=[^()]*>)|[ \t])*\b[\w~]+[ \t]*{ARGUMENTS}"
            rf"[\w \t:<>,&*?|\->\[\]]*(?:{ARGUMENTS})?",
            rf"(?:pub[ \t]+)?(?:async[ \t]+)?(?:func?|fn)[ \t]*(?:{ARGUMENTS}[ \t]*)?\w*(?:<[^<>(){{}};]*>)?[ \t]*"
            rf"{ARGUMENTS}[^;={{}}]*",
            r"type[ \t]+\w+[ \t]+(?:struct|interface)",
            r"(?:export[ \t]+)?(?:const|let|var)[ \t]+\w+[ \t]*=[ \t]*(?:async[ \t]+)?(?:function\b[ \t\w]*)?"
            rf"(?:{ARGUMENTS}|\w+)[ \t]*(?:=>)?",
            r"(?:(?:public|private|protected|internal|static|final|abstract|export|default|pub|sealed|data|typedef)"
            r"[ \t]+)*(?:class|struct|enum|union|interface|namespace|impl|trait|module|object|record)\b[^;=(){}]*",
        )
    )
)
CONTROL = re.compile(
    r"(?:if|else|for|while|do|switch|try|catch|finally|case|default|return|foreach|unless|until|match|loop|using|lock"
    r"|synchronized|throw|new|await|defer|select|guard|with|repeat|when)(?![\w$])"
)


def is_braced(info: str, code: str, unknown: bool) -> bool:
    """Whether code is written in a language with braces, as its fence says or, where that is unknown, as it looks."""
    return LANGUAGE.match(info) is not None or (unknown and BRACED.search(code) is not None)


def hidden_lines(code: str) -> Iterator[tuple[int, int]]:
    """What of each line is to be hidden, in order."""
    keep: list[tuple[int, int]] = []
    comments: list[tuple[int, int]] = []
    for match in STRING_OR_COMMENT.finditer(code):
        if match.lastgroup:
            comments.append(match.span())
            keep += _kept_comment(match.group(), match.start())
    bare = _without(code, comments)
    lines = bare.split("\n")
    at = 0
    for number, line in enumerate(lines):
        text = line.strip()
        opens = text.endswith("{") or (
            text != "" and lines[number + 1 : number + 2] and lines[number + 1].strip() == "{"
        )
        if opens and is_signature(text.removesuffix("{").rstrip()):
            start = at + len(line) - len(line.lstrip())
            keep.append((start, start + len(text)))
        at += len(line) + 1
    yield from _rest(code, sorted(keep))


def is_signature(text: str) -> bool:
    """Whether a line, without the brace that ends it, declares a function or a class."""
    return len(text) < 400 and SIGNATURE.fullmatch(text) is not None and CONTROL.match(text) is None


def _kept_comment(comment: str, at: int) -> Iterator[tuple[int, int]]:
    for line in comment.split("\n"):
        mark = MARK.match(line)
        first = mark.end() if mark else 0
        end = END_MARK.search(line, first)
        last = end.start() if end else len(line)
        yield at, at + first
        for left, right in kept_words(line[first:last]):
            yield at + first + left, at + first + right
        yield at + last, at + len(line)
        at += len(line) + 1


def _without(code: str, comments: list[tuple[int, int]]) -> str:
    """The code with its comments overwritten by spaces."""
    parts, at = [], 0
    for start, end in comments:
        parts += [code[at:start], re.sub(r"[^\n]", " ", code[start:end])]
        at = end
    return "".join(parts) + code[at:]


def _rest(code: str, kept: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What is not kept, cut at the ends of lines and without the white space around it."""
    at = 0
    for start, end in [*kept, (len(code), len(code))]:
        for line in re.finditer(r"[^\n]+", code[at:start]) if start > at else ():
            text = line.group().strip()
            if has_code(text):
                first = at + line.start() + len(line.group()) - len(line.group().lstrip())
                yield first, first + len(text)
        at = max(at, end)
