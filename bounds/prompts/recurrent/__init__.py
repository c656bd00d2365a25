"""Recurrent models whose prompt holds a function: lengths of prompts, errors of gates and of sums, bits of states."""

from .gates import gate_error
from .interpolation import error_bound, prompt_length, state_bits
from .kernel_sums import kernel_sum_error
from .modules import module_error

__all__ = ["error_bound", "gate_error", "kernel_sum_error", "module_error", "prompt_length", "state_bits"]
