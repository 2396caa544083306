r"""Is this line code or prose? The judge that the code masker asks wherever no fence says so.

A line of a plan ("For each element we keep the maximum.") has to stay and a line of the solution ("for i from 1 to n
do") has to go, in whatever language or pseudocode it is written. What tells them apart is that prose sets two plain
words side by side and code hardly ever does. So a line is code if it has the *form* of a statement (an assignment, a
call, a header, a declaration) and no two of its words stand side by side, keywords aside; a few forms that no prose
has (`#include`, `def f(`, `cout <<`) need no more than themselves.

Every pattern is tried on the first `LONGEST` characters of a line, so that a line of a megabyte costs no more.
"""

from __future__ import annotations

import re
from typing import Literal

from cloze.masking.spans import blank_pattern

# "opener" and "closer" are code if the line after or before them is, "other" if it stands between lines of code
Kind = Literal["code", "opener", "closer", "other", "prose", "blank"]

LONGEST = 600
TYPES = (
    r"int|long|short|double|float|char|bool|boolean|void|auto|unsigned|signed|size_t|string|String|str|ll"
    r"|u?int\d+(?:_t)?"
)
KEYWORDS = (
    "and|or|not|in|is|if|elif|else|elseif|elsif|for|foreach|while|do|then|end|begin|with|as|from|to|downto|by|step|return"
    "|yield|lambda|let|set|var|const|val|mod|div|xor|each|print|input|new|await|async|until|repeat|break|continue|pass"
    "|except|case|swap|none|true|false|null|nil|import|raise|throw|assert|del|global|typeof|instanceof|sizeof|static|final"
    f"|mut|struct|puts|def|class|function|public|private|increment|decrement|{TYPES}"
)
WORD = rf"(?<![\w'’.])(?!(?:{KEYWORDS})\b)[^\W\d_][\w'’]*+"
PAIR = re.compile(rf"{WORD}[ \t]++(?!(?:{KEYWORDS})\b)[^\W\d_]", re.IGNORECASE)
PROSE_WORD = re.compile(
    r"(?<![\w.'’])(?:the|we|you|they|it|this|that|these|those|there|are|was|were|be|been|has|have|can|will|must|should"
    r"|would|an|our|its|every|some|both|either|also|otherwise|such|than|when|where|which|who|whose|of|because|since|but"
    r"|here|example|instance)(?![\w(\[]|\.\w| *=[^=])",
    re.IGNORECASE,
)
STRING = re.compile(
    r"""(?<![\w)\]\\])[rbfuRBFU]{0,2}(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|“[^”\n]*+”)""",
)
SYMBOL = re.compile(
    r"[=!<>:]=|[^\W\d]\w*+[(\[]|\+\+|--|<-|->|//|%|&&|\|\||<<|>>|\*\*|[<>≤≥≠←∈]|=|\.\.|\bin [^\W\d]\w*(?:\.\w+)*:"
)
SENTENCE = re.compile(r"[\w)\]\"'`%][.!?]\)?$")
LATEX = re.compile(r"\\[A-Za-z]{2,}")
COST = re.compile(r"(?<![\w.])(?:[OoΘΩ]|Theta|Omega|\\mathcal\{O\})\s?\(")

