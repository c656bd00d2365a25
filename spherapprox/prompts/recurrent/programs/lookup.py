"""`Dictionary`: sequences of tokens that are looked up by sequences of tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64
from ..blocks import Input, LinState, ReLU
from ..language import Variable
from ..program import Program
from ..registers import cycle, first
from ..sugar import absolute, gate, snap
from .model import PromptModel, power_of_two

MAX_LENGTH = 256
MAX_TOKEN = 2**20
"""Up to here GRUs in float32 are right too; at 2^22 some are not."""


@dataclass(frozen=True)
class Dictionary(PromptModel):
    """A model that looks sequences of tokens up in a prompt of keys and values.

    It reads a query of `length` tokens, then key, value, key, value, ...; at the last `length` steps it writes the
    value whose key is the query, or 0 where there is none. ``prompt(keys, values)`` makes prompts.

    Parameters
    ----------
    length : int
        Tokens of a query, a key and a value, from 1 to 256.
    vocabulary : int
        Tokens are the integers from 1 to here, at most 2^20.
    robust : bool, default True
        Round all truth values to 0 or 1: the program stands some 100 times larger errors of its weights, with 21 layers
        in place of 14. What is left comes from registers, which multiply what they keep by a weight at each step.

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    All numbers are integers, whose size does not grow with the prompt: values are exact at any length. Modules of
    float32 get each token right too, after rounding.

    References
    ----------
    docs/theorems/10.7-dictionaries.md; Petrov (2025), Listing 2, which docs/theorems/3-errata.md corrects.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent.programs import Dictionary
    >>> model = Dictionary(3, vocabulary=20)
    >>> prompt = model.prompt([[1, 2, 3], [4, 5, 6]], [[7, 7, 8], [9, 10, 20]])
    >>> model.run([[4, 5, 6], [3, 2, 1]], prompt)
    array([[ 9., 10., 20.],
           [ 0.,  0.,  0.]])
    """

    length: int
    vocabulary: int
    robust: bool = True

    def __post_init__(self) -> None:
        vars(self).update(
            length=_checks.integer(self.length, "length", minimum=1, maximum=MAX_LENGTH),
            vocabulary=_checks.integer(self.vocabulary, "vocabulary", minimum=1, maximum=MAX_TOKEN),
            robust=_checks.flag(self.robust, "robust"),
        )

    @property
    def _steps(self) -> tuple[int, int]:
        return self.length, self.length

    def _program(self) -> Program:
        """Keep the query in a register; compare each key with it, and keep the value behind the key that fits."""
        n, bound = self.length, power_of_two(self.vocabulary)
        ones, shift = np.ones((1, n)), np.eye(n + 1, k=-1)
        x = Input(1, bound=bound, name="token")
        asking: Variable = snap(first(x, n)) if self.robust else first(x, n)
        phase, begun = cycle(x, 2 * n, phase=-n), self._truth(1.0 - ones @ asking)
        in_key = self._truth(phase[:n] + begun - 1.0).named("in key")
        in_value = self._truth(phase[n:] + begun - 1.0).named("in value")
        query = LinState(gate(asking, x, bound, positive=True), 1.0, bound=bound, name="query")
        target = ones @ gate(in_key, query, bound, positive=True)
        agreement = self._truth(ones @ in_key - absolute(x - target)).named("same")
        matches = LinState(agreement, shift[:n, :n], np.eye(n)[:, :1], bound=1.0)
        is_match = self._truth(ones @ matches + in_key[n - 1] - n).named("found")
        behind = LinState(is_match, shift, np.eye(n + 1)[:, :1], bound=1.0)[1:]
        storing = self._truth(in_value + ones @ behind - 1.0)
        value = LinState(gate(storing, x, bound, positive=True), 1.0, bound=bound, name="value")
        return Program(ones @ gate(in_value, value, bound, positive=True), "dictionary")

    def _truth(self, v: Variable) -> Variable:
        """Return a truth value, 0 or 1, of what is at most 0 or nearly 1."""
        return snap(v) if self.robust else ReLU(v)

    def _queries(self, queries: ArrayLike) -> Float64:
        return self._tokens(queries, "queries")[:, :, None]

    def _answers(self, outputs: Float64) -> Float64:
        return outputs[:, :, 0]

    def prompt(self, keys: ArrayLike, values: ArrayLike) -> Float64:
        """Return the prompt of a dictionary, shape (2 n length, 1).

        Parameters
        ----------
        keys : array_like of int, shape (n, length)
            No two alike.
        values : array_like of int, shape (n, length)

        Raises
        ------
        TypeError, ValueError
        """
        entries, answers = self._tokens(keys, "keys"), self._tokens(values, "values")
        if len(answers) != len(entries):
            raise ValueError(f"'values' must have a row for each of {len(entries)} keys, got {len(answers)}")
        _unique(entries, "'keys'")
        return np.concatenate([entries, answers], axis=1).reshape(-1, 1)

    def _check(self, prompt: Float64) -> None:
        if len(prompt) % (2 * self.length):
            raise ValueError(
                f"'prompt' must hold keys and values of {self.length} tokens each, got {len(prompt)} tokens: "
                ".prompt of the same model makes prompts"
            )
        pairs = prompt.reshape(-1, 2, self.length)
        self._tokens(pairs.reshape(-1, self.length), "prompt")
        _unique(pairs[:, 0], "keys of 'prompt'")

    def _tokens(self, tokens: ArrayLike, name: str) -> Float64:
        rows = np.asarray(_checks.floating(tokens, name, ("n", self.length)), dtype=np.float64)
        wrong = rows[(rows != np.rint(rows)) | (rows < 1.0) | (rows > self.vocabulary)]
        if wrong.size:
            raise ValueError(f"'{name}' must be integers from 1 to {self.vocabulary}, got {_checks.show(wrong[0])}")
        return rows


def _unique(keys: Float64, name: str) -> None:
    """Raise if a key is there twice."""
    _, where, counts = np.unique(keys, axis=0, return_index=True, return_counts=True)
    if (counts > 1).any():
        twice = keys[where[counts.argmax()]].astype(int).tolist()
        raise ValueError(f"{name} must be unique, got {twice} {counts.max()} times")
