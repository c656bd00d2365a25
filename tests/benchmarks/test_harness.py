"""The harness of benchmarks/: cases are kept, torn lines dropped, failures told apart, results shown on a page."""

import csv
import importlib
import json
import math
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

SCRIPT = '''"""What is <n> squared?"""

Experiment = dict
EXPERIMENT = Experiment(name="{name}", question="What is <n> squared?", requires={requires!r})

if __name__ == "__main__":
    import json, sys
    from pathlib import Path

    if {fails}:
        raise ValueError("two")
    out = Path(sys.argv[sys.argv.index("--out") + 1])
    document = EXPERIMENT | dict(summary="| n |\\n|--:|\\n| 4 |\\n\\n`Rows` | **two**.")
    document |= dict(command=" ".join(sys.argv[3:]), seconds=1.0, date="today", machine="here", version="1")
    (out / "{name}.json").write_text(json.dumps(document))
    for end in ("csv", "png", "md"):
        (out / f"{name}.{{end}}").touch()
    raise SystemExit({status})
'''


@pytest.fixture(scope="module")
def rooms(folder):
    """Import the modules of benchmarks/ as its scripts do."""
    spec = importlib.util.spec_from_file_location("benchmarks_main", folder / "__main__.py")
    command = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(command)
    return {name: importlib.import_module(name) for name in ("harness", "index", "catalogue")} | {"main": command}


@pytest.fixture
def squares(rooms):
    """Return an experiment that counts its calls, and what stops it."""
    calls, stop = [], []

    def measure(case):
        calls.append(case["n"])
        if stop and case["n"] == 2:
            raise stop[0]
        return [case | {"square": np.float64(case["n"]) ** 2, "inverse": 1 / case["n"] if case["n"] else np.inf}]

    def draw(rows):
        figure = Figure()
        figure.add_subplot().plot([row["n"] for row in rows], [row["square"] for row in rows])
        return figure

    experiment = rooms["harness"].Experiment(
        name="squares", question="What is n squared?", measure=measure, draw=draw,
        cases=lambda quick: [{"n": n} for n in range(2 if quick else 4)],
        summary=lambda rows: f"{len(rows)} rows, the least inverse {min(row['inverse'] for row in rows):.2f}",
    )  # fmt: skip
    return experiment, calls, stop


def test_an_interrupted_experiment_goes_on_where_it_stopped(rooms, squares, tmp_path, capsys):
    (experiment, calls, stop), run = squares, rooms["harness"].main
    stop.append(KeyboardInterrupt)
    with pytest.raises(SystemExit) as end:
        run(experiment, ["--out", str(tmp_path)])
    assert end.value.code == 130
    assert capsys.readouterr().err.strip() == "interrupted: 2 of 4 cases are kept; the same command goes on"
    assert [path.name for path in tmp_path.iterdir()] == ["squares.jsonl"]
    stop.clear()
    run(experiment, ["--out", str(tmp_path)])
    captured = capsys.readouterr()
    assert "squares: 2 of 4 cases are kept" in captured.err
    assert "4 rows, the least inverse 0.33" in captured.out
    assert calls == [0, 1, 2, 2, 3]


def test_a_torn_line_is_measured_again_and_foreign_lines_are_passed_over(rooms, squares, tmp_path, capsys):
    (experiment, calls, _), run, store = squares, rooms["harness"].main, tmp_path / "squares.jsonl"
    run(experiment, ["--out", str(tmp_path), "--quiet"])
    lines = store.read_bytes().splitlines(keepends=True)
    torn = lines[0] + b"nonsense\n[]\n" + lines[1].replace(b'{"version": "', b'{"version": "0.0.') + lines[2]
    store.write_bytes(torn + lines[3][:-9])
    run(experiment, ["--out", str(tmp_path), "--quiet"])
    assert calls == [0, 1, 2, 3, 1, 3]
    assert store.read_bytes().startswith(torn + b'{"version"')
    run(experiment, ["--out", str(tmp_path), "--quiet", "--fresh", "--quick"])
    assert calls[6:] == [0, 1]
    assert capsys.readouterr().out == ""


def test_the_files_hold_what_was_measured(rooms, squares, tmp_path):
    rooms["harness"].main(squares[0], ["--out", str(tmp_path), "--quick"])
    document = json.loads((tmp_path / "squares.json").read_text("utf-8"))
    assert document["rows"] == [{"n": 0, "square": 0.0, "inverse": "inf"}, {"n": 1, "square": 1.0, "inverse": 1.0}]
    assert document["command"] == "python -m benchmarks squares --quick"
    assert "numpy" in document["machine"]
    with (tmp_path / "squares.csv").open() as file:
        assert math.isinf(float(next(csv.DictReader(file))["inverse"]))
    text = (tmp_path / "squares.md").read_text("utf-8")
    assert text.startswith("## Squares\n\nWhat is n squared?\n\n![What is n squared?](squares.png)\n\n2 rows")
    assert document["machine"] in text.splitlines()[-1]
    assert (tmp_path / "squares.png").read_bytes().startswith(b"\x89PNG")
    assert {path.suffix for path in tmp_path.iterdir()} == {".jsonl", ".json", ".csv", ".md", ".png"}


def test_a_figure_that_fails_leaves_the_rows_and_no_files(rooms, squares, tmp_path):
    experiment, calls, _ = squares
    with pytest.raises(ZeroDivisionError):
        rooms["harness"].main(replace(experiment, draw=lambda rows: 1 / 0), ["--out", str(tmp_path), "--quiet"])
    assert [path.name for path in tmp_path.iterdir()] == ["squares.jsonl"]
    rooms["harness"].main(experiment, ["--out", str(tmp_path), "--quiet"])
    assert calls == [0, 1, 2, 3]


