"""The usual writings of one name, number or date, as patterns: what `mentions` looks for in a text.

Names and texts are folded before they come here (plain letters, quotes, dashes and spaces), and patterns are matched
without regard to case except where they say so. Each rule is a small function that yields patterns; none of them can
take more than linear time, since what repeats is either bounded or never gives back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ARTICLES = _set("the a an")
LINKS = _set("of the and for in on at to a an de la du des von und et y")  # no letters of an acronym
PARTICLES = _set("van von der den de da di del della do dos du la le bin ibn al el ter ten zu af av")
TITLES = _set(
    "dr mr mrs ms miss sir dame lord lady prof professor president king queen prince princess pope saint emperor"
    " empress captain general colonel senator chancellor governor judge justice rev reverend father"
)
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Words that no surname rule may hide by themselves, and words that a person's name does not begin with.
NOT_LAST = _set(
    "academy act agency airport album army association award awards bank battle bay beach book bridge building"
    " castle cathedral championship championships church city club coast college committee company congress"
    " corporation council country county cup court day days desert district east effect empire festival film forest"
    " foundation game games garden government group hall high hill hills history hospital hotel house institute"
    " island islands kingdom lake land language law laws league library line man mountain mountains movie museum"
    " national nations north ocean office opera orchestra organization palace parliament party peace peninsula"
    " people plan port prize province railway rebellion region republic revolution ridge river road rule school"
    " science sea series service show society song south stadium state states station story street system team"
    " theater theatre theorem theory time times tower town treaty tribe union university valley village wall war"
    " wars water way week west woman women world year years"
).union(MONTHS, DAYS)
NOT_FIRST = _set(
    "a an bank battle cape central east eastern el first fort great house lake las los mount new north northern"
    " port saint san santa second south southern the treaty united university west western world"
).union(MONTHS, DAYS)
SAME = {"saint": "st", "mount": "mt", "fort": "ft", "doctor": "dr", "versus": "vs", "and": "&", "percent": "%"}
SAME |= {short: long for long, short in SAME.items()}

LEFT, RIGHT = r"(?<![^\W_])", r"(?![^\W_])"
ENDING = r"(?=(?:e?s)?(?![^\W_]))"  # the s of a plural stays
SOFT = r"""[\s\-.,:;!?/'"*_~`()\\]"""  # what may stand between the words of a name
BRACKET = r"\([^()\[\]\n\ufffc]{0,40}+\)"
GAP = rf"(?:(?:{SOFT}*?{BRACKET}{SOFT}*+)|{SOFT}++|(?-i:(?<=[a-z])(?=[A-Z])))"
BESIDE = rf"""(?:[\s*_~'"-]*+(?:{BRACKET}\s?)?)"""
MIDDLE = r"""(?-i:[^\W\d_a-zа-яα-ω])[^\W_]*+\.?[\s'"-]++"""
SUFFIX = r"(?:jr|sr|junior|senior|ii|iii|iv|ph\.?d|esq)\.?"
MAX_NAME = 300  # a longer text is no name; it is looked for as it stands
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7ff\U00020000-\U0003ffff]")
TOKEN = re.compile(r"[^\W_]+")
NUMBER = re.compile(
    r"(?P<sign>- ?|[Mm]inus )?[$£€¥]? ?(?P<digits>\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<unit> ?%| ?(?!(?:st|nd|rd|th|s)\b)[a-z]+)?\.?"
)
NO = (
    rf"(?:answer(?:\s+is|:)?|####|\{{)[\s*_\"'$(]{{0,6}}(no){RIGHT}",
    rf"{LEFT}(no)(?=[*_\"')\]}}$]*+(?:[.,;:!?\n]|\s*+$))",
)


