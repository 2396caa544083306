"""Previews: every blank and every leak in place, nothing hidden in the open, nothing that breaks out of the page."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cloze.masking.leaks import Leak
from cloze.masking.preview import Shown, html_preview, terminal_preview
from cloze.masking.spans import MaskedTrace, Span, with_blanks

WHY = "computed in the trace"
TEXT = "Step 1: 48/2 = 24.\n  So 48+24 makes 72, i.e. \\boxed{72}."
MASKED = with_blanks(
    TEXT,
    [
        Span(15, 17, "number", "24", WHY),
        Span(27, 29, "number", "24", WHY),
        Span(52, 54, "target", "72", "equals the target"),
    ],
)
RENDERED = "Step 1: 48/2 = [N1].\n  So 48+[N1] makes 72, i.e. \\boxed{[A1]}."
CLIPS = Shown("gsm8k-0", "How many clips?", "72", MASKED, (Leak(40, 42, 2, "72", "number"),))
PLAIN = Shown("plain", "Why?", "x", MaskedTrace("Nothing to hide.", (), ()), ())


@dataclass
class Seen:
    """One article as a browser would take it."""

    classes: list[str] = field(default_factory=list)
    trace: str = ""
    blanks: list[tuple[str, str]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    marks: list[tuple[str, str]] = field(default_factory=list)
    legend: str = ""
    open_text: str = ""
    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """A page taken apart: its articles, its summary, and which tags and addresses it holds."""

    def __init__(self, pieces: Iterator[str]) -> None:
        super().__init__()
        self.source = "".join(pieces)
        self.articles: list[Seen] = []
        self.tags: Counter[str] = Counter()
        self.open: list[tuple[str, str]] = []
        self.summary, self.title = "", ""
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in pairs}
        assert not {name for name in attributes if name.startswith("on") or name in ("src", "style")}
        self.tags[tag] += 1
        kind = attributes.get("class", "")
        if tag == "article":
            self.articles.append(Seen(kind.split()))
        if tag == "article" or any(outer == "article" for outer, _ in self.open):
            seen = self.articles[-1]
            if "id" in attributes:
                seen.ids.append(attributes["id"])
            if tag == "a":
                seen.links.append(attributes["href"])
            if tag == "span" and "title" in attributes:
                seen.blanks.append(("", kind))
                seen.titles.append(attributes["title"])
                seen.hidden += [attributes["data-hidden"]] if "data-hidden" in attributes else []
            if tag == "mark":
                seen.marks.append(("", attributes["data-how"]))
        if tag not in ("meta", "input", "br"):
            self.open.append(
                (tag, "blank" if tag == "span" and "title" in attributes else attributes.get("id") or kind)
            )

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tags, kinds = [tag for tag, _ in self.open], [kind for _, kind in self.open]
        if "title" in tags:
            self.title += data
        if "summary" in kinds:
            self.summary += data
        if "article" not in tags:
            return
        seen = self.articles[-1]
        if "details" in tags:
            seen.legend += data
            return
        seen.open_text += data
        if "trace" in kinds:
            seen.trace += data
        if "blank" in kinds:
            seen.blanks[-1] = (seen.blanks[-1][0] + data, seen.blanks[-1][1])
        if "mark" in tags:
            seen.marks[-1] = (seen.marks[-1][0] + data, seen.marks[-1][1])


def page_of(*items: Shown, title: str = "A page") -> Page:
    return Page(html_preview(items, title=title))


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_page_shows_blanks_and_leaks_where_they_stand() -> None:
    seen = page_of(CLIPS).articles[0]
    assert seen.trace == RENDERED == MASKED.rendered
    assert seen.blanks == [("[N1]", "b number"), ("[N1]", "b number"), ("[A1]", "b target")]
    assert seen.hidden == ["24", "24", "72"]
    assert seen.titles == ["number, computed in the trace: 24"] * 2 + ["target, equals the target: 72"]
    assert seen.marks == [("72", "number")]
    assert seen.classes == ["of-prose", "leaky"]
    assert seen.links == ["#t1", "#t1-40"] and seen.ids == ["t1", "t1-40"]
    shown = words(seen.open_text)
    assert shown.startswith(
        "gsm8k-0 math 2 number, 1 target hidden (11% of the text), 1 leak How many clips? Target 72"
    )
    assert "Leak" not in shown and "line 2: 72 read as number" in shown
    assert words(seen.legend) == (
        "What is hidden, and why [N1] 24 2 times number, computed in the trace [A1] 72 target, equals the target"
    )


def test_nothing_hidden() -> None:
    seen = page_of(PLAIN).articles[0]
    assert seen.classes == ["of-prose", "bare"] and seen.trace == "Nothing to hide." and seen.legend == ""
    assert "nothing hidden, no leaks" in seen.open_text and seen.blanks == seen.marks == []


# leaks of the rendering `a=[N1] b=[N1]`, what is marked, and the pieces that the blanks fall into
OVERLAPS: list[tuple[list[tuple[int, int, str]], list[tuple[str, str]], list[str]]] = [
    ([(0, 6, "text")], [("a=[N1]", "text")], ["[N1]", "[N1]"]),
    ([(0, 6, "text"), (2, 4, "label")], [("a=[N1]", "text, label")], ["[N1]", "[N1]"]),
    ([(3, 5, "number")], [("N1", "number")], ["[", "N1", "]", "[N1]"]),
    ([(0, 3, "text"), (2, 8, "number")], [("a=[N1] b", "text, number")], ["[N1]", "[N1]"]),
    ([(0, 3, "text"), (3, 4, "label")], [("a=[", "text"), ("N", "label")], ["[", "N", "1]", "[N1]"]),
    ([(7, 8, "text"), (0, 1, "text")], [("a", "text"), ("b", "text")], ["[N1]", "[N1]"]),
    ([(2, 6, "text"), (2, 6, "text")], [("[N1]", "text")], ["[N1]", "[N1]"]),
    ([(12, 99, "text"), (50, 60, "text")], [("]", "text")], ["[N1]", "[N1", "]"]),
    ([(-9, 1, "text"), (4, 4, "text")], [("a", "text")], ["[N", "1]", "[N1]"]),
]


@pytest.mark.parametrize(("places", "marks", "blanks"), OVERLAPS)
def test_leaks_may_overlap(places: list[tuple[int, int, str]], marks: list[tuple[str, str]], blanks: list[str]) -> None:
    masked = with_blanks("a=7 b=7", [Span(2, 3, "number", "7", ""), Span(6, 7, "number", "7", "")])
    item = Shown("p", "q", "t", masked, tuple(Leak(start, end, 1, "t", how) for start, end, how in places))
    seen = page_of(item).articles[0]
    assert seen.trace == "a=[N1] b=[N1]" and seen.marks == marks
    assert [text for text, _ in seen.blanks] == blanks and seen.hidden == ["7", "7"]
    assert len(set(seen.ids)) == len(seen.ids) and {link[1:] for link in seen.links} <= set(seen.ids)
    assert terminal_preview(item).plain.count("LEAK") == len(places)


HOSTILE = (
    "</script><script>alert(1)</script></style><!-- ]]> \"'`&lt;&#0; <img src=x onerror=alert(1)> {{ 7*7 }} {% raw %}"
)


def test_hostile_text_does_not_break_out() -> None:
    masked = MaskedTrace(f"{HOSTILE} hidden {HOSTILE}", (Span(0, len(HOSTILE), HOSTILE, HOSTILE, HOSTILE),), (HOSTILE,))
    leaks = (Leak(2, 9, 1, HOSTILE, HOSTILE), Leak(999, 999, 1, HOSTILE, "text"))
    page = page_of(Shown(HOSTILE, HOSTILE, HOSTILE, masked, leaks, HOSTILE), title=HOSTILE)
    calm = page_of(Shown("i", "q", "t", MaskedTrace("x y", (Span(0, 1, "n", "x", "w"),), ("x2345678901",)), leaks, "d"))
    assert page.tags == calm.tags and page.tags["script"] == 1 and "img" not in page.tags and page.open == []
    assert page.title == HOSTILE and page.articles[0].trace == f"{HOSTILE} hidden {HOSTILE}"
    assert page.articles[0].hidden == [HOSTILE] and page.articles[0].classes == ["of-prose", "leaky"]


def test_hidden_text_is_in_the_toggle_and_the_titles_only() -> None:
    secret = "the <b>\"secret\"</b> & 'more'"
    for domain in ("math", "code"):
        item = Shown("p", "q", "t", with_blanks(f"So {secret}.", [Span(3, 31, "code", "s", WHY)]), (), domain)
        assert item.masked.text[3:31] == secret
        page = page_of(item)
        seen = page.articles[0]
        assert "secret" not in seen.open_text and secret in seen.legend
        assert seen.hidden == [secret] and seen.titles == [f"code, {WHY}: {secret}"]
        assert page.source.count("secret") == 3 and page.tags["b"] == page_of(PLAIN).tags["b"] + 1  # in the summary


def test_a_long_hidden_text_is_whole_in_the_toggle_and_cut_in_the_title() -> None:
    code = "x = 1\n\tif x:\n" * 500
    item = Shown("p", "q", "t", with_blanks(code, [Span(0, len(code), "code", "c", "")]), (), "code")
    seen = page_of(item).articles[0]
    assert code in seen.legend and seen.hidden == [code] and seen.classes == ["of-code"]
    assert seen.titles[0].startswith("code: x = 1\n\tif x:\n") and len(seen.titles[0]) < 320
    assert len(terminal_preview(item).plain) < 300


def test_control_characters_are_shown_by_name() -> None:
    text = "a\x00b\x1b[31m\x07\x7f\x9b \u202e\u2066 \ufeff\u200b \ud800 \r\n\tend\rx"
    shown = "a\u2400b\u241b[31m\u2407\u2421<U+009B> <U+202E><U+2066> <U+FEFF><U+200B> <U+D800> \r\n\tend\u240dx"
    item = Shown(text, text, text, MaskedTrace(text, (Span(0, 1, text, text, text),), (text,)), (), text)
    page = page_of(item, title=text)
    assert page.articles[0].trace == shown + shown[1:] and page.title == shown
    plain = terminal_preview(item).plain
    assert "\u241b[31m" in plain
    for character in "\x00\x1b\x07\x7f\x9b\u202e\u2066\ufeff\u200b\ud800":
        assert character not in page.source and character not in plain


def test_an_unknown_category_is_shown_plainly() -> None:
    masked = MaskedTrace("see 1891", (Span(4, 8, "date", "1891", "a year"),), ("[D1]",))
    seen = page_of(Shown("p", "q", "t", masked, ())).articles[0]
    assert seen.blanks == [("[D1]", "b")] and seen.titles == ["date, a year: 1891"]
    assert "[D1] = 1891  a year" in terminal_preview(Shown("p", "q", "t", masked, ())).plain


def test_counts() -> None:
    page = page_of(CLIPS, PLAIN, CLIPS, Shown("p", "q", "72", MASKED, ()))
    assert words(page.summary) == (
        "Traces 4, with leaks 2, nothing hidden 1 Hidden spans 9: number 6, target 3 Leaks 2: number 2"
    )
    assert re.findall(r'data-to="count-(\w+)">(\w+)<', page.source) == [("all", "4"), ("leaky", "2"), ("bare", "1")]
    assert page.source.index('id="top"') < page.source.index("<article") < page.source.index('id="summary"')


def test_no_traces() -> None:
    page = page_of()
    assert page.articles == [] and page.open == []
    assert words(page.summary) == "Traces 0, with leaks 0, nothing hidden 0 Hidden spans 0 Leaks 0"


def test_the_page_loads_nothing_and_allows_its_own_script_only() -> None:
    page = page_of(CLIPS)
    script = page.source.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page.source
    assert not re.search(r"https?:|url\(|@import|<link|<img", page.source) and page.tags["script"] == 1
    for wanted in set(re.findall(r'getElementById\("([\w-]+)"\)', script)) | {"count-all", "count-leaky", "count-bare"}:
        assert f'id="{wanted}"' in page.source


class Tracked(Shown):
    """Can be watched by a weak reference."""


def test_thousands_of_traces_stream_through() -> None:
    alive: weakref.WeakSet[Tracked] = weakref.WeakSet()
    made, most = 0, 0

    def items() -> Iterator[Shown]:
        nonlocal made, most
        for number in range(5000):
            item = Tracked(f"p{number}", "q", "72", MASKED, CLIPS.leaks)
            alive.add(item)
            made, most = made + 1, max(most, len(alive))
            yield item

    pages = html_preview(items(), title="many")
    first = next(pages)
    assert made <= 5
    ids = re.findall(r">(p\d+)</a>", first + "".join(pages))
    assert ids == [f"p{number}" for number in range(5000)] and most <= 5


def test_an_error_while_reading_passes_through() -> None:
    def broken() -> Iterator[Shown]:
        yield CLIPS
        raise ValueError("row 2 is broken")

    with pytest.raises(ValueError, match="row 2 is broken"):
        "".join(html_preview(broken(), title="x"))


def test_many_blanks_and_leaks_take_linear_time() -> None:
    text = "7 " * 20_000
    masked = with_blanks(text, [Span(at, at + 1, "number", str(at), WHY) for at in range(0, len(text), 2)])
    leaks = tuple(Leak(at, at + 5, 1, "7", "number") for at in range(0, 2 * len(text), 3))
    started = time.perf_counter()
    item = Shown("p", "q", "7", masked, leaks)
    assert "[N20000]" in "".join(html_preview([item], title="x"))
    assert "[N20000]" in terminal_preview(item).plain
    assert time.perf_counter() - started < 15  # under 2 on a slow core; a quadratic one takes minutes


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colours_have_enough_contrast_in_both_schemes() -> None:
    schemes = re.findall(r":root \{([^}]*)\}", page_of().source)
    assert len(schemes) == 2
    pairs = [(name, f"{name}-back") for name in ("number", "target", "code", "entity", "random", "other")]
    pairs += [(text, back) for text in ("ink", "soft", "link") for back in ("card", "page")]
    pairs += [("ink", "leak-back"), ("leak", "card"), ("leak-tag", "leak")]
    for scheme in schemes:
        colours = dict(re.findall(r"--([\w-]+): (#\w{6});", scheme))
        for text, back in pairs:
            light, dark = sorted((luminance(colours[text]), luminance(colours[back])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, back)


def test_the_terminal_tells_everything_without_colour() -> None:
    assert terminal_preview(CLIPS).plain == (
        "gsm8k-0  math  target 72  2 number, 1 target hidden (11% of the text), 1 leak\n"
        "How many clips?\n\n"
        f"{RENDERED}\n\n"
        "[N1] = 24 (2 times)  computed in the trace\n"
        "[A1] = 72  equals the target\n"
        "LEAK line 2: 72  read as number in: So 48+[N1] makes 72, i.e. \\boxed{[A1]}."
    )


def test_values_that_share_a_blank_are_all_listed() -> None:
    masked = with_blanks("24 is 24.0", [Span(0, 2, "target", "24", "a"), Span(6, 10, "target", "24", "b")])
    item = Shown("p", "q", "24", masked, ())
    assert terminal_preview(item).plain.endswith("[A1] = 24, 24.0 (2 times)  a; b")
    assert "24, 24.0 2 times target, a; b" in words(page_of(item).articles[0].legend)


def test_the_terminal_styles_blanks_and_leaks_in_place() -> None:
    text = terminal_preview(CLIPS)
    start = text.plain.index(RENDERED)
    styles = {
        (span.start - start, span.end - start): str(span.style)
        for span in text.spans
        if start <= span.start and span.end <= start + len(RENDERED)
    }
    assert styles == {
        (15, 19): "bold cyan",
        (29, 33): "bold cyan",
        (40, 42): "bold reverse red",
        (56, 60): "bold magenta",
    }


@pytest.mark.parametrize("width", [0, 1, 12, 40])
def test_the_terminal_keeps_to_the_width(width: int) -> None:
    text = terminal_preview(CLIPS, width=width)
    assert max(map(len, text.plain.split("\n"))) <= max(width, 1)
    assert "".join(text.plain.split()) == "".join(terminal_preview(CLIPS).plain.split())


def test_the_terminal_takes_text_as_it_is() -> None:
    item = Shown("[bold]p[/bold]", "[/x] :smile:", "[red]", MaskedTrace("[link=x]y[/]", (), ()), ())
    out = io.StringIO()
    Console(file=out, width=80).print(terminal_preview(item))
    assert out.getvalue() == (
        "[bold]p[/bold]  math  target [red]  nothing hidden, no leaks\n[/x] :smile:\n\n[link=x]y[/]\n\n"
    )


PIECES = st.sampled_from(
    [
        "7",
        "24",
        " ",
        "\n",
        "\t",
        "<",
        ">",
        "&",
        '"',
        "'",
        "</div>",
        "<b>",
        "&amp;",
        "{{",
        "}}",
        "[N1]",
        "x",
        "²",
        "\u202e",
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=30)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.data())
def test_any_trace_is_shown_whole(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    categories = st.sampled_from(["number", "target", "code", "entity", "random"])
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    spans = [Span(a, b, data.draw(categories), text[a:b], data.draw(TEXTS)) for a, b in pairs]
    masked = with_blanks(text, spans)
    rendered = masked.rendered
    places = st.lists(st.tuples(st.integers(-2, 60), st.integers(-2, 60)), max_size=4)
    leaks = tuple(Leak(a, b, 1, "t", "text") for a, b in data.draw(places) if a <= b)
    item = Shown("p", text, "t", masked, leaks)
    visible = page_of(Shown("p", "", "t", MaskedTrace(rendered, (), ()), ())).articles[0].trace
    seen = page_of(item).articles[0]
    assert seen.trace == visible
    assert "".join(blank for blank, _ in seen.blanks) == "".join(masked.blanks)
    assert len(seen.hidden) == len(masked.spans) and len(seen.titles) == len(seen.blanks)
    covered = {at for leak in leaks for at in range(max(leak.start, 0), leak.end)}
    if visible == rendered:
        assert "".join(mark for mark, _ in seen.marks) == "".join(c for at, c in enumerate(rendered) if at in covered)
        assert rendered.rstrip() in terminal_preview(item).plain
    assert max(map(cell_len, terminal_preview(item, width=20).plain.split("\n"))) <= 20
