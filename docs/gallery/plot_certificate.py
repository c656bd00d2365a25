"""
A proven error, held against every theorem
==========================================

``bounds.validate`` encloses the error of a head between a value that it found and one that it proved, and compares it
with the theorems that speak of this head.
"""

import bounds
from spherapprox import EqualMeasurePartition, SplitHead, targets

field = targets.geomagnetic_field(2025.0)
head = SplitHead.from_target(field, EqualMeasurePartition(2, 1000), concentration=200.0)
report = bounds.validate(head, field, certified=True)
figure = report.figure()

# %%
# The report in words; ``report.to_html()`` is a page.

print(report)
