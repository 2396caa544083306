"""Work for the rewriting engine, where other processes can import it; run as a script it is one whole rewrite.

work.py IN OUT --workers N --seconds S --pids FOLDER
"""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from pathlib import Path

from cloze.errors import InputError
from cloze.problems.chunks import open_source
from cloze.problems.parts import Rewritten, Tally
from cloze.problems.rewrite import rewrite

ADDS = ("size", "words")


def measure(rows: list, seconds: float = 0.0, pids: str = "") -> Rewritten:
    """Add the length of `text` and its words; rows without text are bad."""
    time.sleep(seconds)
    if pids:
        Path(pids, str(os.getpid())).touch()
    done = Rewritten([], Tally())
    for number, row in rows:
        if isinstance(row, InputError) or not isinstance(row.get("text"), str):
            bad = row if isinstance(row, InputError) else InputError("no text", row=number, field="text")
            done.tally.bad(bad)
            done.rows.append(None)
            continue
        done.tally.counts["letters"] += len(row["text"])
        done.tally.name("seen", number)
        done.rows.append({"size": len(row["text"]), "words": row["text"].split()})
    return done


def die(rows: list) -> Rewritten:
    """What happens to a worker when memory runs out."""
    os._exit(9)


def fail(rows: list) -> Rewritten:
    raise ZeroDivisionError(f"at row {rows[0][0]}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--pids")
    given = parser.parse_args()
    work = partial(measure, seconds=given.seconds, pids=given.pids)
    source = open_source(given.source, chunk_rows=5)
    rewrite(source, given.out, work, settings={}, adds=ADDS, workers=given.workers, report=print)


if __name__ == "__main__":
    main()
