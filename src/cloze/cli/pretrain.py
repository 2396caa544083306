"""`cloze pretrain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cloze.cli.terminal import note, progress
from cloze.errors import InputError


def pretrain(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the model.")],
    seed: Annotated[int, typer.Option(help="Of every draw.")] = 0,
    steps: Annotated[int | None, typer.Option(min=0, help="Clean steps (default: those of the shipped base).")] = None,
    slip_steps: Annotated[int | None, typer.Option(min=0, help="Steps on traces with slips.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model folder.")] = False,
) -> None:
    """Make a tiny base policy on the arithmetic family, as the one that ships was made."""
    from dataclasses import replace

    import torch

    from cloze.training.pretrain import PretrainSettings
    from cloze.training.pretrain import pretrain as run

    if (out / "config.json").exists() and not force:
        raise InputError("this folder already holds a model", file=out, mend="choose another, or give --force")
    torch.set_num_threads(1)
    settings = PretrainSettings(seed=seed)
    settings = replace(
        settings,
        steps=settings.steps if steps is None else steps,
        slip_steps=settings.slip_steps if slip_steps is None else slip_steps,
    )
    with progress("pretrain", settings.steps + settings.slip_steps, "steps") as advance:
        run(settings, out, lambda step, total, loss: advance(1, f"loss {loss:.3f}"))
    note(f"model folder: {out}")
