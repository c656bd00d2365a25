"""The attributes that pages name are found in a fresh process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import public
import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]

FRESH = """
import contextlib, importlib, json, os, sys
for name in "numpy scipy.special scipy.optimize scipy.spatial numba torch flint matplotlib.pyplot".split():
    with contextlib.suppress(ImportError):  # of others, so that each process of ours starts quickly
        importlib.import_module(name)
for names in json.load(sys.stdin):
    if os.fork():
        if os.wait()[1]:  # whatever ended it, it is no success
            print(names, "ended in an error", flush=True)
        continue
    import bounds, spherapprox
    for name in names:
        thing, *parts = name.split(".")
        thing = {"bounds": bounds, "spherapprox": spherapprox}[thing]
        try:
            for part in parts:
                thing = getattr(thing, part)
        except AttributeError as error:
            if "pip install" not in str(error):  # an extra
                print(name, error, flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fresh process for each module")
def test_attributes_that_pages_name_are_found_in_a_fresh_process():
    homes = {}
    for name in {name for path in TEXTS for name in public.list_attributes(path.read_text(encoding="utf-8"))}:
        homes.setdefault(re.split(r"\.[A-Z]|\.\w+$", name)[0], []).append(name)
    names = json.dumps([sorted(names) for names in homes.values()])
    process = subprocess.run([sys.executable, "-c", FRESH], input=names, capture_output=True, text=True, check=True)
    assert not process.stdout
    assert len(homes) > 30
