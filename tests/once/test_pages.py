"""Every block of code on the site runs: what doctests print is what the page says, cells hold what they assert."""

import ast
import doctest
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from bounds.report import cli

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/how-to/*.md"), *ROOT.glob("docs/theorems/*.md")]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(PAGES)}
TEXTS["README.md"] = (ROOT / "README.md").read_text(encoding="utf-8")
EXTRAS = {
    "sklearn": "sklearn|HeadRegressor|Mixture\\(|Spherical(KMeans|KernelDensity)",
    "torch": "torch",
    "transformers": "transformers",
    "peft": "peft",
    "onnxruntime": "onnx",
}
EXTRAS |= {"dask": "dask", "distributed": "distributed", "flint": "bounds.certify|enclosure"}
PLAIN = ("README.md", "docs/format.md")  # run below, and by tests/spherapprox/test_io.py
FENCE = re.compile(r"^```(\{code-cell\}|\w+)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text, language):
    return [code for name, code in FENCE.findall(text) if name == language]


def need_extras(code):
    """Skip a page whose code needs what is not installed."""
    for module, words in EXTRAS.items():
        if re.search(words, code) and find_spec(module) is None:
            pytest.skip(f"needs {module}")


def pages(language):
    return [name for name, text in TEXTS.items() if blocks(text, language)]


def test_python_is_shown_as_doctests_or_cells():
    loose = [name for name in pages("python") if not all(">>> " in code for code in blocks(TEXTS[name], "python"))]
    loose = sorted(set(loose) - set(PLAIN))
    assert not loose, "pages with python that is neither a doctest (>>> ) nor a {code-cell}"
    languages = {"python", "{code-cell}", "console", "text"}
    assert not {name: {kind for kind, _ in FENCE.findall(text)} - languages for name, text in TEXTS.items()
                if {kind for kind, _ in FENCE.findall(text)} - languages}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in pages("python") if name not in PLAIN])
def test_every_block_prints_what_the_page_says(name, tmp_path, monkeypatch):
    need_extras("".join(blocks(TEXTS[name], "python")))
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, run = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=flags, encoding="utf-8")
    assert failed == 0
    assert run > 0


def test_the_example_prints_what_the_readme_promises(capsys):
    (code,) = blocks(TEXTS["README.md"], "python")
    exec(compile(code, "README.md", "exec"), {})
    output = capsys.readouterr().out
    assert "violated" not in output
    assert output.startswith("19 8 CoreHead(n=19, ")
    assert float(output.splitlines()[1].split()[0]) == pytest.approx(0.096, abs=0.001)
    for promise in ("10^667.99", "10^9.71", "10^9.28"):
        assert promise in output
        assert promise[:5] in code


@pytest.mark.parametrize("name", pages("{code-cell}"))
@pytest.mark.skipif((ROOT / "docs" / "_build" / "index.html").exists(), reason="the site's build has run them")
def test_every_cell_runs(name, tmp_path, monkeypatch):
    cells = [re.sub(r"\A(:.*\n)+", "", code) for code in blocks(TEXTS[name], "{code-cell}")]
    need_extras("".join(cells))
    monkeypatch.chdir(tmp_path)
    assert any("assert " in cell for cell in cells), "no cell holds the prose to its numbers"
    namespace = {}
    for cell in cells:
        exec(compile(ast.parse(cell), name, "exec"), namespace)


def commands():
    lines = [line for text in TEXTS.values() for code in blocks(text, "console") for line in code.splitlines()]
    return sorted({line.removeprefix("$ ") for line in lines if line.startswith("$ ")})


@pytest.mark.parametrize("command", commands())
def test_every_command_is_one(command, tmp_path, monkeypatch):
    # .ci/run installs; long commands have tests of their own, and are held to the options that they have
    words = shlex.split(command, comments=True)
    match words:
        case ["python", "-m", "pip", "install", *_]:
            named = set(re.findall(r"\[(.*?)\]", command))
            assert {extra for names in named for extra in names.split(",")} <= extras()
        case ["spherapprox", "warmup"]:
            pass
        case ["spherapprox", *rest]:
            monkeypatch.chdir(tmp_path)
            mine = "from spherapprox import targets\ntarget = targets.zonal_harmonic(2, 3)\n"
            (tmp_path / "mine.py").write_text(mine, encoding="utf-8")  # the reader's, on the page
            assert cli.main(rest) == 0
        case ["python", "-c", code]:
            exec(code, {})
        case ["python", "-m", "benchmarks", *rest]:
            names = {path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")} | {"all", "--quick", "--list"}
            assert {word for word in rest if word not in names} <= {"--out", "results"}
        case ["python", script, *rest]:
            text = (ROOT / script).read_text(encoding="utf-8")
            assert all(f'"{word}"' in text for word in rest if word.startswith("--"))
        case _:
            pytest.fail("no rule for this command")


def extras():
    text = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    section = re.search(r"^\[options.extras_require\]\n(.*?)^\[", text, re.DOTALL | re.MULTILINE)[1]
    return set(re.findall(r"^(\w+) =", section, re.MULTILINE))
