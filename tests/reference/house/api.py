"""Public names, signatures and a sample of results, before a refactoring and after.

    PYTHONPATH=TREE python tests/reference/house/api.py dump OUT.json
    python tests/reference/house/api.py compare OLD.json NEW.json

`dump` asks whatever packages are importable: put the tree on PYTHONPATH. The same script must make both. Compiled
kernels come from NUMBA_CACHE_DIR; with a cold cache the first dump takes minutes, later ones about a minute.

`compare` ends with exit code 1 if a public name is gone, a signature or a record differs, or a result does: numbers
bit by bit (with the largest relative difference), texts, complaints, warnings. --tolerate 1e-13 lets numbers through
that differ by less; --texts lets other words through, in complaints too, but no other kind of exception; --allow
REGEX lets names and samples through that are changed on purpose. Annotations, and names of modules that are not
listed as public, are shown only.

What would not repeat, and how it is avoided: BLAS threads (one), hashes of strings (PYTHONHASHSEED=0), and code that
is compiled once enough time was spent in plain Python (all of it is loaded by enough work before the samples, except
for one group that asks NumPy's path of a fresh process). Threads change no result of these packages; some samples
take two.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "SPHERAPPROX_WORKERS": "1",
    "COLUMNS": "100", "MPLBACKEND": "Agg", "PYTHON_COLORS": "0", "NO_COLOR": "1",
}  # fmt: skip


def dump(path: str, only: str) -> None:
    """Write names and results to a file."""
    import names
    import samples
    import samples_bounds
    import samples_heads
    import samples_studies
    import samples_targets
    from recorder import Recorder

    warnings.simplefilter("ignore")  # outside samples
    modules = samples, samples_targets, samples_heads, samples_bounds, samples_studies
    recorder, seconds = Recorder(), {}
    for group in (group for module in modules for group in module.GROUPS):
        if only and not re.search(only, group.__name__) and group.__name__ not in ("by_numpy", "warm"):
            continue
        start, recorder.group = time.perf_counter(), group.__name__
        try:
            group(recorder)
        except Exception as error:  # a name that is gone: the samples that it leaves out are found missing
            recorder.results[f"{group.__name__}: broke off"] = {"raises": type(error).__name__, "text": str(error)}
            print(f"{group.__name__} broke off: {error!r}", file=sys.stderr)
        seconds[group.__name__] = round(time.perf_counter() - start, 2)
        print(f"{group.__name__} {seconds[group.__name__]} s", file=sys.stderr, flush=True)
    found = {"names": names.collect(), "results": recorder.results}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, separators=(",", ":"))
    public = sum(map(len, (found["names"]["modules"].get(name, ()) for name in names.FIXED)))
    print(f"{public} public names, {len(found['names']['all'])} names in all, {len(recorder.results)} samples, "
          f"{_numbers(recorder.results)} numbers; seconds: {seconds}")  # fmt: skip


def _numbers(value: Any) -> int:
    if isinstance(value, dict):
        return (
            math.prod(value["shape"])
            if "numbers" in value
            else "float" in value or "int" in value or sum(map(_numbers, value.values()))
        )
    return sum(map(_numbers, value)) if isinstance(value, list) else 0


def compare(old: dict[str, Any], new: dict[str, Any], options: argparse.Namespace) -> int:
    """Print what differs; returns how many differences count."""

    def allowed(name: str) -> bool:
        return any(re.search(pattern, name) for pattern in options.allow)

    bad = [
        (kind, name, text)
        for kind, name, text in (*_names(old, new), *_results(old, new, options))
        if not allowed(name)
    ]
    shown = {"moved", "added", "annotation", "within", "text only"}
    for kind, name, text in sorted(bad, key=lambda entry: entry[0] in shown)[: options.most]:
        print(f"{kind:12} {name}{': ' if text else ''}{text}")
    count = Counter(kind for kind, _, _ in bad)
    print(
        f"\n{len(old['results'])} samples; "
        + (", ".join(f"{kind} {n}" for kind, n in count.items()) or "no difference")
    )
    return sum(n for kind, n in count.items() if kind not in shown)


def _names(old: dict[str, Any], new: dict[str, Any]) -> Any:
    import names

    before, after = old["names"]["all"], new["names"]["all"]
    for module in old["names"]["modules"]:
        fixed = module in names.FIXED
        for name in old["names"]["modules"][module]:
            full = f"{module}.{name}"
            if full not in after or after[full]["kind"] == "missing" != before[full]["kind"]:
                yield "REMOVED" if fixed else "moved", full, ""
            else:
                yield from _changed(full, before[full], after[full], fixed)
    for module in names.FIXED:
        known = old["names"]["modules"].get(module, ())
        yield from (("added", f"{module}.{n}", "") for n in new["names"]["modules"].get(module, ()) if n not in known)


def _changed(name: str, old: dict[str, Any], new: dict[str, Any], fixed: bool) -> Any:
    """Yield what differs between two descriptions of a name."""
    for member, one in old.get("members", {}).items():
        if member not in new.get("members", {}):
            yield "REMOVED" if fixed else "moved", f"{name}.{member}", ""
        else:
            yield from _changed(f"{name}.{member}", one, new["members"][member], fixed)
    for member in new.get("members", {}) if fixed else ():
        if member not in old.get("members", {}):
            yield "added", f"{name}.{member}", ""
    for key in sorted({*old, *new} - {"members", "annotated"}):
        if old.get(key) != new.get(key):
            yield "SIGNATURE" if fixed else "moved", name, f"{key} was {old.get(key)!r:.300}, is {new.get(key)!r:.300}"
    if old.get("annotated") != new.get("annotated") and old.get("call") == new.get("call"):
        yield "annotation", name, f"{new.get('annotated'):.200}"


def _results(old: dict[str, Any], new: dict[str, Any], options: argparse.Namespace) -> Any:
    before, after = old["results"], new["results"]
    yield from (("MISSING", name, "") for name in before if name not in after)
    yield from (("added", name, "") for name in after if name not in before)
    for name, one in before.items():
        other = after.get(name, one)
        if one == other:
            continue
        found: dict[str, Any] = {"relative": 0.0, "texts": [], "shape": []}
        _difference(one, other, found)
        if found["shape"]:
            yield "RESULT", name, f"another kind: {'; '.join(found['shape'])[:300]}"
        if found["relative"] > 0.0 or not (found["shape"] or found["texts"]):
            kind = "within" if found["relative"] <= options.tolerate else "RESULT"
            yield kind, name, f"largest relative difference {found['relative']:.3g}"
        if found["texts"]:
            yield "text only" if options.texts else "TEXT", name, " | ".join(found["texts"])[:500]


def _difference(old: Any, new: Any, found: dict[str, Any]) -> None:  # noqa: PLR0912
    """Collect the largest relative difference of numbers, texts that differ, and values of another kind."""
    if old == new:
        return
    if isinstance(old, str) and isinstance(new, str):
        found["texts"].append(f"{old!r:.200} is now {new!r:.200}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            _difference(one, other, found)
    elif not isinstance(old, dict) or not isinstance(new, dict) or old.keys() != new.keys():
        texts = isinstance(old, dict) and isinstance(new, dict) and {*old} ^ {*new} == {"warns"}
        if texts:
            found["texts"].append(f"warnings {old.get('warns')} are now {new.get('warns')}")
            _difference({k: old[k] for k in old if k != "warns"}, {k: new[k] for k in new if k != "warns"}, found)
        else:
            found["shape"].append(f"{old!r:.150} is now {new!r:.150}")
    elif "float" in old or "int" in old:
        _relative([old.get("float", old.get("int"))], [new.get("float", new.get("int"))], found)
    elif "numbers" in old:
        if (old["array"], old["shape"]) != (new["array"], new["shape"]):
            found["shape"].append(f"{old['array']}{old['shape']} is now {new['array']}{new['shape']}")
        else:
            _relative(old["numbers"], new["numbers"], found)
            if old["numbers"] == new["numbers"] and len(old["numbers"]) < math.prod(old["shape"]):
                found["relative"] = math.inf  # elements that are not stored
    else:
        for key in old:
            if key in ("raises", "record", "scalar") and old[key] != new[key]:
                found["shape"].append(f"{old[key]} is now {new[key]}")
            else:
                _difference(old[key], new[key], found)


def _relative(old: list[str], new: list[str], found: dict[str, Any]) -> None:
    """Compare numbers one by one, each relative to itself; signs of zero count as the least float."""
    a, b = (
        [
            float.fromhex(x) if "0x" in x or x in ("inf", "-inf", "nan") else float(x == "True" or (x != "False" and x))
            for x in side
        ]
        for side in (old, new)
    )
    worst = 5e-324
    for x, y in zip(a, b, strict=True):
        if x == y or (math.isnan(x) and math.isnan(y)):
            continue
        size = max(abs(x), abs(y))
        worst = max(worst, abs(x - y) / size if math.isfinite(size) else math.inf)
    found["relative"] = max(found["relative"], worst)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("dump")
    one.add_argument("out")
    one.add_argument("--only", default="", help="groups whose names match this expression")
    two = commands.add_parser("compare")
    two.add_argument("old"), two.add_argument("new")
    two.add_argument("--tolerate", type=float, default=0.0)
    two.add_argument("--texts", action="store_true")
    two.add_argument("--allow", action="append", default=[])
    two.add_argument("--most", type=int, default=400, help="lines printed")
    options = parser.parse_args()
    if options.command == "dump":
        if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
            os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ENVIRONMENT)
        dump(options.out, options.only)
        return 0
    old, new = (json.loads(Path(path).read_text(encoding="utf-8")) for path in (options.old, options.new))
    return 1 if compare(old, new, options) else 0


if __name__ == "__main__":
    sys.exit(main())
