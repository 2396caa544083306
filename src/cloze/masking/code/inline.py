r"""Code inside a line of prose: between backticks, in `<code>`, or with no mark at all.

A name, a cell of a table (`dp[i]`), a cost (`O(n)`), a file, a value or a sample (`f(3) = 4`) is what a plan talks
about and stays; an expression or a statement is what the policy has to write and goes. Without a mark around it only
what prose cannot be is code: an assignment to or from a cell or a call, a method call, an index into a call.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence

from cloze.masking.code.lines import COST, PAIR, REVERSED, STRING, has_code, is_literal, is_statement, plain
from cloze.masking.spans import blank_pattern

MOST_LINES = 5  # of inline code that is broken over lines
LONGEST = 300  # characters of an expression in prose
TICKS = re.compile(r"(?<!\\)`+")
TAG = re.compile(r"<(?P<close>/?)(?P<name>code|kbd|samp|tt)\b[^<>\n]{0,100}>", re.IGNORECASE)
MATH = re.compile(
    r"\$\$[^$]+\$\$|\$(?![\s$])[^$\n]*(?<![\s\\])\$(?!\w)|\\\((?:[^\\\n]|\\[^()\n])*+\\\)"
    r"|\\\[(?:[^\\\n]|\\[^\[\]\n])*+\\\]"
)
NAME = r"[^\W\d]\w*+"
INDEX = r"\[(?:[^\[\]]|\[[^\[\]]*\])*+\]"
SMALL = r"-?\w+(?:\s?[-+]\s?\w+)?"
BUILTIN = re.compile(
    r"(?:print|sorted|sum|len|max|min|abs|set|list|dict|tuple|int|str|float|bool|range|reversed|enumerate|zip|map|filter"
    r"|any|all|round|pow|divmod|input|ord|chr|bin|hex|sqrt|gcd|lcm|return|Counter|deque|sort|swap|open|eval)\b"
)
IN_PROSE = re.compile(r"(?:print|sorted|range|input|enumerate|zip|reversed|list|dict|int|Counter)\((?!e?s\))")
MENTIONED = re.compile(
    "|".join(
        (
            r"[@#$&*-]{0,2}\w[\w.]*#?|[Cc]\+\+",  # a name, a file, a number, a flag
            r"--?\w[\w-]*|[\w.-]*/?(?:[\w.-]+/)*[\w-]+\.[A-Za-z]{1,5}|~?/[\w./-]+|\w+://\S+",
            rf"{NAME}(?:\[{SMALL}(?:,\s*{SMALL})*\])+",
            rf"{NAME}(?:::{NAME})*(?:<[\w\s,<>*:]*>)?",
            rf"[-\w^*.]+\s*(?:<=?|≤)\s*{NAME}(?:\[\w+\]|\.\w+)?(?:,\s*{NAME})*\s*(?:<=?|≤)\s*[\w^*.]+",
            r"\$.*\$|\\.*|[^<>]*<\w+://[^<>]*>",
            r"[\w-]+-(?:th|st|nd|rd|indexed|based|first|sums?|pointers?|way|time|sized?|like|free|trees?|sort|ary|search)",
        )
    )
)
USER_CALL = re.compile(rf"(?P<name>{NAME})\((?:{NAME}(?:,\s*{NAME})*|[^()]*)?\)")
SAMPLE = re.compile(rf"{NAME}\((?P<arguments>.*)\)(?:\s*(?:==?|->|→)\s*(?P<result>.*))?")
WORDS = re.compile(r"[^\W\d_]+(?:['’]\w+)?(?:[ ,.!]+[^\W\d_]+(?:['’]\w+)?)*[.!?]?")
WORD_TEST = re.compile(r"\b(?:in|is|and|or) \w")
OPERATOR = re.compile(r"[^\W\d]\w*[(\[]|[-+*/%&|^~<>=]|\?.*:|[^\W\d]\w*\.\w+\(")

TARGET = re.compile(
    rf"(?<![\w.)\]`'\"$\\{{}}])(?P<name>{NAME}(?:\.{NAME})*)(?P<cells>(?:{INDEX})*+)\s*"
    r"(?P<operator>(?:[-+*/%&|^]|//|<<|>>)?=(?![=>])|:=|<-(?![-\d])|←)\s*"
)
CALL = re.compile(rf"(?<![\w.)\]`'\"$\\{{}}])(?P<name>{NAME}(?:\.[^\W\d]\w+)*)(?P<cells>(?:{INDEX})*+)\(")
RETURNED = re.compile(r"(?<![\w.])(?:return(?:s|ing)?|prints?)\s+(?=\S)", re.IGNORECASE)
LEAD = re.compile(
    r"(?<![\w.])(?:(?:answer|formula|result|value|solution|expression|output|recurrence|transition|total|count|index)"
    r"\s+(?:is|becomes|equals|will\s+be|would\s+be|must\s+be)\s*:?\s+(?:(?:simply|just|then|exactly|therefore|thus|now)\s+)?"
    r"|(?:outputs?|prints?|returns?|computes?)\s*:?\s+(?:the\s+)?(?:(?:value|answer|result|expression|formula)\s*:?\s+)?(?:of\s+)?)"
    r"(?=[\w(\[~-])",
    re.IGNORECASE,
)
STRONG = re.compile(r"[\w)\]]\s?(?://|\*\*|%|<<|>>)\s?[\w(\[-]|[^\W\d]\w*\[|(?<!\w)(?:[^\W\d]\w+|[fghFG])\((?!e?s\))")
MODULO = re.compile(  # and the whole quotient and the power of Python: signs that no prose has
    r"[\w)\]](?P<gap> ?)//(?P=gap)[\w(]|[^\W\d]( ?)%\2[\w(]|[)\]] ?% ?[\w(]"
    r"|(?:\d|[)\]]|(?<!\w)[^\W\d]) ?\*\* ?(?:[\d(]|[^\W\d](?!\w))"
)
STARTS = re.compile(r"(?<![\w.)\]/:])(?!(?:for|if|else|is|in|and|or|not|while|return|of|by|to)\b)[\w(\[]")
BACK = 80  # characters before such a sign in which its expression begins
MOST_UNCLOSED = 3  # brackets before such a sign that are tried although nothing closes them
FUNCTION = re.compile(
    r"(?<![\w`])(?:(?:static|inline|const|constexpr|unsigned|long|public|private)\s+){0,4}"
    r"[^\W\d][\w:]*+(?:<[^<>(){};]{0,60}>)?[&*]*\s+[&*]*[^\W\d]\w*\([^(){};]{0,200}\)\s*"
    r"\{(?:[^{};]{0,300};|\s*return\b)[^{}]{0,300}\}"
)
COMPOSED = re.compile(r"\s*(?:[-+*/%]|//)\s*[\w.]+[(\[]")
BRACKET = re.compile(r"[()]")
TOKEN = re.compile(
    r"\s*(?:(?P<word>[^\W\d]\w*+(?:\.[^\W\d]\w*+)*)|(?P<value>\d\w*+(?:\.\d\w*+)?|\"[^\"\n]*\"|'[^'\n]*')|(?P<open>[(\[{])"
    r"|(?P<close>[)\]}])|(?P<operator>\*\*|//|<<|>>|[=!<>]=|&&|\|\||[-+*/%&|^<>×·−≤≥])|(?P<comma>[,:]))"
)
WORD_OPERATOR = frozenset(("and", "or", "not", "in", "mod", "div", "xor"))

Range = tuple[int, int]


def is_solution(code: str) -> bool:
    """Whether what stands between backticks is code that solves, not a thing that a plan talks about."""
    text = blank_pattern().sub("blank", " ".join(code.split()))
    if not has_code(code):
        return False
    if MENTIONED.fullmatch(text) or is_literal(text) or (COST.match(text) and "=" not in text):
        return False
    if is_statement(text) and not _is_mention_of_call(text):
        return True
    if WORD_TEST.search(text) and plain(text):
        return True
    if WORDS.fullmatch(text) or _is_mention_of_call(text):
        return False
    return OPERATOR.search(STRING.sub('""', text)) is not None


def _is_mention_of_call(text: str) -> bool:
    sample = SAMPLE.fullmatch(text)
    if not sample or BUILTIN.match(text):
        return USER_CALL.fullmatch(text) is not None and text.endswith("()")
    if sample["result"] is not None:
        return is_literal(sample["arguments"]) and is_literal(sample["result"])
    return is_literal(sample["arguments"]) or re.fullmatch(rf"{NAME}(?:,\s*{NAME})*", sample["arguments"]) is not None


def ticked(line: str) -> list[Range]:
    """The content of each code span that begins and ends on this line, by CommonMark's rule of equal runs."""
    return [(start, end) for start, end, _ in pairs([(match.start(), match.end()) for match in TICKS.finditer(line)])]


