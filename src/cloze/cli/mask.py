"""`cloze mask`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cloze.cli.terminal import note, percent, table
from cloze.errors import InputError

if TYPE_CHECKING:
    from cloze.masking import MaskSettings
    from cloze.masking.preview import Shown
    from cloze.problems.chunks import Source
    from cloze.problems.parts import Tally

ON_A_PAGE = 200


def mask(
    data: Annotated[Path, typer.Argument(metavar="IN", help="Data file: jsonl, parquet, csv, json.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="File to write: jsonl or parquet.")],
    domain: Annotated[str, typer.Option(help="math, code, entities or text; auto guesses for each row.")] = "auto",
    ratio: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of the values that are hidden.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, max=2**62, help="Of the ratio and the control.")] = 0,
    control: Annotated[str, typer.Option(help="Hide as many random 'spans' or 'tokens' instead.")] = "",
    critical_path: Annotated[bool, typer.Option("--critical-path", help="Only what the target depends on.")] = False,
    hide_given: Annotated[bool, typer.Option("--hide-given", help="Also what the question gives.")] = False,
    level: Annotated[str, typer.Option(help="Of code: block, body or statement.")] = "block",
    style: Annotated[str | None, typer.Option(help="How a blank is written (default: [{letter}{index}]).")] = None,
    schema: Annotated[str, typer.Option(help="Schema of IN (default: detected).")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be read.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="Only the first so many rows.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace the masks of a file that is masked already.")] = False,
    show: Annotated[int, typer.Option(min=0, help="Print so many masked traces.")] = 0,
    html: Annotated[Path | None, typer.Option(help=f"Page with the first {ON_A_PAGE} masked traces.")] = None,
) -> None:
    """Mask expert traces: hide what the verifier would reward, and say what still leaks.

    Every column stays. Two are added: masked_trace, the trace with its blanks,
    and mask_spans, where they stand in the trace, what they hide, and why.

    A run that was stopped goes on when the same command is given again.
    """
    from cloze.cli.data import rewritten
    from cloze.masking import MaskSettings
    from cloze.masking.mask import FINDERS, Control, Level
    from cloze.masking.mask import mask as mask_trace
    from cloze.masking.rows import mask_rows, masked_types
    from cloze.problems.chunks import open_source
    from cloze.problems.convert import MASKED_COLUMNS
    from cloze.problems.readers import look_at
    from cloze.problems.rewrite import check_out

    given = {} if style is None else {"style": style}
    settings = MaskSettings(ratio, seed, cast(Control, control), critical_path, hide_given, cast(Level, level), **given)
    if domain != "auto":
        if domain not in FINDERS:
            known = ", ".join(("auto", *FINDERS))
            raise InputError(f"no masker for domain {domain!r}", field="domain", mend=f"use one of {known}")
        mask_trace("1", domain)  # better to miss a package now than at the first row
    source = open_source(data, limit=limit)
    check_out(out, data)
    if html is not None and not html.parent.is_dir():
        raise InputError("its folder is not there", file=html, mend=f"make {html.parent} first")
    name, columns = look_at(data, schema or None)
    held = [column for column in MASKED_COLUMNS if column in columns]
    if held and not force:
        raise InputError(
            "the file is masked already",
            file=data,
            field=held[0],
            mend="--force masks it anew, or give the file that it was made from",
        )
    work = partial(mask_rows, path=data, schema=name, domain=domain, settings=settings, replace=force)
    tally = rewritten(
        "masking",
        source,
        out,
        work,
        {"schema": name, "domain": domain, "force": force, **asdict(settings)},
        adds=MASKED_COLUMNS,
        types=masked_types,
        workers=workers,
        skip_bad=skip_bad,
        accept=partial(_need_traces, data, name),
    )
    _summary(out, tally)
    if show:
        _print(islice(_previews(source, name, domain, settings), show))
    if html is not None:
        from cloze.masking.preview import html_preview

        pages = islice(_previews(source, name, domain, settings), ON_A_PAGE)
        with html.open("w", encoding="utf-8") as file:
            file.writelines(html_preview(pages, title=f"{data.name}: the first {ON_A_PAGE} masked traces at most"))


def _need_traces(data: Path, schema: str, tally: Tally) -> None:
    from cloze.problems.schemas import SCHEMAS

    if not tally.counts["traced"]:
        raise InputError(
            "the trace column is all empty",
            file=data,
            field=" or ".join(SCHEMAS[schema].traces),
            mend=f"the {schema} schema has the expert trace there: fill it in, or name another --schema",
        )


def _summary(out: Path, tally: Tally) -> None:
    from rich.console import Console

    from cloze.cli.data import counted, some_rows

    counts = tally.counts
    under = {
        kind: {key.partition("/")[2]: n for key, n in sorted(counts.items()) if key.startswith(f"{kind}/")}
        for kind in ("domain", "span", "leak", "given")
    }
    rows: list[list[Any]] = [["rows", f"{counts['kept']:,}"], ["rows with a trace", f"{counts['traced']:,}"]]
    rows += [[f"  domain {name}", f"{count:,}"] for name, count in under["domain"].items()]
    rows += [["spans hidden", f"{sum(under['span'].values()):,}"]]
    rows += [[f"  {name}", f"{count:,}"] for name, count in under["span"].items()]
    rows += [["characters hidden", percent(counts["hidden"] / counts["characters"] if counts["characters"] else None)]]
    rows += [["rows with nothing hidden", f"{counts['bare']:,}"]]
    rows += [["leaks", f"{sum(under['leak'].values()):,}"]]
    rows += [[f"  {name}", f"{count:,}"] for name, count in under["leak"].items()]
    rows += [["rows with leaks", f"{counts['leaky']:,}"]]
    rows += [["rows whose question gives the target", f"{counts['given']:,}"]]
    console = Console(highlight=False)
    console.print(str(out), markup=False, soft_wrap=True)
    console.print(table("", ["", "count"], rows))
    if untraced := counts["kept"] - counts["traced"]:
        note(f"{counted(untraced, 'row has', 'rows have')} no expert trace")
    if bare := counts["bare"]:
        note(f"{counted(bare, 'row has', 'rows have')} nothing hidden: {some_rows(tally, 'bare', bare)}")
    if untargeted := counts["untargeted"]:
        note(f"{counted(untargeted, 'row has', 'rows have')} no target, so there is nothing to audit in them")
    if leaky := counts["leaky"]:
        leaks = counted(sum(under["leak"].values()), "leak")
        note(f"warning: {leaks} left in {some_rows(tally, 'leaky', leaky)}; see cloze audit {out}")


def _previews(source: Source, schema: str, domain: str, settings: MaskSettings) -> Iterator[Shown]:
    """Masks traces again, from the first row on."""
    from cloze.masking.preview import Shown
    from cloze.masking.rows import mask_row, read_traced, row_leaks

    for chunk in source.chunks():
        for number, row in chunk.rows():
            try:
                traced = read_traced(row, number, source.path, schema)
                if traced.trace is None:
                    continue
                chosen, masked = mask_row(traced, domain, settings)
            except InputError:
                continue
            leaks, _ = row_leaks(masked.rendered, traced, settings.style)
            yield Shown(traced.id, traced.question, traced.target, masked, tuple(leaks), chosen)


def _print(shown: Iterator[Shown]) -> None:
    from rich.console import Console

    from cloze.masking.preview import terminal_preview

    console = Console(highlight=False)
    for item in shown:
        console.print()
        console.print(terminal_preview(item))