NAME = r"[^\W\d]\w*+"
INDEX = r"\[(?:[^\[\]]|\[[^\[\]]*\])*+\]"
TARGET = rf"\*?{NAME}(?:\.{NAME}|{INDEX})*+"
TARGETS = rf"(?:\(\s*{TARGET}(?:\s*,\s*{TARGET})*\s*,?\s*\)|{TARGET}(?:\s*,\s*{TARGET})*+\s*,?)"
ANNOTATION = (
    r"\s*:\s*(?:(?:int|str|float|bool|bytes|object|list|dict|set|tuple|Any)\b"
    r"|(?:[A-Z]\w*|list|dict|set|tuple|type)\[)[\w\[\], .|]*?"
)
ASSIGNMENT = re.compile(
    rf"(?P<word>(?:(?:const|let|var|val|final|static|mut|set|{TYPES})\b[&*]*\s*(?:\[\])*\s+)*)(?P<targets>{TARGETS})"
    rf"(?:{ANNOTATION})?\s*(?P<operator>(?:[-+*/%&|^@:]|//|\*\*|<<|>>|&&|\|\||\?\?)?=(?![=>~])|<-(?!-)|←)\s*(?P<value>\S.*)$"
)
NEXT_EQUALS = re.compile(r"(?<![=<>!+\-*/%:|&^])=(?!=)")
BRACKETED = re.compile(r"\([^()]*+\)|\[[^\[\]]*+\]|\{[^{}]*+\}")
REVERSED = re.compile(rf"(?<![\w.`]){NAME}\[[^\[\]:]*:[^\[\]:]*:[^\[\]:]*\]")
CALL = re.compile(rf"(?:await\s+|new\s+)?{NAME}!?(?:(?:\.|::|->){NAME}|{INDEX})*+\((?!s\)|es\))")
METHOD = re.compile(rf"{NAME}(?:(?:\.|::|->){NAME}|{INDEX})*+\(")
COMPARED = re.compile(r"[=!<>]=|[<>≤≥≠]|(?<![=<>!])=(?!=)")
LITERAL = re.compile(
    r"(?:[\s\[\](){},:;+*/^.\-–…→>]|\d|(?:true|false|null|none|nil|inf|nan)\b|(?<=\d)e(?=[-+]?\d))*", re.IGNORECASE
)
NAMED_LITERAL = re.compile(rf"(?<!\w){NAME}(?:\[[\d, ]*\]|\([^()]*\))*\s*=\s*(?=\S)")
NAMED_WORD = re.compile(rf"(?:\b{NAME}\s*=\s*[\w.\-]+(?:,\s*|$))+")

