"""Doctests of modules whose extras are missing are left out."""

from importlib.util import find_spec

collect_ignore = []
if find_spec("sklearn") is None:
    collect_ignore += ["spherapprox/heads/regressor.py", "spherapprox/targets/digits.py"]
if find_spec("torch") is None:
    collect_ignore += ["spherapprox/heads/modules"]