def writings(name: str) -> Iterator[str]:
    """The patterns of a folded name that is not empty; where a pattern has a group, the group is the mention."""
    if len(name) > MAX_NAME:
        yield r"\s+".join(map(re.escape, name.split()))
        return
    if name.lower() == "no":  # "there is no such city" answers nothing
        yield from NO
        return
    if len(name) == 1 and not name.isdecimal():
        yield f"(?-i:{LEFT}{name}{RIGHT})" if name.isalnum() else re.escape(name)
        return
    number = NUMBER.fullmatch(name)
    if number:
        yield _number(number["digits"], bool(number["sign"]))
        if not number["unit"]:
            return
    yield from _dates(name)
    yield _phrase(name)
    if "(" in name or '"' in name:
        name = " ".join(re.sub(r'\([^()]*\)|"[^"]*"', " ", name).split()) or name
        yield _phrase(name)
    yield from _america(name)
    words = _untitled(name.split())
    head, _, tail = " ".join(words).partition(", ")
    if head and tail and "," not in tail and len(words) <= 5 and _all_capitalised(words):
        words = head.split()
        yield _phrase(head)  # the town of Paris, France
        if not re.fullmatch(SUFFIX, tail, re.IGNORECASE):
            words = [*tail.split(), *words]  # Tolkien, J. R. R.
    if len(words) > 1 or len(words[0]) > 3:  # not every "who" for The Who
        yield _phrase(" ".join(words))
    person = None if name.split()[0].lower() in ARTICLES else _person(words)
    if person:
        yield from _person_writings(*person)
        words = [*person[0], *person[1].split()]
    yield from _acronyms(TOKEN.findall(" ".join(words)), fewest=3 if person else 2)
    short = name.replace(".", "").replace(" ", "")
    if re.fullmatch(r"[A-Z](?:[A-Z]|[oaf](?=[A-Z])){1,5}", short) and not re.fullmatch("[IVXLCM]+", short):
        yield from _expansions(short)


def acronym(words: Sequence[str]) -> str:
    """The initials of the words that are not small links, as capitals; Roman numbers stay whole (WWII)."""
    return "".join(_initial(word) for word in words if word.lower() not in LINKS)


def _initial(word: str) -> str:
    return word if re.fullmatch("[IVX]+", word) else word[0].upper()


def looks_like_a_person(name: str) -> bool:
    """Whether a folded name could be a person's: its last word alone then stands for the whole."""
    return _person(_untitled(name.split())) is not None


def _untitled(words: list[str]) -> list[str]:
    """Without the article or titles in front of the name, if enough is left to be the name."""
    if len(words) > 1 and words[0].lower() in ARTICLES:
        words = words[1:]
    rest = words
    while len(rest) > 1 and rest[0].lower().rstrip(".") in TITLES and rest[1][0].isupper():
        rest = rest[1:]
    return rest if rest[-1].lower() not in NOT_LAST else words


def _america(name: str) -> Iterator[str]:
    """The one name whose short forms no rule gives: US, USA, United States (of America)."""
    if re.fullmatch(r"(?:the )?(?:u\.? ?s\.?(?: ?a\.?)?|united states(?: of america)?)", name, re.IGNORECASE):
        yield rf"{LEFT}United{GAP}States(?:{GAP}of{GAP}America)?{RIGHT}"
        yield rf"(?-i:{LEFT}U\.?\s?S(?:\.?\s?A)?{RIGHT})"


def _all_capitalised(words: Sequence[str]) -> bool:
    return all(word[0].isupper() for word in words)


def _phrase(name: str) -> str:
    """The name itself as whole words."""
    words: list[str] = []
    patterns: list[str] = []
    at = 0
    for match in TOKEN.finditer(name):
        word, joint = match[0], name[at : match.start()]
        at = match.end()
        if words and _is_initials(words[-1]) and _is_initials(word) and re.fullmatch(r"[\s.-]*", joint):
            words[-1] += "." + word  # J. R. R.
            patterns[-1] = _word(words[-1])
            continue
        patterns += [_between(words[-1], joint, word) if words else _hard(joint), _word(word)]
        words.append(word)
    if not words:
        return r"\s*".join(map(re.escape, "".join(name.split())))
    before, after = patterns[0], _hard(name[at:])
    if not before and not UNSPACED.match(name[0]):
        before = LEFT
    if not after and not UNSPACED.match(name[-1]):
        after = ENDING if words[-1].isalpha() and len(words[-1]) > 3 else RIGHT
    return "".join([before, *patterns[1:], after])


def _is_initials(word: str) -> bool:
    return all(len(letter) == 1 and letter.isalpha() for letter in word.split("."))


def _word(word: str) -> str:
    """A word, its letters perhaps parted by a stop, hyphen or apostrophe; those of initials also by a space."""
    letters = word.replace(".", "")
    if letters.isdecimal():
        return letters
    if len(letters) > 1 and ("." in word or (letters.isupper() and len(letters) < 7)):
        return r"(?:\.?\s?|['-])".join(map(re.escape, letters))
    pieces = [re.escape(letters[:1])]
    for last, letter in pairwise(letters):
        pieces += [r"['.\s-]?" if last.isdecimal() != letter.isdecimal() else "['.-]?", re.escape(letter)]
    pattern = "".join(pieces)
    other = SAME.get(letters.lower())
    return f"(?:{pattern}|{other})" if other else pattern


