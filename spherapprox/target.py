"""Targets: functions on S^m with their modulus of continuity and sup norm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _checks
from ._types import Floats

__all__ = ["Target"]

KINDS = ("given", "derived", "estimated")
CONSTANTS = ("lipschitz", "sup_norm", "smoothness", "laplacian", "third_derivative", "degree", "remainder")
"""Attributes of a target that enter proofs and have an origin."""
DERIVED = dict.fromkeys(CONSTANTS, "derived")  # origins of the catalogue's constants, all of which are exact or proven


class Origin(NamedTuple):
    """The origin of a constant, and the number it speaks of: another number has another origin."""

    kind: str
    value: float


@dataclass(frozen=True)
class Target:
    """A function on the sphere S^m that is to be approximated, with the constants known of it.

    Parameters
    ----------
    function : callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    dim : int
        m >= 1 of the sphere S^m in R^(m+1).
    lipschitz : float, optional
        L >= 0 with ``|f(x) - f(y)| <= L theta(x, y)**exponent`` for all points, in the Euclidean norm of R^p and with
        the geodesic distance theta. None: unknown.
    exponent : float, default 1.0
        Hoelder exponent, in (0, 1].
    sup_norm : float, optional
        F >= 0 with ``|f(x)| <= F`` for all points, in the Euclidean norm. None: unknown.
    smoothness, laplacian, third_derivative : float, optional
        Bounds H, Lap, T >= 0 of second derivatives along unit-speed geodesics, of the Laplacian on the sphere, and of
        third derivatives along geodesics, in the Euclidean norm. None: unknown.
    degree : int, optional
        n >= 0 such that f differs by at most `remainder` from a polynomial of degree n in the coordinates. None: no
        such degree is known.
    remainder : float, default 0.0
        That difference, in the Euclidean norm, at least 0.
    accuracy : float, default 1e-12
        Largest error of the values that the function returns, relative to the sup norm, in [0, 1).
    axes : array_like, shape (k, dim+1), optional
        Rows such that f(x) depends on the inner products of x with them alone, such as a pole. None: on all of x.
    n_outputs : int, optional
        p, if the function returns (n, p). None: not stated, and either shape passes.
    name : str, optional
        For tables and figures; by default the function's own name.
    unit : str, default ""
        The unit of the values, for tables and figures.
    provenance : str, default ""
        How the constants are known: "exact", a proof, a measurement.
    origins : mapping, optional
        From names of constants above to "given" (the default: taken at its word), "derived" (with a proof) or
        "estimated". `origin` tells it; a constant that `dataclasses.replace` changes becomes "given".

    Raises
    ------
    TypeError, ValueError
        If an argument is no callable, no number, or out of its range.

    Notes
    -----
    A target is frozen. Calling it checks the points and what the function makes of them; the constants are taken at
    their word, and every bound that uses them is as good as they are: `bounds.validate` tries to refute them, and names
    those that are estimates.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import Target
    >>> height = Target(lambda x: x[:, -1], dim=2, lipschitz=1.0, sup_norm=1.0, name="height")
    >>> height(np.array([[0.6, 0.0, 0.8], [0.0, 0.0, -1.0]]))
    array([ 0.8, -1. ])
    >>> height.modulus(0.25), height.modulus(3.0), height.origin("sup_norm")
    (0.25, 2.0, 'given')
    """

    function: Callable[[Any], ArrayLike] = field(repr=False)
    dim: int
    _: KW_ONLY
    lipschitz: float | None = None
    exponent: float = 1.0
    sup_norm: float | None = None
    smoothness: float | None = None
    laplacian: float | None = None
    third_derivative: float | None = None
    degree: int | None = None
    remainder: float = 0.0
    accuracy: float = 1e-12
    axes: Floats | None = field(default=None, repr=False, compare=False)
    n_outputs: int | None = None
    name: str | None = None
    unit: str = ""
    provenance: str = ""
    origins: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        _checks.callable_(self.function, "function")
        self._set("dim", _checks.dimension(self.dim))
        self._set("exponent", _checks.real(self.exponent, "exponent", above=0.0, maximum=1.0))
        for name in ("lipschitz", "sup_norm", "smoothness", "laplacian", "third_derivative", "remainder"):
            if name == "remainder" or getattr(self, name) is not None:
                self._set(name, _checks.real(getattr(self, name), name, minimum=0.0))
        self._set("accuracy", _checks.real(self.accuracy, "accuracy", minimum=0.0, maximum=0.5))
        if self.degree is not None:
            self._set("degree", _checks.integer(self.degree, "degree", minimum=0))
        elif self.remainder:
            raise ValueError(f"'remainder' must come with the 'degree' of its polynomial, got {self.remainder:g} alone")
        if self.axes is not None:
            axes = np.array(_checks.floating(self.axes, "axes", ("k", self.dim + 1)), dtype=np.float64)
            axes.flags.writeable = False
            self._set("axes", axes)
        if self.n_outputs is not None:
            self._set("n_outputs", _checks.integer(self.n_outputs, "n_outputs", minimum=1))
        if self.name is None:
            self._set("name", getattr(self.function, "__name__", type(self.function).__name__))
        for text in ("name", "unit", "provenance"):
            _checks.instance(getattr(self, text), text, str)
        self._set("origins", self._origins())

    def _origins(self) -> dict[str, Origin]:
        """Check the origins stated, and drop those of other numbers than the constants are now."""
        if not isinstance(self.origins, Mapping):
            raise TypeError(f"'origins' must map names of constants to origins, got {_checks.show(self.origins)}")
        origins = {}
        for name, source in self.origins.items():
            value = getattr(self, _checks.choice(name, "origins", CONSTANTS))
            origin = source
            if not isinstance(origin, Origin):
                origin = Origin(_checks.choice(source, f"origins[{name!r}]", KINDS), value)
            if value is not None and value == origin.value:
                origins[name] = origin
        return origins

    def origin(self, constant: str) -> str:
        """Return the origin of a constant.

        Parameters
        ----------
        constant : str
            "lipschitz", "sup_norm", "smoothness", "laplacian", "third_derivative", "degree" or "remainder".

        Returns
        -------
        {"given", "derived", "estimated", "unknown"}

        Raises
        ------
        ValueError
            If there is no such constant.
        """
        if getattr(self, _checks.choice(constant, "constant", CONSTANTS)) is None:
            return "unknown"
        return self.origins[constant].kind if constant in self.origins else "given"

    def _set(self, attribute: str, value: object) -> None:
        """Set an attribute of the frozen record, in `__post_init__` only."""
        object.__setattr__(self, attribute, value)

    def __call__(self, x: ArrayLike) -> Floats:
        """Return the function's values at points of the sphere.

        Parameters
        ----------
        x : array_like, shape (n, dim+1)
            Points of unit length, float32 or float64; the function gets them as they are, read-only.

        Returns
        -------
        ndarray, shape (n,) or (n, p)
            As the function returns them: float32 stays float32, integers become float64.

        Raises
        ------
        ValueError
            If the rows are no points of S^dim, or the function returns another shape or values that are not finite.
        TypeError
            If the function returns something else than real numbers.
        """
        rows = _checks.rows(x, dim=self.dim)
        values = _checks.numeric(_checks.called(self.function, rows), "function(x)")
        n = len(rows)
        shapes: list[tuple[int | str, ...]] = [(n,), (n, "p")]
        remedy = "it maps all rows at once, so use x[:, j] for a coordinate and axis=1 for a sum over one"
        if self.n_outputs is not None:
            shapes, remedy = [(n, self.n_outputs)], "'n_outputs' states the number of columns"
        _checks.shaped(values, "function", *shapes, note=f" for {n} points", remedy=remedy, verb="return")
        bad = ~np.isfinite(values).reshape(n, -1).all(axis=1)  # (n,)
        if bad.any():
            first = int(np.argmax(bad))
            raise ValueError(
                f"'function' must return finite values, got {_checks.show(values[first].tolist())} "
                f"at row {first}, x = {_checks.show(rows[first].tolist())}"
            )
        return _checks.floating(values, "function(x)")

    def modulus(self, angle: float) -> float:
        """Return the upper bound of ``|f(x) - f(y)|`` over points at most `angle` apart.

        Parameters
        ----------
        angle : float
            Geodesic distance, at least 0.

        Returns
        -------
        float
            ``min(lipschitz * angle**exponent, 2 sup_norm)``, each where it is known; inf if none is.

        Raises
        ------
        TypeError, ValueError
            If `angle` is negative or no number.
        """
        angle = min(_checks.real(angle, "angle", minimum=0.0), math.pi)
        slope = math.inf if self.lipschitz is None else self.lipschitz * angle**self.exponent
        return min(slope, math.inf if self.sup_norm is None else 2.0 * self.sup_norm)


def as_target(function: Any) -> Target:
    """Return a target as it is, or that of a function that has a `dim`, as heads have."""
    if isinstance(function, Target):
        return function
    _checks.callable_(function, "target")
    dim = getattr(function, "dim", None)
    if not isinstance(dim, int):
        raise ValueError(
            f"'target' must have a sphere, got {_checks.show(function)}: Target(function, dim) says that of a function"
        )
    return Target(function, dim)
