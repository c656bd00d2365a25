"""The table of the sources: rows are whole, what they name exists, and no number of the documents is left out."""

import operator
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NUMBERS = {  # the last of each run
    "The thesis": "2.3 3.2 4.19 A.1.4 B.1.3 B.2.10 B.3.3 B.4.1 C.6.7",
    "Theoretical Foundations of Prompt Engineering": "3.10 4.1 5.3 6.9 7.8 C.3 D.4 E.2 F.2 G.3 H.1",
    "Fundamental Limits of Prompt Tuning Transformers": "1.1 2.7 3.2 B.1 C.9 D.3 E.2 F.2 G.1 H.2 J.10",
}
FIGURES = "2.1 3.1 3.2 3.3 4.1 4.2 5.1 5.2 5.3 5.4 A.1 A.2 A.3 A.4 A.5 A.6 A.7 B.1 B.2 B.3"
TABLES = "3.1 3.2 3.3 A.1"
EQUATIONS = "3.5 3.7 4.1 4.3 4.4 4.5 4.11 5.6 5.7 5.9 5.10 5.11"


def read_rows():
    """Return the cells of each document's rows, by its heading."""
    parts = re.split(r"^## (.*)$", (ROOT / "docs/sources.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    rows = {}
    for title, part in zip(parts[::2], parts[1::2], strict=True):
        lines = [line for line in part.splitlines() if line.startswith("|")]
        rows[title] = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]
    return rows


ROWS = read_rows()
CELLS = [cells for rows in ROWS.values() for cells in rows]


def expand(cells):
    """Return the numbers in first cells, with those inside ranges."""
    numbers = set()
    for first, last in re.findall(r"((?:\b[A-J]|\b\d)(?:\.\d+)+)(?:\)?-\(?((?:[A-J]|\d)(?:\.\d+)+))?", " ".join(cells)):
        stem, _, start = first.rpartition(".")
        numbers |= {f"{stem}.{k}" for k in range(int(start), int((last or first).rpartition(".")[2]) + 1)}
    return numbers


def test_rows_are_whole():
    assert len(CELLS) > 120
    assert all(len(cells) == 4 and all(cells) for cells in CELLS)
    assert all("](theorems/" in page or "](experiments.md" in page for _, _, page, _ in CELLS)
    for *_, made in CELLS:
        function, _, run = made.partition(" <br> ")
        assert re.match(r"`(spherapprox|bounds)\.|None: \w", function), function
        assert re.match(r"`(tests|benchmarks)/|None: \w", run or function), made


def test_what_rows_name_exists():
    for name in {name for cells in CELLS for name in re.findall(r"`((?:spherapprox|bounds)\.[\w.]+)", cells[3])}:
        module, _, attribute = name.partition(".")
        try:
            assert operator.attrgetter(attribute)(import_module(module)) is not None
        except AttributeError as error:
            if "pip install" not in str(error):  # an extra is missing
                raise
    files = {path for cells in CELLS for path in re.findall(r"`((?:tests|benchmarks)/[\w/.]+)`", cells[3])}
    assert len(files) > 40
    assert all((ROOT / path).is_file() for path in files)


@pytest.mark.parametrize("title", NUMBERS)
def test_no_number_is_left_out(title):
    numbers = expand([cells[0] for cells in ROWS[title]])
    for last in NUMBERS[title].split():
        stem, _, count = last.rpartition(".")
        lost = {f"{stem}.{k}" for k in range(1, int(count) + 1)} - numbers
        assert not lost, f"{title}: {sorted(lost)}"


def test_no_figure_table_or_equation_of_the_thesis_is_left_out():
    first = [cells[0] for cells in ROWS["The thesis"]]
    for word, numbers in (("Figure", FIGURES), ("Table", TABLES), ("", EQUATIONS)):
        texts = [text for cell in first for text in re.findall(rf"{word}s? (.*)" if word else r"\((.*)\)", cell)]
        assert set(numbers.split()) <= expand(texts), word


def test_all_four_documents_have_rows():
    assert len(ROWS) == 4
    assert {"Experiment 1", "Experiment 2", "Experiment 3", "Check 1", "Check 2", "Check 3"} <= {c[0] for c in CELLS}
    assert {"Listing 1", "Listing 2"} <= {part.split(",")[0] for cells in CELLS for part in [cells[0]]}
