"""The page for users of frozen layers: every block runs and prints what it says."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "frozen-layer.md"


def test_every_block_prints_what_the_page_says():
    pytest.importorskip("torch")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, run = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags, encoding="utf-8")
    assert (failed, run > 40) == (0, True)
