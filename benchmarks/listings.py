"""Listings 1 and 2 of the thesis as programs, corrected where they must be, in all forms, and noise of weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spherapprox.prompts.recurrent import (
    Input,
    LinState,
    Network,
    Program,
    ReLU,
    Variable,
    choose,
    constant,
    step,
)

SLOPE = 1000.0
"""mu of f_step."""


@dataclass(frozen=True)
class Listings:
    """The programs, by the form of f_ifelse, the number lambda in it, and the form of f_step.

    Counters of steps are the identity, and rotations rotate, `i` counts from 0 (docs/theorems/3-errata.md, 3.26-3.28).
    With `needed` all relus and products are left out that are 0 in these programs: "optimized" in Figure 5.4.
    """

    form: str = "product"
    needed: bool = True
    exact: bool = True
    bound: float = 512.0

    def step(self, v: Variable) -> Variable:
        """Return f_step: as printed, or as 1 - relu(1 - relu(mu v)), which is 0 or 1 without a rounding."""
        return step(v, SLOPE) if self.exact else ReLU(SLOPE * v) - SLOPE * ReLU(v - 1.0 / SLOPE)

    def both(self, u: Variable, v: Variable) -> Variable:
        """Return f_and."""
        return ReLU(self.step(u) + self.step(v) - 1.0)

    def choose(self, condition: Variable, yes: Variable) -> Variable:
        """Return f_ifelse with 0 as its other value: (5.7), (5.9) or (5.10)."""
        no = None if self.needed else 0.0 * yes
        if self.form == "step":
            condition = self.step(condition - 0.5)
        form = "product" if self.form == "product" else "relu"
        return choose(condition, yes, no, self.bound, form=form, positive=self.needed)

    def count(self, x: Variable, n: int) -> Variable:
        """Return f_modulo_counter, from 0 at the first step."""
        turn = 2.0 * np.pi / n
        rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        places = np.stack([np.cos(turn * np.arange(n)), np.sin(turn * np.arange(n))], axis=1)
        around = LinState(x, rotation, np.zeros((2, len(x))), init_state=places[-1])
        return np.arange(float(n))[None] @ self.step(places @ around - np.cos(0.5 * turn))

    def continuous(self, dim: int, outputs: int) -> Program:
        """Return Listing 1."""
        x = Input(1 + dim + outputs, name="input")
        counter = LinState(constant(x, 1.0), 1.0)
        query = LinState(self.choose(self.step(1.5 - counter), x[:dim]), 1.0, name="q")
        low = x[1 : 1 + dim]
        inside = self.step(query - low) - self.step(query - low - x[0])
        here = self.both(self.step(np.ones((1, dim)) @ inside - (dim - 0.5)), self.step(counter - 0.5)).named("in cell")
        return Program(LinState(self.choose(self.step(here - 0.5), x[-outputs:]), 1.0, name="y"), "Listing 1")

    def tokens(self, n: int) -> Program:
        """Return Listing 2, for keys and values of n tokens."""
        x, ones, i = Input(1, name="input"), np.ones((n, 1)), np.arange(float(n))
        counter = LinState(constant(x, 1.0), 1.0, init_state=-1.0, name="global ctr")
        place, long = self.count(x, n), self.count(x, 2 * n)
        prompted = self.step(counter - (n - 0.5)).named("is prompt")
        comparing = self.step(long - (n - 0.5)).named("is compare mode")
        copying = self.both(prompted, 1.0 - comparing).named("is copy mode")
        begins = self.both(copying, self.step(0.5 - place))
        at = self.both(self.step(ones @ place - i + 0.5), self.step(i + 0.5 - ones @ place))
        asked = ones @ self.choose(self.step(0.5 - prompted), x)
        query = LinState(self.choose(at, asked), 1.0, name="q")
        due = np.ones((1, n)) @ self.choose(at, query)
        same = self.both(self.both(self.step(x - due + 0.5), self.step(due + 0.5 - x)), comparing).named("matching")
        buffer = LinState(same, np.eye(n + 1, k=1), np.eye(n + 1)[:, -1:], name="buffer")
        found = self.both(self.step(np.append(np.ones(n), 0.0)[None] @ buffer - (n - 0.5)), begins)
        started = LinState(self.choose(found, counter), 1.0, name="started on")
        on = self.both(copying, self.step(started + float(n) - counter))
        kept = self.choose(self.step(self.both(ones @ on, at) - 0.5), ones @ x)
        registers = LinState(kept, 1.0, name="output regs")
        return Program(np.ones((1, n)) @ self.choose(self.step(at - 0.5), registers), "Listing 2")


def sequence(query: Any, prompt: Any) -> Any:
    """Return the input of a program: a query, filled up with zeros, and a prompt."""
    first, rest = np.atleast_2d(np.asarray(query, dtype=float)), np.asarray(prompt, dtype=float)
    return np.vstack([np.pad(first, [(0, 0), (0, rest.shape[1] - first.shape[1])]), rest])


def noisy(network: Network, sigma: float, rng: np.random.Generator) -> Network:
    """Return a network with Gaussian noise on all weights and biases that are not 0."""

    def moved(array: Any) -> Any:
        return np.where(array != 0.0, array + sigma * rng.standard_normal(array.shape), 0.0)

    names = "weight", "bias", "recurrent", "other", "other_bias"
    layers = [replace(layer, **{k: moved(getattr(layer, k)) for k in names}) for layer in network.layers]
    return Network(tuple(layers), moved(network.readout), moved(network.readout_bias))