def pairs(runs: list[Range]) -> Iterator[tuple[int, int, int]]:
    """Pair runs of backticks of equal length: content start, content end, which run closed it."""
    places: dict[int, list[int]] = defaultdict(list)
    for number in range(len(runs) - 1, -1, -1):
        places[runs[number][1] - runs[number][0]].append(number)
    at = 0
    while at < len(runs):
        later = places[runs[at][1] - runs[at][0]]
        while later and later[-1] <= at:
            later.pop()
        if later:
            yield runs[at][1], runs[later[-1]][0], later[-1]
            at = later[-1]
        at += 1


def without_marked(line: str) -> tuple[str, bool]:
    """The line with inline code overwritten by one long word and math by another; and whether there is math."""
    if "`" in line:
        runs = [match.span() for match in TICKS.finditer(line)]
        closings = dict(runs)
        openings = {end: start for start, end in runs}
        line = _overwritten(line, [(openings[start], closings[end]) for start, end, _ in pairs(runs)])
    if "<" in line:
        line = _overwritten(line, in_tags(line))
    if "$" in line or "\\" in line:
        masked = MATH.sub(lambda match: "m" * len(match[0]), line)
        return masked, masked != line
    return line, False


def _overwritten(line: str, places: Sequence[Range]) -> str:
    """The line with one long word in each of the places."""
    parts, at = [], 0
    for start, end in places:
        parts += [line[at:start], "k" * (end - start)]
        at = end
    return "".join(parts) + line[at:]


