"""The theorems, a file each: prefix length, error form, and the record with the hypotheses.

`LADDER` is the only list of them; numbers such as 4.3 begin the names of the pages of docs/theorems. `state` makes of a
name a statement with options, which `bounds.prefix_length` and the others take in place of the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tabulate import tabulate

from spherapprox import _checks

from ..records.theorem import Statement, Theorem
from . import (
    centroid,
    convolution,
    core,
    equal,
    interpolation,
    lower,
    lower_any,
    lower_bits,
    lower_continuous,
    lower_smooth,
    mean,
    nearest,
    pack,
    quadrature,
    random,
    rank,
    second_order,
    smooth_design,
    smooth_quadrature,
    spectral,
    split,
)
from . import thesis as thesis
from ._options import OPTIONS, check_options
from .thesis import prefix_lengths as printed

__all__ = ["state", "state_all", "thesis"]

LADDER = (
    convolution.THEOREM,
    printed.CORE, printed.VECTOR, printed.SPLIT, printed.CORRECTED,
    core.THEOREM, centroid.THEOREM, quadrature.THEOREM, smooth_quadrature.THEOREM,
    spectral.THEOREM, interpolation.THEOREM, rank.THEOREM,
    mean.THEOREM, equal.THEOREM, pack.THEOREM, random.THEOREM, smooth_design.THEOREM,
    nearest.THEOREM,
    lower_any.THEOREM, lower_bits.THEOREM, lower_continuous.THEOREM, lower_smooth.THEOREM,
    lower.THEOREM,
)  # fmt: skip
"""Every theorem, from the thesis's to the floor."""

THEOREMS = {theorem.name: theorem for theorem in (*LADDER, split.smallest(LADDER))}

POINTWISE = {
    theorem.name: theorem
    for theorem in (second_order.BY_CONSTANTS, second_order.BY_LAPLACIAN, second_order.BY_DERIVATIVES)
}
"""The theorems on the error of a given split head at each point, for `bounds.pointwise.second_order_bound`."""


ALIASES = {"sharp": "sharp-core", "thesis": "thesis-core"}


def state(theorem: str, **options: object) -> Statement:
    """State a theorem with options in place of its defaults.

    Parameters
    ----------
    theorem : str
        A name of the table that ``help(bounds)`` prints.
    **options
        Those that the theorem takes; None stands for its default:

        - `concentration`: lambda of the head, up to 1e150; by default the one that the theorem states, or the best.
        - `covering`: the covering bound between radii and counts; see `bounds.covering_number`. ``"best"`` is also
          the best floor for ``"lower"``.
        - `slack`: where N falls to an infimum that no head attains, the share of eps that is given away for a finite
          concentration: ``"sharp-split-nearest"`` covers at radius ``(1 - slack) eps/lipschitz``; 4.7 and 4.G leave it
          to the kernel's tail; 1e-3 by default. 0 gives the limit; other values are at least 1e-12.
        - `jackson_constant`, `harmonic_constant`: the thesis's C_R (by default the explicit one of
          docs/theorems/4.6-jackson-constants.md) and C_H (assumed, by default 1; it depends on the target and is
          infinite for some, docs/theorems/3-errata.md, 3.9).
        - `degree`: targets that are spherical polynomials of this degree (4.7, 4.G).
        - `sobolev_order`: an order s > m/2, for targets ``sum_l Y_l`` with ``sum_l (1 + l(l+m-1))^s |Y_l|_2^2 <=
          lipschitz^2`` (4.7, 4.G).
        - `smoothness`: H with ``|(f o gamma)''| <= H`` along unit-speed geodesics gamma, or ``(f o gamma)'``
          H-Lipschitz, in the unit of the function's values per radian squared (4.I, 4.J); by default the target's.
        - `bits`: of a token for ``"lower-bits"``, 64 (dim + 2) by default.

    Raises
    ------
    ValueError, TypeError
        For another name, for options that the theorem does not take, and for values outside their ranges.

    Examples
    --------
    >>> from bounds import prefix_length
    >>> from bounds.theorems import state
    >>> round(prefix_length(0.1, dim=8, theorem=state("sharp-split-nearest", slack=0.1)).log10, 2)
    10.28
    >>> state("sharp-core", slack=0.1)
    Traceback (most recent call last):
    ValueError: 'slack' belongs to theorem=..., got theorem='sharp-core', which takes 'concentration', 'covering'
    """
    record = THEOREMS[theorem_name(theorem, THEOREMS)]
    for name in options:
        if name not in record.options:
            takers = " or ".join(rival.name for rival in LADDER if name in rival.options)
            takes = ", ".join(map(repr, record.options)) or "none"
            belongs = f"belongs to theorem={takers}" if takers else "is no option of a theorem"
            raise ValueError(f"'{name}' {belongs}, got theorem='{record.name}', which takes {takes}")
    return Statement(record, check_options(**options))


def state_all(**options: object) -> tuple[Statement, ...]:
    """State every theorem of the ladder, for `bounds.ladder`, each with those of the options that it takes.

    Parameters
    ----------
    **options
        As in `state`; what only some theorems take is no complaint.

    Raises
    ------
    ValueError, TypeError
        For options that no theorem takes, and for values outside their ranges.

    Examples
    --------
    >>> from bounds import ladder
    >>> from bounds.theorems import state_all
    >>> [round(bound.log10) for bound in ladder(0.1, dim=8, theorems=state_all(jackson_constant=1))[:4]]
    [668, 846, 633, 914]
    """
    for name in options:
        _checks.choice(name, "options", OPTIONS)
    checked = check_options(**options)
    return tuple(
        Statement(theorem, {name: checked[name] for name in theorem.options if name in checked})
        for theorem in LADDER
        if theorem.count
    )


def theorem_name(value: object, choices: Iterable[str]) -> str:
    """Return the full name of a theorem that is one of the choices."""
    return _checks.choice(ALIASES.get(value, value) if isinstance(value, str) else value, "theorem", choices)


def as_statement(value: str | Statement, choices: Mapping[str, Theorem]) -> Statement:
    """Return a theorem, given by its name or stated, that is one of the choices."""
    if isinstance(value, Statement):
        theorem_name(value.theorem.name, choices)
        return value
    return Statement(choices[theorem_name(value, choices)], {})


def as_statements(values: Iterable[str | Statement] | None, choices: Mapping[str, Theorem]) -> tuple[Statement, ...]:
    """Return theorems as they are stated, by default all of the ladder."""
    if values is None:
        return state_all()
    if isinstance(values, str | Statement) or not isinstance(values, Iterable):
        remedy = "one theorem stands in a list, ['lower']"
        raise _checks.wrong_type(values, "theorems", "a sequence of names or statements", remedy=remedy)
    statements = tuple(as_statement(value, choices) for value in values)
    if not statements:
        raise ValueError("'theorems' must have one theorem at least, got none: leave it out for all of them")
    return statements


def table() -> str:
    """Tabulate the theorems: name, statement, and the arguments that `bounds.error_bound` needs.

    For those of `POINTWISE` these are constants of the target.
    """
    rows = [(t.name, f"{t.statement} [{t.reference}]", ", ".join(t.needs)) for t in THEOREMS.values()]
    rows += [
        (t.name, f"{t.statement} [{t.reference}]", "second_order_bound: " + ", ".join(t.constants))
        for t in POINTWISE.values()
    ]
    headers = ("theorem", "what it promises", "what error_bound needs")
    return tabulate(rows, headers=headers, maxcolwidths=[None, 52, 36])
