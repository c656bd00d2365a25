"""How a head's sum over control points is evaluated."""

from .evaluation import angle_mean, evaluate
from .plan import Plan

__all__ = ["Plan", "angle_mean", "evaluate"]
