"""Report of an installation: versions, cores, instruction set, compiled code and extras."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, overload

from . import _checks
from ._loading import load

__all__ = ["show_config"]

REQUIRED = ("spherapprox", "numpy", "scipy", "numba", "llvmlite")
OPTIONAL = (
    "dask", "distributed", "onnx", "onnxruntime", "onnxscript", "peft", "python-flint", "scikit-learn", "torch",
    "transformers",
)  # fmt: skip


@overload
def show_config(mode: Literal["print"] = ...) -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, Any]: ...
def show_config(mode: Literal["print", "dicts"] = "print") -> dict[str, Any] | None:
    """Show the versions, cores, instructions, compiled code and extras of this installation.

    Parameters
    ----------
    mode : {"print", "dicts"}, default "print"
        Print it, or return it.

    Returns
    -------
    dict
        Only for "dicts". "versions": of Python and the packages that are required; "threads": the cores that
        ``workers=-1`` takes; "instructions": the processor that code is compiled for, whether AVX-512 is used, the
        bytes of a vector and the block of evaluation and control points in registers; "compiled code": the folder that
        keeps it, None where there can be none; "extras": versions of optional packages, None where not installed.

    Raises
    ------
    ValueError
        If `mode` is another.

    Examples
    --------
    >>> from spherapprox.config import show_config
    >>> show_config("dicts")["threads"] >= 1
    True
    """
    _checks.choice(mode, "mode", ("print", "dicts"))
    load(f"{__package__}._kernels.jit")
    from ._kernels.jit import cache_folder
    from ._kernels.simd.registers import host, shape

    (size, vectors, group), (name, avx512), folder = shape(), host(), cache_folder()
    facts: dict[str, Any] = {
        "versions": {"python": platform.python_version()} | {package: _version(package) for package in REQUIRED},
        "threads": _checks.workers(-1),
        "instructions": {
            "processor": name,
            "AVX-512": avx512,
            "vector bytes": size,
            "block": f"{vectors} vectors of evaluation points x {group} control points",
        },
        "compiled code": None if folder is None else os.fspath(folder),
        "extras": {package: _version(package) for package in OPTIONAL},
    }
    if mode == "dicts":
        return facts
    for title, entries in facts.items():
        lines = entries.items() if isinstance(entries, dict) else [("", entries)]
        print(f"{title}:")
        for label, entry in lines:
            print(f"  {label + ': ' if label else ''}{'none' if entry is None else entry}")
    return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
