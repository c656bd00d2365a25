"""The two attention layers of `SequenceHead`, one head each, as matrices of torch's orientation: rows are outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ... import _checks
from ..._types import Float64
from ...heads.attention import attention
from .controls import LARGEST


@dataclass(frozen=True)
class SequenceLayers:
    """Matrices that average values over control sequences given as a prefix: they know no function.

    An input is ``(x_i, e_i)``, the token and the unit vector of its position. A network of two matrices writes x_i into
    slot i of T; the first attention, with equal weights, sums the slots of all positions, so that each holds the whole
    sequence X. The second compares X with control sequences of the prefix, and lets position j see those of its own:
    token (k, i) of the prefix has the logit ``sum lambda <x, b_k> + M <e_j, e_i>``, an input 0. Concentrations and the
    mask M are in the prefix alone. See docs/theorems/7.2-two-layers.md.

    Parameters
    ----------
    length : int
        T, tokens of a sequence.
    dim : int
        m of S^m.
    n_outputs : int
        p, numbers at each position.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.sequences import SequenceLayers
    >>> layers = SequenceLayers(length=3, dim=2, n_outputs=1)
    >>> layers.embedding_dim, layers.up.shape, layers.down.shape, layers.second[0].shape, layers.readout.shape
    (34, (21, 6), (34, 21), (34, 34), (1, 34))
    >>> import numpy as np
    >>> layers.prefix(np.ones((4, 3, 3)), np.zeros((4, 3, 1)), mask=50.0).shape
    (12, 34)
    """

    length: int
    dim: int
    n_outputs: int

    def __post_init__(self) -> None:
        for name in ("length", "dim", "n_outputs"):
            object.__setattr__(self, name, _checks.integer(getattr(self, name), name, minimum=1))

    @property
    def _width(self) -> int:
        """Columns of a slot block: T (m+1)."""
        return self.length * (self.dim + 1)

    @property
    def _columns(self) -> dict[str, slice]:
        """The columns of a token of the layers: slots, sums, position, KEY, KEYID and VAL (7.2)."""
        columns, start = {}, 0
        for name, width in (
            ("slots", self._width), ("sums", self._width), ("position", self.length), ("key", self._width),
            ("key_position", self.length), ("value", self.n_outputs),
        ):  # fmt: skip
            columns[name] = slice(start, start + width)
            start += width
        return columns

    @property
    def embedding_dim(self) -> int:
        """Columns d of a token: 3 T (m+1) + 2 T + p."""
        return int(self._columns["value"].stop)

    @property
    def up(self) -> Float64:
        """The first matrix of the network before attention, shape (2 T (m+1) + T, m+1+T), behind which is a ReLU."""
        width, t = self.dim + 1, self.length
        matrix = np.zeros((2 * self._width + t, width + t))
        for sign, rows in ((1.0, slice(0, self._width)), (-1.0, slice(self._width, 2 * self._width))):
            matrix[rows, :width] = np.tile(sign * np.eye(width), (t, 1))
            matrix[rows, width:] = np.repeat(np.eye(t), width, axis=0)
        matrix[2 * self._width :, width:] = np.eye(t)
        return matrix

    @property
    def up_bias(self) -> Float64:
        """The bias of `up`: -1 for slots, 0 for positions."""
        return np.concatenate([np.full(2 * self._width, -1.0), np.zeros(self.length)])

    @property
    def down(self) -> Float64:
        """The second matrix of the network, shape (d, 2 T (m+1) + T), without bias."""
        at, eye = self._columns, np.eye(self._width)
        matrix = np.zeros((self.embedding_dim, 2 * self._width + self.length))
        # 7.2: slot j = relu(x + e_i[j] - 1) - relu(-x + e_i[j] - 1)
        matrix[at["slots"], : 2 * self._width] = np.hstack([eye, -eye])
        matrix[at["position"], 2 * self._width :] = np.eye(self.length)
        return matrix

    @property
    def first(self) -> tuple[Float64, Float64, Float64]:
        """Query, key and value matrices (d, d) of the first attention, over the inputs alone."""
        at, d = self._columns, self.embedding_dim
        value = np.zeros((d, d))
        value[at["sums"], at["slots"]] = self.length * np.eye(self._width)
        return np.zeros((d, d)), np.zeros((d, d)), value

    @property
    def second(self) -> tuple[Float64, Float64, Float64]:
        """Query, key and value matrices (d, d) of the second attention, over the prefix and the inputs."""
        at, d = self._columns, self.embedding_dim
        query, key, value = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
        # 7.2: W_Q and W_K; torch divides logits by sqrt(d)
        for name, asked in (("key", "sums"), ("key_position", "position")):
            eye = np.eye(at[name].stop - at[name].start)
            query[at[name], at[asked]], key[at[name], at[name]] = math.sqrt(d) * eye, eye
        value[at["value"], at["value"]] = np.eye(self.n_outputs)
        return query, key, value

    @property
    def readout(self) -> Float64:
        """The matrix (p, d) that reads the values at the end."""
        matrix = np.zeros((self.n_outputs, self.embedding_dim))
        matrix[:, self._columns["value"]] = np.eye(self.n_outputs)
        return matrix

    def prefix(self, keys: Float64, values: Float64, mask: float) -> Float64:
        """Return the tokens of a prefix, shape (T N, d): for each position those of all control sequences.

        Parameters
        ----------
        keys : ndarray, shape (N, T, m+1)
            ``lambda_i b_i`` for each token i of each control sequence.
        values : ndarray, shape (N, T, p)
        mask : float
            M, from 0 to 1e300: by how much the logits of a position's own tokens exceed those of others.

        Raises
        ------
        ValueError
        """
        keys = _checks.floating(keys, "keys", ("N", self.length, self.dim + 1)).astype(np.float64, copy=False)
        values = _checks.floating(values, "values", (len(keys), self.length, self.n_outputs)).astype(np.float64)
        height = _checks.real(mask, "mask", minimum=0.0, maximum=LARGEST)
        at, n = self._columns, len(keys)
        tokens = np.zeros((self.length, n, self.embedding_dim))
        for i in range(self.length):
            tokens[i][:, at["key"]] = keys.reshape(n, -1)
            tokens[i][:, at["key_position"]] = height * np.eye(self.length)[i]
            tokens[i][:, at["value"]] = values[:, i]
        return tokens.reshape(self.length * n, -1)

    def __call__(self, x: Float64, prefix: Float64) -> Float64:
        """Return the outputs of the layers, shape (batch, T, p).

        Parameters
        ----------
        x : ndarray, shape (batch, T, m+1)
            Sequences.
        prefix : ndarray, shape (n, d)
            Tokens that the second attention sees beside the inputs.

        Raises
        ------
        ValueError
            If the shapes do not fit, the logits would be too large for memory, or numbers overflow.
        """
        t, d = self.length, self.embedding_dim
        x = _checks.floating(x, "x", ("batch", t, self.dim + 1)).astype(np.float64, copy=False)
        prefix = _checks.floating(prefix, "prefix", ("n", d)).astype(np.float64, copy=False)
        numbers = 8.0 * (len(x) * t * (8 * d + self.up.shape[0]) + 3.0 * prefix.size)
        _checks.memory(numbers, "attention", "take fewer sequences at a time")
        inputs = np.concatenate([x, np.broadcast_to(np.eye(t), (len(x), t, t))], axis=2)  # (batch, T, m+1+T)
        tokens = np.maximum(inputs @ self.up.T + self.up_bias, 0.0) @ self.down.T  # (batch, T, d)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, matrices in ((np.zeros((0, d)), self.first), (prefix, self.second)):
                tokens = tokens + attention(tokens, rows, *(matrix.T for matrix in matrices))
            outputs = np.asarray(tokens @ self.readout.T)
        if not np.isfinite(outputs).all():
            raise ValueError("'x' and 'prefix' must be smaller: numbers of the layers overflow")
        return outputs
