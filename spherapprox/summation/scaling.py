"""Sums for values of any size: as weights at most 1 times powers of 2, or in the exponents, and the way back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._kernels.simd.alignment import compiled_form
from .._loading import session
from .._types import Bools, Float64, Floats, Int32
from . import plan
from .dense.all_pairs import LOST
from .partial import Partial, merge
from .plan import Plan, Wish
from .problem import UNSCALED, Problem, column_parts, lift

NO_UNDERFLOW = 300.0  # while 2 lambda is below this, no exponential of the sum leaves the range of float64

LOG_ROUNDINGS, LARGEST_LOG = 8.0, 1500.0
"""How often a logarithm's parts are rounded, and their size besides the result's and that of the exponents."""

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LIFTED = 30  # octaves from which on exponentials matter that underflow alone
SMALLEST = {8: -300, 4: -60}
"""Octaves of values from which on they are weights as they are, if none is lifted, by the size of a number."""
BAND = 450
"""Octaves about 1 in which values are summed together where exponentials are small: sums of them lose nothing."""
_SMALL = 48.0  # while 2 lambda is below this, no exponential is small for a weight in float32
_FEW = 2**16  # values that are copied for a kernel rather than measured by NumPy
_NO_OCTAVES = -1100  # octaves of a column of zeros: fewer than those of any number


@dataclass(frozen=True)
class Strand:
    """Values of about one size of some columns, and the control points that have them: their sums go apart.

    `table` holds the values of `columns` at the control points that `members` selects, `band` their size.
    """

    columns: tuple[int, ...]
    band: int
    table: Floats
    members: Bools

    def problem(self, problem_of_all: Problem) -> Problem:
        """Return the problem of these values alone; sums that are divided later are lifted."""
        return problem_of_all.among(self.members, self.table)._replace(normalize=False, lifted=problem_of_all.normalize)


def strands(table: Floats, rate: float) -> tuple[Floats | None, list[Strand]]:
    """Cut values (n, p) whose terms differ so much in size that one scale would lose some; mostly nothing is cut.

    Returns the values that go together, 0 in place of the others, or None if none do; and the others: columns with
    values beyond 2^450 or below 2^-450, and with huge values, beside which terms matter that underflow alone, both
    without the control points where they are 0, so that sums are relative to the nearest of the rest.
    """
    if 4.0 * rate < NO_UNDERFLOW:
        return table, []
    _, smallest, largest = exponents(table)
    if smallest >= -BAND and largest <= LIFTED:
        return table, []
    # 4.8, values of different size
    octaves = np.where(table == 0.0, 2 * _NO_OCTAVES, np.frexp(table)[1])  # (n, p)
    bands = np.where(table == 0.0, 0, np.sign(octaves) * (np.abs(octaves) > BAND))  # (n, p)
    alone = (bands != 0).any(axis=0) | (octaves.max(axis=0) > LIFTED)  # (p,)
    if not alone.any():
        return table, []
    parts: dict[tuple[int, bytes], list[int]] = {}
    for column in np.flatnonzero(alone):
        for band in (-1, 0, 1):
            members = (bands[:, column] == band) & (table[:, column] != 0.0)
            if members.any():
                parts.setdefault((band, members.tobytes()), []).append(int(column))
    strips = []
    for (band, key), columns in parts.items():
        members = np.frombuffer(key, np.bool_)
        strips.append(Strand(tuple(columns), band, table[np.ix_(members, np.array(columns))], members=members))
    return (None if alone.all() else np.where(alone, 0.0, table)), strips


class Scaled(NamedTuple):
    """The sums for values divided by 2^octaves, shape (p,), so that no partial sum overflows."""

    sums: Partial
    octaves: Int32


def join(a: Scaled, b: Scaled, rate: float) -> Scaled:
    """Return the sums over the union of two disjoint sets of control points, on the larger scale of each column."""
    octaves = np.maximum(a.octaves, b.octaves)
    return Scaled(merge(_on(octaves, a), _on(octaves, b), rate), octaves)


def _on(octaves: Int32, a: Scaled) -> Partial:
    """Return the sums on another scale."""
    return a.sums._replace(numerators=lift(a.sums.numerators, a.octaves - octaves))


def exponents(table: Floats) -> tuple[Int32, int, int]:
    """Return the exponents of 2 of the columns' largest values (n, p), of the least but 0 and of the largest value."""
    octaves = np.empty(table.shape[1], np.int32)
    if session.ranges is not None and (table.flags.carray or table.size < _FEW):
        return (octaves, *session.ranges.measure(compiled_form(table, table.dtype), octaves, _NO_OCTAVES))
    smallest = math.inf
    for r, column in enumerate(table.T):
        sizes = np.abs(column)
        largest = float(sizes.max())
        octaves[r] = math.frexp(largest)[1] if largest > 0.0 else _NO_OCTAVES
        smallest = min(smallest, float(np.min(sizes, where=sizes > 0.0, initial=math.inf)))
    return octaves, math.frexp(smallest)[1] if smallest < math.inf else 0, int(octaves.max())


