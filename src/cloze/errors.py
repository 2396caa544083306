"""The one error that a user is meant to read.

Bad input anywhere in Cloze raises `InputError` with a single line that says what is wrong, where (file, row, field)
and how to mend it. The command line prints that line on stderr and exits 2; a traceback is shown only with `--debug`.
Everything else that escapes is a fault of ours.
"""

from __future__ import annotations


class InputError(Exception):
    """Something the user gave cannot be used.

    Args:
        what: what is wrong, in one sentence without the place.
        file, row, field: where; row counts from 1 as editors do.
        mend: what to do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        file: object | None = None,
        row: int | None = None,
        field: str | None = None,
        mend: str | None = None,
    ) -> None:
        place = [str(file)] if file is not None else []
        place += [f"row {row}"] if row is not None else []
        place += [f"field {field!r}"] if field is not None else []
        line = ", ".join(place) + ": " + what if place else what
        super().__init__(" ".join((f"{line}; {mend}" if mend else line).split()))
        self.what, self.file, self.row, self.field, self.mend = what, file, row, field, mend


class CheckFailed(Exception):
    """A check that the user asked for said no (exit 1), in one line."""
