"""How long a training step takes here and in TRL, side by side: the same model, prompts and sizes on one thread.

    python benchmarks/step_time.py                        makes .venv-trl for TRL when there is none (minutes, once)
    python benchmarks/step_time.py --trl-python PATH      uses an environment that already holds TRL

The two run in turns, so that a machine that slows down in between slows both. Each turn is a process of its own
(`peers/cloze_step.py`, `peers/trl_step.py`: there stands what is timed and with which settings); a cell of the table is
the median over the turns of a turn's median step. TRL is shown with gradient checkpointing off, which is faster, and
on, which is its default and needs less memory. This is a measurement and no test: it exits 0 whatever it finds.

Not covered: processors with many threads, accelerators, models larger than the small one of `step_model.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TRL = ("torch==2.13.0", "trl==1.16.0")
PHASES = {
    "step": "a step",
    "sample": "  sampling",
    "old_logprobs": "  old log-probs",
    "forward": "  forward",
    "backward_and_rest": "  backward, rest",
}
Turn = dict[str, Any]


def trl_python(given: str | None) -> Path:
    """The interpreter that holds TRL; the environment is made when it is missing."""
    if given:
        return Path(given)
    folder = ROOT / ".venv-trl"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"making {folder} with {' and '.join(TRL)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        quiet = ["install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([str(python), "-m", "pip", *quiet, *TRL], check=True)
        (folder / "ready").touch()
    return python


def make_inputs(folder: Path, seed: int) -> list[str]:
    """Write model and prompts; returns the options that name them."""
    sys.path.insert(0, str(HERE))
    from step_model import make_model, make_prompts

    make_model(folder / "model", seed)
    make_prompts(folder / "prompts.jsonl", 64, seed)
    return ["--model", str(folder / "model"), "--prompts", str(folder / "prompts.jsonl")]


def run(python: Path | str, script: str, options: list[str]) -> Turn:
    """One turn of a peer.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    environment.pop("PYTHONPATH", None)
    if script == "cloze_step.py":
        environment["PYTHONPATH"] = str(ROOT / "src")
    command = [str(python), str(HERE / "peers" / script), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{script} failed:\n{done.stderr[-2000:]}")
    turn: Turn = json.loads(done.stdout.splitlines()[-1])
    return turn


def table(turns: dict[str, list[Turn]]) -> str:
    """The turns of Cloze and of TRL as text."""
    ours = turns["cloze"]
    peers = {name: found for name, found in turns.items() if name != "cloze"}
    head = f"{'CPU-seconds':<18}{'Cloze':>9}"
    for name in peers:
        head += f"{name:>24}{'ratio':>8}{'range':>14}"
    lines = [head]
    for phase, label in PHASES.items():
        mine = [turn["median"][phase] for turn in ours]
        line = f"{label:<18}{statistics.median(mine):>9.3f}"
        for found in peers.values():
            theirs = [turn["median"][phase] for turn in found]
            line += f"{statistics.median(theirs):>24.3f}" + _ratio(mine, theirs)
        lines.append(line)
    mine = [turn["peak_rss_mb"]["end"] for turn in ours]
    line = f"{'peak memory, MB':<18}{statistics.median(mine):>9.0f}"
    for found in peers.values():
        theirs = [turn["peak_rss_mb"]["end"] for turn in found]
        line += f"{statistics.median(theirs):>24.0f}" + _ratio(mine, theirs)
    lines.append(line)
    lines.append("")
    for name, found in turns.items():
        versions = ", ".join(f"{package} {version}" for package, version in found[0]["versions"].items())
        sizes = found[0]["settings"]
        lines.append(f"{name}: {versions}")
    lines.append(
        f"{len(ours)} rounds of {len(ours[0]['cpu_seconds'])} steps: {sizes['completions']} completions of"
        f" {sizes['completion_tokens']} tokens in groups of {sizes['generations']}, prompts of up to"
        f" {sizes['widest_prompt']} tokens, {sizes['parameters']:,} parameters, 1 thread."
    )
    lines.append("ratio: Cloze to TRL, median of the rounds; range: of the rounds. Before the model is loaded,")
    before = {
        name: statistics.median(turn["peak_rss_mb"]["before_model"] for turn in found) for name, found in turns.items()
    }
    lines.append(
        "the imports alone hold " + ", ".join(f"{value:.0f} MB ({name})" for name, value in before.items()) + "."
    )
    return "\n".join(lines)


def _ratio(mine: list[float], theirs: list[float]) -> str:
    ratios = [a / b for a, b in zip(mine, theirs, strict=True) if b > 0]
    if not ratios:
        return f"{'':>8}{'':>14}"
    return f"{statistics.median(ratios):>8.2f}{f'{min(ratios):.2f}-{max(ratios):.2f}':>14}"


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Time training steps of Cloze and of TRL side by side.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8, help="steps measured in a round")
    parser.add_argument("--warmup", type=int, default=3, help="steps before them that do not count")
    parser.add_argument("--trl-python", help="an interpreter that holds TRL; default: .venv-trl, made when missing")
    parser.add_argument(
        "--checkpointing", choices=("on", "off", "both"), default="both", help="gradient checkpointing of TRL"
    )
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    """Run the rounds and print the table; what goes wrong is said on stderr."""
    options = parse(arguments)
    modes = ("off", "on") if options.checkpointing == "both" else (options.checkpointing,)
    turns: dict[str, list[Turn]] = {"cloze": [], **{f"TRL, checkpointing {mode}": [] for mode in modes}}
    try:
        peer = trl_python(options.trl_python)
        with tempfile.TemporaryDirectory() as folder:
            shared = make_inputs(Path(folder), options.seed)
            shared += ["--steps", str(options.steps), "--warmup", str(options.warmup), "--seed", str(options.seed)]
            for at in range(options.rounds):
                print(f"round {at + 1} of {options.rounds}", file=sys.stderr)
                turns["cloze"].append(run(sys.executable, "cloze_step.py", shared))
                for mode in modes:
                    found = run(peer, "trl_step.py", [*shared, "--checkpointing", mode])
                    turns[f"TRL, checkpointing {mode}"].append(found)
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"step_time: {error}", file=sys.stderr)
    rounds = min(len(found) for found in turns.values())
    if rounds:
        print(table({name: found[:rounds] for name, found in turns.items()}))


if __name__ == "__main__":
    main(sys.argv[1:])