def in_tags(line: str) -> list[Range]:
    """What stands between `<code>` and `</code>` on this line."""
    found, opened = [], -1
    for tag in TAG.finditer(line):
        if not tag["close"]:
            opened = tag.end()
        elif opened >= 0:
            found.append((opened, tag.start()))
            opened = -1
    return found


def code_in_prose(line: str, masked: str) -> list[tuple[int, int, str]]:
    """All code inside one line of prose, in order: start, end, and what it was found as.

    Args:
        line: the line.
        masked: the same with inline code and math overwritten (`without_marked`).
    """
    found = []
    if "`" in line or "<" in line:
        marked = (*ticked(line), *in_tags(line))
        found = [(*place, "inline code") for place in marked if is_solution(line[place[0] : place[1]])]
    found += [(*place, "code in prose") for place in unmarked(masked)]
    ordered: list[tuple[int, int, str]] = []
    for start, end, why in sorted(found):
        if not ordered or start >= ordered[-1][1]:
            code = line[start:end]
            start += len(code) - len(code.lstrip())
            ordered.append((start, start + len(code.strip()), why))
    return ordered


def as_words(line: str, masked: str, column: int) -> str:
    """A line of prose from `column` on with a word in place of all code, so that hiding code does not change it."""
    at, parts = column, []
    for start, end, _ in code_in_prose(line, masked):
        if start >= at:
            parts += [masked[at:start], "blank"]
            at = end
    return "".join(parts) + masked[at:]


def across_lines(paragraph: Sequence[tuple[int, str]]) -> list[Range]:
    """Inline code that begins on one line of a paragraph and ends on another; each line's share by itself.

    Args:
        paragraph: the lines that follow each other, each with its place.
    """
    if len(paragraph) < 2:
        return []
    runs = []
    for start, line in paragraph:
        own = [(match.start(), match.end()) for match in TICKS.finditer(line)]
        inside = [(left, right) for left, right, _ in pairs(own)]
        at = 0
        for left, right in own:
            while at < len(inside) and inside[at][1] < left:
                at += 1
            if at == len(inside) or right < inside[at][0]:
                runs.append((start + left, start + right))
    found, at = [], 0
    for left, right, _ in pairs(runs):
        shares = []
        while at < len(paragraph) and paragraph[at][0] + len(paragraph[at][1]) <= left:
            at += 1
        for start, line in paragraph[at : at + MOST_LINES + 1]:
            share = line[max(0, left - start) : max(0, right - start)]
            begin = start + max(0, left - start)
            if share.strip():
                shares.append((begin + len(share) - len(share.lstrip()), share.strip()))
            if start + len(line) >= right:
                break
        whole = " ".join(share for _, share in shares)
        if len(shares) <= MOST_LINES and plain(blank_pattern().sub("blank", whole)) and is_solution(whole):
            found += [(begin, begin + len(share)) for begin, share in shares]
    return found


def unmarked(line: str) -> list[Range]:
    """Code that stands in a line of prose with no mark around it; inline code and math are overwritten already."""
    if not any(sign in line for sign in "=(←[-+*/%"):
        return []
    line = blank_pattern().sub(lambda match: "\0" * len(match[0]), line)
    found: list[Range] = []
    for match in TARGET.finditer(line):
        if not found or match.start() >= found[-1][1]:
            end = _end_of_value(line, match)
            if end:
                found.append((match.start(), end))
    closings = _closings(line) if "(" in line else {}
    at = 0
    for match in CALL.finditer(line) if closings else ():
        end = _end_of_call(line, match, closings) if match.start() >= at else 0
        if end:
            found.append((match.start(), end))
            at = end
    for match in RETURNED.finditer(line):
        end = _expression(line, match.end())
        if end > match.end() and is_solution(line[match.end() : end]):
            found.append((match.end(), end))
    for match in LEAD.finditer(line):
        end = _expression(line, match.end())
        if STRONG.search(line, match.end(), end) and is_solution(line[match.end() : end]):
            found.append((match.end(), end))
    found += _divided(line, closings)
    if "{" in line:
        found += [match.span() for match in FUNCTION.finditer(line)]
    return found + [match.span() for match in REVERSED.finditer(line)]


