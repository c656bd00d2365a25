"""What is stated of the package in several places agrees."""

import configparser
import re
from pathlib import Path

import mutations

import spherapprox

ROOT = Path(__file__).parents[1]
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")


def read_text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_and_its_date_are_one():
    assert SETUP["metadata"]["version"] == "attr: spherapprox._version.__version__"
    cited = dict(re.findall(r'^(version|date-released): "?(.*?)"?$', read_text("CITATION.cff"), re.MULTILINE))
    assert cited["version"] == spherapprox.__version__
    logged = re.search(r"^## (\S+) \((.*)\)$", read_text("CHANGELOG.md"), re.MULTILINE)
    assert logged.groups() == (cited["version"], cited["date-released"])


def test_pages_that_docstrings_cite_are_installed():
    sources = [path for package in ("spherapprox", "bounds") for path in (ROOT / package).rglob("*.py")]
    cited = {page for path in sources for page in re.findall(r"docs/[\w./-]+\.md", path.read_text(encoding="utf-8"))}
    text = [page for pages in SETUP["options.data_files"].values() for page in pages.split()]
    installed = {path.relative_to(ROOT).as_posix() for page in text for path in ROOT.glob(page)}
    assert {"docs/theorems/4.3-core-head.md"} <= cited <= installed
    assert all(any(ROOT.glob(page)) for page in text)


def test_the_package_index_gets_no_relative_links():
    description = SETUP["metadata"]["long_description"]
    assert description.startswith("\nHow many prefix tokens")
    assert all(target.startswith("https://") for target in re.findall(r"\]\((.*?)\)", description))


def test_the_source_distribution_holds_what_is_beside_the_packages():
    text = read_text("MANIFEST.in")
    for name in ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "conftest.py", "ruff.toml", ".ci/run"):
        assert name in text
    for folder in ("docs", "benchmarks", "tests"):
        assert f"graft {folder}\n" in text


def test_the_table_of_mutations_fits_the_code():
    assert mutations.outdated(mutations.table()) == []
