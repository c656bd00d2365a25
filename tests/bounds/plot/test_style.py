"""Figures as notebooks and files take them."""

import io

from bounds import plot


def test_notebooks_show_a_figure_without_pyplot():
    figure = plot.kernel_figure()
    plot.write(figure, file := io.BytesIO())
    assert figure._repr_png_() == file.getvalue()
    assert file.getvalue().startswith(b"\x89PNG")
    assert b"spherapprox" in file.getvalue()
