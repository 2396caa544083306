r"""Short answers in words: exact match, token F1, contained match, as open-domain question answering scores them.

Two texts are compared after the field's normalisation (that of SQuAD: lower case, no punctuation, no articles, single
spaces), with what it gets wrong for a training run put right:

- Unicode is taken to its plain form first (NFKC, and accents off Latin letters: é is e); 10² stays apart from 102.
- Punctuation between two digits stays, and a minus before a number: 3.5 is not 35, 1990-95 not 199095, -5 not 5. A
  comma between thousands goes.
- An article is kept when nothing else would be left: the target `A` of a choice is "a", not nothing.
- Numbers are text: "12" is not "twelve", and 12.0 is not 12. Give such forms as aliases, or use the math verifier.
- "yes" and "no" count only as the whole answer, also under F1. A sign of percent or money is punctuation, so 50% is 50.

A *contained* match looks for the words of the target, whole and in a row, in the answer. Alone that would pay for
"Paris or London or Rome", so the answer must name nothing else: beside the target only words such as "it is in" may
stand, and `extra` other words (0 unless set). A second candidate after "or", "and", a comma, a slash or a new line is
refused whatever `extra` is, and so are "not" and its like. So "Barack Obama" does not match Obama unless the former is
an alias or `extra` is 1, and with `extra` 1 "West Virginia" matches Virginia and two names side by side pass.

F1 pays a list of candidates in part by its nature; `threshold` makes it all or nothing.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from time import perf_counter
from typing import Literal, get_args

from cloze.errors import InputError
from cloze.verifiers.verdict import Verdict

Extract = Literal["tag", "answer_is", "last_line", "whole"]
Match = Literal["exact", "f1", "contains"]
EXTRACTS: tuple[str, ...] = get_args(Extract)
MATCHES: tuple[str, ...] = get_args(Match)
MAX_CHARACTERS = 20_000  # only the end of a longer completion is looked at

TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
ANSWER_IS = re.compile(r"(?<![A-Za-z])answer[*_ ]{0,4}(?:is\b|:)", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
PUNCTUATION = frozenset(string.punctuation)
ARTICLES = frozenset(("a", "an", "the"))
YES_NO = frozenset(("yes", "no", "noanswer"))
FILLER = frozenset(
    [
        "is",
        "was",
        "are",
        "were",
        "be",
        "been",
        "it",
        "its",
        "it's",
        "this",
        "that",
        "these",
        "he",
        "she",
        "they",
        "his",
        "her",
        "their",
        "i",
        "we",
        "in",
        "on",
        "at",
        "of",
        "by",
        "to",
        "for",
        "from",
        "with",
        "as",
        "answer",
        "final",
        "correct",
        "called",
        "named",
    ]
)
SEPARATOR = re.compile(r"[,;/|\n•&]|\b(?:or|and|either|neither|nor|not|never|no|but|maybe|perhaps)\b|n['’]t\b")


def verify_answer(
    completion: str,
    target: str,
    *,
    aliases: Sequence[str] = (),
    extract: Extract = "tag",
    match: Match = "exact",
    threshold: float = 0.0,
    extra: int = 0,
) -> Verdict:
    """Score a completion against a target in words; the best over the target and its aliases counts.

    Args:
        completion: what the policy wrote. If it opens a `<think>` block, only what follows the last `</think>` counts.
        target: the right answer.
        aliases: other texts that count as the target.
        extract: which part is the answer: "tag", the last `<answer>...</answer>`, which must be complete;
            "answer_is", what follows the last "answer is" or "answer:" up to the end of the sentence or line;
            "last_line", the last line that is not blank; "whole", all of it.
        match: "exact", the same words; "f1", the harmonic mean of the shares of words that answer and target have in
            common; "contains", the target among words that say nothing else (see the module).
        threshold: of "f1" alone: 0 gives the F1 itself as the reward, and the status "correct" at 1 only; above 0 the
            reward is 1 from that F1 on and else 0.
        extra: of "contains" alone: so many other words may stand beside the target.

    Returns:
        The verdict; reward None with status "unparseable_gold" when nothing is left of the target.

    Raises:
        InputError: no such policy or match, or a threshold outside 0 to 1.
    """
    started = perf_counter()
    _check(extract, match, threshold, extra)

    def verdict(reward: float | None, status: str, reason: str, extracted: str | None = None) -> Verdict:
        return Verdict(reward, status, extracted, target, reason, perf_counter() - started)

    if not normalise(target):
        return verdict(None, "unparseable_gold", "nothing is left of the target once it is normalised")
    answer, where = find_answer(completion, extract)
    if answer is None:
        return verdict(0.0, "no_answer", where)
    if not normalise(answer):
        return verdict(0.0, "no_answer", f"{where} is empty once it is normalised")
    accepted = [target, *(alias for alias in aliases if normalise(alias))]
    if match == "contains":
        reasons = [why_not_contained(answer, text, extra) for text in accepted]
        if "" in reasons:
            return verdict(1.0, "correct", f"{where} names the target{_alias(accepted, reasons.index(''))}", answer)
        return verdict(0.0, "wrong", f"{where} {reasons[0]}", answer)
    if match == "exact":
        said = normalise(answer)
        found = next((at for at, text in enumerate(accepted) if normalise(text) == said), None)
        if found is not None:
            return verdict(1.0, "correct", f"{where} is the target{_alias(accepted, found)}", answer)
        return verdict(0.0, "wrong", f"{where} is not the target", answer)
    scores = [token_f1(answer, text) for text in accepted]
    best = max(scores)
    reason = f"{where} has F1 {best:.3f}{_alias(accepted, scores.index(best))}"
    if threshold > 0:
        return verdict(float(best >= threshold), "correct" if best >= threshold else "wrong", reason, answer)
    return verdict(best, "correct" if best == 1.0 else "wrong", reason, answer)


def _alias(accepted: Sequence[str], at: int) -> str:
    return f", by the alias {accepted[at]!r}" if at else ""


def _check(extract: str, match: str, threshold: float, extra: int) -> None:
    if extract not in EXTRACTS:
        raise InputError(f"extract cannot be {extract!r}", mend=f"use one of {', '.join(EXTRACTS)}")
    if match not in MATCHES:
        raise InputError(f"match cannot be {match!r}", mend=f"use one of {', '.join(MATCHES)}")
    if not isinstance(threshold, int | float) or isinstance(threshold, bool) or not 0.0 <= threshold <= 1.0:
        raise InputError(f"threshold must be a number between 0 and 1, got {threshold!r}")
    if not isinstance(extra, int) or isinstance(extra, bool) or extra < 0:
        raise InputError(f"extra must be a whole number and not negative, got {extra!r}")


def find_answer(completion: str, extract: str) -> tuple[str | None, str]:
    """Find the answer by one of the policies: (answer, where it was), or (None, why there is none)."""
    text, reason = after_thinking(completion)
    if text is None:
        return None, reason
    if extract == "tag":
        return last_tag(text)
    text = text[-MAX_CHARACTERS:]
    if extract == "whole":
        return text.strip(), "the completion"
    if extract == "last_line":
        lines = [line for line in text.splitlines() if line.strip()]
        return (lines[-1].strip(), "the last line") if lines else (None, "there is no line with text")
    phrases = list(ANSWER_IS.finditer(text))
    if not phrases:
        return None, "there is no 'answer is'"
    line = text[phrases[-1].end() :].partition("\n")[0]
    end = SENTENCE_END.search(line)
    return line[: end.start() if end else None].strip(" \t\r:*"), "the text after the last 'answer is'"


def after_thinking(completion: str) -> tuple[str | None, str]:
    """What follows the reasoning block, or all of it when there is none: (text, ""), or (None, why not)."""
    closed = completion.rfind("</think>")
    if completion.rfind("<think>") > closed:
        return None, "the <think> block is not closed"
    return (completion[closed + len("</think>") :] if closed >= 0 else completion), ""


def last_tag(text: str, limit: int = MAX_CHARACTERS) -> tuple[str | None, str]:
    """The last `<answer>...</answer>` among the last `limit` characters: (answer, where), or (None, why there is none).

    An answer that was begun and not ended takes back those before it.
    """
    text = text[-limit:]
    marks = list(TAG.finditer(text))
    opens = [at for at, mark in enumerate(marks) if not mark[1]]
    if not opens:
        return None, "there is no <answer>"
    if opens[-1] + 1 == len(marks):
        return None, "the last <answer> never closes"
    return text[marks[opens[-1]].end() : marks[opens[-1] + 1].start()].strip(), "the last <answer>"


def normalise(text: str) -> str:
    """The words that two answers must share, with single spaces between them; see the module for the rules."""
    words = _plain(text).split()
    return " ".join([word for word in words if word not in ARTICLES] or words)


def _plain(text: str) -> str:
    """Lower case, plain characters, no punctuation but what belongs to a number."""
    text = _folded(text)
    kept: list[str] = []
    last = len(text) - 1
    for at, character in enumerate(text):
        if not (character in PUNCTUATION or unicodedata.category(character)[0] == "P"):
            kept.append(character)
            continue
        before = text[at - 1] if at else " "
        after = text[at + 1] if at < last else " "
        number = after.isdigit() or (after == "." and at + 1 < last and text[at + 2].isdigit())
        if before.isdigit() and after.isdigit():
            kept.append("" if _between_thousands(text, at) else character)
        elif number and character in "-." and (before.isspace() or before in "($-"):
            kept.append(character)  # a sign, or the point of .5
    return "".join(kept)


def _between_thousands(text: str, at: int) -> bool:
    after = text[at + 1 : at + 4]
    return text[at] == "," and len(after) == 3 and after.isdigit() and not text[at + 4 : at + 5].isdigit()


def _folded(text: str) -> str:
    if not text.isascii():
        text = "".join(one if one.isascii() else _spelled(one) for one in text)
        text = re.sub(r"([A-Za-z])[\u0300-\u036f]+", r"\1", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", text)
    return text.casefold()


def _spelled(character: str) -> str:
    """Raised digits, built fractions and the many minus signs, in characters that NFKC does not glue to a number."""
    kind = unicodedata.decomposition(character).partition(" ")[0]
    if kind == "<super>":
        return "^" + unicodedata.normalize("NFKC", character)
    if kind == "<fraction>":
        return " " + unicodedata.normalize("NFKC", character).replace("\u2044", "/")
    return "-" if character in "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d" else character


def token_f1(answer: str, target: str) -> float:
    """Token F1 of two texts after normalisation; "yes" and "no" share nothing with longer answers."""
    said, right = normalise(answer), normalise(target)
    if said == right:
        return 1.0
    if said in YES_NO or right in YES_NO:
        return 0.0
    ours, theirs = said.split(), right.split()
    common = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * common / (len(ours) + len(theirs))


def why_not_contained(answer: str, target: str, extra: int = 0) -> str:
    """Empty when an answer names the target and nothing else, or else what speaks against it, as a predicate."""
    words, wanted = _plain(answer).split(), normalise(target).split()
    if normalise(answer).split() == wanted:
        return ""
    kept = [word for word in words if word not in ARTICLES or word in wanted]
    at = next((at for at in range(len(kept) - len(wanted) + 1) if kept[at : at + len(wanted)] == wanted), None)
    if at is None:
        return "does not name the target"
    if wanted[0] in YES_NO:
        return "says more than yes or no"
    around = [word for word in kept[:at] + kept[at + len(wanted) :] if word not in FILLER and word not in ARTICLES]
    if len(_separators(answer)) > len(_separators(target)):
        return "names the target among other things"
    if len(around) > extra:
        return f"says more than the target: {' '.join(around[:5])!r}"
    return ""


def _separators(text: str) -> list[str]:
    """What parts candidates in a text, commas between thousands and its final marks aside."""
    return SEPARATOR.findall(re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", _folded(text).strip(" \t\r\n.,;:")))
