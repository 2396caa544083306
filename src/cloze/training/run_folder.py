"""The run folder: everything a run leaves behind, as plain files that are never half written.

config.toml        resolved configuration       metrics.jsonl      one object a step, keys group/name/stat
environment.json   versions, git commit, seed   rollouts/*.parquet every row as it was trained
checkpoints/step_N loadable by from_pretrained, with the trainer's state and, last, a marker `complete`
"""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from cloze.engines.protocol import Engine
from cloze.errors import InputError
from cloze.rollouts.rows import SOURCES, Row

MARKER = "complete"
PACKAGES = ("cloze-rl", "torch", "transformers", "tokenizers", "pyarrow", "pydantic", "numpy")


class RunFolder:
    """Paths and atomic writes of one run."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.metrics_path = self.path / "metrics.jsonl"
        self.checkpoints = self.path / "checkpoints"

    def create(self, config_toml: str, seed: int) -> None:
        """Start a new run.

        Raises:
            InputError: the folder already holds a run, or cannot be written.
        """
        if (self.path / "config.toml").exists():
            raise InputError(
                "this folder already holds a run", file=self.path, mend="choose another --out, or `cloze resume` it"
            )
        try:
            (self.path / "rollouts").mkdir(parents=True, exist_ok=True)
            self.checkpoints.mkdir(exist_ok=True)
            write_text(self.path / "environment.json", json.dumps(environment(seed), indent=1) + "\n")
            write_text(self.path / "config.toml", config_toml)
        except OSError as error:
            raise InputError(f"the run folder cannot be written: {error.strerror}", file=self.path) from error

    def log(self, metrics: dict[str, Any]) -> None:
        """Append one object to metrics.jsonl; numbers that are not finite are written as null."""
        clean = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in metrics.items()}
        with self.metrics_path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(clean) + "\n")
            file.flush()

    def metrics(self) -> list[dict[str, Any]]:
        """Every complete line of metrics.jsonl."""
        if not self.metrics_path.exists():
            return []
        lines = self.metrics_path.read_text(encoding="utf-8").split("\n")
        found = []
        for number, line in enumerate(lines[:-1], start=1):
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise InputError("this line is no JSON", file=self.metrics_path, row=number) from error
        return found

    def rewind(self, step: int) -> None:
        """Drop what was logged after `step`, so that a resumed run writes each line once."""
        kept = [json.dumps(line) + "\n" for line in self.metrics() if line["step"] <= step]
        write_text(self.metrics_path, "".join(kept))
        for path in (self.path / "rollouts").glob("step_*.parquet"):
            if int(path.stem.split("_")[1]) > step:
                path.unlink()

    def write_rollouts(self, step: int, rows: Sequence[Row]) -> None:
        """Write the rows of a step, ids and log-probs as they were sampled and trained."""
        import pyarrow
        import pyarrow.parquet

        table = [{**asdict(row), "source": [SOURCES[s] for s in row.source]} for row in rows]
        target = self.path / "rollouts" / f"step_{step:06d}.parquet"
        aside = target.with_suffix(".partial")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), aside)
        os.replace(aside, target)

    def save_checkpoint(self, step: int, engine: Engine, keep: int) -> Path:
        """Write a checkpoint aside, flush it to disk, rename it, and put the marker last; then drop old ones."""
        final = self.checkpoints / f"step_{step}"
        if (final / MARKER).exists():
            return final  # the same step gives the same state
        aside = self.checkpoints / f"step_{step}.partial"
        for left_over in (aside, final):
            if left_over.exists():
                shutil.rmtree(left_over)
        aside.mkdir(parents=True)
        engine.save(aside)
        (aside / "state.json").write_text(json.dumps({"step": step}))
        for path in aside.iterdir():
            _flush(path)
        os.replace(aside, final)
        _flush(self.checkpoints)
        write_text(final / MARKER, "")
        done = self._complete()
        for old in done[:-keep]:
            shutil.rmtree(self.checkpoints / f"step_{old}")
        return final

    def finish(self) -> None:
        """Mark the run as done: its last checkpoint is written."""
        write_text(self.path / "finished", "")

    def last_checkpoint(self, report: Callable[[str], None] | None = None) -> tuple[int, Path] | None:
        """The newest complete checkpoint; incomplete ones are skipped, and `report` is told."""
        done = self._complete()
        for path in sorted(self.checkpoints.glob("step_*")):
            if not (path / MARKER).exists() and report:
                report(f"{path}: incomplete checkpoint skipped")
        return (done[-1], self.checkpoints / f"step_{done[-1]}") if done else None

    def _complete(self) -> list[int]:
        steps = (p.parent.name.removeprefix("step_") for p in self.checkpoints.glob(f"step_*/{MARKER}"))
        return sorted(int(step) for step in steps if step.isdigit())


def write_text(path: Path, text: str) -> None:
    """Write a file aside, flush it and rename it, so that a reader sees all of it or nothing."""
    aside = path.with_name(path.name + ".partial")
    with aside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def environment(seed: int | None = None) -> dict[str, Any]:
    """Versions and commit, for a bug report."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    try:
        where = Path(__file__).parent
        git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=where, capture_output=True, text=True, timeout=5)
        commit = git.stdout.strip() or "not a git checkout"
    except (OSError, subprocess.TimeoutExpired):
        commit = "git not available"
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "commit": commit,
        "seed": seed,
        **versions,
    }


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
