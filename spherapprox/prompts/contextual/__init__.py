"""Contextual mappings: the Boltzmann operator, attention that separates the contexts of a token, and how far it does.

Scores are ``scale * <query x, key y>``, and a token x of a sequence y_1, ..., y_n goes to
``sum_j softmax(scores)_j output value y_j``; tokens are rows.
"""

from .construction import ContextualAttention as ContextualAttention
from .construction import contextual_attention, separating_direction
from .operator import boltzmann, boltzmann_gradient
from .separation import context_separation

__all__ = [
    "boltzmann",
    "boltzmann_gradient",
    "context_separation",
    "contextual_attention",
    "separating_direction",
]
