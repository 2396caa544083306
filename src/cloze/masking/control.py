"""The control of the experiment: the same amount of text is hidden, but at random places.

If a policy learns as well from random blanks as from blanks over the answer and the steps to it, then masking by
meaning earned nothing. So the control copies the size of a real mask: as many spans of as many words, or as many
single words, and nothing else.

A word is a run of letters, digits and underscores, held together by a full stop, comma or apostrophe inside of it
(`1,000`, `3.14`, `don't`). Blanks that the text holds already are no words and are never hidden.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Literal

from cloze.masking.spans import DEFAULT_STYLE, Span, blank_pattern

WORD = re.compile(r"\w+(?:[.,'’]\w+)*")


def random_spans(
    text: str,
    spans: Sequence[Span],
    *,
    unit: Literal["spans", "tokens"],
    seed: int,
    style: str = DEFAULT_STYLE,
) -> list[Span]:
    """Random spans that hide as much as the given ones.

    All arrangements are equally likely. If the text has fewer words than asked for, all of them are hidden.

    Args:
        text: the trace.
        spans: the mask whose size is copied; a span without any word counts as one word.
        unit: "spans" for as many spans, each as many words long as one of the given ones (a span that would run over
            a blank of the text is parted there); "tokens" for as many single words.
        seed: the draw; the same text and seed give the same spans.
        style: how blanks are written in the text.

    Returns:
        The spans in order; equal texts share a blank.
    """
    words, barriers = _words(text, style)
    lengths = [max(1, sum(1 for _ in WORD.finditer(text, span.start, span.end))) for span in spans]
    rng = random.Random(f"{seed}:{text}")
    if unit == "tokens":
        runs = [(at, at + 1) for at in sorted(rng.sample(range(len(words)), min(sum(lengths), len(words))))]
    else:
        runs = _runs(lengths, len(words), rng)
    found = []
    for first, end in runs:
        inside = [at for at in range(first + 1, end) if at in barriers]
        for one, other in zip([first, *inside], [*inside, end], strict=True):
            start, stop = words[one][0], words[other - 1][1]
            found.append(Span(start, stop, "random", text[start:stop], "random control"))
    return found


def _words(text: str, style: str) -> tuple[list[tuple[int, int]], set[int]]:
    """The places of all words, and the numbers of those that come first after a blank of the text."""
    words: list[tuple[int, int]] = []
    barriers = set()
    at = 0
    for blank_start, blank_end in [*(match.span() for match in blank_pattern(style).finditer(text)), (len(text),) * 2]:
        barriers.add(len(words))
        words += [match.span() for match in WORD.finditer(text, at, blank_start)]
        at = blank_end
    return words, barriers


def _runs(lengths: list[int], room: int, rng: random.Random) -> list[tuple[int, int]]:
    """Runs of these lengths, in random order at random places among `room` words, without overlap."""
    rng.shuffle(lengths)
    fitting: list[int] = []
    left = room
    for length in lengths:
        if left:
            fitting.append(min(length, left))
            left -= fitting[-1]
    runs: list[tuple[int, int]] = []
    before = 0
    for place, length in zip(sorted(rng.sample(range(left + len(fitting)), len(fitting))), fitting, strict=True):
        first = place - len(runs) + before
        runs.append((first, first + length))
        before += length
    return runs
