"""Evaluation of a head's sum over control points."""

from .angles import angle_mean
from .evaluation import evaluate
from .plan import Plan

__all__ = ["Plan", "angle_mean", "evaluate"]
