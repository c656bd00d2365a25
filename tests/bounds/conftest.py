"""Fixtures for the tests of bounds."""

import functools

import pytest

from bounds.report import _trial


@pytest.fixture
def coarse_figures(monkeypatch):
    """Write figures with a tenth of the dots per inch, maps of few points: drawing takes most of a small study."""
    from matplotlib.figure import Figure

    from bounds.report import plot

    coarse = Figure.set_dpi
    monkeypatch.setattr(Figure, "set_dpi", lambda figure, dpi: coarse(figure, dpi / 10))
    monkeypatch.setattr(plot, "maps_figure", functools.partial(plot.maps_figure, resolution=19))


@pytest.fixture
def short_search(monkeypatch):
    """Let a study follow its errors from two points: the search takes most of the time of a small study."""
    monkeypatch.setattr(_trial, "sup_error", functools.partial(_trial.sup_error, refine=2))


@pytest.fixture
def no_figures():
    """Write a word in place of each figure, where what is drawn is not at issue."""
    import reports

    with reports.without_figures():
        yield
