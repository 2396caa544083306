"""From the rows of a data set to masked traces and leaks: what `cloze mask` and `cloze audit` do with each row.

Masking needs a trace and no more. A row of our own schema may lack target and question; then there is nothing to audit,
and it is counted. The functions here take rows and give rows and figures; they know nothing of files or processes, so
that any number of workers may call them.

Leaks are counted three ways. A *label* (a `Step 5`) tells the policy nothing, and a target that the *question* itself
gives is no secret; both are named apart. What is left is a leak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cloze.errors import InputError
from cloze.masking.domain import guess_domain
from cloze.masking.leaks import Leak, find_leaks
from cloze.masking.mask import MaskSettings, mask
from cloze.masking.spans import DEFAULT_STYLE, MaskedTrace
from cloze.problems.chunks import Numbered
from cloze.problems.convert import MASKED_COLUMNS
from cloze.problems.files import Row
from cloze.problems.parts import Rewritten, Tally
from cloze.problems.record import DOMAINS
from cloze.problems.schemas import SCHEMAS, cloze, read_text

AROUND = 30  # characters shown on either side of a leak


class Traced(NamedTuple):
    """What masking and audit need of a row; `domain` is as the row says, or empty."""

    id: str
    question: str
    target: str
    aliases: tuple[str, ...]
    trace: str | None
    domain: str


class Example(NamedTuple):
    """A leak, where it stands, and the text around it."""

    row: int
    id: str
    line: int
    how: str
    text: str
    before: str
    after: str


class Audited(NamedTuple):
    """The leaks of some rows, as far as they are named, and how many there are."""

    tally: Tally
    examples: list[Example]


def read_traced(row: Row | InputError, number: int, path: Path, schema: str) -> Traced:
    """Read what masking needs.

    Args:
        row: as the file gives it.
        number: of the row.
        path: its file.
        schema: a name in `SCHEMAS`.

    Raises:
        InputError: the row cannot be read; names file, row and field.
    """
    if isinstance(row, InputError):
        raise row
    try:
        fields = cloze(row, needs=()) if schema == "cloze" else SCHEMAS[schema].read(row)
    except InputError as error:
        raise _placed(error, path, number) from None
    column = row.get("domain")  # in any schema, if it is one of ours
    return Traced(
        fields.get("id") or f"{path.stem}-{number}",
        fields.get("question", ""),
        fields.get("target", ""),
        fields.get("aliases", ()),
        fields.get("trace"),
        fields.get("domain") or (column if isinstance(column, str) and column in DOMAINS else ""),
    )


def mask_row(traced: Traced, domain: str, settings: MaskSettings) -> tuple[str, MaskedTrace]:
    """Mask the trace of a row that has one.

    Args:
        traced: the row.
        domain: "auto" for what the row says, or else a guess.
        settings: see `mask`.

    Returns:
        The domain and the masked trace.

    Raises:
        InputError: as `mask`.
    """
    text = traced.trace or ""
    if domain == "auto":
        domain = traced.domain or guess_domain(text, traced.target, traced.question)
    made = mask(text, domain, target=traced.target, question=traced.question, aliases=traced.aliases, settings=settings)
    return domain, made


def row_leaks(shown: str, traced: Traced, style: str = DEFAULT_STYLE) -> tuple[list[Leak], bool]:
    """What of a row's target can be read in a text, and whether the question itself gives the target away."""
    leaks = find_leaks(shown, traced.target, traced.aliases, style=style)
    told = bool(leaks) and bool(traced.question)
    given = told and any(leak.how != "label" for leak in find_leaks(traced.question, traced.target, traced.aliases))
    return leaks, given


def mask_rows(
    rows: Numbered, *, path: Path, schema: str, domain: str, settings: MaskSettings, replace: bool = False
) -> Rewritten:
    """Mask the traces of some rows.

    Args:
        rows: as read, with their numbers.
        path: their file.
        schema: how they are read.
        domain: "auto" or one of the domains.
        settings: see `mask`.
        replace: take the place of columns that are called `MASKED_COLUMNS` already.

    Returns:
        For each row the two columns. `tally.counts` has: traced, bare (nothing hidden), characters, hidden (characters
        of the trace, and those behind blanks), `domain/NAME`, `span/CATEGORY`, and what `count_leaks` counts.
    """
    done = Rewritten([], Tally())
    for number, row in rows:
        try:
            traced = read_traced(row, number, path, schema)
            if not replace and isinstance(row, dict) and (held := [name for name in MASKED_COLUMNS if name in row]):
                mend = "--force replaces it, or give the file that it was made from"
                raise InputError("the row is masked already", file=path, row=number, field=held[0], mend=mend)
            done.rows.append(_masked_columns(traced, number, path, domain, settings, done.tally))
        except InputError as error:
            done.tally.bad(error)
            done.rows.append(None)
    return done


