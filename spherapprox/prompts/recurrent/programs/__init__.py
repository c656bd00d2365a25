"""Programs that are given a function by their prompt: a dictionary, values at points, or an attention head's tokens."""

from .interpolation import Extension
from .lookup import Dictionary
from .model import PromptModel
from .partition import Grid
from .softmax import KernelSum
from .universal import Universal

__all__ = ["Dictionary", "Extension", "Grid", "KernelSum", "PromptModel", "Universal"]
