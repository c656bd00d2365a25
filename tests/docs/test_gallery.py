"""The gallery: every script runs as it stands and leaves a figure that can be drawn.

Where the site is built, its build has run them, and stopped at an error: there the pages have to show their pictures.
"""

import ast
import runpy
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("plot_*.py"))
BUILT = GALLERY.parent / "_build" / "auto_gallery"


def test_there_are_scripts():
    assert len(SCRIPTS) >= 14
    others = [path.name for path in GALLERY.glob("*.py") if path not in SCRIPTS]
    assert not others, "the gallery runs scripts whose names begin with plot_"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_begins_with_its_title(script):
    title, line = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "\n").splitlines()[:2]
    assert title, "no docstring"
    assert line == "=" * len(title), "the docstring begins with a title, underlined by as many ="


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_leaves_figures(script):
    if (page := BUILT / f"{script.stem}.html").exists():
        assert f"sphx_glr_{script.stem}_001" in page.read_text(encoding="utf-8")
        return
    if "import torch" in script.read_text(encoding="utf-8"):
        pytest.importorskip("torch")
    with matplotlib.rc_context({"backend": "agg"}):
        left = runpy.run_path(str(script))
        figures = [value for value in left.values() if isinstance(value, Figure)]
        assert figures, "no name of the script holds a figure: figure = plot...."
        canvas = FigureCanvasAgg(figures[0])
        canvas.draw()
    assert len(np.unique(np.asarray(canvas.buffer_rgba()).reshape(-1, 4), axis=0)) > 20  # not blank