def _between(left: str, joint: str, right: str) -> str:
    """What may stand between two words of a name that `joint` parts there."""
    hard = _hard(joint)
    if hard:
        return rf"\s*{hard}\s*"
    if left[-1].isdecimal() and right[0].isdecimal() and joint.strip():
        return rf"\s?{re.escape(joint.strip())}\s?"
    return GAP if joint.strip() != joint else GAP + "?"


def _hard(joint: str) -> str:
    """The characters of `joint` that belong to the name, as the plus signs of C++."""
    kept = re.sub(SOFT, "", joint)
    return r"\s*".join("(?:&|and)" if character == "&" else re.escape(character) for character in kept)


def _number(digits: str, negative: bool) -> str:
    """A number in digits, with or without thousands marks and closing zeros."""
    whole, _, decimals = re.sub("[, ]", "", digits).partition(".")
    whole, decimals = whole.lstrip("0"), decimals.rstrip("0")
    first = len(whole) % 3 or 3
    groups = [whole[:first], *(whole[at : at + 3] for at in range(first, len(whole), 3))]
    before = LEFT + (r"(?:-|minus|negative)\s?" if negative else r"(?<!\d\.)" + (r"(?<!\d,)" if first == 3 else ""))
    zeros = "0*" if whole else ("0?" if decimals else "0+")
    fraction = rf"\.{decimals}0*" if decimals else r"(?:\.0+)?"
    body = r"(?:,|\{,\}|\\[,!]|[ '])?".join(groups)
    return rf"{before}{zeros}{body}{fraction}(?!\d|\.\d|,\d{{3}}(?!\d)|(?:st|nd|rd|th){RIGHT})"


def _person(words: Sequence[str]) -> tuple[list[str], str] | None:
    """Given names and surname of what looks like a person's name: two to four capitalised words, not a place's."""
    if len(words) > 2 and re.fullmatch(SUFFIX, words[-1], re.IGNORECASE):
        words = words[:-1]
    if not 2 <= sum(word.lower() not in PARTICLES for word in words) <= 4:
        return None
    at = len(words) - 1
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    given, surname = list(words[:at]), words[-1]
    if not _all_capitalised([*given, surname]) or any(word.lower() in LINKS for word in given):
        return None
    if given[0].lower() in NOT_FIRST or surname.lower() in NOT_LAST or len(surname) < 2:
        return None
    if not all(re.fullmatch(r"[^\W\d_](?:['.-]?[^\W\d_])*\.?", word) for word in words):
        return None
    return given, " ".join(words[at:])


def _person_writings(given: list[str], surname: str) -> Iterator[str]:
    """Full name with further names between, some given names or initials, `Surname, Given`, and the surname alone."""
    particles, _, last = surname.rpartition(" ")
    before = "".join(_word(word) + GAP for word in particles.split())
    whole = before + _word(last)
    names = [_given(name) for one in given for name in re.findall(r"[^\W_]+(?:['-][^\W_]+)*", one)]
    end = rf"(?:,?\s{SUFFIX}(?!\w))?{ENDING}"
    yield rf"{LEFT}{names[0]}{BESIDE}(?:{MIDDLE}){{0,3}}{whole}{end}"
    yield rf"{LEFT}(?!{whole}){''.join(f'(?:{name}{BESIDE})?' for name in names)}{whole}{end}"
    yield rf"{LEFT}{whole},\s{names[0]}{''.join(f'(?:{BESIDE}{name})?' for name in names[1:])}{RIGHT}"
    alone = "|".join(map(re.escape, dict.fromkeys((last, last.upper(), last.capitalize()))))
    yield rf"{LEFT}(?:{before})?(?-i:{alone}){end}"


def _given(name: str) -> str:
    """A given name or its initial; an initial also stands for any name that begins with it."""
    initial = f"(?-i:{re.escape(name[0].upper())})"
    if len(name) == 1:
        return rf"(?:{initial}[^\W\d_]*+\.?)"
    if name.isupper() and len(name) < 4:  # JRR
        return rf"(?:{_word(name)}\.?|{BESIDE.join(_given(letter) for letter in name)})"
    return rf"(?:{_word(name)}|{initial}\.?)"


