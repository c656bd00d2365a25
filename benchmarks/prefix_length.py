"""Error against prefix length, over several targets and dimensions: a table (CSV) and a figure.

The script form of ``spherapprox study``. With its defaults it takes a few minutes on two cores::

    python benchmarks/prefix_length.py --out prefix_length
"""

from __future__ import annotations

import argparse
import csv
import os
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from bounds import plot, study
from spherapprox import targets


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--targets", nargs="+", default=["distance", "zonal_harmonic", "bump"], choices=targets.names())
    add("--dims", nargs="+", type=int, default=[1, 2, 3, 8])
    add("--n", nargs="+", type=int, default=[100, 300, 1000, 3000, 10_000])
    add("--points", type=int, default=20_000, help="points that measure each error")
    add("--workers", type=int, default=-1)
    add("--out", type=Path, default=Path("prefix_length"), help="folder for prefix_length.csv and prefix_length.png")
    return parser.parse_args()


def write(studies: list[study.Study], out: Path) -> None:
    """Write the table and the figure, each whole or not at all."""
    out.mkdir(parents=True, exist_ok=True)
    rows = [{"target": s.target.name, "dim": s.target.dim, **asdict(row)} for s in studies for row in s.rows]
    table, figure = out / "prefix_length.csv", out / "prefix_length.png"
    with (unfinished := table.with_suffix(".part")).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    os.replace(unfinished, table)
    plot.error_grid(studies).savefig(unfinished := figure.with_suffix(".part"), dpi=130, format="png")
    os.replace(unfinished, figure)
    print(f"wrote {table} and {figure}")


def main() -> None:
    """Run every study, print a line for each, write the files."""
    chosen = options()
    pairs = [(name, dim) for name in chosen.targets for dim in chosen.dims]
    studies = []
    for name, dim in tqdm(pairs, unit="study", disable=None):
        result = study.run(targets.make(name, dim=dim), chosen.n, points=chosen.points, workers=chosen.workers)
        rates = {
            head: plot.slope([r.n for r in rows], [r.error for r in rows])
            for head in ("core", "split")
            if len(rows := result.series(head, "best")) > 1
        }
        violated = [row for row in result.rows if row.verdict.startswith("violated")]
        tqdm.write(
            f"{name} on S^{dim}: {len(violated)} of {len(result.rows)} heads violate a bound; measured slopes "
            + ", ".join(f"{head} {rate:+.2f}" for head, rate in rates.items())
        )
        studies.append(result)
    write(studies, chosen.out)


if __name__ == "__main__":
    main()
