"""A report of every kind, for tests of their pages, with figures or without."""

from contextlib import contextmanager

import pytest
import searches
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bounds import validate
from bounds.report import report_ladder, report_search, report_study, report_validation, run_study
from bounds.theorems import state_all
from spherapprox import EqualMeasurePartition, SplitHead, targets
from spherapprox.error import Proof

COMMAND = "spherapprox study --n 40 " + 30 * "--a-long-option " + 300 * "x"
WAVE = targets.zonal_harmonic(2, 3)


def prove():
    """Validate a head, with a proof."""
    head = SplitHead.from_target(WAVE, EqualMeasurePartition(2, 200), 30.0)
    return validate(head, WAVE, n=300, certified=Proof(slack=0.5), examine=["claims", "worst case", "lemmas"])


def study():
    """Study two heads, with proofs."""
    return run_study(WAVE, [40], choices=["theory"], points=300, certified=True)


def every_kind(validation, study):
    """Report a validation, a study, a ladder and a search, with long texts."""
    bump = targets.bump(2)
    return {
        "validation": report_validation(validation, command=COMMAND, source="target = mine  # " + 300 * "x"),
        "study": report_study(study, command=COMMAND),
        "ladder": report_ladder(0.3, dim=8, theorems=state_all(jackson_constant=1.0), axes=([0.1, 0.5], [2, 9])),
        "search": report_search(searches.search(bump, 1e-6, "core", lower=False), bump, command=COMMAND),
    }


@contextmanager
def without_figures():
    """Write a word in place of each figure."""

    def write_word(_, file, *, metadata):
        word = repr(metadata).encode()
        file.write(word) if hasattr(file, "write") else file.write_bytes(word)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "get_layout_engine", lambda _: None)
        patch.setattr(FigureCanvasAgg, "print_png", write_word)
        yield
