"""The split head on separated points, 4.A, in ball arithmetic."""

from __future__ import annotations

from flint import acb, arb

from ._excess import Excess, pack_balance
from ._few import by_radius
from ._special import log_cap_measure
from ._zonal import Kernel, Part


def log_most_separated(dim: int, separation: arb, sharp: bool) -> arb:
    """Bound the log of the number of points with a separation (4.A, count) by volume, and by Rankin if sharp."""
    volume = -log_cap_measure(dim, separation / 2)
    sine = arb(2).sqrt() * (separation / 2).sin()
    if not sharp or not sine < 1:
        return volume
    b = sine.asin()
    kernel, edge = Kernel(dim, arb(0)), acb(b)

    def depth(u: acb, _: bool) -> acb:  # cos u - cos b
        return 2 * ((edge + u) / 2).sin() * ((edge - u) / 2).sin()

    hints = ((min(float(b), 1.57), float(b) / dim),)
    height = kernel.integral(Part(depth, arb(0), b, hints)) / kernel.integral(
        Part(lambda _u, _: acb(1), arb(0), b, hints)
    )
    rankin = 2 * sine.log() - (2 * b.cos() * height).log() - log_cap_measure(dim, b)
    return volume.min(rankin)


prove = by_radius(
    lambda kernel, goal, radius: pack_balance(Excess(kernel, goal), radius, radius),
    lambda problem, radius: log_most_separated(problem.dim, radius, problem.covering == "best"),
)
"""The proof of 4.A for a maximal rho-separated set."""
