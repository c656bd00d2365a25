"""Files of compiled kernels, one for each function and signature, sealed: a damaged one is compiled again.

A file that another user could have written is never read, since what is read is run.

numba's own files are trusted when read, and share an index that two processes may write at once.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from .trust import is_shared, make_folder

_dumps: Any = dumps
_rebuild: Any = CompileResult._rebuild

QUIET = 1.0  # seconds of compiling in one process without a word

_SEAL = sha256().digest_size


class Store(NullCache):
    """Keep the compiled forms of one function in a folder, if there is one."""

    def __init__(self, function: Callable[..., Any], folder: Path | None) -> None:
        self.folder = folder
        module = function.__module__.partition(".")[2]
        self.name = f"{module}-{function.__qualname__.replace('<locals>.', '')}"
        self.closure = _dumps(tuple(cell.cell_contents for cell in function.__closure__ or ()))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled form for a signature, or None: then numba compiles it."""
        target_context.refresh()
        try:
            overload = None if self.folder is None else self._read(sig, target_context)
        except FileNotFoundError:
            overload = None
        except Exception as error:  # whatever ails a file, the kernel can be compiled again
            overload = None
            warn("damaged", f"compiled kernels in '{self.folder}' are damaged and are compiled again; if this "
                 f"comes back, delete that folder ({type(error).__name__}: {error})")  # fmt: skip
        if overload is None:
            _clock.start(self.folder)
        return overload

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep numba's compiled form for a signature."""
        _clock.stop()
        if self.folder is None or data.library.has_dynamic_globals:
            return
        content, path = _dumps(data._reduce()), self._path(sig, data.codegen)
        part = path.with_name(f"{uuid4().hex}.part")
        try:
            try:
                make_folder(self.folder)
                part.touch(0o644)
                part.write_bytes(sha256(content).digest() + content)
                part.replace(path)
                _kept.append(path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            warn("unkept", f"compiled kernels cannot be kept in '{self.folder}' and are compiled in every process; "
                 f"make room there, or name another folder in NUMBA_CACHE_DIR ({error})")  # fmt: skip

    def _path(self, sig: Any, codegen: Any) -> Path:
        assert self.folder is not None
        key = repr((sig, codegen.magic_tuple())).encode() + self.closure
        return self.folder / f"{self.name}-{sha256(key).hexdigest()[:20]}.nbc"

    def _read(self, sig: Any, target_context: Any) -> Any:
        path = self._path(sig, target_context.codegen())
        with path.open("rb") as file:
            if is_shared(os.fstat(file.fileno())):
                raise PermissionError(f"other users can change {path.name}")
            sealed = file.read()
        content = sealed[_SEAL:]
        if sha256(content).digest() != sealed[:_SEAL]:
            raise ValueError(f"the checksum of {path.name} is wrong")
        return _rebuild(target_context, *pickle.loads(content))


def count_kept() -> int:
    """Count the compiled kernels that this process has put into their folder."""
    return len(_kept)


_kept: list[Path] = []


def warn(problem: str, message: str) -> None:
    """Warn of a problem once in this process."""
    if problem not in _warned:
        _warned.add(problem)
        warnings.warn(message, RuntimeWarning, stacklevel=3)


_warned: set[str] = set()


class _Clock:
    """The time that this process has compiled for; numba's lock lets one thread at a time compile."""

    def __init__(self) -> None:
        self.depth, self.since, self.spent, self.told = 0, 0.0, 0.0, False

    def start(self, folder: Path | None) -> None:
        """Begin a kernel, perhaps on the way to another, and tell the user if it has taken long by now."""
        now = time.perf_counter()
        if self.depth == 0:
            self.since = now
        self.depth += 1
        if not self.told and self.spent + now - self.since > QUIET:
            self.told = True
            _tell(folder)

    def stop(self) -> None:
        """End a kernel."""
        self.depth -= 1
        if self.depth == 0:
            self.spent += time.perf_counter() - self.since


_clock = _Clock()


def _tell(folder: Path | None) -> None:
    """Tell the user of the wait for a compiler; a progress bar steps aside."""
    tqdm = sys.modules.get("tqdm")
    when = "in every process, as no folder can keep them: set NUMBA_CACHE_DIR" if folder is None else "once"
    with nullcontext() if tqdm is None else tqdm.tqdm.external_write_mode(file=sys.stderr):
        logging.getLogger("spherapprox").warning(
            "spherapprox: compiling kernels for this machine, %s; 'spherapprox warmup' compiles all beforehand", when
        )
