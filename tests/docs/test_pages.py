"""The pages with doctests: every block runs and prints what they say."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [p for p in sorted(DOCS.glob("*.md")) + sorted(DOCS.glob("how-to/*.md")) if ">>> " in p.read_text("utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_prints_what_the_page_says(page):
    for extra in re.findall(r"^>>> (?:import|from) (torch|dask|sklearn)\b", page.read_text("utf-8"), re.MULTILINE):
        pytest.importorskip(extra)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, run = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    assert failed == 0 < run


def test_pages_are_found():
    assert {"frozen-layer", "recurrent-programs", "numba"} <= {page.stem for page in PAGES}
