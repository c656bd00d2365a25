"""Functions of sequences by two attention layers of one head each, with a prefix of control sequences in the second."""

from .cantor import cantor_code, cantor_decode
from .head import SequenceHead
from .layers import SequenceLayers
from .worst import mean_distance, worst_case_error

__all__ = ["SequenceHead", "SequenceLayers", "cantor_code", "cantor_decode", "mean_distance", "worst_case_error"]
