"""How a head's sum over control points is evaluated."""

from .plan import Plan, angle_mean, evaluate

__all__ = ["Plan", "angle_mean", "evaluate"]
