"""Prompts: how long they have to be, and how many things they can make a model do.

Models are any with fixed weights; a prompt is what they see before their input: tokens of real numbers ("soft"), of
numbers of so many bits, or of a vocabulary ("hard").
"""

from __future__ import annotations

from .counts import completions, gap, hard_tokens, maps
from .lengths import memorization_length, prompt_length
from .separation import boltzmann_separation, context_separation, separating_ratio

__all__ = [
    "boltzmann_separation",
    "completions",
    "context_separation",
    "gap",
    "hard_tokens",
    "maps",
    "memorization_length",
    "prompt_length",
    "separating_ratio",
]
