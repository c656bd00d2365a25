"""Heads of tokens, tokens of heads, and the record of a rung, in the target's units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..fitting.rounding import round_to
from ..fitting.sup import Judge, errors
from ..fitting.tokens import Tokens
from ..heads.head import Head
from .candidate import Candidate
from .rung import Rung


@dataclass(frozen=True)
class Units:
    """The head's class, and the size and shape of the values that a search divides by it."""

    family: type[Head]
    size: float
    scalar: bool
    dtype: str | None

    def head(self, tokens: Tokens) -> Head:
        """Return the head of stored tokens."""
        lengths = tokens.lengths
        b = np.where(lengths[:, None] > 0.0, tokens.keys, np.eye(1, tokens.keys.shape[1]))
        b /= np.sqrt(np.square(b).sum(axis=1))[:, None]
        values = self.size * tokens.values
        if self.dtype is not None:
            values = round_to(values, self.dtype)
        concentration = tokens.concentration if tokens.unit else lengths
        return self.family(b, values[:, 0] if self.scalar else values, concentration)

    def tokens(self, head: Head, unit: bool) -> Tokens:
        """Return the tokens of a head; unit keys have the mean concentration of free ones."""
        lengths = np.broadcast_to(np.asarray(head.concentration, dtype=np.float64), len(head))
        if unit:
            lengths = np.full(len(head), max(float(lengths.mean()), 1e-13))
        keys = lengths[:, None] * head.control_points.astype(np.float64)
        values = head.values.reshape(len(head), -1).astype(np.float64) / self.size
        return Tokens(keys, values, head.family == "split", unit)

    def row(self, candidate: Candidate, judge: Judge) -> Rung:
        """Return the record of a rung."""
        tokens, x = judge.store(candidate.tokens, candidate.ridge), judge.checked.x
        residuals, weights = errors(tokens, judge.checked), tokens.matrix(judge.fit.x)
        largest = max(float(np.linalg.norm(judge.fit.y, axis=1).max()), 1e-300)
        sums = float((weights @ np.linalg.norm(tokens.values, axis=1)).max()) / largest
        beyond = candidate.at is not None and candidate.error >= residuals.max()  # between the samples
        return Rung(
            self.head(tokens), self.size * (candidate.error if beyond else float(residuals.max())), math.inf,
            np.array(candidate.at if beyond else x[int(residuals.argmax())]),
            self.size * math.sqrt(float(np.square(residuals).mean())), float(np.linalg.cond(weights)),
            max(math.log10(max(sums, 1e-300)), 0.0), candidate.start, candidate.starts, candidate.seconds,
        )  # fmt: skip
