"""The theorems, a file each: prefix length, error form, and the record with the hypotheses.

`LADDER` is the only list of them; numbers such as 4.3 begin the names of the pages of docs/theorems.
"""

from __future__ import annotations

from tabulate import tabulate

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
from .thesis import core as thesis_core
from .thesis import split as thesis_split
from .thesis import split_corrected as thesis_split_corrected
from .thesis import vector as thesis_vector

LADDER = (
    convolution.THEOREM,
    thesis_core.THEOREM, thesis_vector.THEOREM, thesis_split.THEOREM, thesis_split_corrected.THEOREM,
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
