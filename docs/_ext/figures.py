"""Figures of `bounds.report.plot` on the site: they are made without pyplot, where sphinx-gallery looks for figures."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scrape(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Write the figures that a block of an example has made, and return the text that shows them."""
    namespace = variables["example_globals"]
    written = namespace.setdefault("__shown__", {})
    paths = []
    for figure in [thing for thing in namespace.values() if isinstance(thing, Figure)]:
        if id(figure) not in written and figure.canvas.manager is None:  # those of pyplot have a manager
            written[id(figure)] = figure
            paths.append(next(variables["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=150)
    return figure_rst(paths, settings["src_dir"])


def _get_sg_image_scraper() -> Any:  # the name by which sphinx-gallery asks for it
    return scrape
