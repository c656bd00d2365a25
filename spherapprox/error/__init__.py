"""Errors of heads: measured on one target, or over all targets of Lipschitz constant 1."""

from .interval import ErrorInterval
from .measured import lengths as lengths
from .measured import sup_error, worst_case_error

__all__ = ["ErrorInterval", "sup_error", "worst_case_error"]