# Forms that no prose has. Matched at the beginning of a line, and in upper or lower case as they stand.
FORMS = re.compile(
    "|".join(
        (
            r"(?:async\s+)?def\s+[\w.?!]+\s*(?:[(\[]|$)",
            r"class\s+\w+(?:\s*\([^()]*\))?\s*:\s*(?:#|$|pass\b|\.\.\.)",
            r"from\s+[\w.]+\s+import\s+(?:\(|\*|\w)",
            r"import\s+[\w.*]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*\s*;?\s*(?:#|$)",
            r"import\b.*['\"];?$|import\s+static\s",
            r"@[A-Za-z_][\w.]*(?:\(.*)?\s*(?:#.*)?$",
            r"#\s*(?:include\s*[<\"]|define\s+\w|ifn?def\s+\w|pragma\s+\w|undef\s+\w|endif\b)|#!/",
            r"using\s+(?:namespace\s+\w|\w+\s*=)|template\s*<|typedef\s+\w|package\s+[\w.]+;?$",
            r"(?:(?:export|default|pub|static|async|inline)\s+)*"
            r"(?:[Ff]unction|FUNCTION|func|fn|[Pp]rocedure|PROCEDURE|[Aa]lgorithm)\s+\w+\s*[<(].*"
            r"(?:\)|[:{]|\bbegin|\bdo|->.*|\)\s*\w+)$",
            r"(?:std::)?(?:cout|cin|cerr)\s*(?:<<|>>)",
            r"(?:printf|scanf|println!|console\.log|System\.out\.\w+)\s*\(",
            r"for\s*\([^;]*;[^;]*;.*|for\s+\w+(?:\s*,\s*\w+)*\s+in\s+\w+\(.*\)\s*:",
            r"for\s*\(.*(?::|\bof\b|\bin\b).*\)\s*(?:\{.*)?$",
            r"(?:\}\s*)?(?:else\s+)?(?:if|while|switch|catch)\s*\(.*\)\s*(?:\{.*|.*;)$",
            r"\}\s*(?:else|catch|finally|while)\b",
            rf"(?:(?:{TYPES}|public|private|static|virtual|const|vector<.*>|List<.*>)[&*\[\]]*\s+)+\w+\s*\([^;]*\)"
            r"(?:\s*const)?\s*\{?$",
            r"[\w:<>,&*\[\]~?@ \t]{1,120}\((?:[^(){};]|\([^(){};]*\))*+\)[\w \t:<>,&*?|\->\[\]]*"
            r"\{(?=.*(?:;|\breturn\b)).*\}\s*;?$",
            r"(?:struct|class|enum|union|interface|namespace)\s+\w+[^{}=]*\{.*[;,].*\}\s*;?$",
            r"(?:public|private|protected)\s*(?::$|\s.*[{;]$"
            rf"|\s(?:static|final|abstract|class|interface|enum|{TYPES})\s)",
            r"In\s*\[\d*\]:\s",
            r"\$\s+[A-Za-z./~]",
            r"(?:sudo\s+)?(?:pip3?|npm|npx|yarn|conda|brew|apt|apt-get|cargo)\s+(?:install|run|build|add|test|init)\b",
            r"git\s+(?:clone|add|commit|push|pull|init|checkout|diff|log|status)\b|docker\s+(?:run|build|pull)\s",
            r"python[23]?\s+(?:-\w|\S+\.py\b)|(?:g\+\+|gcc|clang|javac|rustc|node|bash)\s+(?:-\S+\s+)*\S+\.\w+",
            r"\./\w|cd\s+\S+$|export\s+\w+=|echo\s+[\"$]",
            r"diff --git |@@ -\d|(?:---|\+\+\+) [ab]/",
            r"<\?php|<!DOCTYPE|use\s+\w+(?:::[\w{}*, ]+)+;$|\w+\s+::\s+\S|main\s*=\s*\S",
            r"[\w.]+(?:\(.*\))?\s+do\s*\|[^|]*\|$|[A-Z][A-Z_-]{2,}\([\w, .\[\]]*\)\s*:?$",
            r"(?:SET|INPUT|OUTPUT|PRINT|READ|WRITE|DISPLAY|DECLARE|CALL|RETURN)\s+(?!.*[.!?]$)[a-z\"'\[]",
            r"(?:set|initiali[sz]e)\s+[\w\[\].]+\s+(?:to|as|:?=|<-|←)\s+[\w\[\]()\-+*/\"']+$",
            r"(?:SELECT|INSERT INTO|DELETE FROM|CREATE (?:TABLE|INDEX|VIEW)|GROUP BY|ORDER BY"
            r"|(?:LEFT |RIGHT |INNER )?JOIN|FROM|WHERE|HAVING|VALUES)\s+(?!.*\.$)\S",
            r"UPDATE\s+\w+\s+SET\s|(?i:select)\s+\*\s+(?i:from)\s",
        )
    )
)
DOCTEST = re.compile(r"[ \t]*(?P<prompt>>>>)[ \t]+(?=\S)")
CONTINUED = re.compile(r"\.\.\.[ \t]|\.[A-Za-z_]\w*\(")
CLOSING = re.compile(
    r"[)\]}]+[;,.)]*$|(?i:end)\s+(?:if|for|while|function|procedure|loop|repeat|foreach|case|do|class)$"
    r"|(?:output|report|increment|decrement)\s+\w+$|(?:end|endif|endfor|endwhile|fi|done|esac)\b;?$|end\.$"
)
JUMP = re.compile(r"(?:break|continue|pass|return)\s*;?$")
ENDED_JUMP = re.compile(r"^(?:return|break|continue|goto|throw)\b.*;$")
OPENING = re.compile(r"(?:\{|begin|do|try|repeat|loop|else|finally)\s*[:{]?$")
ELSE = re.compile(r"else\s*[:{]$|else\s*:?\s+(?P<rest>\S.*)", re.IGNORECASE)
EXCEPT = re.compile(r"except(?:\s+[\w.,() ]+?)?(?:\s+as\s+\w+)?\s*:|finally\s*:$")
WITH = re.compile(r"(?:async\s+)?with\s+\S.*(?:\bas\s+[\w(),. ]+|\))\s*:")
FOR = re.compile(
    r"for(?:each|all)?\s+(?:each\s+|all\s+|every\s+)?\(?[\w*]+\)?(?:\s*,\s*\(?[\w*]+\)?)*"
    r"\s*(?:\bin\b|\bfrom\b|:?=|<-|←|∈)\s*(?P<rest>\S.*)",
    re.IGNORECASE,
)
BRANCH = re.compile(
    r"(?:else\s*|repeat\s*)?(?P<word>if|elif|elsif|elseif|while|until|unless|when|case|match)\b\s*(?P<rest>.*)", re.I
)
THEN = re.compile(r":(?:\s|$)|\b(?:then|do|THEN|DO)\b|\{$")
COMMA_THEN = re.compile(r",\s*(?:return|print|break|continue|increment|set\b|\w[\w\[\]]*\s*[-+*/]?=[^=])")
BARE_HEADER = re.compile(r"(?:with|default|for)\b.*:$")
FUNCTION_HEADER = re.compile(rf"{NAME}\([\w\s,\[\]]*\)\s*:$")
FILLER = re.compile(r"(?:so|not|yes|no|any|needed|necessary|possible|true|false)\s*:?$", re.IGNORECASE)
VERB = re.compile(
    r"(?:swap|increment|decrement|push|pop|append|insert|call|assert|del|global|yield|throw|raise|goto)\b"
)
SET_TO = re.compile(r"set\s+\S+\s+(?:to|:?=|<-)\s+\S", re.IGNORECASE)
STEPPED = re.compile(rf"(?!C\+\+){TARGET}(?:\+\+|--);?$|\+\+{TARGET};?$")
COMPREHENSION = re.compile(r"[\[({].*\bfor\b.*\bin\b.*[\])}]$|lambda\b[^:]*:\s*\S|\(?[\w, ]*\)?\s*=>\s*\S")
ARITHMETIC = re.compile(r"=.*(?:[^\W\d]\w*[(\[]|[\w)\]] ?[-+*/%])")
DECLARATION = re.compile(
    r"^(?!(?:a|an|the|and|or|of|in|to|by|for|is|not|no|then|with|as)\b)"
    rf"[\w:]+(?:<.*>)?[&*\[\]]*\s+[&*]*{NAME}(?:{INDEX})*(?:\s*,\s*[&*]*{NAME}(?:{INDEX})*)*\s*;$"
)
COMMENT = re.compile(r"#(?!#)|//|/\*|\*/|--(?=\s)|;;|\"\"\"|'''")
LINE_COMMENT = re.compile(r"\s(?:#|//)\s.*$|\s/\*.*\*/$")


