"""Are results the same after a change? Run the examples of all public callables in two trees, and compare bit for bit.

    PYTHONPATH=before python tests/reference/results.py record before.json
    PYTHONPATH=after python tests/reference/results.py record after.json
    python tests/reference/results.py compare before.json after.json --names names.txt

Examples are run one docstring after another; what each assigns or shows is recorded as a digest of all its bits, with
the arrays inside. Callables are told apart by their names without modules: a file of lines "old new" maps those that
were renamed. Prints what differs, and what only one of the trees has.
"""

from __future__ import annotations

import argparse
import dataclasses
import doctest
import hashlib
import importlib
import inspect
import io
import json
import pkgutil
import re
import sys
import tempfile
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("spherapprox", "bounds")
HIDDEN = re.compile(rf" at 0x[0-9a-f]+|{re.escape(tempfile.gettempdir())}[\w/.]*|(?<=seconds: )[^,}}]*")
"""What is another in each run: addresses, folders, times."""
DEEPEST = 6


def modules() -> Iterator[types.ModuleType]:
    """Yield the packages and all their modules that can be imported here."""
    for package in map(importlib.import_module, PACKAGES):
        yield package
        for entry in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with suppress(ImportError):  # an extra is missing
                yield importlib.import_module(entry.name)


def public() -> Iterator[tuple[str, Any]]:
    """Yield the public callables of all modules, records that calls return, and their methods, by qualified name."""
    listed = [getattr(module, name, None) for module in modules() for name in getattr(module, "__all__", ())]
    records = [thing for module in modules() for thing in vars(module).values() if inspect.isclass(thing)]
    seen: set[int] = set()
    for thing in (*listed, *(record for record in records if not record.__name__.startswith("_"))):
        if callable(thing) and id(thing) not in seen and str(thing.__module__).startswith(PACKAGES):
            seen.add(id(thing))
            yield thing.__qualname__, thing
            yield from methods(thing) if inspect.isclass(thing) else ()


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, inherited ones included."""
    for key in dir(kind):
        entry = inspect.getattr_static(kind, key)
        member = getattr(entry, "fget", None) or getattr(entry, "__func__", entry)
        if not key.startswith("_") and str(getattr(member, "__module__", "")).startswith(PACKAGES):
            yield f"{kind.__qualname__}.{key}", member


def digest(value: Any, depth: int = 0) -> str:
    """Return a text that stands for all the bits of a value."""
    if isinstance(value, np.random.Generator):
        value = value.bit_generator.state
    if isinstance(value, np.ndarray | np.generic) and np.asarray(value).dtype != object:
        array = np.ascontiguousarray(value)
        text = f"{array.dtype}{array.shape}:{hashlib.sha256(array.tobytes()).hexdigest()[:16]}"
    elif isinstance(value, float):
        text = value.hex()
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{k}: {digest(v, depth + 1)}" for k, v in sorted(value.items(), key=str)) + "}"
    elif isinstance(value, list | tuple | set | frozenset | np.ndarray):
        parts = [digest(part, depth + 1) for part in value]
        text = f"({', '.join(sorted(parts) if isinstance(value, set | frozenset) else parts)})"
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < DEEPEST:
        text = digest({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, depth + 1)
    else:
        text = value if isinstance(value, str) else getattr(value, "__name__", repr(value))
    return HIDDEN.sub("", text)


def run(source: str, space: dict[str, Any]) -> str:
    """Run an example and return what it shows and assigns."""
    before, texts, stdout = dict(space), [], io.StringIO()
    sys.displayhook = lambda value: None if value is None else texts.append(digest(value))
    try:
        with redirect_stdout(stdout), redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, "<example>", "single"), space)
    except Exception as error:
        texts.append(f"{type(error).__name__}: {error}")
    finally:
        sys.displayhook = sys.__displayhook__
    new = {k: v for k, v in space.items() if not k.startswith("__") and before.get(k, space) is not v}
    named = (types.ModuleType, type, types.FunctionType)
    fresh = [f"{k} = {digest(v)}" for k, v in sorted(new.items()) if not isinstance(v, named)]
    return " ".join([*texts, stdout.getvalue(), *fresh]).strip()


def record(path: Path) -> None:
    """Write the results of all examples to a file."""
    results: dict[str, list[str]] = {}
    for name, thing in public():
        if name in results:
            continue
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
        space = dict(
            vars(sys.modules[thing.__module__])
        )  # examples call the names of their module, as doctest lets them
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(0)
        steps = [run(e.source, space) for e in examples if not e.options.get(doctest.SKIP)]
        results[name] = [step for step in steps if step]
        print(f"{len(results)} {name}", end="\r", file=sys.stderr)
    path.write_text(json.dumps(results, indent=1), encoding="utf-8")


def apart(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Return the results that only one of two lists has, whatever the variables that hold them are called.

    Where only one list has any, examples were added or left out, and no result has changed.
    """
    plain = [Counter(re.sub(r"(^| )\w+ = ", r"\1", step) for step in steps) for steps in (old, new)]
    return [*(plain[0] - plain[1]).elements()], [*(plain[1] - plain[0]).elements()]


def around(old: str, new: str) -> tuple[str, str]:
    """Return two results from a little before the first character in which they differ."""
    first = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return old[max(first - 60, 0) : first + 60], new[max(first - 60, 0) : first + 60]


def compare(old: Path, new: Path, names: Path | None) -> int:
    """Print which results differ; return 1 if any does."""
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    renamed = dict(line.split() for line in names.read_text(encoding="utf-8").splitlines()) if names else {}
    mapped = {renamed.get(name, name): steps for name, steps in before.items()}
    common = [name for name in mapped if name in after]
    different = []
    for name in common:
        lost, new = apart(mapped[name], after[name])
        if lost and new:
            different.append(name)
            print(f"{name}: {len(mapped[name])} results, now {len(after[name])}")
            print(*(f"  {text}" for pair in zip(lost, new, strict=False) for text in around(*pair)), sep="\n")
    count = sum(len(mapped[name]) for name in common if name not in different)
    print(
        f"{count} results of {len(common) - len(different)} callables are the same bit by bit, {len(different)} differ"
    )
    print("only before:", *sorted(mapped.keys() - after.keys()))
    print("only after:", *sorted(after.keys() - mapped.keys()))
    return 1 if different else 0


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("record").add_argument("path", type=Path)
    both = commands.add_parser("compare")
    both.add_argument("old", type=Path)
    both.add_argument("new", type=Path)
    both.add_argument("--names", type=Path, help='lines "old new"')
    options = parser.parse_args()
    if options.command == "record":
        record(options.path)
        return 0
    return compare(options.old, options.new, options.names)


if __name__ == "__main__":
    sys.exit(main())
