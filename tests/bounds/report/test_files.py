"""Result files: tables."""

import csv
import math
import os

import pytest

from bounds.report._files import write_csv, write_together


def test_tables_are_read_back_as_they_were(tmp_path):
    rows = [('a, "b"', 0.1 + 0.2, None), ("größer\nals", math.inf, -(10**400))]
    write_csv(tmp_path / "table.csv", ("name", "value", "limit"), iter(rows))
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        names, first, second = csv.reader(file)
    assert names == ["name", "value", "limit"]
    assert (first[0], float(first[1]), first[2]) == (rows[0][0], rows[0][1], "")
    assert (second[0], float(second[1]), second[2]) == (rows[1][0], math.inf, "-1" + 400 * "0")


MARKS = dict.fromkeys(("a.txt", "b.txt", "c.txt"), b"mark")


def contents(folder):
    return {path.name: path.read_text("utf-8") if path.is_file() else None for path in folder.iterdir()}


def save(folder, names, text):
    writers = {name: lambda path: path.write_text(f"mark {text}") for name in names}
    return write_together(folder, MARKS, writers)


def test_files_replace_the_earlier_ones_and_delete_what_is_outdated(tmp_path):
    save(tmp_path, ("a.txt", "c.txt"), "old")
    assert save(tmp_path, ("a.txt", "b.txt"), "new") == (tmp_path / "a.txt", tmp_path / "b.txt")
    assert contents(tmp_path) == {"a.txt": "mark new", "b.txt": "mark new"}


def test_a_folder_in_the_way_of_one_file_leaves_all_as_they_were(tmp_path):
    save(tmp_path, ("a.txt", "c.txt"), "old")
    (tmp_path / "b.txt").mkdir()
    before = contents(tmp_path)
    with pytest.raises(OSError, match=r"b\.txt"):
        save(tmp_path, ("a.txt", "b.txt"), "new")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("step", range(2))
def test_a_fault_at_any_step_leaves_all_as_they_were(tmp_path, monkeypatch, step):
    save(tmp_path, ("a.txt", "c.txt"), "old")
    before, moves, plain = contents(tmp_path), [], os.replace

    def failing(source, target):
        moves.append(source)
        if len(moves) == step + 1:
            raise PermissionError
        plain(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(PermissionError):
        save(tmp_path, ("a.txt", "b.txt"), "new")
    assert contents(tmp_path) == before
