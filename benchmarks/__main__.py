"""List the experiments and the other scripts of this folder, or run some into one folder with an index page.

::

    python -m benchmarks                    # what there is
    python -m benchmarks ladder smoothness  # these; shortest.py and other scripts too, by their names
    python -m benchmarks all                # every experiment; --quick alone: every one, small
"""

from __future__ import annotations

import difflib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tabulate import tabulate

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))  # the scripts import their neighbours so

from catalogue import INTERRUPTED, Script, missing, options, scripts  # noqa: E402

GRACE = 5.0  # seconds in which an interrupted script may end


def listing(found: dict[str, Script]) -> str:
    """Return the list of experiments and scripts, as text."""
    rows = [(s.name, s.said, ", ".join(s.requires)) for s in found.values() if s.experiment]
    others = [(s.name, s.said) for s in found.values() if not s.experiment]
    table = tabulate(rows, headers=["experiment", "question", "needs"], maxcolwidths=[None, 70, None])
    return (
        f"{table}\n\nOther scripts, with options of their own (python benchmarks/NAME.py --help):\n\n"
        f"{tabulate(others, tablefmt='plain', maxcolwidths=[None, 90])}\n\n"
        "Run: python -m benchmarks NAME ... | all [--quick] [--out DIR]"
    )


def run(script: Script, chosen: list[str], out: Path) -> int:
    """Run a script as a process of its own; returns its exit status."""
    command, target = [sys.executable, str(script.path)], out / f"{script.name}.txt"
    if script.experiment:
        return _wait(subprocess.Popen([*command, *chosen]))
    unfinished = target.with_suffix(".part")
    with unfinished.open("w", encoding="utf-8") as file:
        status = _wait(subprocess.Popen(command, stdout=file))
    os.replace(unfinished, target)
    return status


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process, and for its last words where this one is interrupted."""
    try:
        return process.wait()
    except KeyboardInterrupt:
        try:
            process.wait(GRACE)  # a terminal interrupts both
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait()
        return INTERRUPTED


def run_all(wanted: list[Script], chosen: list[str], out: Path, quiet: bool) -> dict[str, str]:
    """Run scripts one after another, and return in words what became of those that have no results."""
    said: dict[str, str] = {}
    for script in wanted:
        if lack := missing(script.requires):
            said[script.name] = f"left out, {lack}"
            continue
        if not quiet:
            print(f"\n{script.name}: {script.said}", flush=True)
        start = time.perf_counter()
        status = run(script, chosen, out)
        if status == INTERRUPTED:
            said[script.name] = "interrupted"
            break
        if status:
            said[script.name] = f"failed after {time.perf_counter() - start:.0f} s (exit status {status})"
    return said


def choose(names: list[str], found: dict[str, Script]) -> list[Script]:
    """Return the scripts of some names, all experiments for none or "all"."""
    wanted = [name for name in names if name != "all"]
    if len(wanted) < len(names) or not names:
        wanted += [script.name for script in found.values() if script.experiment]
    for name in wanted:
        if name not in found:
            near = difflib.get_close_matches(name, [*found, "all"], 1)
            raise SystemExit(f"no script is called {name!r}{f'; did you mean {near[0]!r}?' if near else ''}")
    return [found[name] for name in dict.fromkeys(wanted)]


def main(argv: list[str] | None = None, folder: Path = FOLDER) -> int:
    """List or run; returns the exit status."""
    parser = options(__doc__)
    parser.prog = "python -m benchmarks"
    parser.add_argument("names", nargs="*", metavar="NAME", help='experiments or other scripts, or "all"')
    given, found = parser.parse_args(argv), scripts(folder)
    if not given.names and not given.quick:
        print(listing(found))
        return 0
    wanted = choose(given.names, found)
    given.out.mkdir(parents=True, exist_ok=True)
    flags = [f"--{name}" for name in ("quick", "fresh", "quiet") if getattr(given, name)]
    said = run_all(wanted, ["--out", str(given.out), *flags], given.out, given.quiet)
    import index  # with all that figures need: a list needs none of it

    index.write(given.out, {script.name: script.said for script in found.values() if not script.experiment}, said)
    for name, words in said.items():
        print(f"{name}: {words}", file=sys.stderr)
    if not given.quiet:
        print(f"\nThe results are in {given.out / 'index.html'}")
    bad = [words for words in said.values() if not words.startswith("left out")]
    return INTERRUPTED if "interrupted" in bad else int(bool(bad))


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends a list without a word
    raise SystemExit(main())
