r"""Multiple choice: the options that a question lists are not data that it gives.

`Which is it? (A) 12 (B) 24 (C) 36` shows the answer among others, and a trace that ends in `= 24` would tell which.
So what stands in the list does not count as given, and where the target is a letter, the option behind it is hidden as
the target is.
"""

from __future__ import annotations

import re

MARK = re.compile(r"(?:(?<=[\s{\\&$])|^)(?:\(([A-J])\)|([A-J])[.):](?=[\s}\\$]))\}?[ \t~]*(?:\\[ ,;:]|\\q?quad)*")
TRIM = re.compile(r"(?:\\(?:textbf|text|mathrm)\s*\{\s*|\\q?quad|\\[ ,;:\\]|[\s&~$])+\Z")
LONGEST = 200


def split_options(question: str) -> tuple[str, dict[str, str]]:
    """The question without its list of options, and what stands behind each letter; no options if there is no list.

    A list is at least three marks `(A)`, `B.`, `C)` in alphabetical order, and lies at the end.
    """
    if not any(mark in question for mark in ("(A)", "A.", "A)", "A:")):
        return question, {}
    marks: list[re.Match[str]] = []
    for match in MARK.finditer(question):
        letter = match[1] or match[2]
        if letter == "A":
            marks = [match]
        elif marks and ord(letter) == ord("A") + len(marks):
            marks.append(match)
    if len(marks) < 3:
        return question, {}
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    options = {}
    for mark, end in zip(marks, ends, strict=True):
        content = TRIM.sub("", question[mark.end() : end]).strip()
        if len(content) > LONGEST:
            content = content.partition("\n")[0]
        options[mark[1] or mark[2]] = content
    return question[: marks[0].start()], options
