"""Approximation on the hypersphere by von Mises-Fisher kernels and attention heads.

Names are loaded when they are first used (PEP 562), so ``import spherapprox`` loads neither numba nor SciPy.
Docstrings cite the pages of docs/theorems; they are installed in share/doc/spherapprox below ``sys.prefix``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _extras, heads
from ._loading import load as _load
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import directional, harmonics, points, prompts, special, sphere, targets
    from .error import sup_error
    from .heads import *  # noqa: F403
    from .heads.estimators import HeadRegressor as HeadRegressor
    from .io import load
    from .partition import EqualMeasurePartition
    from .points import PointSet
    from .shortest import shortest_head
    from .summation import attention, evaluate
    from .target import Target
    from .vmf import VonMisesFisher

_HOME = {
    "EqualMeasurePartition": "partition",
    "PointSet": "points",
    "Target": "target",
    "VonMisesFisher": "vmf",
    "attention": "summation",
    "evaluate": "summation",
    "load": "io",
    "shortest_head": "shortest",
    "sup_error": "error",
} | dict.fromkeys(heads.__all__, "heads")
_MODULES = (
    "coefficients", "config", "error", "heads", "partition", "shortest", "summation", "vmf", "warmup",
)  # fmt: skip
"""One level down, in the reference."""

__all__ = [
    "EqualMeasurePartition",
    "PointSet",
    "Target",
    "VonMisesFisher",
    "attention",
    "directional",
    "evaluate",
    "harmonics",
    "load",
    "points",
    "prompts",
    "shortest_head",
    "special",
    "sphere",
    "sup_error",
    "targets",
]
__all__ += heads.__all__


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(_load(f"{__name__}.{_HOME[name]}"), name)
    if name in heads.ESTIMATORS:
        return _extras.load(f"{heads.__name__}.estimators", name)
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(heads.ESTIMATORS if _extras.installed("sklearn") else ())})
