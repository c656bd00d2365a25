"""Kernels of `spherapprox.prompts.recurrent`."""

from .recurrence import Packed as Packed
from .recurrence import pack as pack
from .recurrence import run as run
