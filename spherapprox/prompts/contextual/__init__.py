"""Contexts of tokens: the Boltzmann operator, attention that separates them, how far it does, and prompts as tables.

Scores are ``scale * <query x, key y>``, and a token x of a sequence y_1, ..., y_n goes to
``sum_j softmax(scores)_j output value y_j``; tokens are rows.
"""

from .construction import ContextualAttention as ContextualAttention
from .construction import contextual_attention, separating_direction
from .mappings import MappingSeparation as MappingSeparation
from .mappings import TokenSeparation as TokenSeparation
from .mappings import mapping_separation, token_separation
from .operator import boltzmann, boltzmann_gradient
from .separation import context_separation
from .tables import TableTransformer

__all__ = [
    "TableTransformer",
    "boltzmann",
    "boltzmann_gradient",
    "context_separation",
    "contextual_attention",
    "mapping_separation",
    "separating_direction",
    "token_separation",
]
