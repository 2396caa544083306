r"""The plain regex approach to masking, written for comparison: every number of a trace becomes a mark.

A list of patterns in one pass, as masking scripts of this field do it: labels are set aside behind a sentinel, fenced
code and LaTeX fractions go first, then every number with the sign before it. It never looks at the target or at the
question. Faults that such scripts are known for are kept, since they are what is compared with: the sign pattern takes
operators along, the sentinel holds a digit that is masked in its turn, words and symbols stay.
"""

from __future__ import annotations

import re

LABEL = re.compile(r"\b(?:Step|Case|Lemma|Theorem|Part)\s+\d+", re.IGNORECASE)
PATTERNS = (
    re.compile(r"```.*?```", re.DOTALL),
    re.compile(r"\\[dt]?frac\{[^{}]*\}\{[^{}]*\}"),
    re.compile(r"\\sqrt\{[^{}]*\}"),
    re.compile(r"[-+]?\s?\d+(?:\.\d+)?%?"),
)
MARK = "[MASK]"


def regex_mask(text: str) -> str:
    """The text with marks."""
    labels: list[str] = []

    def keep(match: re.Match[str]) -> str:
        labels.append(match[0])
        return f"__LABEL_{len(labels) - 1}__"

    text = LABEL.sub(keep, text)
    for pattern in PATTERNS:
        text = pattern.sub(MARK, text)
    for index, label in enumerate(labels):
        text = text.replace(f"__LABEL_{index}__", label)
    return text
