"""Masking: hide in an expert trace what the verifier would reward, and nothing else."""

from cloze.masking.mask import MaskSettings, mask
from cloze.masking.spans import MaskedTrace, Span

__all__ = ["MaskSettings", "MaskedTrace", "Span", "mask"]
