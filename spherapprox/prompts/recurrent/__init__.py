"""Programs for recurrent models: a language, its compiler, and networks that are torch's own RNN, LSTM or GRU."""

from typing import Any

from ... import _extras
from . import programs
from .blocks import Concat, Input, LinState, ReLU, RunningMax
from .language import Linear, Multiplicative, Variable
from .layer import Layer
from .network import Network
from .program import Program, validate
from .registers import cycle, delay, first, window
from .sugar import absolute, choose, constant, equal, gate, maximum, minimum, snap, step

__all__ = [
    "Concat",
    "Input",
    "Layer",
    "LinState",
    "Linear",
    "Multiplicative",
    "Network",
    "Program",
    "ReLU",
    "RunningMax",
    "Variable",
    "absolute",
    "choose",
    "constant",
    "cycle",
    "delay",
    "equal",
    "first",
    "gate",
    "maximum",
    "minimum",
    "programs",
    "snap",
    "step",
    "validate",
    "window",
]


def __getattr__(name: str) -> Any:
    return _extras.load_submodule(__name__, name)  # torch_modules


def __dir__() -> list[str]:
    return sorted(__all__)
