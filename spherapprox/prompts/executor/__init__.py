"""Executors: fixed transformers that run whatever ReLU network their prompt holds."""

from .executor import Executor
from .keys import key_margin
from .network import ReluNetwork

__all__ = ["Executor", "ReluNetwork", "key_margin"]
