"""Compressed prefixes, and the lengths that a search tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._archive import Savable
from ...._types import Float64, Indices
from ..layer.attention import attend
from ..layer.rows import Prefix, as_prefix


@dataclass(frozen=True)
class Trial(Savable):
    """The best prefix of one length that was found.

    Parameters
    ----------
    n : int
        Number of tokens.
    error, rms, mass_error, mass_rms, held_out : float
        As those of `CompressedPrefix`.
    start : str
        What its fit began from: "k-means", "k-means 1", ... from means of clusters of keys, "pursuit" and "attention"
        from tokens chosen by `select`, "prune" from the fit of a longer prefix.
    seconds : float
        Time spent on this length.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import Prefix, compress
    >>> short = compress(Prefix([[0.0], [0.0]], [[1.0], [3.0]]), [[1.0], [2.0], [3.0]], length=1)
    >>> [trial.n for trial in short.history]
    [1]
    """

    _kind = "trial"

    n: int
    error: float
    rms: float
    mass_error: float
    mass_rms: float
    held_out: float | None
    start: str
    seconds: float

    def __post_init__(self) -> None:
        _checks.integer(self.n, "n", minimum=1)
        _check_errors(self, "error", "rms", "mass_error", "mass_rms", "held_out", "seconds")
        _checks.instance(self.start, "start", str)

    def _arguments(self) -> Mapping[str, Any]:
        return dict(vars(self))


def _check_errors(record: object, *names: str) -> None:
    """Check fields that are errors, or None where there is none."""
    for name in names:
        if (value := getattr(record, name)) is not None:
            _checks.real(value, name, minimum=0.0, finite=False)


@dataclass(frozen=True, eq=False)
class CompressedPrefix(Savable):
    """A short prefix that does what a given long one does on given queries.

    Parameters
    ----------
    key : ndarray, shape (N, d)
        Its keys.
    value : ndarray, shape (N, p)
        Its values.
    bias : ndarray, shape (N,), or None
        What is added to its logits, for each token; None for a plain prefix.
    scale : float
        Factor of the inner products: logits are ``scale * <q, k> + bias``.
    error, rms : float
        Largest and root mean squared length of the change of the outputs at the queries that it was fitted to, over the
        largest length of an output of the given prefix there.
    mass_error, mass_rms : float
        The same of the log mass, the logarithm of the sum of ``exp(logit)``, as it is.
    held_out, held_out_mass : float or None
        The root mean squares at the queries that were held out, which no fit saw; None if none were.
    indices : ndarray of int, shape (N,), or None
        Which tokens of the given prefix these are, in the order in which they were chosen; None if keys are their own.
    eps : float or None
        The error asked for, if one was; it is reached.
    history : tuple of Trial
        A row for each length that was tried, shortest first.

    Raises
    ------
    TypeError, ValueError
        If arrays do not fit together, or numbers are out of their range.

    Notes
    -----
    Beside other tokens, whose outputs are no longer than the largest one of the given prefix, the outputs of all change
    by at most ``error + mass_error / 2`` at the queries, relative to that one.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Prefix, compress
    >>> key, value, queries = np.random.default_rng(0).standard_normal((3, 60, 4))
    >>> short = compress(Prefix(key, value), queries, length=6)
    >>> short
    CompressedPrefix(n=6, d=4, p=4, error=..., mass_error=...)
    >>> short(queries).shape, short.log_mass(queries).shape
    ((60, 4), (60,))
    >>> print(short.table().splitlines()[0])
      N    error    rms    mass error    mass rms    held out  start...
    """

    key: Float64
    value: Float64
    bias: Float64 | None
    scale: float
    error: float
    rms: float
    mass_error: float
    mass_rms: float
    held_out: float | None = None
    held_out_mass: float | None = None
    indices: Indices | None = None
    eps: float | None = None
    history: tuple[Trial, ...] = field(default=())

    _kind = "compressed-prefix"

    def __post_init__(self) -> None:
        key = _checks.floating(self.key, "key", ("N", "d"))
        _checks.floating(self.value, "value", (len(key), "p"))
        if self.bias is not None:
            _checks.floating(self.bias, "bias", (len(key),))
        if self.indices is not None:
            indices = _checks.floating(np.asarray(self.indices, np.float64), "indices", (len(key),))
            if not ((indices >= 0.0) & (indices == np.rint(indices)) & (indices < 2.0**53)).all():
                raise ValueError("'indices' must be integers of at least 0")
            object.__setattr__(self, "indices", indices.astype(np.intp))
        for name in ("scale", "eps"):
            if (value := getattr(self, name)) is not None:
                _checks.real(value, name, above=0.0)
        _check_errors(self, "error", "rms", "mass_error", "mass_rms", "held_out", "held_out_mass")
        for row in _checks.instance(self.history, "history", tuple):
            _checks.instance(row, "history", Trial)

    def _arguments(self) -> Mapping[str, Any]:
        arguments = dict(vars(self))
        return arguments if self.indices is None else arguments | {"indices": self.indices.astype(np.float64)}

    @property
    def n(self) -> int:
        """Number of tokens."""
        return len(self.key)

    @property
    def prefix(self) -> Prefix:
        """The tokens as a plain prefix; a TypeError where they have biases, which none has."""
        if self.bias is not None:
            raise TypeError(f"'prefix' of {self!r} must be plain: {as_prefix(self, '')}")
        return Prefix(self.key, self.value)

    def __call__(self, queries: ArrayLike) -> Float64:
        """Return the outputs (m, p) of attention over the prefix, ``softmax(scale * <q, k> + bias)`` times the values.

        Parameters
        ----------
        queries : array_like, shape (m, d)

        Raises
        ------
        TypeError, ValueError
            If queries are not finite or have other columns than keys, or logits overflow.
        """
        return attend(self._scaled(queries), self.key, self.value, bias=self.bias)[0]

    def log_mass(self, queries: ArrayLike) -> Float64:
        """Return the logarithms (m,) of the sums of ``exp(scale * <q, k> + bias)``.

        With these, outputs over several blocks of tokens are put together: block j has the share ``exp(log_mass_j)`` of
        the sum of these.

        Parameters
        ----------
        queries : array_like, shape (m, d)

        Raises
        ------
        TypeError, ValueError
            If queries are not finite or have other columns than keys, or logits overflow.
        """
        return attend(self._scaled(queries), self.key, self.value, bias=self.bias)[1]

    def table(self) -> str:
        """Return the history as a text table, a line for each length."""
        from tabulate import tabulate

        rows = [
            (t.n, *("" if e is None else f"{e:.3g}" for e in (t.error, t.rms, t.mass_error, t.mass_rms, t.held_out)),
             t.start, f"{t.seconds:.1f}")
            for t in self.history
        ]  # fmt: skip
        headers = ("N", "error", "rms", "mass error", "mass rms", "held out", "start", "s")
        return str(tabulate(rows, headers, disable_numparse=True, colalign=(*["right"] * 6, "left", "right")))

    def __repr__(self) -> str:
        (n, d), p = self.key.shape, self.value.shape[1]
        return f"CompressedPrefix(n={n}, d={d}, p={p}, error={self.error:.3g}, mass_error={self.mass_error:.3g})"

    def _scaled(self, queries: ArrayLike) -> Float64:
        """Return checked queries times the scale."""
        d = self.key.shape[1]
        rows = _checks.floating(queries, "queries", ("m", d), note=", columns as keys have")
        with np.errstate(over="ignore"):
            return np.asarray(self.scale * rows.astype(np.float64))