HIDDEN = re.compile(r"(?:\[C+\d+\][ \t]*)+")  # where this masker has been before


def has_code(text: str) -> bool:
    """Whether there is a letter or a digit that is no part of a blank."""
    return re.search(r"[^\W_]", blank_pattern().sub("", text)) is not None


def plain(text: str) -> bool:
    """Whether no two words stand side by side and no word of prose is among them; strings are looked over."""
    bare = STRING.sub('""', text)
    return PAIR.search(bare) is None and PROSE_WORD.search(bare) is None


def is_literal(text: str) -> bool:
    """Whether it is made of numbers, strings, brackets and signs alone."""
    return LITERAL.fullmatch(STRING.sub("0", text)) is not None


def is_data(text: str) -> bool:
    """Whether a line under a heading of samples is sample data: literals (`n = 5, a = [1, 2]`) or words, no code."""
    line = text.strip()[:LONGEST]
    if is_literal(NAMED_LITERAL.sub("", STRING.sub("0", line))) or NAMED_WORD.fullmatch(line):
        return True
    kind = kind_of(line)
    return kind not in ("code", "opener") and not CONTINUED.match(line) and not (METHOD.search(line) and plain(line))


def kind_of(text: str) -> Kind:
    """What one line is, taken by itself, without its list mark, quote mark or label."""
    line = text.strip()[:LONGEST]
    if not line:
        return "blank"
    if not has_code(line) and blank_pattern().search(line):
        return "code" if HIDDEN.fullmatch(line) else "prose"
    line = blank_pattern().sub("blank", line)
    if is_statement(line):
        return "code"
    if CLOSING.match(line) or JUMP.match(line) or CONTINUED.match(line):
        return "closer"
    if OPENING.match(line) or FUNCTION_HEADER.match(line) or _is_bare_header(line):
        return "opener"
    if COMMENT.match(line):
        return "other"
    return "other" if plain(line) else "prose"


def is_clear_prose(text: str) -> bool:
    """Whether nobody would take this line for code: a sentence, or some words that begin as one and hold no sign."""
    line = text.strip()[:LONGEST]
    if kind_of(line) != "prose" or COMMENT.match(line):
        return False
    words = len(line.split())
    return SENTENCE.search(line) is not None or (
        line[-1] not in "{};,([" and (words > 3 or (words > 1 and line[0].isupper() and not SYMBOL.search(line)))
    )


def is_statement(line: str) -> bool:
    """Whether a line (stripped, no list mark) has the form of code in some language or of pseudocode."""
    if not line:
        return False
    if FORMS.match(line):
        return not (SENTENCE.search(line) and PROSE_WORD.search(line))
    if DOCTEST.match(line):
        return plain(line[3:])
    if _is_statement(line):
        return True
    cut = LINE_COMMENT.sub("", line).strip()
    return cut not in ("", line) and (cut == "blank" or _is_statement(cut))


