"""Errors of heads: measured on one target, or over all targets of Lipschitz constant 1."""

from .measured import ErrorInterval, sup_error, worst_case_error
from .measured import lengths as lengths

__all__ = ["ErrorInterval", "sup_error", "worst_case_error"]
