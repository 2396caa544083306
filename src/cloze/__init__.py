"""Cloze: reinforcement learning with verifiable rewards under expert guidance; did the policy learn or copy?"""

__version__ = "0.1.0"
