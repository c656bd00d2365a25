"""The command: what it prints, what it writes, how it fails."""

import json
import re
import shlex
import subprocess
import sys
import warnings

import pytest

from bounds import ladder
from bounds.report.cli import main
from bounds.report.commands import study, warmup
from bounds.theorems import state_all
from spherapprox import warmup as _warmup
from spherapprox.config import show_config

pytestmark = pytest.mark.usefixtures("no_figures", "short_search")

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
FILES = ["error.png", "study.csv", "study.html", "study.json"]
SMALL = ["study", "--n", "20", "--points", "100", "--concentration", "9", "--no-proof"]


def test_bounds_prints_every_theorem_as_python_does(capsys):
    for options, choices in (([], {}), (["--ragozin", "1"], {"jackson_constant": 1.0})):
        assert main(["bounds", "--dim", "8", "--eps", "0.1", *options]) == 0
        out = capsys.readouterr().out
        for bound in ladder(0.1, dim=8, theorems=state_all(**choices)):
            line = next(line for line in out.splitlines() if line.split()[:1] == [bound.theorem])
            if bound.holds:
                assert f"{bound.log10:.2f}" in line
        assert ("C_R = 1 and C_H = 1" in out) == bool(options)
        assert "667.99" in out  # as printed: in the table, or in the note


def test_study_writes_and_prints(capsys, tmp_path):
    out = tmp_path / "here"
    options = ["--target", "distance", "--dim", "8", "--n", "1e2", "--eps", "0.1", "--points", "300"]
    assert main(["study", *options, "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "distance on S^8" in text
    assert "2nd" not in text  # no column, and no word about it
    assert "sharp-split-nearest" in text
    assert "667.99" in text
    assert sorted(p.name for p in out.iterdir()) == FILES


def test_year_and_concentration_reach_the_study(capsys, tmp_path):
    assert main([*SMALL, "--year", "1900", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "fixed" in text
    assert "geomagnetic field 1900" in text


def test_predictions_are_announced_in_one_line(capsys, tmp_path):
    def show(message, category, filename, lineno, file=None, line=None):  # as Python does outside of pytest
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        assert main([*SMALL, "--year", "2028", "--out", str(tmp_path)]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("spherapprox: warning: ")
    assert "2028" in line


@pytest.mark.once
def test_a_reader_that_leaves_early_loses_no_files(tmp_path):
    options = ["--target", "bump", "--dim", "3", "--out", str(tmp_path / "out")]
    study = shlex.join([sys.executable, "-m", "bounds.report.cli", *SMALL, *options])
    process = subprocess.run(f"{study} | true", shell=True, capture_output=True, text=True, check=False)
    assert "error" not in process.stderr
    assert "Traceback" not in process.stderr
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *((["bounds", "--eps", "0.1", f"--dim={word}"], f"invalid whole number value: '{word}'")
          for word in ("inf", "1e400", "2.5", "-3", "many")),
        (["study", "--concentration", "worst"],
         "invalid 'theory', 'second-order', 'best', 'mean' or number value: 'worst'"),
    ],
)  # fmt: skip
def test_a_wrong_option_ends_with_status_2_and_what_is_allowed(arguments, message, capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(arguments)
    assert message in capsys.readouterr().err


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


def test_an_interruption_is_one_line_and_status_130(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study, "run_study", interrupted)
    assert main(["study"]) == 130
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("spherapprox: interrupted")
    assert not list(tmp_path.iterdir())


@pytest.mark.once
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
    process = subprocess.run([sys.executable, "-c", code, "study"], capture_output=True, text=True, check=False)
    assert process.returncode == 130
    assert process.stdout == ""
    (line,) = process.stderr.splitlines()
    assert line.startswith("spherapprox: interrupted")


def test_only_earlier_results_are_replaced(capsys, tmp_path):
    command = [*SMALL, "--out", str(tmp_path)]
    assert main(command) == 0
    assert capsys.readouterr().err == ""
    assert (maps := tmp_path / "maps.png").exists()
    assert main([*command, "--target", "bump", "--dim", "3"]) == 0
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
    text = capsys.readouterr()
    assert json.loads(text.out) == json.loads((tmp_path / "study.json").read_text("utf-8"))
    assert f"wrote {tmp_path / 'study.csv'}\n" in text.err


def test_smoothness_lets_the_theorems_speak_that_need_it(capsys):
    assert main(["bounds", "--dim", "8", "--eps", "0.1", "--smoothness", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rungs = {rung["theorem"]: rung["log10_n"] for rung in document["rungs"]}
    assert document["smoothness"] == 2.0
    assert rungs == {bound.theorem: bound.log10 for bound in ladder(0.1, dim=8, theorems=state_all(smoothness=2.0))}
    assert main(["bounds", "--dim", "8", "--eps", "0.1"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("sharp-core-smooth "))
    assert line.endswith("needs a bound of second derivatives (smoothness=), exponent 1")


def test_json_says_which_heads_float64_has(capsys):
    assert main(["bounds", "--dim", "8", "--eps", "0.1", "--json"]) == 0
    rungs = {rung["theorem"]: rung for rung in json.loads(capsys.readouterr().out)["rungs"]}
    beyond = {name for name, rung in rungs.items() if not rung["in_float64"]}
    assert beyond == {"sharp-core-spectral", "sharp-core-interpolation", "sharp-core-rank"}
    assert rungs["lower"]["log10_n"] == ladder(0.1, dim=8)[-1].log10


@pytest.mark.once
def test_warmup_says_what_it_did(monkeypatch, capsys):
    if show_config("dicts")["compiled code"] is None:
        pytest.skip("no folder here can keep compiled kernels")
    monkeypatch.setattr(_warmup, "TASKS", {})  # those of the wings are quick
    assert main(["warmup"]) == 0
    text = capsys.readouterr()
    assert re.match(r"compiled \d+ kernels in \d+ s; they are in ", text.out)
    assert show_config("dicts")["compiled code"] in text.out
    assert re.search(r"\b(\d+)/\1\b", text.err)
    monkeypatch.setattr(warmup, "compile_kernels", lambda workers, progress: progress and print("said"))
    assert main(["warmup", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("spherapprox 0.")
