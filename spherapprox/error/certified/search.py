"""Branch and bound over cells of the sphere: the proof that an error is nowhere above a number."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from ..._norms import directions
from ..._threads import in_order, slices
from ..._types import Bools, Float64
from ...sphere.cells import Cells, divisions_for
from ..records import Certificate, ErrorInterval
from .riesz import Riesz

BLOCK, LARGEST_BLOCK = 8192, 65_536
"""Cells of a task: so many that calls cost nothing, so few that their arrays stay small."""
ROOM = 0.05
"""Share of the slack that is left for what Riesz's test adds to the bound."""
GROWTH, LARGEST = 4.0, 16.0
"""If an attempt takes too many evaluations, the next has a slack larger by this factor, up to this."""
SHARE = 0.6
"""Share of the evaluations left that an attempt may take, if another one can follow."""
FINEST = 1e-9
"""Radius of cells below which roundings decide, and a proof is given up."""
ANGLE = 1.05
"""Degree times radius of the first cells. Tuned."""
SMALLER = 0.3
"""Share of the radius of the first cells without Riesz's test that they have at least with it."""
_PROBED = 5
"""Dimensions up to which coarse cells are few enough to look at, some 3^m."""
_RESTARTS = 30

Climb = Callable[[Float64, float], ErrorInterval]
"""Follows the error uphill from a point."""


class Sample(NamedTuple):
    """Errors at points (n,), the logarithms of the denominators there (n,), 0 where there is none, and more.

    `rounding` bounds the errors of both, of the errors absolutely, of the denominators relatively; `values` (n, p) are
    the target's values, in the errors' unit.
    """

    errors: Float64
    log_sums: Float64
    rounding: float
    values: Float64 | None = None


@dataclass(frozen=True)
class Passes:
    """The cells of a block that passed Riesz's test, and those of the others that passed Taylor's."""

    riesz: Bools
    taylor: Bools


class Error(Protocol):
    """An error over the sphere, in units of `unit`, and the tests of its cells."""

    @property
    def unit(self) -> float:
        """The unit."""

    @property
    def ceiling(self) -> float:
        """Bound of the error everywhere, by the triangle inequality."""

    def sample(self, x: Float64) -> Sample:
        """Return errors at points."""

    def riesz(self, bound: float, room: float, x: Float64) -> Riesz | None:
        """Return Riesz's test, None where it cannot be used."""

    def check(self, x: Float64, radii: Float64, sample: Sample, bound: float, riesz: Riesz | None) -> Passes:
        """Tell which cells pass a test, from the errors at their centres."""


@dataclass
class State:
    """The position of a search: the largest error seen, and of an attempt its cells and counts."""

    lower: float
    at: Float64
    slack: float
    evaluations: int = 0
    earlier: int = 0
    """Evaluations of attempts before this one."""
    todo: Cells | None = None
    survivors: list[Cells] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def begin(self, cells: Cells) -> None:
        """Begin an attempt."""
        self.todo, self.survivors, self.counts = cells, [], {"Riesz": 0, "Taylor": 0}


@dataclass(frozen=True)
class Options:
    """Options of a search."""

    max_evaluations: float
    workers: int | None
    report: Callable[[State], None]
    deadline: float = math.inf


class _Exceeded(Exception):
    """An error above the bound, at a point."""


class _TooMany(Exception):
    """More evaluations than an attempt may take."""


def prove(error: Error, state: State, climb: Climb, least: float, remainder: float, options: Options) -> Certificate:
    """Prove a bound of an error from the largest one seen, which grows in `state` where a larger one is met.

    `least` is a radius that the first cells are not smaller than, `remainder` what is added to the bound.
    """
    reason = ""
    while True:
        last = state.slack * GROWTH > LARGEST or time.monotonic() > options.deadline
        remaining = options.max_evaluations - state.earlier
        limit = state.earlier + (remaining if last else SHARE * remaining)
        attempt = _Attempt(error, state, least, limit=limit, options=options)
        try:
            return attempt.prove(climb, remainder, reason)
        except _TooMany as stop:
            reason = reason or str(stop)
            slack, state.earlier, state.todo = GROWTH * state.slack, state.evaluations, None
            if last or (1.0 + slack) * state.lower >= error.ceiling * error.unit:
                upper = error.ceiling * error.unit
                slack = upper / state.lower - 1.0 if state.lower > 0.0 else math.inf
                return Certificate(upper, reason, slack, evaluations=state.evaluations)
            state.slack = slack


def proves(error: Error, bound: float, at: Float64, least: float, options: Options) -> bool:
    """Tell whether an error is proven to be at most ``1.001 bound``, in its unit; `at` is any point."""
    attempt = _Attempt(error, State(bound / 1.05, at, 0.05), least, limit=options.max_evaluations, options=options)
    rounding = error.sample(at[None, :]).rounding
    try:
        attempt.cut_cells(bound, rounding, error.riesz(bound, 1e-3 * bound, _probe(len(at) - 1)))
    except (_Exceeded, _TooMany):
        return False
    return True


