"""Prompts: how long they have to be, how many things they can make a model do, and what attention to them costs.

Models are any with fixed weights; a prompt is what they see before their input: tokens of real numbers ("soft"), of
numbers of so many bits, or of a vocabulary ("hard").
"""

from __future__ import annotations

from .cost import AttentionCost, attention_cost, attention_error
from .counts import completions, gap, hard_tokens, maps
from .lengths import memorization_length, prompt_length

__all__ = [
    "AttentionCost",
    "attention_cost",
    "attention_error",
    "completions",
    "gap",
    "hard_tokens",
    "maps",
    "memorization_length",
    "prompt_length",
]
