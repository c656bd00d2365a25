"""The command: what it prints, what it writes, how it fails."""

import subprocess
import sys
import warnings

import pytest

from bounds import study
from bounds.cli import main
from spherapprox import _warmup, show_config

pytestmark = pytest.mark.usefixtures("no_figures", "short_search")


def test_bounds_prints_every_theorem(capsys):
    assert main(["bounds", "--dim", "8", "--eps", "0.1"]) == 0
    out = capsys.readouterr().out
    for theorem, log10 in (("thesis-core", "667.99"), ("thesis-split-corrected", "914.31"), ("lower", ">= 8.87")):
        line = next(line for line in out.splitlines() if line.split()[:1] == [theorem])
        assert log10 in line
    assert "C_R = 1 and C_H = 1" in out


def test_study_writes_and_prints(capsys, tmp_path):
    out = tmp_path / "here"
    options = ["--target", "distance", "--dim", "8", "--n", "1e2", "--eps", "0.1", "--points", "300"]
    assert main(["study", *options, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "distance on S^8" in printed
    assert "sharp-split-nearest" in printed
    assert "667.99" in printed
    assert sorted(p.name for p in out.iterdir()) == ["error.png", "study.csv", "study.json"]


def test_year_and_concentration(capsys, tmp_path):
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
    study = f"{sys.executable} -m bounds.cli study --target bump --dim 3 --n 20 --points 100 --out {tmp_path / 'out'}"
    done = subprocess.run(f"{study} | true", shell=True, capture_output=True, text=True, check=False)
    assert "error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["error.png", "study.csv", "study.json"]


@pytest.mark.parametrize("value", ["0", "nan", "1e-300", "-1"])
def test_eps_is_checked_before_the_study(value, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(study, "run", None)
    assert main(["study", "--eps", value, "--out", str(tmp_path / "out")]) == 2
    assert "'eps' must be" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_folder_is_checked_before_the_study(capsys, tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    for out in (file, file / "below"):
        with pytest.raises(SystemExit):
            main(["study", "--out", str(out)])
        assert "is no folder that can be written to" in capsys.readouterr().err


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


def test_argparse_errors(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["study", "--concentration", "worst"])
    assert stop.value.code == 2
    assert "invalid 'theory', 'best' or number value: 'worst'" in capsys.readouterr().err


def test_interrupt(monkeypatch, capsys, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study, "run", interrupted)
    assert main(["study"]) == 130
    assert "interrupted; nothing was written" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_warmup_says_what_it_did(monkeypatch, capsys):
    monkeypatch.setattr(_warmup, "TASKS", {"special": _warmup.TASKS["special"]})
    assert main(["warmup", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["warmup"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("compiled 0 kernels in ")
    assert show_config("dicts")["compiled code"] in printed.out
    assert "1/1" in printed.err


def test_module_runs_and_knows_its_version():
    done = subprocess.run([sys.executable, "-m", "bounds.cli", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("spherapprox 0.")
