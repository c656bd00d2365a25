"""Errors of executors: the numbers that one has to be made from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spherapprox import _checks
from spherapprox.prompts.executor import Executor, key_margin
from spherapprox.prompts.executor.layout import ROUNDING, gate_above, layer_sizes, row_bounds

from ..records.bound import Bound
from .lengths import UNITS, between

REFERENCE = "docs/theorems/9.1-executor.md"

_MOST_SEGMENTS, _LEAST = 2**26, 1e-300
"""Segments of a layer, and the impurity of its reads."""


@dataclass(frozen=True)
class ExecutorBudget:
    """Numbers that an executor is made from, and the error that follows.

    Parameters
    ----------
    sizes, eps, weight_bound, row_bound, radius, margin
        As in `executor_budget`; a row bound for each layer.
    segments : tuple of D int
        Of the interpolated squares.
    concentrations : tuple of D float
        Inverse temperatures.
    activation_bounds : tuple of D float
        Largest absolute inputs of the layers, errors included.
    bound : Bound
        On the quantity "executor error", at most `eps`; its constant "roundings" is the part that these have in it.

    Examples
    --------
    >>> from bounds import prompts
    >>> from spherapprox.prompts.executor import ReluNetwork
    >>> budget = prompts.executor_budget((1, 4, 1), 1e-2, row_bound=2.0)
    >>> executor = budget.executor()
    >>> network = ReluNetwork.piecewise_linear([-1.0, 0.0, 1.0], [0.5, 0.0, 0.5])
    >>> x = [[-1.0], [0.3]]
    >>> abs(executor.run(executor.encode(network), x) - network(x)).max() <= budget.bound.value <= 1e-2
    True
    """

    sizes: tuple[int, ...]
    eps: float
    weight_bound: float
    row_bound: tuple[float, ...]
    radius: float
    margin: float
    segments: tuple[int, ...]
    concentrations: tuple[float, ...]
    activation_bounds: tuple[float, ...]
    bound: Bound

    def __repr__(self) -> str:
        from tabulate import tabulate

        columns = self.sizes[1:], self.row_bound, self.segments, self.concentrations, self.activation_bounds
        rows = [
            (i, n, f"{r:.4g}", k, f"{t:.4g}", f"{a:.4g}")
            for i, (n, r, k, t, a) in enumerate(zip(*columns, strict=True), 1)
        ]
        headers = ("layer", "size", "row bound", "segments", "concentration", "inputs to")
        return (
            f"ExecutorBudget: {self.sizes[0]} inputs to {self.radius:g}, weights to {self.weight_bound:g}, margin "
            f"{self.margin:.4g}, eps {self.eps:g}\n{tabulate(rows, headers, disable_numparse=True)}\n{self.bound}"
        )

    def executor(self, keys: Any = None) -> Executor:
        """Make the executor that has this error.

        Parameters
        ----------
        keys : array_like, shape (m, dim+1), or PointSet, optional
            Keys of at least this margin; by default a basis, whose margin is 1.

        Raises
        ------
        TypeError, ValueError
            If the keys have a smaller margin, or `spherapprox.prompts.executor.Executor` refuses arguments.

        Examples
        --------
        >>> from bounds import prompts
        >>> prompts.executor_budget((2, 16, 1), 1e-2, row_bound=2.0).executor()
        Executor(sizes=(2, 16, 1), prompt_length=17, token_dim=100, depth=4, margin=1)
        """
        if keys is not None and not key_margin(keys) >= self.margin:
            raise ValueError(
                f"'keys' must have a margin of at least {_checks.digits(self.margin)}, that of this budget, got "
                f"{_checks.digits(key_margin(keys))}: executor_budget(..., margin=key_margin(keys)) allows for it"
            )
        return Executor(
            self.sizes, self.segments, self.concentrations, activation_bounds=self.activation_bounds, keys=keys,
            weight_bound=self.weight_bound, row_bound=self.row_bound, radius=self.radius,
        )  # fmt: skip


def executor_budget(
    sizes: Sequence[int], eps: float, *, weight_bound: float = 1.0, row_bound: float | Sequence[float] | None = None,
    radius: float = 1.0, margin: float = 1.0, dtype: str | None = "float64",
) -> ExecutorBudget:  # fmt: skip
    """Compute the numbers with which an executor runs all networks of given sizes and bounds to an error.

    See docs/theorems/9.1-executor.md.

    Parameters
    ----------
    sizes : sequence of int
        Sizes n_0, ..., n_D of the layers, that of the input first.
    eps : float
        Largest error of an output, of all networks and all inputs.
    weight_bound : float, default 1.0
        Largest absolute weight or bias.
    row_bound : float or sequence of D float, optional
        Largest sum of absolute weights in a row, of all layers or of each; by default what `weight_bound` allows. Take
        `ReluNetwork.row_sums`: sizes of blocks grow with the square root of the product of these numbers.
    radius : float, default 1.0
        Largest absolute input.
    margin : float, default 1.0
        Margin of the keys, as `spherapprox.prompts.executor.key_margin` measures it; that of a basis is 1.
    dtype : {"float64", "float32", None}
        The arithmetic in which the executor runs: its roundings, in the worst case, are part of the bound. None leaves
        them out.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or roundings alone may exceed half of `eps`.

    Examples
    --------
    >>> from bounds import prompts
    >>> budget = prompts.executor_budget((2, 16, 1), 1e-2, row_bound=2.0)
    >>> budget.segments, print(budget.bound)
    executor: executor error <= 0.009951  [docs/theorems/9.1-executor.md]
    ((40, 140), None)
    """
    layers = layer_sizes(sizes)
    goal, largest = between(eps, "eps"), between(weight_bound, "weight_bound")
    rows, inputs = row_bounds(row_bound, layers, largest), between(radius, "radius")
    gap = _checks.real(margin, "margin", minimum=1e-6, maximum=1.0)
    kind = None if dtype is None else _checks.choice(dtype, "dtype", UNITS)
    task = _Task(layers, largest, tuple(between(row, "row_bound") for row in rows), radius=inputs, margin=gap)
    unit = 0.0 if kind is None else UNITS[kind]
    share = goal
    while True:
        plan = _plan(task, share, unit)
        error = math.exp(math.log(plan.error))  # as Bound.value has it
        if error <= goal:
            break
        share -= 1.01 * (error - goal) + 1e-9 * goal
        if not share >= 0.5 * goal:
            raise ValueError(
                f"'eps' must be larger, or 'dtype' finer: roundings in {kind} alone may add {plan.roundings:.3g} to "
                f"the error, got {_checks.digits(goal)}"
            )
    constants = (("truncation", plan.error - plan.roundings), ("roundings", plan.roundings))
    bound = Bound(
        "executor error", math.log(plan.error), "upper", theorem="executor", reference=REFERENCE, constants=constants
    )
    return ExecutorBudget(
        layers, goal, largest, row_bound=task.rows, radius=inputs, margin=gap, segments=plan.segments,
        concentrations=plan.concentrations, activation_bounds=plan.activations, bound=bound,
    )  # fmt: skip


@dataclass(frozen=True)
class _Task:
    """Checked arguments of `executor_budget`."""

    sizes: tuple[int, ...]
    weight: float
    rows: tuple[float, ...]
    radius: float
    margin: float

    @property
    def tokens(self) -> int:
        return sum(self.sizes[1:]) + max(self.sizes[1:])


@dataclass(frozen=True)
class _Plan:
    """Numbers of all layers, the error that follows, and the part of roundings in it."""

    segments: tuple[int, ...]
    concentrations: tuple[float, ...]
    activations: tuple[float, ...]
    error: float
    roundings: float


def _plan(task: _Task, eps: float, unit: float) -> _Plan:
    """Return the numbers that divide an error evenly over layers (9.1)."""
    depth, widest = len(task.rows), max(task.rows)
    segments, sharp, activations = [], [], [task.radius]
    exact, error, lost, gate = task.radius, unit * task.radius, unit * task.radius, 0.0
    for layer, (n, row) in enumerate(zip(task.sizes, task.rows, strict=False)):
        size = activations[-1]
        growth = depth * math.prod(task.rows[layer + 1 :])
        # 9.1: delta_l, N_l, eta_l and 1/tau_l
        delta = eps / growth if growth else math.inf
        count = math.sqrt(2.0 * n * task.weight) * math.sqrt(size / delta) if delta else math.inf
        largest = widest * size + task.weight
        eta = min(0.25, delta / (4.0 * largest))
        if not (count <= _MOST_SEGMENTS and eta > _LEAST):
            raise ValueError(
                f"'eps' must be larger: layer {layer + 1} would take {count:.3g} segments and numbers up to "
                f"{largest:.3g}, got {_checks.digits(eps)}"
            )
        segments.append(max(2, 2 * math.ceil(count / 2.0)))
        sharp.append((math.log(task.tokens - 1) + math.log1p(-eta) - math.log(eta)) / task.margin)
        products = n * task.weight * size / segments[-1] ** 2
        rounding = _bound_roundings(
            task, unit, layer, segments=segments[-1], sharp=sharp[-1], eta=eta, size=size, gate=gate
        )
        gate = gate_above(widest, task.weight, n, segments=segments[-1], activation=size)
        if not rounding <= 0.1 * largest:
            return _Plan((), (), (), error=math.inf, roundings=rounding)
        # 9.1: e_l, with the roundings rho_l, and A_l
        lost = row * lost + rounding
        error = row * error + 2.0 * eta * largest + products + rounding
        exact = row * exact + task.weight
        activations.append(exact + error)
    return _Plan(tuple(segments), tuple(sharp), tuple(activations[:-1]), error=error, roundings=lost)


def _bound_roundings(
    task: _Task, unit: float, layer: int, *, segments: int, sharp: float, eta: float, size: float, gate: float
) -> float:
    """Bound what roundings add to the sums of a layer, whatever the order of additions (9.1, roundings)."""
    if not unit:
        return 0.0
    n, tokens, weight, widest = task.sizes[layer], task.tokens, task.weight, max(task.rows)
    # 9.1 (roundings): kappa_l
    logits = unit * ((4.0 * tokens + 40.0) * sharp + 128.0)
    if not (logits <= 1.0 and (2.0 * tokens + 16.0) * unit * segments <= 0.4):
        return math.inf
    # 9.1 (roundings): r_1, r_2 and r_3
    read_rounding = (4.0 * eta * logits + (2.0 * tokens + 16.0) * unit + ROUNDING) * (widest * size + weight)
    carried = task.rows[layer] * _bound_passage(unit, tokens, size, gate=gate)
    terms = n * (segments / 2.0 + 2.0) + 12.0
    sums = 0.5 * size * (widest + n * weight) + 2.0 * n * weight * size / segments**2 + weight
    return 1.01 * (read_rounding + carried + unit * (terms * sums + 40.0 * n * weight * size))


def _bound_passage(unit: float, tokens: int, size: float, gate: float) -> float:
    """Bound what roundings do to an output that passes its gate and an even mean of all tokens (9.1, roundings)."""
    return unit * (6.0 * gate + (tokens + 8.0) * size)
