"""What a shorter prefix is fitted to: outputs and log masses of the given one at the queries, centred and scaled."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .... import _checks
from ...._norms import unit_of
from ...._types import Bools, Float64
from ....fitting.projection import Samples
from ....fitting.tokens import Tokens
from ..layer.attention import attend

_LARGEST = 1e100
"""Product of the largest numbers of queries and keys, at most: squares of logits are finite."""


@dataclass(frozen=True)
class Errors:
    """Errors at the queries: largest and root mean square, of outputs over the largest one, and of log masses."""

    error: float
    rms: float
    mass_error: float
    mass_rms: float

    def measure(self, norm: str, mass: float) -> float:
        """Return the number that is made small: of outputs, or of log masses times their weight if that is larger."""
        pair = (self.error, self.mass_error) if norm == "sup" else (self.rms, self.mass_rms)
        largest = max(pair[0], mass * pair[1])
        return largest if largest >= 0.0 else math.inf


@dataclass(frozen=True)
class Problem:
    """A prefix at queries.

    Tokens are those of a split head at points ``((x - centre) / spread, 1)``, x the queries times the scale: their last
    coordinate is the bias. Without one they are those at ``x / spread``. Shift and factor change no logit; fits
    converge faster. `x` and `key` are over and times `unit`, a power of 2 with which x is about 1.
    """

    key: Float64
    value: Float64
    x: Float64
    centre: Float64
    spread: float
    size: float
    unit: float
    samples: Samples
    bias: bool

    @classmethod
    def of(cls, key: Float64, value: Float64, x: Float64, *, weights: Float64, bias: bool, mass: float) -> Problem:
        """Return the problem of keys (n, d), values (n, p) and queries times their scale (m, d)."""
        unit = unit_of(x)
        with np.errstate(over="ignore"):
            x, key = x / unit, unit * key
        if not (np.isfinite(x).all() and np.abs(key).max() <= _LARGEST):
            raise ValueError(f"'queries' and 'key' must be at most {_LARGEST:g} as products, scale * <q, k> overflows")
        outputs, masses = attend(x, key, value)
        centre = weights @ x / weights.sum() if bias else np.zeros(x.shape[1])
        spread = float(np.linalg.norm((x - centre) * np.sqrt(weights / weights.sum())[:, None], 2)) or 1.0
        largest = float(np.abs(outputs).max()) or 1.0
        size = largest * (float(np.linalg.norm(outputs / largest, axis=1).max()) or 1.0)
        samples = Samples(x, outputs / size, weights / weights.mean(), log_masses=masses, mass=mass)
        problem = cls(key, value, x, centre, spread, size, unit, samples, bias)
        return replace(problem, samples=replace(samples, x=problem.points(x)))

    def beside(self, x: Float64, weights: Float64) -> Problem:
        """Return the problem at other queries, in the same coordinates and units."""
        with np.errstate(over="ignore"):
            x = x / self.unit
        outputs, masses = attend(x, self.key, self.value)
        samples = replace(
            self.samples, x=self.points(x), y=outputs / self.size, weights=weights / weights.mean(), log_masses=masses
        )
        return replace(self, x=x, samples=samples)

    def points(self, x: Float64) -> Float64:
        """Return the points of queries."""
        points = (x - self.centre) / self.spread
        return np.concatenate([points, np.ones((len(x), 1))], axis=1) if self.bias else points

    def tokens(self, key: Float64, bias: Float64) -> Tokens:
        """Return tokens of keys (N, d) and biases (N,), with no values yet."""
        keys = self.spread * key
        if self.bias:
            keys = np.concatenate([keys, (bias + key @ self.centre)[:, None]], axis=1)
        return Tokens(keys, np.zeros((len(key), self.value.shape[1])), normalize=True, unit=False)

    def prefix(self, tokens: Tokens) -> tuple[Float64, Float64, Float64 | None]:
        """Return the keys, the values and the biases of tokens."""
        d = self.x.shape[1]
        key = tokens.keys[:, :d] / self.spread
        bias = tokens.keys[:, d] - key @ self.centre if self.bias else None
        with np.errstate(over="ignore"):
            value = self.size * tokens.values
        if not np.isfinite(value).all():
            raise ValueError(f"'value' must be smaller, got up to {self.size:.3g}: values of the tokens overflow")
        return key / self.unit, value, bias

    def align(self, tokens: Tokens) -> Tokens:
        """Shift all keys alike, which changes no output, to the least squares of the log masses."""
        log_masses, roots = self.samples.log_masses, self.samples.roots[:, None]
        assert log_masses is not None
        missed = (log_masses - tokens.log_masses(self.samples.x))[:, None]
        shift = np.linalg.lstsq(roots * self.samples.x, roots * missed, rcond=1e-10)[0]
        return Tokens(tokens.keys + shift.T, tokens.values, normalize=True, unit=False)

    def errors(self, tokens: Tokens) -> Errors:
        """Return the errors of tokens at the queries."""
        squares, mass_squares = self.squares(tokens)
        mean = self.samples.weights / self.samples.weights.sum()
        return Errors(
            math.sqrt(float(squares.max())), math.sqrt(float(mean @ squares)),
            math.sqrt(float(mass_squares.max())), mass_rms=math.sqrt(float(mean @ mass_squares)),
        )  # fmt: skip

    def squares(self, tokens: Tokens) -> tuple[Float64, Float64]:
        """Return the squared errors of outputs and of log masses at each query, (m,) and (m,)."""
        samples = self.samples
        assert samples.log_masses is not None
        outputs = np.square(tokens(samples.x) - samples.y).sum(axis=1)
        return np.asarray(outputs), np.square(tokens.log_masses(samples.x) - samples.log_masses)


def hold_out(queries: Float64, seen: Bools, held_out: int | tuple[int, ...]) -> Bools:
    """Return which queries (m,) are held out, of those that are seen."""
    apart = np.zeros(len(queries), dtype=bool)
    if isinstance(held_out, tuple):
        maximum = len(queries) - 1
        apart[[_checks.integer(k, "held_out", maximum=maximum, limit="queries have no more") for k in held_out]] = True
        return apart & seen
    if held_out > 0:  # copies go together, by the place of the first
        _, first, group = np.unique(queries[seen], axis=0, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.intp)
        rank[np.argsort(first)] = np.arange(len(first))
        apart[seen] = rank[group.ravel()] % held_out == held_out - 1
    return apart