def as_weights(problem: Problem) -> Problem:
    """Return the problem with its values divided by powers of 2 so that none is above 1.

    It is lifted where tiny sums matter, as those of a quotient do: also where huge values lift them.
    """
    assert problem.values is not None
    octaves, _, largest = exponents(problem.values)
    return problem._replace(octaves=octaves, lifted=problem.lifted or largest > LIFTED)


def in_exponents(problem: Problem, column: Floats) -> tuple[Problem, float] | None:
    """Return the problem whose denominator is the sum over values (n,) >= 0, and the logarithm to lift it by."""
    (positive,) = np.nonzero(column)
    if not positive.size:
        return None
    logs = np.log(column[positive].astype(np.float64))
    top = float(logs.max())
    nothing = np.broadcast_to(0.0, (len(positive), 1))
    positive_part, offset = problem.among(positive, nothing), (top - logs) / problem.rate  # (n',)
    offset = offset if positive_part.offset is None else offset + positive_part.offset
    return positive_part._replace(normalize=True, lifted=False, octaves=UNSCALED, offset=offset), top


def sums(problem: Problem, wish: Wish) -> tuple[Float64, Plan]:
    """Return the sums (m, p) of the problem's values, or their quotients, and their plan."""
    return with_denominators(problem, wish)[0::2]


def with_denominators(problem: Problem, wish: Wish) -> tuple[Float64, Partial | None, Plan]:
    """Return the sums (m, p), or their quotients, with the state of the denominators of these, and their plan."""
    assert problem.values is not None
    _, smallest, largest = exponents(problem.values)
    if smallest >= SMALLEST[problem.dtype.itemsize] and largest <= LIFTED:
        state, record = plan.evaluated(problem, wish, False)
        answer = value(Scaled(state, UNSCALED), problem.rate, problem.normalize)
        return answer, state, record if wish.brief else replace(record, atol=underflow(problem))
    together, apart = strands(problem.values, problem.rate)
    if not apart:
        scaled, record = _scaled(problem, wish, False)
        return value(scaled, problem.rate, problem.normalize), scaled.sums, record
    answer, plans, below = np.zeros((_rows(problem, wish), problem.p)), [], None
    # Step 1: the values that go together, and the denominators of all
    if together is not None or problem.normalize:
        first = np.zeros((len(problem.b), 1)) if together is None else together
        scaled, record = _scaled(problem._replace(values=first), wish, problem.normalize)
        answer += value(scaled, problem.rate, problem.normalize)
        below = scaled.sums if problem.normalize else None
        plans.append(record)
    # Step 2: the others, each strand on its own scale
    for strand in apart:
        scaled, record = _scaled(strand.problem(problem), wish, True)
        own = value(scaled, problem.rate, False) if below is None else quotient(scaled, below, problem.rate)
        answer[:, strand.columns] += own
        plans.append(record)
    return answer, below, _joint(problem, plans)


def _scaled(problem: Problem, wish: Wish, row_by_row: bool) -> tuple[Scaled, Plan]:
    """Return the sums of values divided by powers of 2, and their plan."""
    scaled = as_weights(problem)
    state, record = plan.evaluated(scaled, wish, row_by_row)
    return Scaled(state, scaled.octaves), replace(record, atol=underflow(scaled))


def _rows(problem: Problem, wish: Wish) -> int:
    """Return the number of rows of a sum, of which one stands for all where it is only planned."""
    return 1 if wish.dry else len(problem.x)


def _joint(problem: Problem, plans: list[Plan]) -> Plan:
    """Return the plan of sums that were evaluated in parts; the first of quotients has the denominators."""
    common = any(record.scale == "largest row" for record in plans)
    return replace(
        plan.joint(plans, kept=8.0 * len(problem.x) * (problem.p + 2.0)),
        reason=f"{plans[0].reason}; {len(plans)} times, for values of very different size",
        rtol=max(record.rtol for record in plans) + (plans[0].rtol if problem.normalize else 0.0),
        atol=sum(record.atol for record in plans),
        scale="largest row" if common else plans[0].scale,
    )


