"""Fixtures for the tests of bounds."""

import pytest


@pytest.fixture
def coarse_figures(monkeypatch):
    """Write figures with a tenth of the dots per inch: drawing takes most of the time of a small study."""
    from matplotlib.figure import Figure

    write = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, *, dpi: write(figure, path, dpi=dpi / 10))
