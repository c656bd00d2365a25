"""
The fewest tokens, and how many are necessary
=============================================

Tokens whose points move need far fewer than Riemann sums or interpolation at fixed points for the same error. To the
left of the step there is no such head, by a proof for this one function.
"""

import bounds
from bounds.report import plot
from spherapprox import shortest_head, targets

field = targets.geomagnetic_field(2025.0)
search = shortest_head(field, 0.01, "core", relative=True)
others = bounds.report.compare_fixed_points(field, (4, 16, 64, 256, 1024), least=search.eps / 4.0)
figure = plot.shortest_figure(search, field, others=others, floor=[(search.lower, search.eps)])

# %%
# The points that were found, over the error of the head.

points = plot.control_points_figure(search, field)
