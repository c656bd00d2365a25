"""Figures as notebooks and files take them."""

import io

import numpy as np
import pytest

import bounds
import bounds.certify
from bounds import plot


def test_notebooks_show_a_figure_without_pyplot():
    figure = plot.kernel_figure()
    plot.write(figure, file := io.BytesIO())
    assert figure._repr_png_() == file.getvalue()
    assert file.getvalue().startswith(b"\x89PNG")
    assert b"spherapprox" in file.getvalue()


@pytest.mark.parametrize("wrong", [None, "abc", 3.0, np.ones(3), [None]], ids=str)
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("curves", plot.ladder_figure),
        ("curves", lambda v: plot.coefficients_figure([v], "")),
        ("study", plot.error_figure),
        ("studies", lambda v: plot.error_grid([v])),
        ("partition", plot.partition_figure),
        ("comparison", plot.covering_figure),
        ("found", lambda v: plot.shortest_figure(v, v)),
        ("found", lambda v: plot.control_points_figure(v, v)),
        ("checks", lambda v: plot.validation_figure([v], v, None, None)),
        ("target", lambda v: plot.maps_figure(v, v, 0.1)),
        ("target", lambda v: plot.error_figure_of(v, v, v)),
        ("figure", lambda v: plot.write(v, "x.png")),
        ("bound", lambda v: bounds.certify.certified(v, v)),
    ],
)
def test_what_is_drawn_is_named_where_it_is_something_else(name, call, wrong):
    with pytest.raises(TypeError, match=f"^'{name}' must be an? "):
        call(wrong)
