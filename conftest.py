"""Doctests of a module that needs an extra are collected where the extra is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["spherapprox/heads/modules.py"]
