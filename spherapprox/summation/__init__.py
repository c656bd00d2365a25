"""Evaluation of a head's sum over control points."""

from .angles import angle_mean
from .evaluation import evaluate
from .moments import TangentMoments, tangent_moments
from .plan import Plan

__all__ = ["Plan", "TangentMoments", "angle_mean", "evaluate", "tangent_moments"]
