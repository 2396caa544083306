"""`cloze methods`."""

from __future__ import annotations

from typing import Annotated

import typer

from cloze.cli.terminal import table


def methods(name: Annotated[str | None, typer.Argument(help="Show this one as its parts.")] = None) -> None:
    """List the methods, or show one as its parts, formula and reference."""
    from rich.console import Console

    from cloze.methods.schema import load_method, method_names

    console = Console(highlight=False, soft_wrap=True)
    if name is None:
        rows = [[each, load_method(each).about.title, load_method(each).about.reference] for each in method_names()]
        made = table("Methods", ["name", "what it is", "reference"], rows)
        for column in made.columns:
            column.justify, column.no_wrap = "left", column is made.columns[0]
        Console(highlight=False).print(made)
        return
    method = load_method(name)
    for key, value in method.about.model_dump().items():
        if value:
            console.print(f"{key + ':':<11}{value}", markup=False)
    for section in ("mask", "guidance", "advantage", "objective"):
        console.print(f"\n[{section}]", markup=False)
        for key, value in getattr(method, section).model_dump().items():
            if value is not None:
                console.print(f"{key} = {value!r}", markup=False)
