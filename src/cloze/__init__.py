"""Cloze: reinforcement learning with verifiable rewards under expert guidance, and whether the policy learned or copied."""

__version__ = "0.1.0"
