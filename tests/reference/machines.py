"""Run the tests as on other machines: other kernels, processors, shells, folders, versions and Pythons.

    python tests/reference/machines.py --list
    python tests/reference/machines.py                            # the whole suite under every setting: hours
    python tests/reference/machines.py --only BLAS --tests tests/spherapprox/summation

Prints a table in Markdown, and what failed; docs/accuracy.md keeps that of the last whole run. Results are kept in
machines.json as they come: a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BLAS = ("Haswell", "SkylakeX", "Zen", "Sandybridge", "Nehalem", "Prescott")
TESTED = ("", "test", "learn", "certify", "distributed")
"""Extras whose oldest versions are installed; those of torch need a build that each machine has its own way to get."""

CORE = """
import numpy, threadpoolctl
numpy.linalg.inv(numpy.eye(300) @ numpy.eye(300))
print([pool.get("architecture") for pool in threadpoolctl.threadpool_info()][0])
"""
DISPATCH = "import numpy; print(*numpy.show_config(mode='dicts')['SIMD Extensions'].get('found', ()))"
HOST = "import llvmlite.binding as b; print(b.get_host_cpu_name()); print(b.get_host_cpu_features().flatten())"
IGNORED = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"


class Setting(NamedTuple):
    """A machine that is not this one, or this one otherwise.

    `tests` are those that are run unless others are asked for, () the whole suite. `release` and `versions` ("oldest"
    that setup.cfg allows, or "newest") stand for a fresh environment of that Python.
    """

    name: str
    environment: Mapping[str, str] = {}
    tests: Sequence[str] = ()
    options: Sequence[str] = ()
    folder: str = ""
    ignores_interrupts: bool = False
    release: str = ""
    versions: str = ""


class Result(NamedTuple):
    """How many tests passed, were skipped, and the names of those that failed."""

    n_passed: int
    skipped: int
    failed: list[str]
    seconds: float


def ask(code: str, **environment: str) -> str | None:
    """Return what a line of Python prints in a process of its own, None where that dies."""
    own = os.environ | environment
    process = subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, check=False)
    return None if process.returncode else process.stdout.strip()


def blas_settings() -> Iterator[Setting]:
    """Yield the kernels of OpenBLAS that run here; `ask` refuses those that the processor lacks."""
    own = ask(CORE, OPENBLAS_CORETYPE="")
    runs = {name: ask(CORE, OPENBLAS_CORETYPE=name) for name in BLAS}
    others = [name for name, core in runs.items() if core is not None and core != own]
    yield Setting(f"this machine, BLAS {own or 'unknown'}")
    for name in others:
        title = f"another BLAS, {name}" if name == others[0] else f"BLAS {name}"
        yield Setting(title, {"OPENBLAS_CORETYPE": name})
    yield Setting("two threads of BLAS", {"OPENBLAS_NUM_THREADS": "2"})  # tests/conftest.py sets one
    plugin = {"PYTHONPATH": str(ROOT / "tests" / "reference")}
    yield Setting("noise", plugin | {"NOISE_SEED": "1"}, options=("-p", "noise"))


def processor_settings(folder: Path) -> Iterator[Setting]:
    """Yield other processors: kernels are compiled for them, or NumPy's own dispatch is off."""
    name, _, features = (ask(HOST) or "").partition("\n")
    plain = ",".join(re.sub(r"^\+(?=avx512|avx10|amx|evex)", "-", feature) for feature in features.split(","))
    for title, cpu, flags in (("for any processor", "generic", ""), ("without AVX-512", name, plain)):
        caches = {"NUMBA_CACHE_DIR": str(folder / title)}
        yield Setting(f"kernels {title}", caches | {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": flags})
    yield Setting("NumPy without dispatch", {"NPY_DISABLE_CPU_FEATURES": ask(DISPATCH) or ""})


def shell_settings() -> Iterator[Setting]:
    """Yield other shells, users and folders."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    signals = [str(path.relative_to(ROOT)) for path, text in texts.items() if "SIGINT" in text]
    yield Setting("signals, SIGINT ignored", tests=signals, ignores_interrupts=True)
    yield Setting("SIGINT ignored, no terminal", {"TERM": "dumb"}, ignores_interrupts=True)
    yield Setting("a path with spaces", folder="a path with spaces")
    yield Setting("HOME that cannot be written to", {"HOME": "/proc", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""})
    yield from [Setting(f"hash seed {seed}", {"PYTHONHASHSEED": seed}) for seed in "01"]
    draws = ("-m", "hypothesis", "--hypothesis-profile", "other draws", "--hypothesis-seed")
    yield from [Setting(f"properties, other draws {seed}", options=(*draws, seed)) for seed in "123"]
    ascii_only = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    yield Setting("locale C, ASCII", ascii_only)


def version_settings() -> Iterator[Setting]:
    """Yield the Pythons of the classifiers that are here, with the oldest versions allowed and with the newest."""
    text = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    releases = [release for release in re.findall(r"Python :: (3\.\d+)$", text, re.MULTILINE) if python(release)]
    yield from [Setting(f"Python {release}, {age}", release=release, versions=age)
                for release in releases for age in ("oldest", "newest")]  # fmt: skip


def python(release: str) -> str | None:
    """Return a Python of a release: of this name on the path, or among pyenv's."""
    candidates = [shutil.which(f"python{release}"), *Path.home().glob(f".pyenv/versions/{release}.*/bin/python")]
    for path in filter(None, candidates):
        if not subprocess.run([path, "-c", "import ensurepip"], capture_output=True, check=False).returncode:
            return str(path)
    return None


def settings(folder: Path) -> list[Setting]:
    """Return all settings that can be had here."""
    groups = (blas_settings(), processor_settings(folder), shell_settings(), version_settings())
    return [setting for group in groups for setting in group]


def oldest() -> list[str]:
    """Return the requirements of setup.cfg with each minimum as the version."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "setup.cfg")
    lists = [
        parser["options"]["install_requires"],
        *(parser["options.extras_require"][name] for name in TESTED if name),
    ]
    return sorted({line.strip().replace(">=", "==") for text in lists for line in text.splitlines() if line.strip()})


def environment_of(setting: Setting, folder: Path) -> str:
    """Return the Python that the tests run with, in a fresh environment where the setting names versions."""
    if not setting.versions:
        return sys.executable
    venv = folder / f"{setting.release}-{setting.versions}"
    path = venv / "bin" / "python"
    if not path.exists():
        subprocess.run([python(setting.release) or "", "-m", "venv", venv], check=True)
        pip = [path, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if setting.versions == "oldest":
            subprocess.run([*pip, *oldest()], check=True)
            subprocess.run([*pip, "--no-deps", "-e", ROOT], check=True)
        else:
            subprocess.run([*pip, "--upgrade", "-e", f"{ROOT}[{','.join(filter(None, TESTED))}]"], check=True)
    return str(path)


def tree_of(setting: Setting, folder: Path) -> Path:
    """Return the folder where the tests run, a copy of what git knows where the setting names another."""
    if not setting.folder:
        return ROOT
    tree = folder / setting.folder
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    return tree


def run(setting: Setting, tests: Sequence[str], jobs: int, folder: Path) -> Result:
    """Run tests under a setting."""
    report, began = folder / "report.xml", time.perf_counter()
    report.unlink(missing_ok=True)
    executable, tree = environment_of(setting, folder), tree_of(setting, folder)
    command = [executable, "-m", "pytest", "-n", str(jobs), "-p", "no:cacheprovider", f"--junitxml={report}"]
    command += [*setting.options, *(tests or setting.tests)]
    if setting.ignores_interrupts:
        command = [executable, "-c", IGNORED, *command]
    environment = os.environ | setting.environment
    if tree != ROOT:
        environment |= {"PYTHONPATH": str(tree)}
    process = subprocess.run(
        command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=setting.ignores_interrupts, errors="replace",
        check=False,
    )  # fmt: skip
    result = read_report(report, time.perf_counter() - began)
    if result.failed or not result.n_passed:
        print(process.stdout[-6000:], file=sys.stderr)
    return result


def read_report(report: Path, seconds: float) -> Result:
    """Read what pytest wrote of a run; one that ended before counts as a failure."""
    if not report.exists():
        return Result(0, 0, ["pytest did not end"], seconds)
    failed, skipped, count = [], 0, 0
    for case in ET.parse(report).getroot().iter("testcase"):
        kinds = {part.tag for part in case}
        count, skipped = count + 1, skipped + ("skipped" in kinds)
        if kinds & {"failure", "error"}:
            failed.append(f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}")
    failed = sorted(set(failed))
    return Result(count - skipped - len(failed), skipped, failed, seconds)


def table(results: Mapping[str, Result]) -> str:
    """Return the results in Markdown."""
    rows = ["| setting | passed | skipped | failed | names |", "| --- | --- | --- | --- | --- |"]
    for name, result in results.items():
        names = ", ".join(f"`{test}`" for test in result.failed)
        rows.append(f"| {name} | {result.n_passed} | {result.skipped} | {len(result.failed)} | {names} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names of the settings that can be had here")
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="settings whose names contain one")
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="default: those of the setting")
    parser.add_argument("--jobs", type=int, default=2, help="pytest's processes, default: %(default)s")
    parser.add_argument("--again", action="store_true", help="also settings that have a result")
    parser.add_argument("--folder", type=Path, help="keeps environments and caches; default: a temporary one")
    parser.add_argument("--results", type=Path, default=Path("machines.json"), help="default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="machines-") as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        chosen = [one for one in settings(folder) if any(word in one.name for word in options.only)]
        if options.list:
            print(*(setting.name for setting in chosen), sep="\n")
            return 0
        records = json.loads(options.results.read_text("utf-8")) if options.results.exists() else {}
        for setting in chosen:
            if setting.name not in records or options.again:
                records[setting.name] = run(setting, options.tests, options.jobs, folder)
                options.results.write_text(json.dumps(records, indent=1))
                print(f"{setting.name}: {table({'': Result(*records[setting.name])}).splitlines()[-1]}", flush=True)
    results = {setting.name: Result(*records[setting.name]) for setting in chosen}
    print(table(results))
    return any(result.failed or not result.n_passed for result in results.values())


if __name__ == "__main__":
    sys.exit(main())
