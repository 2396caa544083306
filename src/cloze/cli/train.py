"""`cloze train` and `cloze resume`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from cloze.cli.terminal import UnsafeSandbox, note, percent, progress


def train(
    config: Annotated[Path | None, typer.Argument(help="TOML file; leave out to set everything by --set.")] = None,
    method: Annotated[str | None, typer.Option(help="A name from `cloze methods`, or a TOML file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder (default runs/METHOD-seedN).")] = None,
    seed: Annotated[int | None, typer.Option(help="The one seed of every random draw.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="Override a key: --set optim.lr=1e-4")] = None,
    unsafe_sandbox: UnsafeSandbox = False,
    dry_run: Annotated[
        bool, typer.Option(help="Check everything, show the configuration and one prompt; no step.")
    ] = False,
) -> None:
    """Train a policy by GRPO, with the guidance that a method names.

    A smallest configuration:

        method = "smepo"
        [model]
        path = "tiny"
        [data.train]
        family = "arithmetic"
        [optim]
        steps = 20
        lr = 1e-4

    File < --set < flags. An interrupted run goes on with `cloze resume RUN`.
    """
    from cloze.training.config import load_config, write_config

    flags: dict[str, Any] = {"method": method, "run.out": str(out) if out else None, "run.seed": seed}
    flags = {key: value for key, value in flags.items() if value is not None}
    resolved = load_config(config, set_ or [], flags)
    if not resolved.run.out:
        name = f"runs/{Path(resolved.method).stem}-seed{resolved.run.seed}"
        resolved = load_config(config, set_ or [], {**flags, "run.out": name})
    if dry_run:
        from cloze.guidance.guide import guided_prompt
        from cloze.training.loop import prepare

        setup = prepare(resolved, note)
        print(write_config(resolved), end="")
        prompt = guided_prompt(setup.problems[0], setup.tokenizer, setup.guide, setup.collector.ratio(0))
        note(f"{len(setup.problems)} problems, {len(setup.held_out)} held out; the first prompt is:\n{prompt.text}")
        return
    _run(resolved, resume=False)


def resume(run: Annotated[Path, typer.Argument(help="Run folder.")], unsafe_sandbox: UnsafeSandbox = False) -> None:
    """Go on with an interrupted run from its newest complete checkpoint."""
    from cloze.errors import InputError
    from cloze.training.config import load_config

    if not (run / "config.toml").is_file():
        raise InputError("not a run folder (no config.toml)", file=run)
    _run(load_config(run / "config.toml", [], {"run.out": str(run)}), resume=True)


def _run(config: Any, *, resume: bool) -> None:
    from cloze.training.loop import train as run_training
    from cloze.training.run_folder import RunFolder

    asked: list[int] = []

    def stop(signum: int, frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(signum)
        note("finishing this step; once more stops at once")

    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, stop)
    with progress(config.method, config.optim.steps, "steps") as advance:

        def on_step(metrics: dict[str, Any]) -> None:
            text = f"reward {percent(metrics.get('reward/mean'))}"
            if "eval/unguided_accuracy" in metrics:
                text += f", unguided {percent(metrics['eval/unguided_accuracy'])}"
            advance(1 if metrics["step"] else 0, text)

        try:
            run_training(config, resume=resume, note=note, on_step=on_step, should_stop=lambda: bool(asked))
        except KeyboardInterrupt:
            if RunFolder(Path(config.run.out)).last_checkpoint():
                note(f"stopped; go on with: cloze resume {config.run.out}")
            else:
                note("stopped before the first checkpoint: nothing to resume")
            raise typer.Exit(130) from None
    note(f"run folder: {config.run.out}")
