"""The earlier name of `torch_modules`, kept for scripts and for modules that torch has pickled under it."""

from .torch_modules import ClassicalAttention, ExponentialSum, SplitAttention

__all__ = ["ClassicalAttention", "ExponentialSum", "SplitAttention"]
