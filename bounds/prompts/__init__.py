"""Prompts: how long they have to be, how many things they can make a model do, and what attention to them costs.

Models are any with fixed weights; a prompt is what they see before their input: tokens of real numbers ("soft"), of
numbers of so many bits, or of a vocabulary ("hard"). Executors are models that run the network that their prompt holds:
`executor_budget` says what one has to be made from for an error.
"""

from __future__ import annotations

from typing import Any

from spherapprox import _extras

from .budgets import ExecutorBudget as ExecutorBudget
from .budgets import executor_budget
from .chain import chain_error
from .cost import AttentionCost as AttentionCost
from .cost import attention_cost, attention_error
from .counts import completions, gap, hard_tokens, maps
from .lengths import memorization_length, prompt_length
from .networks import interpolation_error, shallow_error
from .routing import compose_errors, impurity, key_count, read_error, temperature
from .separation import boltzmann_separation, context_separation, separating_ratio
from .tables import table_units

__all__ = [
    "attention_cost",
    "attention_error",
    "boltzmann_separation",
    "chain_error",
    "completions",
    "compose_errors",
    "context_separation",
    "executor_budget",
    "gap",
    "hard_tokens",
    "impurity",
    "interpolation_error",
    "key_count",
    "maps",
    "memorization_length",
    "prompt_length",
    "read_error",
    "separating_ratio",
    "shallow_error",
    "table_units",
    "temperature",
]


def __getattr__(name: str) -> Any:
    return _extras.load_submodule(__name__, name)  # sequences, recurrent


def __dir__() -> list[str]:
    return sorted({*__all__, "recurrent", "sequences"})
