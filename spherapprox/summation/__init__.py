"""Evaluation of a head's sum over control points."""

from . import distributed  # noqa: F401  # found as an attribute; it loads Dask when it is called
from .dot_product import attention, explain_attention
from .dot_product.records import AttentionPlan as AttentionPlan
from .dot_product.records import AttentionSolver
from .evaluation import evaluate, evaluate_log
from .explanation import explain_sum, plan_sum
from .moments import TangentMoments as TangentMoments
from .moments import angle_mean, tangent_moments
from .plan import Plan as Plan
from .progress import show_progress

__all__ = [
    "AttentionSolver",
    "angle_mean",
    "attention",
    "evaluate",
    "evaluate_log",
    "explain_attention",
    "explain_sum",
    "plan_sum",
    "show_progress",
    "tangent_moments",
]
