"""Mentions of a name: every usual writing is found, and no other word is taken for one."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cloze.masking import mask
from cloze.masking.names.mentions import THE_TARGET, find_mentions, fold, name_key
from cloze.masking.spans import Span


def hidden(text: str, *names: str) -> str:
    for span in reversed(find_mentions(text, names)):
        text = text[: span.start] + "#" + text[span.end :]
    return text


# name, text, the text with a mark for each mention
FOUND = [
    # case, endings, emphasis, other words
    ("Warsaw", "Warsaw warsaw WARSAW Warsaw's Warsaw’s Warsaw-based", "# # # #'s #’s #-based"),
    ("Warsaw", "**Warsaw** _Warsaw_ \\text{Warsaw} (Warsaw) Warsaws", "**#** _#_ \\text{#} (#) #s"),
    ("Warsaw", "Warsawian Newwarsaw Warsaw2", "Warsawian Newwarsaw Warsaw2"),
    ("May", "May Mayan Mays maybe may", "# Mayan Mays maybe #"),
    ("C++", "C, C++ or c++", "C, # or #"),
    ("Jalapeño", "Jalapeno JALAPEN\u0303O \uff2aalape\u00f1os", "# # #s"),
    ("Gödel", "Godel Goedel Go\u0308del's", "# # #'s"),
    ("Straße", "STRASSE strasse", "# #"),
    ("Łódź", "Lodz", "#"),
    ("東京", "首都は東京です", "首都は#です"),
    ("∞", "so ∞ x", "so # x"),
    # words of a name
    ("University College London", "UNIVERSITY\n  COLLEGE-LONDON\u00a0x", "#\u00a0x"),
    ("University College London", "University **College** London, University College (UC) London", "#, #"),
    ("University College London", "University_College_London UniversityCollegeLondon", "# #"),
    ("University College London", "University College, Oxford", "University College, Oxford"),
    ("Spider-Man", "Spiderman, Spider Man; spider–man", "#, #; #"),
    ("O'Brien", "OBrien, O’Brien's", "#, #'s"),
    ("AC/DC", "ACDC or AC DC", "# or #"),
    ("Johnson & Johnson", "Johnson and Johnson; J&J", "#; #"),
    ("St. Louis", "Saint Louis and St Louis", "# and #"),
    ("COVID-19", "Covid19 COVID 19 COVID\u201119 COVID-1", "# # # COVID-1"),
    ("The Beatles", "Beatles, the Beatles. Beatle", "#, #. Beatle"),
    ("The Who", "They, who hear The Who", "They, who hear #"),
    ("Paris, France", "Paris; Paris (France)", "#; #)"),
    ("Mercury (planet)", "Mercury rises", "# rises"),
    # abbreviations
    ("UCL", "U.C.L., ucl and University College London", "#., # and #"),
    ("University College London", "UCL, U.C.L., ucl, UCLA", "#, #., ucl, UCLA"),
    ("United States of America", "USA, U.S.A., U.S., US, us", "#, #., #., #, us"),
    ("U.S.", "the United States of America and USA", "the # and #"),
    ("Department of Defense", "DoD DOD DD", "# # #"),
    ("DOD", "the Department of Defense", "the #"),
    ("GDP", "gross domestic product (GDP); GDP (gross domestic product)", "# (#); # (#)"),
    ("GDP", "go down please", "go down please"),
    ("New York City", "NYC", "#"),
    ("Ann Miller", "at 10 AM", "at 10 AM"),
    ("World War II", "World War I, WWII", "World War I, #"),
    # persons
    ("Christopher Nolan", "Nolan's C. Nolan, NOLAN; nolan", "#'s #, #; nolan"),
    ("Christopher Nolan", "christopher nolan: Christopher Edward Nolan", "#: #"),
    ("Christopher Nolan", "Christopher (Chris) Nolan! Dr. Nolan", "#! Dr. #"),
    ("Christopher Nolan", "Nolan, Christopher. Nolanesque", "#. Nolanesque"),
    ("J. R. R. Tolkien", "J.R.R. Tolkien; JRR Tolkien; John Ronald Reuel Tolkien; J R R Tolkien", "#; #; #; #"),
    ("John Ronald Reuel Tolkien", "J. R. R. Tolkien; JRR Tolkien; Tolkien’s", "#; #; #’s"),
    ("Tolkien, J. R. R.", "J.R.R. Tolkien", "#"),
    ("Vincent van Gogh", "Van Gogh; Gogh; Vincent", "#; #; Vincent"),
    ("Martin Luther King Jr.", "Martin Luther King; MLK; a king; King", "#; #; a king; #"),
    ("Alan Turing", "a Turing machine", "a # machine"),
    ("President Lincoln", "Abraham Lincoln", "Abraham #"),
    ("Sir Isaac Newton", "Isaac Newton; Newton", "#; #"),
    ("Queen Elizabeth II", "Elizabeth II", "#"),
    ("The Long March", "the long march in March", "# in March"),
    ("Mississippi River", "the River Thames", "the River Thames"),
    ("The Dark Knight", "a Knight; Dark Knight", "a Knight; #"),
    ("Lord of the Rings", "The Rings", "The Rings"),
    # answers of one word
    ("no", "There is no city, so no.", "There is no city, so #."),
    ("No", "No, it is not: **no**, \\boxed{no}\n#### no", "#, it is not: **#**, \\boxed{#}\n#### #"),
    ("no", "The answer is no because no other is", "The answer is # because no other is"),
    ("yes", "Yes, yesterday eyes: yes", "#, yesterday eyes: #"),
    ("B", "(B) b B. Bob B", "(#) b #. Bob #"),
    # numbers
    ("1867", "1867, 1,867, 1867.0 in 1867s", "#, #, # in #s"),
    ("1867", "18670, 11,867, 1867.5, x1867, 1867th", "18670, 11,867, 1867.5, x1867, 1867th"),
    ("24", "(24,25), 24cm, 24-hour; 3.24", "(#,25), #cm, #-hour; 3.24"),
    ("7", "seven and 7, 7th, seventeen", "# and #, 7th, seventeen"),
    ("seven", "7 or seven", "# or #"),
    ("$1,200", "1200 or 1 200 or $1,200.00", "# or # or $#"),
    ("12 km", "12km, twelve km, 12 kilometres", "#km, # km, # kilometres"),
    ("-5", "it is -5, minus 5, \u22125, not 5", "it is #, #, #, not 5"),
    ("0.50", ".5 and 0.5 but 1.5", "# and # but 1.5"),
    ("12 Monkeys", "12 Monkeys", "#"),
    # dates
    ("14 March 1879", "March 14, 1879; 14th of March 1879; 14 Mar. 1879; Mar 14th, 1879", "#; #; #; #"),
    ("14 March 1879", "1879-03-14; 14/03/1879; 3/14/1879; 14.3.79", "#; #; #; #"),
    ("14 March 1879", "March 14 of that year, 14 March 1900", "# of that year, 14 March 1900"),
    ("1879-03-14", "on 14 March 1879", "on #"),
    ("Friday, March 14, 1879", "14 March 1879", "#"),
    ("March 1879", "1879-03, Mar 1879, March 1880, 1879-03-14", "#, #, March 1880, 1879-03-14"),
    ("", "nothing", "nothing"),
    ("\u0301", "nothing", "nothing"),
    ("x", "", ""),
]


@pytest.mark.parametrize(("name", "text", "shown"), FOUND)
def test_what_is_a_mention(name: str, text: str, shown: str) -> None:
    assert hidden(text, name) == shown


def test_aliases_share_the_value_of_the_first_name() -> None:
    text = "Godel, then Kurt, then Mr. Why"
    assert find_mentions(text, ("", "Kurt Gödel", "Mr. Why", "Kurt")) == [
        Span(0, 5, "target", "kurt godel", THE_TARGET),
        Span(12, 16, "target", "kurt godel", THE_TARGET),
        Span(23, 30, "target", "kurt godel", THE_TARGET),
    ]


def test_mentions_of_two_names_that_overlap_are_one() -> None:
    assert [span[:2] for span in find_mentions("Paris Hilton Hotel", ("Hilton Hotel", "Paris Hilton"))] == [(0, 18)]


def test_the_text_domain_hides_the_target_alone() -> None:
    text = "The director is Christopher Nolan. Nolan studied at UCL."
    shown = mask(text, "text", target="UCL", aliases=["University College London"])
    assert shown.rendered == "The director is Christopher Nolan. Nolan studied at [A1]."


KEYS = [("The  Beatles", "beatles"), ("Gödel’s", "godel s"), ("A", "a"), (" ∞  ∞", "∞ ∞"), ("J.R.R. Fox", "j r r fox")]


@pytest.mark.parametrize(("name", "key"), KEYS)
def test_keys(name: str, key: str) -> None:
    assert name_key(name) == key


def test_folding_keeps_places() -> None:
    assert fold("abc") == ("abc", None)
    assert fold("é“–") == ('e"-', None)
    assert fold("aßo\u0301!") == ("asso!", [0, 1, 1, 2, 4, 5])


HOSTILE = {
    "plain": "The director of Inception is Christopher Nolan; Nolan studied at UCL. ",
    "letters": "a",
    "capitals": "U C ",
    "beginnings": "University College ",
    "spaces": "Christopher" + " " * 1000,
    "brackets": "(",
    "names and brackets": "Christopher ((",
    "accents": "é",
    "initials": "J. ",
    "no": "no***",
    "answer": "answer  ",
    "digits": "1867",
    "commas": "1,867,",
    "given names": "Christopher Edward ",
    "dates": "14 March ",
}
NAMES = ("Christopher Nolan", "University College London", "UCL", "1867", "14 March 1879", "J. R. R. Tolkien", "no")


@pytest.mark.parametrize("name", HOSTILE)
def test_half_a_megabyte_takes_seconds(name: str) -> None:
    text = HOSTILE[name] * (500_000 // len(HOSTILE[name]))
    started = time.perf_counter()
    find_mentions(text, NAMES)
    assert time.perf_counter() - started < 10  # well under 1 on a slow core; a quadratic one takes minutes


def test_a_name_of_any_length_does() -> None:
    name = "Very " * 5000 + "Long"
    assert hidden(f"so {name.replace(' ', '  ')}!", name) == "so #!"


PIECES = st.sampled_from(
    ["Nolan", "Christopher", "nolan", "C.", "J. R. ", "UCL", "University ", "College ", "London", " ", "\n", "-",
     "(", ")", "[A1]", "[", "]", "'s", "no", "No", ".", ",", "answer is ", "7", "seven", "1,867", "14 ", "March ",
     "1879", "e\u0301", "ß", "½", "∞", "*", "_", "of ", "the ", "\u200b", "\ufffc", "東京", "&", "+", "\0", "İ", "ﬁ"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=40))


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(TEXTS, max_size=2))
@example("\u0301", ["\u0301"])
@example("x, y", [", y"])
@example("A1", ["A1"])
def test_never_raises_and_masking_twice_changes_nothing(text: str, names: list[str]) -> None:
    at = 0
    for span in find_mentions(text, names):
        assert at <= span.start < span.end <= len(text)
        at = span.end
    target, aliases = (names[0], names[1:]) if names else ("", [])
    once = mask(text, "text", target=target, aliases=aliases)
    assert once.unmask(once.rendered) == text
    assert mask(once.rendered, "text", target=target, aliases=aliases).spans == ()


WORDS = st.text("abcdefghijklmnop", min_size=3, max_size=8).map(str.capitalize)
JOINTS = st.sampled_from([" ", "  ", "\n", "-", "\u00a0", " **", "_", ". ", "’ "])


@given(st.lists(WORDS, min_size=1, max_size=4), JOINTS, st.sampled_from([str, str.lower, str.upper]))
def test_a_name_is_found_in_every_dress(words: list[str], joint: str, case: type[str]) -> None:
    text = f"so, «{case(joint.join(words))}»!"
    assert hidden(text, " ".join(words)) == "so, «#»!"


@given(st.integers(0, 10**7), st.sampled_from(["{}", "{:,}", "{}.0", "{}cm", "${}"]))
def test_a_number_is_found_in_every_writing(value: int, writing: str) -> None:
    text = f"so {writing.format(value)}, not {value + 1}"
    (span,) = find_mentions(text, (str(value),))
    assert text[span.start : span.end].replace(",", "") in (str(value), f"{value}.0")
