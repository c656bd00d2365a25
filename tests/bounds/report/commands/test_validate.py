"""The command `spherapprox validate`: what it prints and writes, its status, how it fails."""

import json

import pytest

from bounds.report.cli import main
from spherapprox import EqualMeasurePartition, SplitHead, load, targets

pytestmark = pytest.mark.usefixtures("no_figures")

SMALL = ["--target", "zonal_harmonic", "--dim", "1", "--points", "200", "--slack", "0.5"]


def test_a_head_is_made_proven_and_saved(capsys, tmp_path):
    out = tmp_path / "here"
    assert main(["validate", *SMALL, "--n", "60", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "PROVED" in text
    assert "ok: True (proved)" in text
    assert sorted(path.name for path in out.iterdir()) == [
        "validated-head.npz", "validation.csv", "validation.html", "validation.json", "validation.png",
    ]  # fmt: skip
    page = (out / "validation.html").read_text("utf-8")
    assert "spherapprox validate --target zonal_harmonic --dim 1" in page
    assert "targets.make(&#39;zonal_harmonic&#39;, dim=1)" in page


@pytest.mark.parametrize("kind", ["core", "classical"])
def test_json_is_all_that_stands_on_stdout(capsys, tmp_path, kind):
    options = ["--head", kind, "--n", "30", "--concentration", "9", "--no-proof", "--json", "-q"]
    assert main(["validate", *SMALL, *options, "--out", str(tmp_path)]) == 0
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert output.err == ""
    assert document["head"]["kind"].lower() == f"{kind}head"
    assert document["head"]["concentration"] == 9.0
    assert document["error"]["certificate"] is None


@pytest.mark.parametrize(("maker", "kind"), [("fibonacci", "split"), ("gauss_product", "core")])
def test_points_of_a_maker_have_their_own_theorems(tmp_path, maker, kind):
    options = ["--maker", maker, "--n", "50", "--concentration", "theory", "--no-proof", "--points", "200"]
    assert main(["validate", "--target", "distance", "--head", kind, *options, "--out", str(tmp_path)]) == 0
    head = load(tmp_path / "validated-head.npz")
    assert len(head) == 50


def test_a_saved_head_is_validated_and_a_refuted_number_has_its_status(capsys, tmp_path, monkeypatch):
    target = targets.zonal_harmonic(1, 4)
    path = tmp_path / "mine.npz"
    SplitHead.from_target(target, EqualMeasurePartition(1, 40), 30.0).save(path)
    options = ["--head", str(path), "--no-proof", "--points", "200", "--out", str(tmp_path / "out")]
    assert main(["validate", "--target", "zonal_harmonic", "--dim", "1", *options]) == 0
    # values of another target: nobody stated them
    assert main(["validate", "--target", "distance", "--dim", "1", *options, "-q"]) == 0
    assert "refuted: values" in capsys.readouterr().out
    lines = ["from spherapprox import Target", "def height(x): return 3.0 * x[:, 1]"]
    lines += ["steep = Target(height, 1, lipschitz=2.0, sup_norm=3.0)"]
    (tmp_path / "false_target.py").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    assert (
        main(["validate", "--target", "false_target:steep", "--n", "30", "--concentration", "9", "--no-proof", "-q"])
        == 1
    )
    assert "refuted: Lipschitz constant" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--head", "splitt"], "'--head' must be core, split, classical or a file that `save` wrote, got 'splitt'"),
        (["--head", "none.npz"], "none.npz"),
        (["--n", "0"], "'--n' must be at least 1"),
        (["--head", "mine.npz", "--n", "3"], "'--n' must be left out where '--head' is a file"),
        (["--slack", "99"], "'slack' must be at most 16"),
        (["--points", "0"], "'--points' must be at least 1, got 0"),
        (["--maker", "fibonacci", "--target", "distance", "--dim", "3"], "'--target' must have dim = 2 for '--maker"),
        (["--target", "land", "--estimate-lipschitz"], "leave '--estimate-lipschitz' out"),
        (["--target", "land", "--concentration", "theory"], "needs constants that 'land' does not state"),
    ],
)
def test_bad_arguments_are_named_and_nothing_is_written(capsys, tmp_path, options, complaint):
    assert main(["validate", *options, "--out", str(tmp_path / "out")]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
