"""Programs that are given a function by their prompt: a dictionary, values at points, or an attention head's tokens."""

from .interpolation import extension
from .lookup import dictionary
from .model import PromptModel
from .partition import grid
from .softmax import kernel_sum

__all__ = ["PromptModel", "dictionary", "extension", "grid", "kernel_sum"]
