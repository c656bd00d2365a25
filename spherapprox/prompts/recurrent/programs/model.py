"""`PromptModel`: a program that reads a query, then a prompt, and returns the value of the prompt's function there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64
from ..language import Variable
from ..network import Network, sequences
from ..program import Program
from ..sugar import maximum


class PromptModel(ABC):
    """A program whose function is in its prompt: it reads a query, then the prompt, and ends with the value.

    `Dictionary`, `Grid`, `Extension` and `KernelSum` return one, each with its own ``prompt``.
    See docs/theorems/10.7-dictionaries.md.

    Attributes
    ----------
    program : Program
    network : Network
        The compiled program; one for all prompts.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent.programs import Dictionary
    >>> model = Dictionary(1, vocabulary=9)
    >>> model.network
    Network('dictionary', layers=..., width=..., nonzeros=...)
    >>> prompt = model.prompt([[2], [5]], [[7], [1]])
    >>> model.run([[5], [2], [3]], prompt)
    array([[1.],
           [7.],
           [0.]])
    >>> model.answers(model.network(model.sequences([[5], [2]], prompt)))
    array([[1.],
           [7.]])
    """

    @property
    def _steps(self) -> tuple[int, int]:
        """Number of steps of a query, and of its answer at the end."""
        return 1, 1

    @abstractmethod
    def _program(self) -> Program:
        """Return the program."""

    @abstractmethod
    def _queries(self, queries: ArrayLike) -> Float64:
        """Return the first steps of sequences, shape (n, k, d), after checking."""

    def _answers(self, outputs: Float64) -> Float64:
        """Return values from outputs of the last steps, shape (n, k, p)."""
        return outputs[:, 0]

    @cached_property
    def program(self) -> Program:
        """The program, as a graph of variables."""
        return self._program()

    @cached_property
    def network(self) -> Network:
        """The compiled program."""
        return self.program.compile()

    def run(self, queries: ArrayLike, prompt: ArrayLike, *, workers: int | None = None) -> Float64:
        """Return the values of the prompt's function at queries, shape (n, p).

        Parameters
        ----------
        queries : array_like, shape (n, k)
        prompt : array_like, shape (L, d)
            What ``prompt`` returned.
        workers : int, optional
            Threads; -1 for all cores.

        Raises
        ------
        TypeError, ValueError
        """
        return self._run(queries, prompt, workers=workers)

    def _run(
        self, queries: ArrayLike, prompt: ArrayLike, *, workers: int | None = None, entries: int = 2**21
    ) -> Float64:
        """Return the values, of batches and parts of the prompt with so many numbers together."""
        heads, tokens = self._queries(queries), self._prompt(prompt)
        step = max(1, entries // tokens.shape[1])
        batch = min(len(heads), max(8, step // len(tokens)))
        step, silent = max(1, step // batch), len(tokens) - self._steps[1]
        parts = [slice(i, min(i + step, silent)) for i in range(0, silent, step)]
        answers = []
        for i in range(0, len(heads), batch):
            _, state = self.network.run(heads[i : i + batch], last=True, workers=workers)
            shared = np.broadcast_to(tokens, (len(state), *tokens.shape))
            for part in parts:
                _, state = self.network.run(shared[:, part], state, last=True, workers=workers)
            outputs, _ = self.network.run(shared[:, silent:], state, workers=workers)
            answers.append(self._answers(outputs))
        return np.concatenate(answers)

    def sequences(self, queries: ArrayLike, prompt: ArrayLike) -> Float64:
        """Return sequences (n, q + L, d), q steps of a query and the prompt, for the network or a torch module.

        Parameters
        ----------
        queries : array_like, shape (n, k)
        prompt : array_like, shape (L, d)

        Raises
        ------
        TypeError, ValueError
            If arguments do not fit the program, or the sequences would not fit in memory.
        """
        heads, tokens = self._queries(queries), self._prompt(prompt)
        n, k, dim = heads.shape
        _checks.memory(8.0 * n * (k + len(tokens)) * dim, "sequences", "take fewer queries, or use run")
        return np.concatenate([heads, np.broadcast_to(tokens, (n, *tokens.shape))], axis=1)

    def answers(self, outputs: ArrayLike) -> Float64:
        """Return the values that outputs at all steps of `sequences` say, shape (n, p).

        Parameters
        ----------
        outputs : array_like, shape (n, L, p)
            Of `network`, or of a module that it became.

        Raises
        ------
        TypeError, ValueError
        """
        p = len(self.network.readout)
        rows = np.asarray(_checks.floating(outputs, "outputs", ("n", "L", p)), dtype=np.float64)
        if rows.shape[1] < sum(self._steps):
            raise ValueError(f"'outputs' must have {sum(self._steps)} steps at least, got shape {rows.shape}")
        return self._answers(rows[:, -self._steps[1] :])

    def _prompt(self, prompt: ArrayLike) -> Float64:
        """Return the steps of a prompt, after checking."""
        rows = np.asarray(sequences(prompt, self.network.dim, "prompt"), dtype=np.float64)
        if rows.ndim != 2 or len(rows) < self._steps[1]:
            raise ValueError(f"'prompt' must be one prompt, shape (L, {self.network.dim}), got shape {rows.shape}")
        self._check(rows)
        return rows

    def _check(self, prompt: Float64) -> None:
        """Raise if the steps of a prompt, shape (L, d), are none that the program understands."""
        limit = self.program.inputs[0].bound
        if limit is not None and not np.abs(prompt).max() <= limit:
            raise ValueError(
                f"'prompt' must have entries of at most {limit:g} in size, as this model's have, got "
                f"{np.abs(prompt).max():g}: .prompt of the same model makes prompts"
            )


def padded(queries: ArrayLike, dim: int, columns: int, bound: float) -> Float64:
    """Return queries of one step, in the first entries of it, after checking."""
    rows = np.asarray(_checks.floating(queries, "queries", ("n", dim)), dtype=np.float64)
    _checks.reals(rows, "queries", minimum=-bound, maximum=bound)
    steps = np.zeros((len(rows), 1, columns))
    steps[:, 0, :dim] = rows
    return steps


def largest(v: Variable, size: int = 1) -> Variable:
    """Return the largest of blocks of so many entries, entry by entry."""
    while (blocks := len(v) // size) > 1:  # by halves that share a block where their number is odd
        half = (blocks + 1) // 2 * size
        v = maximum(v[:half], v[-half:])
    return v


def power_of_two(number: float) -> float:
    """Return the least power of two that is at least a number above 0."""
    fraction, exponent = np.frexp(number)
    return float(np.ldexp(1.0, exponent - (fraction == 0.5)))
