"""Statistics of directions: cones, tests, axes, mixtures, clusters and densities, as scikit-learn and torch have them.

Stands on the rest of `spherapprox`, which knows nothing of it. Names are loaded when they are first used (PEP 562).
"""

from __future__ import annotations

from typing import Any

from .. import _extras
from .._loading import load as _load

_HOMES = {
    "Kent": "kent",
    "SignificanceResult": "densities",
    "Watson": "watson",
    "bingham": "uniformity",
    "confidence_cone": "cones",
    "draw_globe": "figures",
    "draw_net": "figures",
    "draw_rose": "figures",
    "gine": "uniformity",
    "goodness_of_fit": "goodness",
    "rayleigh": "uniformity",
    "same_concentration": "comparisons",
    "same_mean": "comparisons",
}
"""Public names, each with its module."""
ESTIMATORS = {
    "SphericalKMeans": "estimators.k_means",
    "SphericalKernelDensity": "estimators.kernel_density",
    "VonMisesFisherClassifier": "estimators.classifier",
    "VonMisesFisherMixture": "estimators.mixture",
    "WatsonMixture": "estimators.watson_mixture",
}
"""Those of scikit-learn's kind."""

__all__ = [  # noqa: PLE0604 - the names above
    *_HOMES
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_load(f"{__name__}.{_HOMES[name]}"), name)
    if name in ESTIMATORS:
        return _extras.load(f"{__name__}.{ESTIMATORS[name]}", name)
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(ESTIMATORS if _extras.installed("sklearn") else ())})