def test_help_is_the_docstring_and_a_missing_extra_is_named(rooms, squares, tmp_path, capsys, monkeypatch):
    with pytest.raises(SystemExit, match=r"^0$"):
        rooms["harness"].main(squares[0], ["--help"])
    assert __doc__ in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"^squares needs nothing_like_this: pip install nothing_like_this$"):
        rooms["harness"].main(replace(squares[0], requires=("numpy", "nothing_like_this")), ["--out", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(rooms["catalogue"], "installed", lambda module: False)
    assert rooms["catalogue"].missing(["torch", "sklearn"]) == 'needs torch, sklearn: pip install ".[learn,torch]"'


def write(folder, name, requires=(), fails=False, status=0):
    (folder / f"{name}.py").write_text(SCRIPT.format(name=name, requires=requires, fails=fails, status=status))


def test_the_list_imports_nothing_and_knows_extras(rooms, tmp_path, capsys):
    write(tmp_path, "large", ("torch",))
    (tmp_path / "other.py").write_text('"""Count sheep.\n\nMore."""\nif __name__ == "__main__":\n    print(7)\n')
    (tmp_path / "helper.py").write_text("raise RuntimeError\n")
    assert rooms["main"].main([], tmp_path) == 0
    captured = capsys.readouterr().out
    assert re.search(r"^large +What is <n> squared\? +torch$", captured, re.MULTILINE)
    assert re.search(r"^other +Count sheep\.$", captured, re.MULTILINE)
    assert "helper" not in captured
    with pytest.raises(SystemExit, match=r"^no script is called 'larje'; did you mean 'large'\?$"):
        rooms["main"].main(["larje"], tmp_path)


def test_a_failure_and_a_missing_extra_leave_the_others_their_page(rooms, tmp_path, capfd):
    write(tmp_path, "a_first", fails=True)
    write(tmp_path, "b_lacking", ("nothing_like_this",))
    write(tmp_path, "c_last")
    (tmp_path / "d_other.py").write_text('"""Count & sheep."""\nif __name__ == "__main__":\n    print("7 sheep")\n')
    out = tmp_path / "out"
    assert rooms["main"].main(["all", "d_other", "--quick", "--fresh", "--out", str(out)], tmp_path) == 1
    failed, left_out = capfd.readouterr().err.splitlines()[-2:]
    assert failed.startswith("a_first: failed after ")
    assert left_out == "b_lacking: left out, needs nothing_like_this: pip install nothing_like_this"
    assert (out / "d_other.txt").read_text("utf-8") == "7 sheep\n"
    page = (out / "index.html").read_text("utf-8")
    assert '<img alt="What is &lt;n&gt; squared?" src="c_last.png"' in page
    assert "<tr><td class=number>4</td></tr>" in page
    assert "<p><code>Rows</code> | <b>two</b>.</p>" in page
    assert "<code>--quick --fresh</code>, 1 s" in page
    assert "Count &amp; sheep." in page
    assert "a_first</dt><dd>failed" in page
    assert "nothing_like_this" in page
    for link in re.findall(r'(?:href|src)="([^"#][^"]*)"', page):
        assert link == "data:," or (out / link).exists()
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(re.findall(r' id="([^"]*)"', page))
    assert rooms["main"].main(["--quick", "--quiet", "--out", str(tmp_path / "b")], tmp_path / "nothing") == 0
    write(tmp_path, "a_first")
    assert rooms["main"].main(["all", "--out", str(out)], tmp_path) == 0


def test_an_interruption_ends_the_whole_run(rooms, tmp_path, capfd):
    write(tmp_path, "a_first", status=130)
    write(tmp_path, "b_last")
    assert rooms["main"].main(["all", "--out", str(tmp_path / "out")], tmp_path) == 130
    assert capfd.readouterr().err.splitlines()[-1] == "a_first: interrupted"
    assert not (tmp_path / "out" / "b_last.json").exists()


@pytest.mark.once
def test_an_interruption_of_the_parent_alone_reaches_the_child(folder, tmp_path):
    (tmp_path / "slow.py").write_text(
        'import pathlib, time\nif __name__ == "__main__":\n    pathlib.Path("on").touch()\n    time.sleep(60)\n'
    )
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # it may be ignored here
    code += f"import runpy, pathlib, sys; main = runpy.run_path({str(folder / '__main__.py')!r})['main']"
    code += "; main.__globals__['GRACE'] = 0.3; raise SystemExit(main(['slow'], pathlib.Path.cwd()))"
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, text=True, **pipes)
    while not (tmp_path / "on").exists():
        assert parent.poll() is None
        time.sleep(0.01)
    parent.send_signal(signal.SIGINT)
    assert parent.communicate(timeout=60)[1].splitlines()[-1] == "slow: interrupted"
    assert parent.returncode == 130


def test_every_experiment_is_called_as_its_module_and_asks_a_question(rooms):
    experiments = [script for script in rooms["catalogue"].scripts().values() if script.experiment]
    assert "ladder" in {script.name for script in experiments}
    for script in experiments:
        text = script.path.read_text(encoding="utf-8")
        assert f'name="{script.name}"' in text, f"{script.path.name} calls its experiment by another name"
        assert script.said.endswith("?"), f"the question of {script.name} has no question mark: {script.said}"
        called = re.search(r'^if __name__ == "__main__":\n(?: .*\n)*    main\(.*\bEXPERIMENT\b', text, re.MULTILINE)
        assert called, f"{script.name} does not end in main(EXPERIMENT)"
        assert set(script.requires) <= set(rooms["catalogue"].EXTRAS)
