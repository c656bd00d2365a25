"""The engine of fits: recipes of heads, by least squares at fixed or free points; it knows no class of heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _checks
from .._loading import load
from . import fixed_points
from .fixed_points import Fit


def fit_recipe(x: Any, y: Any, points: str, *, normalize: bool, weights: Any = None, **options: Any) -> Fit:
    """Fit control points, values and a concentration to data, with the arguments of `CoreHead.fit`."""
    fit: Callable[..., Fit] = fixed_points.fit
    if _checks.choice(points, "points", ("fixed", "free")) == "free":
        fit = load(f"{__package__}.free_points").fit  # which needs SciPy
    recipe = fit(x, y, normalize=normalize, weights=weights, **options)
    if not normalize:
        fixed_points.warn_of_offset(y, weights, recipe.error)
    return recipe
