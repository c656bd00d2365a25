"""The command `spherapprox shortest`: what it prints and writes, its status, how it fails."""

import functools
import json

import pytest

from bounds.report.cli import main
from bounds.report.commands import shortest
from spherapprox import SplitHead, load, targets

pytestmark = pytest.mark.usefixtures("no_figures", "few_counts")

SMALL = ["shortest", "--target", "zonal_harmonic", "--dim", "1", "--starts", "1", "--no-lower"]


@pytest.fixture
def few_counts(monkeypatch):
    """Compare with two heads at fixed points: more take longer than all the rest."""
    compare = functools.partial(shortest.compare_fixed_points, counts=(4, 8))
    monkeypatch.setattr(shortest, "compare_fixed_points", compare)


def test_a_head_is_found_proven_and_saved(capsys, tmp_path):
    out = tmp_path / "here"
    assert main([*SMALL, "--eps", "0.1", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    search = load(out / "shortest.npz")
    assert f" on S^1: {search.n} tokens, error {search.error.lower:.4g}" in text
    assert "no error is above" in text
    assert "N=1 not in" in text
    assert load(out / "head.npz") == search.head
    names = ["error.png", "head.npz", "shortest.csv", "shortest.html", "shortest.json", "shortest.npz"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert all(f"wrote {out / name}" in text for name in names)


def test_json_is_all_that_stands_on_stdout(capsys, tmp_path):
    options = ["--eps", "0.2", "--kind", "core", "--keys", "free", "--no-proof", "--json", "-q"]
    assert main([*SMALL, *options, "--out", str(tmp_path)]) == 0
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert output.err == ""
    assert (document["kind"], document["reached"], document["eps"]) == ("core", True, 0.2)
    assert document["error"]["upper"] is None
    assert json.loads((tmp_path / "shortest.json").read_text("utf-8")) == document


def test_an_eps_that_is_not_reached_has_its_status(capsys, tmp_path):
    with pytest.warns(RuntimeWarning, match="no head within eps"):
        assert main([*SMALL, "--eps", "1e-6", "--max-tokens", "2", "--no-proof", "-q", "--out", str(tmp_path)]) == 1
    assert "no head within eps = 1e-06 was found" in capsys.readouterr().out
    assert load(tmp_path / "shortest.npz").reached is False


def test_a_search_goes_on_from_its_checkpoint(capsys, tmp_path):
    path = tmp_path / "kept.npz"
    options = ["--no-proof", "-q", "--out", str(tmp_path / "out"), "--checkpoint", str(path)]
    assert main([*SMALL, "--eps", "0.3", *options]) == 0
    first = load(path)
    assert main([*SMALL, "--eps", "0.05", *options, "--start", str(path)]) == 0
    assert {row.n for row in first.history} <= {row.n for row in load(path).history}
    assert load(path).eps == 0.05


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "--eps"),
        (["--eps", "0"], "'eps' must be greater than 0"),
        (["--eps", "nan"], "'eps' must be a number"),
        (["--eps", "much"], "--eps"),
        (["--eps", "0.1", "--kind", "linear"], "--kind"),
        (["--eps", "0.1", "--target", "landd"], "did you mean 'land'?"),
        (["--eps", "0.1", "--dim", "0"], "'dim' must be at least 1"),
        (["--eps", "0.1", "--max-tokens", "0"], "'max_tokens' must be at least 1"),
        (["--eps", "0.1", "--starts", "1.5"], "--starts"),
        (["--eps", "0.1", "--value-bound", "0"], "'value_bound' must be greater than 0"),
        (["--eps", "0.1", "--time-limit", "0"], "'time_limit' must be greater than 0"),
        (["--eps", "0.1", "--dtype", "float8"], "--dtype"),
        (["--eps", "0.1", "--start", "none.npz"], "none.npz"),
        (["--eps", "0.1", "--start", "head.npz"], "'start' must be a ShortestHead"),
        (["--eps", "0.1", "--checkpoint", "none/kept.npz"], "no such folder"),
        (["--eps", "0.1", "--checkpoint", "."], "'checkpoint' must name a file"),
    ],
)
def test_bad_arguments_are_named_and_nothing_is_written(capsys, tmp_path, monkeypatch, options, complaint):
    monkeypatch.chdir(tmp_path)
    SplitHead([[0.0, 1.0]], [1.0], 1.0).save("head.npz")
    try:
        status = main([*SMALL, *options, "--out", "out"])
    except SystemExit as stop:  # of argparse
        status = stop.code
    assert status == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_files_from_elsewhere_are_not_replaced_unless_forced(capsys, tmp_path):
    (tmp_path / "head.npz").write_text("mine")
    options = [*SMALL, "--eps", "0.5", "--no-proof", "-q", "--out", str(tmp_path)]
    assert main(options) == 2
    assert "head.npz" in capsys.readouterr().err
    assert (tmp_path / "head.npz").read_text("utf-8") == "mine"
    assert main([*options, "--force"]) == 0
    assert load(tmp_path / "head.npz").dim == 1


def test_help_names_the_options_and_the_status(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["shortest", "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert {"--eps", "--keys", "--checkpoint", "--time-limit"} <= set(text.split())
    assert "exit status: 0; 1 where" in text


def test_the_default_target_is_drawn_as_a_map(tmp_path):
    options = ["--eps", "0.3", "--relative", "--starts", "1", "--no-proof", "--no-lower", "-q", "--out", str(tmp_path)]
    assert main(["shortest", *options]) == 0
    search = load(tmp_path / "shortest.npz")
    assert search.eps == pytest.approx(0.3 * targets.geomagnetic_field(2025.0).sup_norm, rel=0.01)
    assert (tmp_path / "map.png").exists()