def _acronyms(words: list[str], fewest: int) -> Iterator[str]:
    """The capitals that several words begin with, with or without the small links between them."""
    letters = acronym(words)
    fewest = max(fewest, 2 if _all_capitalised([word for word in words if word.lower() not in LINKS]) else 3)
    if not letters.isalpha() or not fewest <= len(letters) <= 8:
        return
    stops = r"\.?\s?(?:&\s?)?"
    pieces = [
        rf"(?:[{word[0].lower()}{word[0].upper()}]{stops})?" if word.lower() in LINKS else _initial(word) + stops
        for word in words
    ]
    yield f"(?-i:{LEFT}{''.join(pieces).removesuffix(stops)}(?=s?{RIGHT}))"


def _expansions(short: str) -> Iterator[str]:
    """Runs of words with these initials: capitalised ones, and any beside the acronym in brackets."""
    any_link = "|".join(sorted(LINKS))
    skipped = rf"(?:(?:{any_link}|&)[\s-]++){{0,2}}" if len(short) > 2 else ""
    words = []
    for at, letter in enumerate(short):
        links = "|".join(sorted(link for link in LINKS if at and link[0] == letter.lower()))
        words.append(rf"(?:{letter}[^\W_]*+{'|' + links if links else ''})")
    yield f"(?-i:{LEFT}{(GAP + skipped).join(words)}{RIGHT})"
    if len(short) > 2:
        loose = (GAP + skipped).join(rf"{letter}[^\W_]*+" for letter in short)
        yield rf"{LEFT}{loose}(?=\s?\({_word(short)}\))"
        yield rf"{LEFT}{_word(short)}\s?\(({loose})\)"


MONTH = rf"(?P<month>{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in MONTHS)}|sept)\.?"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
DATES = [
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?:the )?{DAY}(?: of)?[ ,-]{{1,2}}{MONTH}(?:[ ,-]{{1,2}}(?P<year>\d{{3,4}}))?",
        rf"{MONTH} (?:the )?{DAY}(?:,? (?P<year>\d{{3,4}}))?",
        rf"{MONTH},? (?:of )?(?P<year>\d{{4}})",
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})[-/.](?P<month>\d{1,2})[-/.](?P<year>\d{4})",
        r"(?P<month>\d{1,2})[-/.](?P<day>\d{1,2})[-/.](?P<year>\d{4})",
    )
]


def _dates(name: str) -> Iterator[str]:
    """The usual orders of a date; one in digits may be read day first or month first, and is."""
    name = re.sub(rf"^(?:{'|'.join(DAYS)}),? |\.$", "", name, flags=re.IGNORECASE)
    for form in DATES:
        match = form.fullmatch(name)
        if not match:
            continue
        parts = match.groupdict()
        month = parts["month"].lower()
        number = int(month) if month.isdecimal() else [one[:3] for one in MONTHS].index(month[:3]) + 1
        day = int(parts.get("day") or 0)
        if 1 <= number <= 12 and day <= 31:
            yield from _date(day, number, parts["year"])


def _date(day: int, month: int, year: str | None) -> Iterator[str]:
    """The patterns of a date (of a month if the day is 0); the year may be left out where no other follows."""
    name = MONTHS[month - 1]
    word = rf"(?:{name}|{name[:3]}\.?{'|sept.?' if month == 9 else ''})"
    if not day:
        yield rf"{LEFT}{word}[\s,]+(?:of\s+)?{year}{RIGHT}"
        yield rf"{LEFT}(?:{year}[-/]0?{month}|0?{month}[-/]{year})(?![-/]?\d)"
        return
    number = rf"0?{day}(?:st|nd|rd|th)?"
    end = rf"(?:[\s,]+(?:in\s+)?{year}{RIGHT}|{RIGHT}(?![\s,]+\d{{3,4}}{RIGHT}))" if year else RIGHT
    yield rf"{LEFT}(?:the\s+)?{number}(?:\s+day)?(?:\s+of)?[\s,-]*{word}{end}"
    yield rf"{LEFT}{word}[\s,-]+(?:the\s+)?{number}{end}"
    if year:
        mark = r"\s?[-/.]\s?"
        short = rf"(?:{year[:-2]})?{year[-2:]}"
        for one, other in ((day, month), (month, day)):
            yield rf"{LEFT}0?{one}{mark}0?{other}{mark}{short}{RIGHT}"
        yield rf"{LEFT}{year}{mark}0?{month}{mark}0?{day}{RIGHT}"