@dataclass(frozen=True)
class _Attempt:
    """An attempt at a bound, with its limit of evaluations."""

    error: Error
    state: State
    least: float
    limit: float
    options: Options

    def prove(self, climb: Climb, remainder: float, reason: str) -> Certificate:
        """Prove a bound with the slack of the state, again with a larger one where a larger error is met."""
        error, state = self.error, self.state
        rounding = error.sample(state.at[None, :]).rounding
        for _ in range(_RESTARTS):
            lower, offset = state.lower / error.unit, remainder / error.unit
            room = max(ROOM * state.slack * lower, rounding)
            bound = (1.0 + state.slack) * lower * (1.0 - 1e-11) - room - offset
            limited = bound < (1.0 + 0.2 * state.slack) * lower + 3.0 * rounding + 2.0 * offset
            if limited:
                bound = (1.0 + 0.2 * state.slack) * lower + 4.0 * rounding + 3.0 * offset
            riesz = error.riesz(bound, room, _probe(len(state.at) - 1))
            try:
                finest = self.cut_cells(bound, rounding, riesz)
            except _Exceeded as excess:
                interval = climb(excess.args[0], excess.args[1])
                state.lower, state.at, state.todo = interval.lower, interval.at, None
                continue
            upper = (bound + room + offset) * error.unit * (1.0 + 1e-12)
            if limited and not reason:
                reason = (
                    f"evaluation errors up to {(rounding + offset) * error.unit:.2g} are not small beside the slack"
                )
            slack = upper / state.lower - 1.0 if state.lower > 0.0 else math.inf
            return Certificate(
                upper, reason, slack, tests=tuple(name for name, count in state.counts.items() if count),
                degree=None if riesz is None else riesz.degree, tail=0.0 if riesz is None else room * error.unit,
                rounding=rounding * error.unit, evaluations=state.evaluations, cells=dict(state.counts), finest=finest,
            )  # fmt: skip
        raise _TooMany("larger and larger errors were met: measure with more points, n=")

    def cut_cells(self, bound: float, rounding: float, riesz: Riesz | None) -> float:
        """Cut the cells that pass no test until none is left; return the radius of the finest."""
        state, dim = self.state, len(self.state.at) - 1
        if state.todo is None:
            # Step 1: the first cells
            angle = self.least if riesz is None else max(SMALLER * self.least, ANGLE / max(riesz.degree, 1))
            divisions = divisions_for(dim, min(angle, 0.3))
            self._require_evaluations(2.0 * (dim + 1) * float(divisions) ** dim)
            state.begin(Cells.cover(dim, divisions))
        assert state.todo is not None
        while True:
            # Step 2: the tests of this level's cells, of which the others are cut
            finest = 0.25 * math.pi / state.todo.divisions
            self._test_level(bound, rounding, riesz)
            survivors = join_cells(state.survivors)
            if survivors is None:
                return finest
            # Step 3: cut them
            if finest < FINEST:
                raise _TooMany("cells as small as roundings are left: the error is not known well enough")
            self._require_evaluations(len(survivors) * 2.0**dim)
            state.todo, state.survivors = survivors.halve(), []

    def _test_level(self, bound: float, rounding: float, riesz: Riesz | None) -> None:
        """Test the cells to do, block by block; the state is always one from which this can go on."""
        error, state, options = self.error, self.state, self.options
        assert state.todo is not None
        cells = state.todo

        def test_block(block: slice) -> tuple[Passes, Float64, Float64]:
            x, radii = cells[block].locate()
            sample = error.sample(x)
            sample = sample._replace(rounding=max(rounding, sample.rounding))
            return error.check(x, radii, sample, bound, riesz), sample.errors, x

        blocks = slices(len(cells), min(max(len(cells) // 8, BLOCK), LARGEST_BLOCK))
        with closing(in_order(test_block, blocks, options.workers)) as results:
            for block, (passes, errors, x) in zip(blocks, results, strict=True):
                state.evaluations += len(x)
                worst = int(np.argmax(errors))
                if not errors[worst] + 2.0 * rounding < bound:
                    raise _Exceeded(x[worst], float(errors[worst]) * error.unit)
                state.survivors.append(cells[block][~(passes.riesz | passes.taylor)])
                state.counts["Riesz"] += int(passes.riesz.sum())
                state.counts["Taylor"] += int(passes.taylor.sum())
                state.todo = cells[slice(block.stop, None)]
                options.report(state)
                if time.monotonic() > options.deadline:
                    raise _TooMany("the time limit ended it")

    def _require_evaluations(self, cells: float) -> None:
        """Raise if so many cells more would be more evaluations than the attempt may take."""
        count, dim = self.state.evaluations + cells, len(self.state.at) - 1
        if count > self.limit:
            # a share is left for larger slacks
            raise _TooMany(
                f"max_evaluations={count / SHARE:.2g} would be needed at least on S^{dim} for the slack "
                f"{self.state.slack:g}: allow so many, or a larger slack"
                + ("; a-priori bounds (bounds.validate) hold in any dimension" if dim > 4 else "")
            )


def _probe(dim: int) -> Float64:
    """Return some points all over the sphere."""
    if dim <= _PROBED:
        return Cells.cover(dim, 3).locate()[0]
    return directions(np.random.default_rng(0).standard_normal((2000, dim + 1)))


def join_cells(parts: list[Cells]) -> Cells | None:
    """Return the union of cells of one level, None if there are none."""
    if not sum(map(len, parts)):
        return None
    faces = np.concatenate([part.faces for part in parts])
    return Cells(faces, np.concatenate([part.indices for part in parts]), parts[0].divisions)


@contextmanager
def show_progress(progress: bool) -> Iterator[Callable[[State], None]]:
    """Show a progress bar over cells."""
    if not progress:
        yield lambda state: None
        return
    from tqdm.auto import tqdm

    with tqdm(unit="cell", unit_scale=True, desc="certifying", leave=False) as bar:

        def report(state: State) -> None:
            todo = 0 if state.todo is None else len(state.todo)
            bar.total = state.evaluations + todo + sum(map(len, state.survivors)) * 2 ** (len(state.at) - 1)
            bar.update(state.evaluations - bar.n)

        yield report
