"""Result files: tables."""

import csv
import math

from bounds._files import write_csv


def test_tables_are_read_back_as_they_were(tmp_path):
    rows = [('a, "b"', 0.1 + 0.2, None), ("größer\nals", math.inf, -(10**400))]
    write_csv(tmp_path / "table.csv", ("name", "value", "limit"), iter(rows))
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        names, first, second = csv.reader(file)
    assert names == ["name", "value", "limit"]
    assert (first[0], float(first[1]), first[2]) == (rows[0][0], rows[0][1], "")
    assert (second[0], float(second[1]), second[2]) == (rows[1][0], math.inf, "-1" + 400 * "0")
