"""Errors of heads, measured and proved: on one target, or over all targets of Lipschitz constant 1."""

from .._norms import lengths as lengths
from .constants import HeadConstants, head_constants
from .measured import sup_error, worst_case_error
from .records import Certificate, ErrorInterval, Proof

__all__ = ["Certificate", "ErrorInterval", "HeadConstants", "Proof", "head_constants", "sup_error", "worst_case_error"]
