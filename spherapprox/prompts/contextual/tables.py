"""`TableTransformer`: one layer of attention with fixed weights whose prompts are the tables of functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Array, Float64
from .table_layers import TableLayers

MOST_UNITS = 2**18
PROMPTS = ("tokens", "number")
_fractions = np.vectorize(Fraction, otypes=[object])


class TableTransformer:
    """A transformer of one layer and one head, of size one, that has a prompt for each map of sequences.

    Sequences of n tokens of d numbers in [0, 1] are rounded to ``cells`` midpoints in each number; a prompt is the
    table of outputs. Attention is uniform: it adds all digits of prompt and input up to one number, which the layers
    behind it read. Numbers are rational, so that nothing is rounded. See docs/theorems/8.11-prompts-as-tables.md.

    Parameters
    ----------
    cells : int
        Number c of cells for each number, at least 2; `bounds.prompts.prompt_length` has it for an error, as a
        constant of "grid-midpoint".
    token_dim, length : int, default 1
        Numbers d of a token, and tokens n of a sequence.
    prompt : str, default "tokens"
        ``"tokens"``: n c^(d n) tokens of the grid's numbers; ``"number"``: one token, whose first number holds all.
    deep : bool, default False
        False: a layer of n c^(d N) units behind attention, N all tokens. True: layers of 4 units, about
        ``n c^(3 d n) / 2`` of them.
    ramp : float, default 1e-3
        Share of a cell that the way from one output to the next takes, 1e-9 to 0.5.
    function : callable, optional
        A function of arrays (k, n, d), numbers in [0, 1], with values of the same kind. The transformer then does this
        one, without a prompt.

    Attributes
    ----------
    prompt_length : int
        Tokens of a prompt.
    before, after : tuple of Layer
        Feed-forward layers before and behind attention: ``columns``, ``knots``, ``down``, ``shift``; ``token`` gets
        ``relu(token[columns] - knots) @ down + shift`` added. Attention adds -N/2 times the mean of the first column
        to it.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or units are more than 2^18.

    Notes
    -----
    Rational numbers are slow: 1000 layers take 0.3 s to build, and a few sequences about as long to go through them.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import TableTransformer
    >>> transformer = TableTransformer(4, deep=True)
    >>> transformer
    TableTransformer(cells=4, token_dim=1, length=1, prompt_length=4, before=20, after=34)
    >>> for f in (lambda x: x**2, lambda x: 1.0 - x):  # one transformer, two prompts
    ...     print(transformer.run(transformer.encode(f), [[[0.1]], [[0.6]], [[0.9]]]).ravel())
    [0.125 0.375 0.875]
    [0.875 0.375 0.125]
    """

    def __init__(
        self, cells: int, *, token_dim: int = 1, length: int = 1, prompt: str = "tokens", deep: bool = False,
        ramp: float = 1e-3, function: Callable[[Float64], ArrayLike] | None = None,
    ) -> None:  # fmt: skip
        self.cells = _checks.integer(cells, "cells", minimum=2, maximum=MOST_UNITS)
        self.token_dim = _checks.integer(token_dim, "token_dim", minimum=1, maximum=64)
        self.length = _checks.integer(length, "length", minimum=1, maximum=64)
        self.ramp = _checks.real(ramp, "ramp", minimum=1e-9, maximum=0.5)
        self._is_number = _checks.choice(prompt, "prompt", PROMPTS) == "number"
        self.deep = _checks.flag(deep, "deep")
        self._check_size(function is None)
        self._n_cells = self.cells ** (self.token_dim * self.length)
        tokens = self.length * self._n_cells if function is None else 0
        self._digits = self.token_dim * tokens
        self.prompt_length = min(tokens, 1) if self._is_number else tokens
        self._plan = TableLayers(
            self.cells, self.token_dim, self.length, self.prompt_length, self._digits, self._is_number,
            Fraction(self.ramp), None if function is None else self._values(function),
        )  # fmt: skip
        self.before = tuple(self._plan.before(self.deep))
        self.after = tuple(self._plan.deep()) if self.deep else (self._plan.wide(),)

    def _check_size(self, has_prompt: bool) -> None:
        # 8.11 (wide), (deep), (function)
        size = self.token_dim * self.length
        log_cells = size * math.log(self.cells)
        log_units = math.log(self.length) + log_cells * (3 if self.deep and has_prompt else 1)
        if has_prompt and not self.deep:
            log_units += log_cells * math.exp(min(log_cells, 50.0))
        if log_units > math.log(MOST_UNITS):
            remedy = "take fewer cells" if self.deep else "take fewer cells, or deep=True"
            raise ValueError(f"'cells' must be smaller, got {self.cells}: more than {MOST_UNITS} units; {remedy}")

    def __repr__(self) -> str:
        sizes = f"cells={self.cells}, token_dim={self.token_dim}, length={self.length}"
        layers = f"before={len(self.before)}, after={len(self.after)}"
        return f"TableTransformer({sizes}, prompt_length={self.prompt_length}, {layers})"

    @property
    def units(self) -> int:
        """Hidden units of all layers together."""
        return sum(len(layer.knots) for layer in self.before + self.after)

    def encode(self, function: Callable[[Float64], ArrayLike]) -> Array:
        """Return the prompt of a function.

        Parameters
        ----------
        function : callable
            A function of arrays (k, n, d), numbers in [0, 1], with values of the same kind.

        Returns
        -------
        ndarray, shape (prompt_length, d)
            Floats, or, for ``prompt="number"``, Fractions: as few as one number holds all.

        Raises
        ------
        TypeError, ValueError
            If values are not in [0, 1] or of another shape, or the transformer has no prompts.

        Examples
        --------
        >>> from spherapprox.prompts.contextual import TableTransformer
        >>> TableTransformer(2).encode(lambda x: 1.0 - x).ravel()
        array([0.75, 0.25])
        >>> TableTransformer(2, prompt="number").encode(lambda x: 1.0 - x)
        array([[Fraction(1, 2)]], dtype=object)
        """
        if not self._digits:
            raise ValueError("the transformer does one function, without a prompt: leave 'function' out")
        digits = np.minimum(np.floor(self.cells * self._values(function)), self.cells - 1).astype(int)
        if not self._is_number:
            return np.asarray(((digits + 0.5) / self.cells).reshape(-1, self.token_dim))
        prompt = np.full((1, self.token_dim), Fraction(0), dtype=object)
        numerator = 0
        for digit in digits.ravel().tolist():
            numerator = numerator * self.cells + digit
        prompt[0, 0] = Fraction(numerator, self.cells**self._digits)
        return prompt

    def run(self, prompt: ArrayLike | None, x: ArrayLike) -> Float64:
        """Return the outputs at the tokens of sequences behind a prompt.

        Parameters
        ----------
        prompt : array_like, shape (prompt_length, d), or None
            What `encode` returns, or any numbers in [0, 1]; None where there are no prompts.
        x : array_like, shape (m, n, d)
            Sequences of numbers in [0, 1].

        Returns
        -------
        ndarray, shape (m, n, d)
            In [0, 1]; off the ramps the midpoints of the table, each the float next to it.

        Raises
        ------
        TypeError, ValueError
            If numbers are not in [0, 1], or shapes do not fit.

        Examples
        --------
        >>> from spherapprox.prompts.contextual import TableTransformer
        >>> TableTransformer(2, function=lambda x: 1.0 - x).run(None, [[[0.1]], [[0.8]]]).ravel()
        array([0.75, 0.25])
        """
        n, d = self.length, self.token_dim
        inputs = _checks.floating(x, "x", ("m", n, d))
        rows = np.zeros((0, d)) if prompt is None else np.asarray(prompt)
        _checks.shaped(rows, "prompt", (self.prompt_length, d))
        if not all(isinstance(number, Real) for number in rows.ravel()):
            raise TypeError(f"'prompt' must hold real numbers or Fractions, got an array of {rows.dtype}")
        for name, array in (("x", inputs), ("prompt", rows)):
            if array.size and not (array.min() >= 0 and array.max() <= 1):
                raise ValueError(f"'{name}' must be in [0, 1], got numbers from {array.min()} to {array.max()}")
        places = _fractions(2 * np.arange(self.prompt_length + n) + 1)[:, None]
        codes = _fractions(rows) + places[: self.prompt_length] if len(rows) else rows.astype(object)
        state = (_fractions(inputs) + places[self.prompt_length :]).reshape(-1, d)
        for layer in self.before:
            codes, state = layer(codes), layer(state)
        own = state[:, 0].reshape(-1, n)
        state[:, 0] = (own - (codes[:, 0].sum() + own.sum(axis=1, keepdims=True)) / Fraction(2)).ravel()
        for layer in self.after:
            state = layer(state)
        return np.asarray(state.astype(np.float64).reshape(-1, n, d))

    def _values(self, function: Callable[[Float64], ArrayLike]) -> Float64:
        """Return the values of a function at the midpoints of all cells, (c^(d n), n, d)."""
        n, d = self.length, self.token_dim
        index = np.arange(self._n_cells)[:, None] // self.cells ** np.arange(n * d) % self.cells
        values = _checks.called(function, ((index + 0.5) / self.cells).reshape(-1, n, d))
        values = _checks.floating(values, "the values", (self._n_cells, n, d))
        if not (values.min() >= 0.0 and values.max() <= 1.0):
            raise ValueError(f"'function' must have values in [0, 1], got {values.min():.6g} to {values.max():.6g}")
        return np.asarray(values, dtype=np.float64)
