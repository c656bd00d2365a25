"""Targets on the command line: functions of the user's modules, in the current folder."""

import csv
import json
import sys

import pytest

from bounds.report.cli import main

pytestmark = pytest.mark.usefixtures("no_figures", "short_search")

SMALL = ["study", "--n", "20", "--points", "100", "--concentration", "9", "--no-proof"]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Work in a folder with a module of targets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_targets", raising=False)
    lines = [
        "from spherapprox import Target",
        "def height(x): return 2.0 * x[:, -1]",
        "def first(x): return x[0]",
        "def broken(x): return x[:, 9]",
        "known = Target(height, 3, lipschitz=2.0, sup_norm=2.0, name='known')",
        "def leaves(x): raise SystemExit(3)",
        "def leaves_later(x): return x[:, 0] if len(x) < 9 else leaves(x)",
        "class inner: height = staticmethod(height)",
        "def asks(x): import my_neighbour; return my_neighbour.height(x)",
    ]
    (tmp_path / "my_neighbour.py").write_text("def height(x): return x[:, 0]")
    (tmp_path / "my_targets.py").write_text("\n".join(lines))
    (tmp_path / "my_mistake.py").write_text("1 / 0")
    (tmp_path / "my_script.py").write_text("raise SystemExit")
    return tmp_path


def test_a_plain_function_is_studied_without_constants(module, capsys):
    assert main([*SMALL, "--target", "my_targets:height", "--dim", "2"]) == 0
    text = capsys.readouterr().out
    assert "height on S^2: Lipschitz constant unknown, sup norm unknown" in text
    (header,) = (line for line in text.splitlines() if line.split()[:1] == ["N"])
    assert header.split() == ["N", "head", "by", "lambda", "error", "mean"]
    assert text.count("no bounds: 'height' states no Lipschitz constant") == 1
    assert "states both, --estimate-lipschitz estimates them" in text
    with (module / "study" / "study.csv").open() as file:
        core, split = csv.DictReader(file)
    assert (split["sharp_split"], split["floor"], split["verdict"]) == ("", "", "")
    assert 0.0 < float(split["mean_error"]) < float(split["error"]) < 2.0
    assert float(core["error"]) > 0.0


def test_constants_are_estimated_on_request_and_called_estimates(module, capsys):
    options = ["--target", "my_targets:inner.height", "--dim", "2", "--estimate-lipschitz", "--eps", "0.5"]
    assert main([*SMALL, *options]) == 0
    text = capsys.readouterr().out
    assert "Lipschitz constant 2 per radian (estimated), sup norm 2 (estimated)" in text
    assert "estimated from below" in text
    assert "Prefix length for sup error 0.5 on S^2, Lipschitz constant 2, sup norm 2 (estimated constants)" in text
    document = json.loads((module / "study" / "study.json").read_text("utf-8"))
    assert document["estimated"] == ["lipschitz", "sup_norm"]
    assert document["target"]["lipschitz"] == pytest.approx(2.0, rel=1e-6)
    assert all("(estimated constants)" in row["verdict"] for row in document["rows"])


def test_a_target_of_a_module_has_its_own_dim_and_constants(module, capsys):
    assert main([*SMALL, "--target", "my_targets:known"]) == 0
    assert "known on S^3: Lipschitz constant 2 per radian, sup norm 2\n" in capsys.readouterr().out


def test_the_current_folder_is_on_the_path_for_the_target_alone(module, capsys):
    path = list(sys.path)
    assert main([*SMALL, "--target", "my_targets:asks", "--dim", "2"]) == 0  # what it imports when called is there too
    assert main(["study", "--target", "my_mistake:height", "--dim", "2"]) == 2
    assert sys.path == path


def test_a_study_that_refutes_a_constant_has_its_status(module, capsys):
    with (module / "my_targets.py").open("a") as file:
        file.write("\nfrom spherapprox import Target\nfalse = Target(lambda x: 3.0 * x[:, 0], 1, lipschitz=2.0)\n")
    assert main([*SMALL, "--target", "my_targets:false", "-q"]) == 1
    assert "refuted: the Lipschitz constant 2 that is stated" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("my_targets:height", [], "'--dim' must be given: 'my_targets:height' is no Target"),
        ("my_targets:depth", ["--dim", "2"], "module 'my_targets' has no attribute 'depth'"),
        ("no_targets:height", ["--dim", "2"], "there is no module 'no_targets' in this folder or on Python's path"),
        ("my_targets.py:height", ["--dim", "2"], "there is no module 'my_targets.py'"),
        ("my_mistake:height", ["--dim", "2"], "ZeroDivisionError: division by zero"),
        ("my_targets:first", ["--dim", "2"], "'function' must return shape (5,) or (5, p) for 5 points, got (3,)"),
        ("my_targets:broken", ["--dim", "2"], "on rows of shape (5, 3): ValueError: 'function' failed"),
        ("my_targets:leaves", ["--dim", "2"], "'--target my_targets:leaves' on rows of shape (5, 3): SystemExit: 3"),
        ("my_targets:leaves_later", ["--dim", "2"], "'--target my_targets:leaves_later': SystemExit(3)"),
        ("my_script:main", ["--dim", "2"], "'--target my_script:main': SystemExit"),
        ("geomagnetic", [], "got 'geomagnetic': did you mean 'geomagnetic_field'?"),
        ("my_targets:height", ["--dim", "2", "--concentration", "theory"], "or --estimate-lipschitz"),
        ("my_targets:known", ["--dim", "2"], "'--dim' must be 3, as 'my_targets:known' says, got 2"),
        ("my_targets:", ["--dim", "2"], "'--target' must be module:function or a name, got 'my_targets:'"),
        ("my_targets:known", ["--year", "2000"], "'--year' must be left out where '--target' is not of the catalogue"),
        ("height", [], "'--target' must be module:function or one of geomagnetic_field, distance"),
        ("my_targets:height", ["--dim", "2", "--eps", "0.1"], "'--eps' needs a Lipschitz constant and a sup norm"),
    ],
)
def test_targets_that_cannot_be_used_are_explained(target, options, message, module, capsys):
    assert main(["study", "--target", target, *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not (module / "study").exists()
