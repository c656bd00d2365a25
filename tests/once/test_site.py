"""The built site: no dead links, nothing public left out, links both ways, a silent console; reports in a browser.

What needs docs/_build is skipped where that is missing: ``python -m sphinx -W --keep-going docs docs/_build`` makes it.
"""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pages
import public
import pytest
import reports

import bounds
import spherapprox

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "_build"

built = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built")
seen = pytest.mark.skipif(pages.browser() is None, reason="no Chromium")


class Page(HTMLParser):
    """The addresses that a page leads to or loads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name"):
                self.anchors.add(value)


@cache
def parsed():
    paths = [path for path in SITE.rglob("*.html") if "_static" not in path.parts]
    return {path: Page(path.read_text(encoding="utf-8")) for path in paths}


def dead(path, link):
    """Tell whether a link leads nowhere on this site, or loads something from elsewhere."""
    address, _, anchor = unquote(link).partition("#")
    if re.match(r"(https?|data|mailto|javascript):", link):
        return False
    goal = (path.parent / address.partition("?")[0]).resolve() if address else path
    if not goal.exists():
        return True
    return bool(anchor) and goal in parsed() and anchor not in parsed()[goal].anchors


@built
def test_no_link_is_dead():
    assert len(parsed()) > 300
    assert not [(path, link) for path, page in parsed().items() for link in page.links if dead(path, link)]


@built
def test_nothing_is_loaded_from_elsewhere():
    for path in parsed():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|iframe)[^>]*\ssrc=\"(https?:)?//|<link[^>]*\shref=\"(https?:)?//", text), (
            path
        )


@built
def test_scripts_of_the_gallery_left_pictures():
    scripts = sorted(path.stem for path in (ROOT / "docs" / "gallery").glob("*.py"))
    assert len(scripts) >= 14
    for name in scripts:
        page = SITE / "auto_gallery" / f"{name}.html"
        assert name.startswith("plot_"), "the gallery runs scripts whose names begin with plot_"
        assert f"sphx_glr_{name}_001" in page.read_text(encoding="utf-8")


@built
def test_no_formula_is_left_as_text():
    for path in parsed():
        if (article := re.search(r"<article.*?</article>", path.read_text(encoding="utf-8"), re.DOTALL)) is None:
            continue
        text = re.sub(r"<(code|pre|script|style)\b.*?</\1>", "", article[0], flags=re.DOTALL)
        text = re.sub(r'<(span|div) class="math.*?</\1>', "", text, flags=re.DOTALL)
        assert not re.search(r"\$|\\[a-z]{2,}", re.sub(r"<[^>]+>", "", text)), path


@built
def test_the_reference_leaves_nothing_public_out():
    anchors = {anchor for page in parsed().values() for anchor in page.anchors}
    top = {name.rpartition(".")[2] for name in anchors if name.count(".") == 1}
    names = [name for name, _ in public.list_public(spherapprox, bounds)]
    assert not [name for name in names if name not in anchors and name.rpartition(".")[2] not in top]


@built
def test_theorems_and_functions_are_linked_both_ways():
    theorem = parsed()[SITE / "theorems" / "4.7-spectral-correction.html"].links
    function = parsed()[SITE / "api" / "generated" / "bounds.prefix_length.html"].links
    assert any("bounds.prefix_length.html#bounds.prefix_length" in link for link in theorem)
    assert any("theorems/4.7-spectral-correction.html" in link for link in function)
    pages_of_theorems = [path for path in parsed() if re.match(r"\d.*\.html$", path.name)]
    assert len(pages_of_theorems) > 70
    for path in pages_of_theorems:
        assert any("/api/generated/" in link or "generated/" in link for link in parsed()[path].links), path


@built
@seen
def test_pages_are_silent_and_fit_a_phone():
    names = ["index", "tutorial", "theorems/4.3-core-head", "accuracy", "auto_gallery/index"]
    names.append("api/generated/spherapprox.SplitHead")
    assert pages.list_faults(SITE, [f"{name}.html" for name in names]) == []


@seen
def test_reports_are_silent_and_nothing_runs_over_or_scrolls_sideways(tmp_path):
    kinds = reports.every_kind(reports.prove(), reports.study())
    for kind, report in kinds.items():
        (tmp_path / f"{kind}.html").write_text(report.to_html(), encoding="utf-8")
    wide = "[...document.querySelectorAll('figure, .table')].filter(part => part.scrollWidth > part.clientWidth).length"
    probes = pages.PROBES | {"parts that scroll sideways": wide}
    assert pages.list_faults(tmp_path, [f"{kind}.html" for kind in kinds], probes=probes) == []
