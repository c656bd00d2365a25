"""
Measured errors and what theory promised
========================================

Heads in closed form with more and more tokens, their errors, and the bounds that were known before: theory promises a
rate, and the best concentration does better.
"""

import bounds
from bounds.report import plot
from spherapprox import targets

wave = targets.zonal_harmonic(2, 3)
study = bounds.report.run_study(wave, (100, 300, 1000), choices=["theory", "best"], points=4000)
figure = plot.error_figure(study)