def _is_statement(line: str) -> bool:
    if line[-1] in ";{":
        return _is_braced(line)
    if line[-1] == "." and ARITHMETIC.search(line) and plain(line[:-1]) and _is_assignment(line[:-1]):
        return True  # `mid = (lo + hi) / 2.` as a step of a list
    if SENTENCE.search(line) or LATEX.search(STRING.sub("", line)):
        return False
    if ";" in line and all(is_statement(part.strip()) for part in line.split(";", 20) if part.strip()):
        return True
    if not plain(line):
        return False
    lower = line[0].islower()
    return (
        _is_control(line, lower)
        or REVERSED.fullmatch(line) is not None
        or _is_assignment(line)
        or _is_call(line)
        or _is_return(line, lower)
        or (lower and VERB.match(line) is not None and SYMBOL.search(line[1:]) is not None)
        or (lower and re.match(r"raise\s+[A-Z]\w*$|(?:yield|del|global|nonlocal|assert)\s+[\w., ]+$", line) is not None)
        or (SET_TO.match(line) is not None and (lower or SYMBOL.search(line) is not None))
        or STEPPED.match(line) is not None
        or COMPREHENSION.match(line) is not None
    )


def _is_braced(line: str) -> bool:
    bare = STRING.sub('""', LATEX.sub("\\\\", line))
    if PROSE_WORD.search(bare) or "\\\\" in bare or len(PAIR.findall(bare)) > 1:
        return False
    if line[-1] == "{":
        return len(line) > 1
    return any(pattern.search(bare) for pattern in (DECLARATION, SYMBOL, ENDED_JUMP))


def _is_control(line: str, lower: bool) -> bool:
    found = ELSE.match(line)
    if found:
        rest = found["rest"]
        return rest is None or is_statement(rest) or (lower and JUMP.match(rest) is not None)
    if lower and (EXCEPT.match(line) or WITH.match(line)):
        return True
    found = FOR.match(line)
    if found:
        ended = THEN.search(line) is not None
        return ended or (lower and ", " not in found["rest"]) or (", " not in found["rest"] and "=" in line)
    found = BRANCH.match(line)
    if not found or found["word"].lower() in ("case", "match"):
        return False
    rest = found["rest"]
    if not SYMBOL.search(rest) and not re.search(r"\b(?:not|and|or|in|is)\b", rest):
        return lower and THEN.search(rest) is not None and re.search(r"\b(?:return|then|do)\b", rest) is not None
    if THEN.search(rest) or line.startswith("repeat"):
        return lower or SYMBOL.search(rest) is not None
    if rest.startswith("(") and rest.endswith(")"):
        return True
    return lower and COMMA_THEN.search(rest) is not None


def _is_bare_header(line: str) -> bool:
    """`if found:`, `if a > b`, `case 1:`: code only if code follows."""
    if not line[0].islower() or SENTENCE.search(line) or not plain(line):
        return False
    found = BRANCH.match(line)
    if found:
        return not FILLER.match(found["rest"]) and (
            line.endswith((":", ")")) or SYMBOL.search(found["rest"]) is not None
        )
    return BARE_HEADER.match(line) is not None


def _is_assignment(line: str) -> bool:
    found = ASSIGNMENT.match(line)
    if not found or COST.search(found["value"]):
        return False
    value, before = STRING.sub('""', found["value"]), None
    while before != value and len(value) < LONGEST:
        before, value = value, BRACKETED.sub("0", value)
    parts = NEXT_EQUALS.split(value)
    if len(parts) > 1:  # `a = b = 0` and `lo = 0, hi = n` are code, `s = 1 + 2 = 3` is a sum in an explanation
        middles = [part.strip() for part in parts[:-1]]
        return all(re.fullmatch(TARGETS, one) or re.search(rf",\s*{TARGET}$", one) for one in middles)
    return value.strip() not in ("=", "-", "?")


def _is_call(line: str) -> bool:
    found = CALL.match(line)
    if not found or COST.match(line) or line[-1] not in ")]":
        return False
    inside, depth = line[found.end() - 1 :], 0
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return False
    rest, before = inside, None
    while before != rest:
        before, rest = rest, BRACKETED.sub("", rest)
    compared = COMPARED.search(rest)
    if not compared:
        return True
    return compared[0] == "=" and not is_literal(rest[compared.end() :]) and not COST.search(line)


def _is_return(line: str, lower: bool) -> bool:
    found = re.match(r"(?:return|print|puts|yield)\s+(\S.*)", line, re.IGNORECASE)
    if not found or COST.search(found[1]):
        return False
    return lower or line[:6].isupper() or SYMBOL.search(found[1]) is not None
