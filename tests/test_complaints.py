"""Bad calls and what the errors say: a line each in complaints/*.txt, `call | error | words of its message`.

A file has sections: `[name]` or `[name for variable in values]`, its set-up up to an empty line, then its calls, made
for each of the values. The words are plain text, with `...` for any text between them. All names of `spherapprox` and
`bounds`, `np`, `math`, `partial` and, in the calls, `tmp_path` are there.
"""

import math
import re
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import bounds
import spherapprox

NAMES = {name: getattr(spherapprox, name) for name in spherapprox.__all__}
NAMES |= {name: getattr(bounds, name) for name in bounds.__all__ if name != "prompts"}
NAMES |= {"spherapprox": spherapprox, "bounds": bounds, "np": np, "math": math, "partial": partial}


SECTION = re.compile(r"^\[\w.*?(?: for (\w+) in (.+))?\]\n((?:.+\n)*)\n((?:.+\n)+)", re.MULTILINE)


def complaints():
    """Yield set-up, call, error and words of each line, named by file and line."""
    for path in sorted(Path(__file__).with_name("complaints").glob("*.txt")):
        text = path.read_text("utf-8")
        assert not SECTION.sub("", text).strip(), f"{path.name} has lines outside of sections"
        for section in SECTION.finditer(text):
            variable, values, setup, calls = section.groups()
            first = text.count("\n", 0, section.start(4)) + 1
            for i in range(len(eval(f"[{values}]", dict(NAMES)))):
                start = f"{variable} = [{values}][{i}]\n" if variable else ""
                for number, line in enumerate(calls.splitlines(), first):
                    yield pytest.param(
                        start + setup, *line.rsplit(" | ", 2), id=f"{path.name}:{number}" + f", {i}" * bool(i)
                    )


@cache
def namespace(setup):
    """Run a section's set-up, once."""
    names = dict(NAMES)
    exec(setup, names)
    return names


@pytest.mark.parametrize(("setup", "call", "error", "words"), tuple(complaints()))
def test_complaint(setup, call, error, words, tmp_path):
    pattern = ".*".join(map(re.escape, words.split("...")))
    try:
        names = namespace(setup)
        with pytest.raises(eval(error, names), match=f"(?s){pattern}") as caught:
            eval(call, names | {"tmp_path": tmp_path})
    except ImportError as missing:
        if "pip install" not in str(missing):
            raise
        pytest.skip(str(missing))  # an extra that the call takes is not installed
    assert len(str(caught.value)) < 600  # whatever the value, a long one is cut; the names of all theorems are 525
