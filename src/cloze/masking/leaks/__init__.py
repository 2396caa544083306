"""The leak audit, independent of the maskers: `find_leaks` says where the target can still be read, and how."""

from cloze.masking.leaks.audit import HOWS, Leak, find_leaks

__all__ = ["HOWS", "Leak", "find_leaks"]
