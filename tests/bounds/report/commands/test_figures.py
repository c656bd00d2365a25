"""The command `spherapprox figures`: its files, their numbers, and its options."""

import csv
import json

import pytest

from bounds.report.cli import main


@pytest.fixture
def small(no_figures, monkeypatch):
    import functools

    from bounds.report import plot

    monkeypatch.setattr(plot, "proof_figure", functools.partial(plot.proof_figure, resolution=9))


def test_every_figure_is_written_with_the_numbers_of_its_curves(small, capsys, tmp_path):
    assert main(["figures", "--out", str(tmp_path), "--n", "30", "--concentration", "9", "--quiet"]) == 0
    names = {"head", "closeness", "kernel", "proof", "eigenvalues", "decoder"}
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.png" for name in names} | {"figures.csv"}
    with (tmp_path / "figures.csv").open() as file:
        rows = list(csv.DictReader(file))
    (peak,) = (float(r["y"]) for r in rows if r["curve"] == "$\\lambda$ = 10" and r["x"] == "0.0")
    assert not any("\n" in row["panel"] for row in rows)
    assert peak == pytest.approx(20.00000004122, rel=1e-12)
    assert {row["figure"] for row in rows} == {"head", "kernel", "eigenvalues", "decoder"}
    printed = capsys.readouterr()
    assert f"wrote {tmp_path / 'proof.png'}" in printed.out
    assert printed.err == ""


def test_one_figure_replaces_earlier_ones(small, capsys, tmp_path):
    command = ["figures", "--out", str(tmp_path), "--only"]
    assert main([*command, "decoder", "--vocabulary", "4"]) == 0
    assert main([*command, "kernel", "--dim", "8", "--concentrations", "2"]) == 0
    assert "will be replaced" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"kernel.png", "figures.csv"}
    assert "S^{8}" in (tmp_path / "figures.csv").read_text("utf-8")
    (tmp_path / "proof.png").write_text("my own")
    assert main([*command, "closeness"]) == 2
    assert "no earlier result" in capsys.readouterr().err
    assert main([*command, "closeness", "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"][0]["figure"] == "closeness"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vocabulary", "1"], "'vocabulary' must be"),
        (["--target", "digits"], "target"),
        (["--n", "100000"], "'partition' must have at most 20000 cells"),
    ],
)
def test_errors_are_one_clear_line(options, message, small, capsys, tmp_path):
    assert main(["figures", "--out", str(tmp_path / "new"), "--quiet", *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (tmp_path / "new").exists()