def logarithms(problem: Problem, wish: Wish) -> tuple[Float64, Plan]:
    """Return the logarithms of the sums (m, p) of values that are not negative, and their plan."""
    assert problem.values is not None
    if 4.0 * problem.rate < NO_UNDERFLOW:
        scaled, record = _scaled(problem, wish, True)
        answer = logarithm(scaled, problem.rate, problem.normalize)
    else:
        answer, plans = np.empty((_rows(problem, wish), problem.p)), []
        for r, column in enumerate(problem.values.T):
            answer[:, r], record = _log_column(problem, column, wish)
            plans.append(record)
        record = plan.joint(plans, kept=17.0 * len(problem.x) * problem.p)
        record = replace(record, rtol=max(record.rtol for record in plans))
        if problem.normalize:
            below, of_ones = _log_column(problem, np.ones(len(problem.b)), wish)
            answer -= below[:, None]
            record = replace(plan.joint([record, of_ones]), rtol=record.rtol + of_ones.rtol)
    largest = float(np.abs(answer).max(where=np.isfinite(answer), initial=0.0))
    rounding = LOG_ROUNDINGS * 2.0**-53 * (largest + 4.0 * problem.rate + LARGEST_LOG)
    return answer, replace(record, rtol=record.rtol + rounding, atol=0.0)


def _log_column(problem: Problem, column: Floats, wish: Wish) -> tuple[Float64, Plan]:
    """Return the logarithms (m,) of the sums of one column of values, and their plan."""
    lifted = in_exponents(problem, column)
    if lifted is None:
        nothing = np.full(_rows(problem, wish), -np.inf)
        return nothing, Plan("dense", "all values are 0", 0.0, seconds=0.0, memory=0.0)
    alone, top = lifted
    state, record = plan.evaluated(alone, wish, True)
    return np.log(state.denominator) + (top - problem.rate * state.shift), record


def value(scaled: Scaled, rate: float, normalize: bool) -> Float64:
    """Return the sums (m, p), or their quotients by the sum without values."""
    sums = scaled.sums
    if normalize:
        quotients = np.empty_like(sums.numerators)
        for part in column_parts(quotients.shape[1]):
            np.divide(sums.numerators[:, part], sums.denominator[:, None], out=quotients[:, part])
        return quotients if scaled.octaves is UNSCALED else lift(quotients, scaled.octaves, quotients)
    if not np.count_nonzero(sums.shift):
        return sums.numerators if scaled.octaves is UNSCALED else lift(sums.numerators, scaled.octaves)
    return times_exp(sums.numerators, -rate * sums.shift, scaled.octaves)


def quotient(scaled: Scaled, below: Partial, rate: float) -> Float64:
    """Return the sums (m, p) over the denominators of another state."""
    sums = scaled.sums
    # 4.8, values of different size: denominators relative to another control point
    return times_exp(sums.numerators / below.denominator[:, None], rate * (below.shift - sums.shift), scaled.octaves)


def underflow(problem: Problem) -> float:
    """Bound what `value` loses to underflow: terms below the smallest normal number, unless the row is summed again."""
    if 4.0 * problem.rate < _SMALL or (problem.lifted and not problem.normalize):
        return 0.0
    tiny, size = float(np.finfo(problem.dtype).smallest_normal), float(len(problem.b))
    if problem.normalize:
        tiny /= LOST[problem.dtype.itemsize]
    with np.errstate(over="ignore"):
        return float(size * np.ldexp(tiny, int(problem.octaves.max())))


def logarithm(scaled: Scaled, rate: float, normalize: bool) -> Float64:
    """Return the logarithms (m, p) of `value`, where `NO_UNDERFLOW` holds."""
    sums = scaled.sums
    below = np.log(sums.denominator) if normalize else rate * sums.shift
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums.numerators) - below[:, None] + scaled.octaves * math.log(2.0))


def times_exp(sums: Float64, exponent: Float64, octaves: Int32) -> Float64:
    """Return ``sums exp(exponent) 2^octaves``, (m, p) from (m, p), (m,), (p,): no factor over- or underflows alone."""
    if not exponent.any():
        return lift(sums, octaves)
    exponent = np.clip(exponent, -1e5, 1e5)  # far beyond all that 2^octaves can lift
    n = np.rint(exponent / math.log(2.0))
    fraction = (exponent - n * _LN2_HIGH) - n * _LN2_LOW
    with np.errstate(over="ignore"):  # `evaluate` warns of it
        return np.asarray(np.ldexp(sums * np.exp(fraction)[:, None], n.astype(np.int32)[:, None] + octaves))
