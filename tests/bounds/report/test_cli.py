"""The command: what it prints, what it writes, how it fails."""

import csv
import json
import re
import shlex
import subprocess
import sys
import warnings

import pytest

from bounds import ladder
from bounds.report.cli import main
from bounds.report.commands import study
from bounds.theorems import state_all
from spherapprox import warmup as _warmup
from spherapprox.config import show_config

pytestmark = pytest.mark.usefixtures("no_figures", "short_search")

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
FILES = ["error.png", "study.csv", "study.html", "study.json"]
SMALL = ["study", "--n", "20", "--points", "100", "--concentration", "9"]


def test_bounds_prints_every_theorem_as_python_does(capsys):
    for options, known in (([], {}), (["--ragozin", "1"], {"jackson_constant": 1.0})):
        assert main(["bounds", "--dim", "8", "--eps", "0.1", *options]) == 0
        out = capsys.readouterr().out
        for bound in ladder(0.1, dim=8, theorems=state_all(**known)):
            line = next(line for line in out.splitlines() if line.split()[:1] == [bound.theorem])
            if bound.holds:
                assert f"{bound.log10:.2f}" in line
        assert ("C_R = 1 and C_H = 1" in out) == bool(options)
        assert "667.99" in out  # as printed: in the table, or in the note


def test_study_writes_and_prints(capsys, tmp_path):
    out = tmp_path / "here"
    options = ["--target", "distance", "--dim", "8", "--n", "1e2", "--eps", "0.1", "--points", "300"]
    assert main(["study", *options, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "distance on S^8" in printed
    assert "2nd" not in printed  # no column, and no word about it
    assert "sharp-split-nearest" in printed
    assert "667.99" in printed
    assert sorted(p.name for p in out.iterdir()) == FILES


def test_year_and_concentration_reach_the_study(capsys, tmp_path):
    options = ["--n", "50", "--points", "300", "--concentration", "25", "--year", "1900", "--out", str(tmp_path)]
    assert main(["study", *options]) == 0
    printed = capsys.readouterr().out
    assert "fixed" in printed
    assert "geomagnetic field 1900" in printed


def test_predictions_are_announced_in_one_line(capsys, tmp_path):
    def show(message, category, filename, lineno, file=None, line=None):  # as Python does outside of pytest
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))

    options = ["--n", "20", "--points", "100", "--concentration", "9", "--year", "2028", "--out", str(tmp_path)]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        assert main(["study", *options]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("spherapprox: warning: ")
    assert "2028" in line


def test_a_reader_that_leaves_early_loses_no_files(tmp_path):
    options = ["--target", "bump", "--dim", "3", "--n", "20", "--points", "100", "--out", str(tmp_path / "out")]
    study = shlex.join([sys.executable, "-m", "bounds.report.cli", "study", *options])
    done = subprocess.run(f"{study} | true", shell=True, capture_output=True, text=True, check=False)
    assert "error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == FILES


@pytest.mark.parametrize("value", ["0", "nan", "1e-300", "-1"])
def test_eps_is_checked_before_the_study(value, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(study, "run_study", None)
    assert main(["study", "--eps", value, "--out", str(tmp_path / "out")]) == 2
    assert "'eps' must be" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("file", "file is in the way"), ("file/below", "file is in the way"), ("", "write . for the current one"),
        pytest.param("/proc/x", "nothing can be made in /proc", marks=LINUX),
    ],
)  # fmt: skip
def test_the_folder_is_checked_before_the_work(out, reason, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SystemExit) as stop:
        main([*SMALL, "--out", out])
    assert stop.value.code == 2
    assert f"'{out}' is no folder that can be written to: " in (error := capsys.readouterr().err)
    assert reason in error
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [("file", "mine")]


@pytest.mark.parametrize("word", ["inf", "1e400", "2.5", "-3", "many"])
def test_counts_are_whole_numbers(word, capsys):
    with pytest.raises(SystemExit):
        main(["bounds", "--eps", "0.1", f"--dim={word}"])
    assert f"invalid whole number value: '{word}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bounds", "--dim", "8", "--eps", "1e-300"], "'eps' must be between 1e-60 and 1e+100, got 1e-300"),
        (["bounds", "--dim", "1e30", "--eps", "0.1"], "'dim' must be at most 1000000"),
        (["study", "--n", "1e12"], "'n' must be at most 100000000, got 1000000000000: a study holds"),
        (["bounds", "--dim", "0", "--eps", "0.1"], "'dim' must be at least 1, got 0"),
        (["bounds", "--dim", "2", "--eps", "-1"], "'eps' must be greater than 0.0, got -1"),
        (["study", "--dim", "8"], "'dim'"),
        (["study", "--year", "1850"], "'year'"),
        (["study", "--n", "0"], "'n' must be at least 1, got 0"),
        (["study", "--target", "distance", "--dim", "2", "--year", "2000"], "year"),
    ],
)
def test_errors_are_one_clear_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_wrong_option_ends_with_status_2_and_what_is_allowed(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["study", "--concentration", "worst"])
    assert stop.value.code == 2
    assert "invalid 'theory', 'second-order', 'best', 'mean' or number value: 'worst'" in capsys.readouterr().err


