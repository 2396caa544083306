"""The command line: one module a verb, and here the way in.

Only the verb that runs imports what it needs, so `--help` stays quick. Data goes to stdout or files, progress and notes
to stderr. A fault of the input is one line and exit code 2, a failed check exit code 1; `--debug` shows the traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from cloze import __version__
from cloze.cli import audit, convert, demo, evaluate, mask, methods, pretrain, train, validate
from cloze.errors import CheckFailed, InputError

app = typer.Typer(
    name="cloze",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Train language models by reinforcement learning with verifiable rewards under expert guidance, and see"
    " whether the policy learned or copied. Begin with `cloze demo`.",
)
app.command("demo")(demo.demo)
app.command("mask")(mask.mask)
app.command("audit")(audit.audit)
app.command("validate")(validate.validate)
app.command("convert")(convert.convert)
app.command("train")(train.train)
app.command("resume")(train.resume)
app.command("eval")(evaluate.evaluate)
app.command("methods")(methods.methods)
app.command("pretrain")(pretrain.pretrain)


@app.command("env")
def env() -> None:
    """Versions and machine, to paste into a bug report."""
    from cloze.training.run_folder import environment

    for key, value in environment().items():
        if value is not None:
            print(f"{key}: {value}")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if debug:
        os.environ["CLOZE_DEBUG"] = "1"


def main() -> None:
    """Entry point of the `cloze` command."""
    try:
        app(standalone_mode=True)
    except (InputError, CheckFailed, FloatingPointError, BrokenPipeError, OSError) as error:
        if os.environ.get("CLOZE_DEBUG"):
            raise
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        print(f"cloze: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, (InputError, OSError)) else 1)


if __name__ == "__main__":
    main()
