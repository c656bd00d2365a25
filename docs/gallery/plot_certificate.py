"""
A proven error, held against every theorem
==========================================

``bounds.validate`` encloses the error of a head between a value that it found and one that it proved, and compares it
with the theorems that speak of this head.
"""

import bounds
from bounds.report import plot
from spherapprox import EqualMeasurePartition, SplitHead, targets

field = targets.geomagnetic_field(2025.0)
head = SplitHead.from_target(field, EqualMeasurePartition(2, 1000), concentration=200.0)
validation = bounds.validate(head, field, certified=True)
figure = plot.validation_figure(validation.checks, validation.error, head, field)

# %%
# The verdicts in words; ``bounds.report.report_validation(validation)`` makes a page of them.

print(validation)