def test_an_interruption_is_one_line_and_status_130(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study, "run_study", interrupted)
    assert main(["study"]) == 130
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("spherapprox: interrupted")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("module", ["bounds.report.commands", "numpy", "scipy.optimize", "bounds.report.study"])
def test_an_interrupt_while_modules_load_is_one_line(module):
    code = f"""
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
sys.meta_path.insert(0, Interrupt())
from bounds.report.cli import main
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", code, "study"], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("spherapprox: interrupted")


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
    printed = capsys.readouterr().out
    assert "height on S^2: Lipschitz constant unknown, sup norm unknown" in printed
    (header,) = (line for line in printed.splitlines() if line.split()[:1] == ["N"])
    assert header.split() == ["N", "head", "by", "lambda", "error", "mean"]
    assert printed.count("no bounds: 'height' states no Lipschitz constant") == 1
    assert "states both, --estimate-lipschitz estimates them" in printed
    with (module / "study" / "study.csv").open() as file:
        core, split = csv.DictReader(file)
    assert (split["sharp_split"], split["floor"], split["verdict"]) == ("", "", "")
    assert 0.0 < float(split["mean_error"]) < float(split["error"]) < 2.0
    assert float(core["error"]) > 0.0


def test_constants_are_estimated_on_request_and_called_estimates(module, capsys):
    options = ["--target", "my_targets:inner.height", "--dim", "2", "--estimate-lipschitz", "--eps", "0.5"]
    assert main([*SMALL, *options]) == 0
    printed = capsys.readouterr().out
    assert "Lipschitz constant 2 per radian (estimated), sup norm 2 (estimated)" in printed
    assert "estimated from below" in printed
    assert "Prefix length for sup error 0.5 on S^2, Lipschitz constant 2, sup norm 2 (estimated constants)" in printed
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


def test_only_earlier_results_are_replaced(capsys, tmp_path):
    command = [*SMALL, "--out", str(tmp_path)]
    assert main(command) == 0
    assert capsys.readouterr().err == ""
    maps = tmp_path / "maps.png"
    assert main([*command, "--target", "distance", "--dim", "3"]) == 0
    assert capsys.readouterr().err == f"spherapprox study: the results in {tmp_path} will be replaced\n"
    assert not maps.exists()  # of the other target
    notes = tmp_path / "study.csv"
    notes.write_text("my own notes")
    assert main(command) == 2
    error = capsys.readouterr().err
    assert f"{notes}: in the way, and no earlier result; name another folder (--out) or use --force" in error
    assert notes.read_text("utf-8") == "my own notes"
    assert main([*command, "--force"]) == 0
    assert notes.read_text("utf-8").startswith("n,head,choice,")


def test_json_of_a_study_is_its_file(capsys, tmp_path):
    assert main([*SMALL, "--json", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == json.loads((tmp_path / "study.json").read_text("utf-8"))
    assert f"wrote {tmp_path / 'study.csv'}\n" in printed.err


def test_smoothness_lets_the_theorems_speak_that_need_it(capsys):
    assert main(["bounds", "--dim", "8", "--eps", "0.1", "--smoothness", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rungs = {rung["theorem"]: rung["log10_n"] for rung in document["rungs"]}
    assert document["smoothness"] == 2.0
    assert rungs == {bound.theorem: bound.log10 for bound in ladder(0.1, dim=8, theorems=state_all(smoothness=2.0))}
    assert main(["bounds", "--dim", "8", "--eps", "0.1"]) == 0
    said = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("sharp-core-smooth "))
    assert said.endswith("needs a bound of second derivatives (smoothness=), exponent 1")


def test_json_says_which_heads_float64_has(capsys):
    assert main(["bounds", "--dim", "8", "--eps", "0.1", "--json"]) == 0
    rungs = {rung["theorem"]: rung for rung in json.loads(capsys.readouterr().out)["rungs"]}
    beyond = {name for name, rung in rungs.items() if not rung["in_float64"]}
    assert beyond == {"sharp-core-spectral", "sharp-core-interpolation", "sharp-core-rank"}
    assert rungs["lower"]["log10_n"] == ladder(0.1, dim=8)[-1].log10


def test_warmup_says_what_it_did(monkeypatch, capsys):
    if show_config("dicts")["compiled code"] is None:
        pytest.skip("no folder here can keep compiled kernels")
    monkeypatch.setattr(_warmup, "TASKS", {})  # those of the wings are quick
    assert main(["warmup", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["warmup"]) == 0
    printed = capsys.readouterr()
    assert re.match(r"compiled \d+ kernels in \d+ s; they are in ", printed.out)
    assert show_config("dicts")["compiled code"] in printed.out
    assert "1/1" in printed.err


def test_module_runs_and_knows_its_version():
    done = subprocess.run(
        [sys.executable, "-m", "bounds.report.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("spherapprox 0.")
