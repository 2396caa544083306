"""Masking: hide in an expert trace what the verifier would reward, and nothing else."""

from cloze.masking.math import mask_math
from cloze.masking.spans import MaskedTrace, Span

__all__ = ["MaskedTrace", "Span", "mask_math"]
