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
    scale: Annotated[float, typer.Option(min=0.0, help="Of the number of steps, to try things out.")] = 1.0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model folder.")] = False,
) -> None:
    """Make a tiny base policy on the arithmetic family, as the one that ships was made."""
    from dataclasses import replace

    import torch

    from cloze.training.pretrain import STAGES, PretrainSettings
    from cloze.training.pretrain import pretrain as run

    if (out / "config.json").exists() and not force:
        raise InputError("this folder already holds a model", file=out, mend="choose another, or give --force")
    torch.set_num_threads(1)
    settings = PretrainSettings(
        seed=seed, stages=tuple(replace(stage, steps=max(1, round(scale * stage.steps))) for stage in STAGES)
    )
    with progress("pretrain", settings.steps, "steps") as advance:
        run(settings, out, lambda stage, done, loss: advance(1, f"{stage}, loss {loss:.3f}"))
    note(f"model folder: {out}")