def _divided(line: str, closings: dict[int, int]) -> Iterator[Range]:
    """Every expression that divides as only code does (`//`, `%`) or has a power in the way of Python (`**`)."""
    if not ("//" in line or "%" in line or "**" in line):
        return
    costs = [(cost.end(), closings.get(cost.end() - 1, len(line))) for cost in COST.finditer(line)] if closings else []
    done = within = 0
    for sign in MODULO.finditer(line):
        while within < len(costs) and costs[within][1] < sign.start():
            within += 1
        if sign.start() < done or (within < len(costs) and costs[within][0] <= sign.start()):
            continue
        unclosed = 0
        for start in STARTS.finditer(line, max(done, sign.start() - BACK), sign.start() + 1):
            end, seen = _scan(line, start.start(), closings)
            if end >= sign.end():
                done = end
                if plain(line[start.start() : end]) and is_solution(line[start.start() : end]):
                    yield start.start(), end
                break
            unclosed += seen >= sign.end()
            if unclosed == MOST_UNCLOSED:
                done = seen
                break


def _end_of_value(line: str, match: re.Match[str]) -> int:
    """Where the assignment ends, or 0 if it is none: `dp[i] = number of ways` is a definition in words."""
    start = match.end()
    end = _expression(line, start)
    value = line[start:end]
    if not value or COST.match(value):
        return 0
    composed = OPERATOR.search(STRING.sub('""', value)) is not None
    counted = re.search(rf"(?<!\w){re.escape(match['name'])}(?!\w)|//|%", value) is not None
    augmented = len(match["operator"]) > 1 and match["operator"] not in (":=", "<-")
    if match["cells"]:
        if is_literal(value) and re.fullmatch(r"(?:\[\d+\])+", match["cells"]):
            return 0  # a value of the example: `dp[3] = 2`
        followed = re.match(r"\s+[^\W\d_]", line[end:]) is not None
        if not composed and value[0].isalpha() and followed:
            return 0
        return end
    if augmented or (composed and (counted or re.search(r"\w[(\[]", value))):
        return end
    return 0


def _end_of_call(line: str, match: re.Match[str], closings: dict[int, int]) -> int:
    """Where a method call or an index into a call ends, or 0 if it is none: `max(a, b)` is what prose may say."""
    closed = closings.get(match.end() - 1, 0)
    if not closed or closed - match.start() > LONGEST or not line[match.end() : closed].strip():
        return 0
    dotted = "." in match["name"]
    indexed = line[closed + 1 : closed + 2] == "["
    composed = BUILTIN.match(line, match.start()) and COMPOSED.match(line, closed + 1)
    if not (dotted or indexed or composed or IN_PROSE.match(line, match.start())) or COST.match(line, match.start()):
        return 0
    end = _expression(line, match.start())
    return end if end > closed else 0


def _closings(line: str) -> dict[int, int]:
    """For each round bracket that is closed, where."""
    opened: list[int] = []
    found = {}
    for bracket in BRACKET.finditer(line):
        if bracket[0] == "(":
            opened.append(bracket.start())
        elif opened:
            found[opened.pop()] = bracket.start()
    return found


def _expression(line: str, start: int) -> int:
    """Where the expression that begins at `start` ends: after its last operand, before prose goes on."""
    return _scan(line, start)[0]


def _scan(line: str, start: int, closings: Container[int] | None = None) -> tuple[int, int]:
    """Where an expression ends, and how far it was read: further than that if a bracket was not closed.

    Args:
        line: where it stands.
        start: where it begins.
        closings: the round brackets that are closed; nothing is read beyond any other one.
    """
    at, end, depth, operand = start, start, 0, False
    while at - start < LONGEST and (match := TOKEN.match(line, at)):
        word = match["word"]
        if word or match["value"]:
            if word in WORD_OPERATOR and (depth or operand or word == "not"):
                if not depth and word in ("and", "or", "in"):
                    break
                operand = False
            elif operand and not (depth and word in ("for", "if", "else", "is", "lambda")):
                break
            else:
                operand = word not in ("for", "if", "else", "lambda", "is")
        elif match["open"]:
            if operand and match.start("open") != at and not depth:
                break
            if closings is not None and match["open"] == "(" and match.start("open") not in closings:
                break
            depth, operand = depth + 1, False
        elif match["close"]:
            depth, operand = depth - 1, True
            if depth < 0:
                break
        elif match["operator"]:
            operand = False
        elif not depth:
            break
        else:
            operand = False
        at = match.end()
        if operand and not depth:
            end = at
    prose = PAIR.search(STRING.sub('""', line[start:end])) is not None and not plain(line[start:end])
    return (start if prose else end), at
