"""Samples of results, written so that they can be compared bit by bit and by relative difference."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

KEPT = 600
"""Numbers of an array that are stored; of larger ones every k-th, beside the hash of all."""


SLOW = float(os.environ.get("SLOW", "inf"))
"""Seconds from which a sample is named on stderr."""


class Recorder:
    """Call functions and keep what they return, warn of and raise."""

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self.group = ""

    def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Record a call under its group, the function's name and its arguments; returns what the function returns."""
        name = getattr(function, "__name__", None) or type(function).__name__
        shown = [show(a) for a in args] + [f"{key}={show(value)}" for key, value in kwargs.items()]
        return self.named(f"{name}({', '.join(shown)})", function, *args, **kwargs)

    def named(self, label: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Record a call under a label."""
        key = base = f"{self.group}: {label}"
        count = 1
        while key in self.results:
            count += 1
            key = f"{base} #{count}"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            try:
                result = function(*args, **kwargs)
                entry = {"value": encode(result)}
            except Exception as error:  # what is raised is a result too
                result = None
                entry = {"raises": type(error).__name__, "text": clean(str(error))}
        if (seconds := time.perf_counter() - start) > SLOW:
            print(f"{seconds:6.2f} s  {key}", file=sys.stderr, flush=True)
        said = sorted({f"{w.category.__name__}: {clean(str(w.message))}" for w in caught if ours(w)})
        self.results[key] = entry | ({"warns": said} if said else {})
        return result

    def keep(self, label: str, value: Any) -> None:
        """Record a value."""
        self.named(label, lambda: value)


def ours(warning: warnings.WarningMessage) -> bool:
    """Leave out warnings that other packages give about themselves."""
    return not issubclass(warning.category, ResourceWarning | PendingDeprecationWarning)


def clean(text: str) -> str:
    """Return a text without addresses and folders of this run."""
    return re.sub(r"/tmp/[^\s'\",]*", "/tmp", re.sub(r" at 0x[0-9a-f]+", "", text))


def show(argument: Any) -> str:
    """Return an argument as it stands in a sample's name."""
    if isinstance(argument, np.ndarray):
        return f"array{argument.shape}{'' if argument.dtype == np.float64 else argument.dtype}"
    if callable(argument) and hasattr(argument, "__name__"):
        return argument.__name__
    return clean(re.sub(r"\s+", " ", repr(argument)))[:60]


def encode(value: Any, depth: int = 0) -> Any:  # noqa: PLR0911
    """Return a value for JSON: floats in hex, arrays with a hash and their numbers, records by their fields."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"text": clean(value)}
    if isinstance(value, np.ndarray):
        return _array(value, depth)
    if isinstance(value, np.generic):
        return {"scalar": value.dtype.name, "of": encode(value.item(), depth + 1)}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, complex):
        return [encode(value.real), encode(value.imag)]
    if isinstance(value, Fraction) or type(value).__module__.startswith("mpmath"):
        return {"exact": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": hashlib.sha256(value).hexdigest()}
    return _compound(value, depth)


def _compound(value: Any, depth: int) -> Any:  # noqa: PLR0911
    if depth > 6:
        return {"text": clean(repr(value))}
    if isinstance(value, Mapping):
        return {"dict": [[encode(k, depth + 1), encode(v, depth + 1)] for k, v in value.items()]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {
            "record": type(value).__name__,
            "fields": {n: encode(getattr(value, n), depth + 1) for n in value._fields},
        }
    if isinstance(value, tuple | list):
        return [encode(v, depth + 1) for v in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.repr or f.name == "at"]
        return {"record": type(value).__name__, "fields": {n: encode(getattr(value, n), depth + 1) for n in names}}
    if hasattr(value, "savefig"):
        return _figure(value)
    if type(value).__module__.startswith("torch"):
        return _array(value.detach().numpy(), depth)
    return {"text": clean(repr(value))}


def _array(a: np.ndarray, depth: int) -> Any:
    if a.dtype == object:
        return {"shape": list(a.shape), "objects": [encode(v, depth + 1) for v in a.ravel()]}
    flat = np.ascontiguousarray(a).ravel()
    kept = flat[:: max(1, math.ceil(flat.size / KEPT))]
    if a.dtype.kind == "f":
        numbers = [float(x).hex() for x in kept]
    elif a.dtype.kind == "c":
        numbers = [float(part).hex() for x in kept for part in (x.real, x.imag)]
    else:
        numbers = [str(x) for x in kept]
    digest = hashlib.sha256(flat.tobytes()).hexdigest()[:32]
    return {"array": a.dtype.name, "shape": list(a.shape), "sha256": digest, "numbers": numbers}


def _figure(figure: Any) -> Any:
    """Return what a figure shows: lines, texts and titles of its axes."""
    axes = [
        {"title": a.get_title(), "lines": [encode(np.asarray(line.get_xydata(), float)) for line in a.lines],
         "texts": [clean(t.get_text()) for t in a.texts], "labels": [a.get_xlabel(), a.get_ylabel()]}
        for a in figure.axes
    ]  # fmt: skip
    return {"figure": [list(figure.get_size_inches()), axes]}
