"""Programs for recurrent models: a language, its compiler, and networks that are torch's own RNN, LSTM or GRU."""

from . import programs
from .gates import Gates
from .language import Concat, Input, Linear, LinState, Multiplicative, ReLU, RunningMax, Variable
from .layer import Layer
from .network import Network
from .program import Program, validate
from .sugar import absolute, constant, cycle, delay, equal, first, gate, maximum, minimum, snap, step, window

__all__ = [
    "Concat",
    "Gates",
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
