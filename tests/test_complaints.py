"""Bad calls and what the errors say: a line each in complaints/*.txt, `call | error | words of its message`.

A file has sections: `[name]` or `[name for variable in values]`, its set-up up to an empty line, then its calls, made
for each of the values. The words are plain text, with `...` for any text between them. All names of `spherapprox` and
`bounds`, `np`, `math` and `partial` are there.
"""

import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import bounds
import spherapprox

NAMES = {name: getattr(spherapprox, name) for name in spherapprox.__all__}
NAMES |= {name: getattr(bounds, name) for name in bounds.__all__ if name != "prompts"}
NAMES |= {"spherapprox": spherapprox, "bounds": bounds, "np": np, "math": math, "partial": partial}


SECTION = re.compile(r"^\[\w.*?(?: for (\w+) in (.+))?\]\n((?:.+\n)*)\n((?:.+\n)+)", re.MULTILINE)


def sections():
    """Yield the set-up of each section, for each value, and the numbers and texts of its lines."""
    for path in sorted(Path(__file__).with_name("complaints").glob("*.txt")):
        text = path.read_text("utf-8")
        assert not SECTION.sub("", text).strip(), f"{path.name} has lines outside of sections"
        for section in SECTION.finditer(text):
            variable, values, setup, calls = section.groups()
            first = text.count("\n", 0, section.start(4)) + 1
            for i in range(len(eval(f"[{values}]", dict(NAMES)))):
                start = f"{variable} = [{values}][{i}]\n" if variable else ""
                lines = list(enumerate(calls.splitlines(), first))
                yield pytest.param(start + setup, lines, id=f"{path.name}:{first}" + f", {i}" * bool(i))


def is_extra(error):
    """Tell whether an error says which extra to install."""
    return isinstance(error, ImportError) and "pip install" in str(error)


def fault(call, error, words, names):
    """Return what is wrong with a complaint, None if nothing is, and the error itself if an extra is not installed."""
    try:
        value = eval(call, names)
    except eval(error, names) as caught:
        pattern, text = ".*".join(map(re.escape, words.split("..."))), str(caught)
        if not re.search(pattern, text, re.DOTALL):
            return f"says {text!r}"
        # whatever the value, a long one is cut; the names of all theorems are 525
        return None if len(text) < 600 else f"says {len(text)} letters"
    except Exception as other:
        return other if is_extra(other) else f"{other!r}"
    return f"returns {value!r}"


@pytest.mark.parametrize(("setup", "lines"), tuple(sections()))
def test_complaints(setup, lines):
    names = dict(NAMES)
    try:
        exec(setup, names)
    except ImportError as error:
        if not is_extra(error):
            raise
        pytest.skip(str(error))
    results = [(number, line, fault(*line.rsplit(" | ", 2), dict(names))) for number, line in lines]
    faults = [f"line {number}, {line}: {text}" for number, line, text in results if isinstance(text, str)]
    assert not faults, "\n".join(faults)
    if missing := [str(error) for _, _, error in results if error]:
        pytest.skip(missing[0])
