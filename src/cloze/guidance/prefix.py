"""How much of a trace is shown: a share of its tokens, cut where a reader would stop.

The share is counted in tokens because that is what a context costs. The cut then moves *back* to the end of a line or
sentence, or failing that of a word, so that the policy is not handed half a number; it never moves back when the whole
trace fits, and never inside a character of several bytes.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from cloze.errors import InputError

STOPS = re.compile(r"\n|[.!?]['\")\]]*(?=\s)")
WORD_STOP = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Prefix:
    """The shown part of a trace: its text, its length in tokens, and the share of the trace's tokens that it is."""

    text: str
    tokens: int
    ratio: float


def cut_prefix(
    trace: str, tokenizer: Any, *, ratio: float = 1.0, max_tokens: int | None = None, align: bool = True
) -> Prefix:
    """Show the first `ratio` of a trace, and no more than `max_tokens`.

    Args:
        trace: the (masked) trace.
        tokenizer: a fast Hugging Face tokenizer (character offsets are needed).
        ratio: share of the trace's tokens, 0 to 1; `floor(ratio * n)` tokens are allowed.
        max_tokens: a limit beside the ratio, or None.
        align: move the cut back to the end of a line, sentence or word.

    Returns:
        The prefix; its `ratio` is what is really shown, after alignment.

    Raises:
        InputError: `ratio` outside 0..1, or a tokenizer without offsets.
    """
    if not 0.0 <= ratio <= 1.0:
        raise InputError(f"prefix ratio must be between 0 and 1, got {ratio}")
    if not getattr(tokenizer, "is_fast", False):
        raise InputError("the tokenizer gives no character offsets", mend="use a folder with a tokenizer.json")
    offsets = tokenizer(trace, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    total = len(offsets)
    allowed = min(math.floor(ratio * total + 1e-9), total if max_tokens is None else max_tokens)
    if allowed >= total:
        return Prefix(trace, total, 1.0 if total else 0.0)
    if allowed <= 0:
        return Prefix("", 0, 0.0)
    while allowed > 0 and offsets[allowed][0] < offsets[allowed - 1][1]:
        allowed -= 1  # tokens that share a character stay together
    end = offsets[allowed - 1][1] if allowed else 0
    if align:
        end = _align(trace, end)
    shown = sum(1 for _, stop in offsets if stop <= end)
    return Prefix(trace[:end], shown, shown / total)


def _align(trace: str, end: int) -> int:
    for pattern in (STOPS, WORD_STOP):
        stops = [match.end() for match in pattern.finditer(trace, 0, min(end + 1, len(trace))) if match.end() <= end]
        if stops:
            return stops[-1]
    return end if trace[end : end + 1].isspace() else 0
