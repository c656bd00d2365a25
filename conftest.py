"""Doctests of modules whose extras are missing are left out."""

from importlib.util import find_spec

import pytest

collect_ignore = []
if find_spec("sklearn") is None:
    collect_ignore += ["spherapprox/heads/estimators.py", "spherapprox/targets/digits.py"]
if find_spec("torch") is None:
    collect_ignore += ["spherapprox/heads/torch_modules", "spherapprox/directional/torch_modules"]
    collect_ignore += ["spherapprox/prompts/prefix/torch_modules", "spherapprox/prompts/prefix/layer/reading.py"]
    collect_ignore += ["spherapprox/prompts/recurrent/torch_modules"]
    collect_ignore += [f"spherapprox/prompts/{room}/torch_modules.py" for room in ("executor", "sequences")]
    collect_ignore += [f"tests/reference/{name}.py" for name in ("hawk", "models", "recurrent", "torch_zoo")]
if find_spec("torch") is None or find_spec("transformers") is None:
    collect_ignore += ["spherapprox/prompts/prefix/torch_modules/models"]


def pytest_collection_modifyitems(items):
    """Skip the examples of `to_torch` and `from_torch` where there is no torch: their modules do without it."""
    if find_spec("torch") is None:
        for item in items:
            if isinstance(item, pytest.DoctestItem) and item.name.endswith((".to_torch", ".from_torch")):
                item.add_marker(pytest.mark.skip("needs torch"))