def masked_types() -> Mapping[str, Any]:
    """The Arrow types of the two columns."""
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("category", "blank", "why")]
    span = pa.struct([("start", pa.int64()), ("end", pa.int64()), *texts])
    return {"masked_trace": pa.string(), "mask_spans": pa.list_(span)}


def _masked_columns(
    traced: Traced, number: int, path: Path, domain: str, settings: MaskSettings, tally: Tally
) -> Mapping[str, object]:
    if traced.trace is None:
        return dict.fromkeys(MASKED_COLUMNS)
    try:
        domain, made = mask_row(traced, domain, settings)
    except InputError as error:
        raise _placed(error, path, number) from None
    counts, shown = tally.counts, made.rendered
    counts["traced"] += 1
    counts[f"domain/{domain}"] += 1
    counts["characters"] += len(made.text)
    counts["hidden"] += sum(span.end - span.start for span in made.spans)
    counts.update(f"span/{span.category}" for span in made.spans)
    if not made.spans:
        counts["bare"] += 1
        tally.name("bare", number)
    count_leaks(*row_leaks(shown, traced, settings.style), traced, number, tally)
    spans = [
        {"start": span.start, "end": span.end, "category": span.category, "blank": blank, "why": span.why}
        for span, blank in zip(made.spans, made.blanks, strict=True)
    ]
    return {"masked_trace": shown, "mask_spans": spans}


def count_leaks(leaks: Sequence[Leak], given: bool, traced: Traced, number: int, tally: Tally) -> None:
    """Count the leaks of a row.

    Args:
        leaks: what the audit found.
        given: the question gives the target.
        traced: the row.
        number: of the row.
        tally: gets the counts: untargeted (nothing to look for), `leak/HOW`, `given/HOW`, label; and of rows, leaky
            and given.
    """
    tally.counts["untargeted"] += not traced.target
    told = [leak for leak in leaks if leak.how != "label"]
    tally.counts["label"] += len(leaks) - len(told)
    tally.counts.update(f"{'given' if given else 'leak'}/{leak.how}" for leak in told)
    if told:
        kind = "given" if given else "leaky"
        tally.counts[kind] += 1
        tally.name(kind, number)


def audit_rows(
    rows: Numbered,
    *,
    path: Path,
    schema: str,
    column: str,
    style: str = DEFAULT_STYLE,
    max_characters: int = 0,
    ratio: float = 1.0,
    examples: int = 0,
) -> Audited:
    """Look for leaks in what the policy would be shown of each row.

    Args:
        rows: as read, with their numbers.
        path: their file.
        schema: how they are read.
        column: what is shown; empty for the trace.
        style: how blanks are written.
        max_characters: the policy sees no more of it; 0 for all.
        ratio: the policy sees this share of its characters.
        examples: leaks to show, of each way to leak.

    Returns:
        Examples, and `tally.counts` with rows, traced (rows with something to look at) and what `count_leaks` counts.
    """
    tally, shown_examples = Tally(), list[Example]()
    for number, row in rows:
        tally.counts["rows"] += 1
        try:
            traced = read_traced(row, number, path, schema)
            text = traced.trace if not column else _column(row, column, path, number)
        except InputError as error:
            tally.bad(error)
            continue
        if text is None:
            continue
        tally.counts["traced"] += 1
        text = text[: int(len(text) * ratio)][: max_characters or None]
        leaks, given = row_leaks(text, traced, style)
        count_leaks(leaks, given, traced, number, tally)
        for leak in leaks:
            if leak.how != "label" and not given and tally.counts[f"shown/{leak.how}"] < examples:
                tally.counts[f"shown/{leak.how}"] += 1
                shown_examples.append(_example(leak, text, number, traced.id))
    return Audited(tally, shown_examples)


def _column(row: Row | InputError, column: str, path: Path, number: int) -> str | None:
    value = row.get(column) if isinstance(row, dict) else None
    if value is None or value == "":
        return None
    try:
        return read_text(value, column)
    except InputError as error:
        raise _placed(error, path, number) from None


def _example(leak: Leak, text: str, number: int, identity: str) -> Example:
    before, after = text[max(0, leak.start - AROUND) : leak.start], text[leak.end : leak.end + AROUND]
    return Example(number, identity, leak.line, leak.how, leak.text, before, after)


def _placed(error: InputError, path: Path, number: int) -> InputError:
    return InputError(error.what, file=path, row=number, field=error.field, mend=error.mend)
