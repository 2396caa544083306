"""Problems: the record, the readers that make it from files, and the built-in families."""

from cloze.problems.record import Problem

__all__ = ["Problem"]
