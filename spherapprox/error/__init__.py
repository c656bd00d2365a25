"""Errors of heads, measured and proved: on one target, or over all targets of Lipschitz constant 1."""

from .._norms import lengths as lengths
from .constants import HeadConstants as HeadConstants
from .constants import head_constants
from .measured import sup_error, worst_case_error
from .records import Certificate as Certificate
from .records import ErrorInterval as ErrorInterval
from .records import Proof

__all__ = ["Proof", "head_constants", "sup_error", "worst_case_error"]
