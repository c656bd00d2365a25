"""The tokens of a head with free keys: their matrix at points, its derivatives, and steps of the keys."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .._softmax import log_sum_exp
from .._types import Float64, Indices

_NO_UNDERFLOW = 300.0
"""Exponents up to which exponentials relative to one that is as large are no smaller than 1e-261."""
LONGEST = 1e14
"""Coordinates of keys that steps may lead to: beyond, exponents round by more than they may change by."""
_LONGEST_STEP = 0.7
"""Largest step of a unit key, in radians, and of the concentration's logarithm."""


@dataclass(frozen=True)
class Tokens:
    """Keys c_k, the rows of `keys` (N, d), and values (N, p) of a core head or a split head.

    A core head is ``sum_k v_k exp(<x, c_k> - |c_k|)``, a split head the softmax of ``<x, c_k>`` over the values. With
    `unit` all keys have one length, the concentration; else they are any vectors.
    """

    keys: Float64
    values: Float64
    normalize: bool
    unit: bool

    @property
    def lengths(self) -> Float64:
        """Lengths of the keys (N,): concentrations of the tokens."""
        return np.asarray(np.sqrt(np.square(self.keys).sum(axis=1)))

    @property
    def concentration(self) -> float:
        """Mean length of the keys."""
        return float(self.lengths.mean())

    @property
    def parameters(self) -> int:
        """Number of parameters besides the values: the keys' first coordinates, their second ones, and so on."""
        n, d = self.keys.shape
        return int(n * (d - 1) + 1 if self.unit else n * d)

    def __len__(self) -> int:
        return len(self.keys)

    def __call__(self, x: Float64) -> Float64:
        """Evaluate at points (n, d), (n, p)."""
        return np.asarray(self.matrix(x) @ self.values)

    def matrix(self, x: Float64) -> Float64:
        """Return the weights of the values at points, (n, N)."""
        exponents = x @ self.keys.T
        if not self.normalize:
            exponents -= self.lengths
        elif (largest := float(self.lengths.max()) * math.sqrt(np.einsum("ij,ij->i", x, x).max())) < _NO_UNDERFLOW:
            exponents -= largest  # at least theirs, in less time
        else:
            exponents -= exponents.max(axis=1, keepdims=True)
        weights = np.exp(exponents, out=exponents)
        if self.normalize:
            weights /= (weights @ np.ones(len(self)))[:, None]
        return np.asarray(weights)

    def log_masses(self, x: Float64) -> Float64:
        """Return the logarithms of the sums of ``exp(<x, c_k>)`` at points, (n,)."""
        exponents = x @ self.keys.T
        return log_sum_exp(exponents, out=exponents)

    def jacobian(self, x: Float64, weights: Float64, column: int) -> Float64:
        """Return the derivative (n, parameters) of a column of the head at points with their weights, values kept."""
        factors = weights * self.values[:, column]  # (n, N)
        if self.normalize:
            factors -= weights * factors.sum(axis=1, keepdims=True)
        lengths = self.lengths
        if not self.unit:
            part = factors[:, None, :] * x[:, :, None]  # (n, d, N)
            if not self.normalize:
                safe = np.where(lengths > 0.0, lengths, 1.0)
                part -= factors[:, None, :] * (self.keys / safe[:, None]).T
            return part.reshape(len(x), -1)
        concentration, b = lengths.mean(), self.keys / lengths[:, None]
        frames = np.swapaxes(tangent_frames(b), 0, 1)  # (m, N, d)
        m, n, d = frames.shape
        along = (x @ frames.reshape(m * n, d).T).reshape(len(x), m, n)
        part = np.empty((len(x), m * n + 1))
        np.multiply(concentration * factors[:, None, :], along, out=part[:, :-1].reshape(len(x), m, n))
        # along log concentration; for a softmax the -1 has no effect
        part[:, -1] = concentration * (factors * (x @ b.T - 1.0)).sum(axis=1)
        return part

    def move(self, step: Float64) -> Tokens:
        """Return tokens with keys moved by a step of the parameters."""
        if not self.unit:
            return replace(self, keys=self.keys + step.reshape(self.keys.shape[::-1]).T)
        longest = float(np.abs(step).max(initial=0.0))
        if longest > _LONGEST_STEP:
            step = step * (_LONGEST_STEP / longest)
        lengths = self.lengths
        b = self.keys / lengths[:, None]
        b = b + np.einsum("kmd,mk->kd", tangent_frames(b), step[:-1].reshape(-1, len(b)))
        b /= np.linalg.norm(b, axis=1, keepdims=True)
        return replace(self, keys=lengths.mean() * math.exp(float(step[-1])) * b)

    def snap(self, grain: float) -> Tokens:
        """Return tokens of one length on a grid: the coordinates of unit keys, and the length's logarithm."""
        lengths = self.lengths
        b = np.rint(self.keys / (grain * lengths[:, None]))
        length = math.exp(grain * round(math.log(lengths[0]) / grain))
        return replace(self, keys=length / np.sqrt(np.square(b).sum(axis=1, keepdims=True)) * b)

    def take(self, rows: Indices) -> Tokens:
        """Return some of the tokens."""
        return replace(self, keys=self.keys[rows], values=self.values[rows])


def tangent_frames(b: Float64) -> Float64:
    """Return orthonormal bases (N, m, d) of the tangent spaces at points (N, d): rows of Householder reflections."""
    u = b.copy()
    u[:, -1] += np.where(b[:, -1] >= 0.0, 1.0, -1.0)
    reflections = np.eye(b.shape[1]) - 2.0 * u[:, :, None] * u[:, None, :] / np.square(u).sum(axis=1)[:, None, None]
    return np.asarray(reflections[:, :-1])
