"""Configuration of the site; `python -m sphinx -W --keep-going docs docs/_build` makes it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import spherapprox

project = "spherapprox"
author = copyright = "the spherapprox developers"
version = release = spherapprox.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
    "sphinx_proof",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
    "links",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_ext",
    "_templates",
    "gallery",
    "jupyter_execute",
    "auto_gallery/*.ipynb",
]
default_role = "py:obj"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # the results begin with a heading of the second level: pages include them
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "image_scrapers": ("matplotlib", "figures"),
    "reset_modules": (),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "capture_repr": (),
    "plot_gallery": True,
    "abort_on_example_error": True,
}

html_title = "spherapprox"
html_theme = "pydata_sphinx_theme"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "tutorial": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}
