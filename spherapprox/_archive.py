"""One .npz file of arrays under a JSON header and a checksum: docs/format.md describes it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, ClassVar

import numpy as np

from . import _checks
from ._loading import wings
from ._types import Array, Floats
from ._version import __version__

FORMAT = "spherapprox"
VERSION = 2
HEADER, CHECKSUM = "header", "sha256"
"""Names of the arrays that hold the JSON header and the checksum, as bytes."""

MOST_ARRAYS, DEEPEST = 20_000, 20
"""The most arrays of a file, and names that lead to one: what is forged ends before long work."""


@dataclass(frozen=True)
class Record:
    """The content of a file: the name of a kind of object, and its constructor's arguments."""

    kind: str
    fields: Mapping[str, Field]


Field = Floats | float | int | str | None | Record | tuple[Record, ...] | tuple[str, ...]


class Savable:
    """An object that can be saved: its constructor's arguments are its state."""

    _kind: ClassVar[str]
    """Its name in files, which stands in the body of the class."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Register the class for `spherapprox.load`."""
        super().__init_subclass__(**options)
        if "_kind" in vars(cls):
            KINDS.setdefault(cls._kind, cls)

    def _arguments(self) -> Mapping[str, Any]:
        """Return the constructor's arguments of an equal object, bit by bit."""
        raise NotImplementedError

    def _record(self) -> Record:
        if "_kind" not in vars(type(self)):
            raise TypeError(
                f"{type(self).__name__} is a subclass of what can be saved, and may hold more: save an instance of "
                f"the library's own class for {self._kind!r}"
            )
        return Record(self._kind, {name: _to_record(value) for name, value in self._arguments().items()})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this to a file (docs/format.md) from which `spherapprox.load` makes it again, bit by bit.

        Parameters
        ----------
        path : str or os.PathLike
            The file, named as it is given: no suffix is added, ``.npz`` is the usual one. A file of that name is
            replaced once the new one is complete, and stays as it is if writing fails or is interrupted.

        Raises
        ------
        TypeError, ValueError
            If `path` is no path of a file, the file would be too large, or the class is a user's subclass.
        OSError
            If the file cannot be written; nothing is left behind (a process that is killed leaves ``.unfinished-*``).

        Examples
        --------
        >>> import os, tempfile
        >>> from spherapprox import EqualMeasurePartition, load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "partition.npz")
        ...     EqualMeasurePartition(2, 10).save(path)
        ...     load(path)
        EqualMeasurePartition(dim=2, n=10)
        """
        write(path, self._record())


KINDS: dict[str, type[Savable]] = {}
"""Classes of what can be saved, by their names in files; those of modules that are loaded."""


def load(path: str | os.PathLike[str]) -> Savable:
    """Make the object that a file holds again."""
    record = read(path)
    try:
        return _make(record)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)!r} holds no {record.kind} that can be made: {error}") from error


def _make(record: Record) -> Savable:
    """Construct the object of a record; its class checks the arguments."""
    if record.kind not in KINDS:
        list(wings())
    if record.kind not in KINDS:
        kinds = ", ".join(sorted(KINDS))
        raise ValueError(
            f"the kind {_checks.show(record.kind)} is none of {kinds}, which spherapprox {__version__} knows; upgrade "
            "spherapprox"
        )
    return KINDS[record.kind](**{name: _argument(field) for name, field in record.fields.items()})


def _argument(field: Any) -> Any:
    """Return the constructor's argument that a field of a record stands for."""
    if isinstance(field, tuple):
        return tuple(_argument(item) for item in field)
    return _make(field) if isinstance(field, Record) else field


def _to_record(value: Any) -> Any:
    """Return a constructor's argument with the records of what can be saved in place of it."""
    if isinstance(value, tuple):
        return tuple(_to_record(item) for item in value)
    return value._record() if isinstance(value, Savable) else value


def write(path: object, record: Record, *, most_arrays: int = MOST_ARRAYS) -> None:
    """Write a record to a file that appears complete or not at all."""
    target = place(path)
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "written_by": f"{FORMAT} {__version__}"}
    floats = dict(_flatten(record, header))
    if (count := len(floats) + 2) > most_arrays:
        raise ValueError(f"the file {target!r} would have {count} arrays, more than {most_arrays}: save its parts")
    size = sum(array.nbytes for array in floats.values())
    _checks.memory(size, f"the file {target!r}", "save the arrays themselves with np.save")
    arrays = {HEADER: np.frombuffer(json.dumps(header, allow_nan=False).encode(), np.uint8), **floats}
    # a new file, which replaces the target when it is complete, and vanishes if it fails
    unfinished = os.path.join(os.path.dirname(target), f".unfinished-{secrets.token_hex(8)}")
    try:
        with open(unfinished, "x+b") as file:
            np.savez(file, **arrays, **{CHECKSUM: _checksum(arrays)})  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    except OSError as error:
        reason = f"{error.strerror or error}: the file could not be written, nothing was changed"
        raise OSError(error.errno, reason, target) from error
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)


def read(path: object, *, most_arrays: int = MOST_ARRAYS) -> Record:
    """Read the record of a file, and check that nothing in it was changed."""
    name = _checks.path(path)
    with open(name, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        _checks.memory(size, f"{name!r}", "np.load reads single arrays of it (docs/format.md)")
        try:
            header, arrays = _read_verified(file, size, most_arrays)
            rooms: dict[str, dict[str, Array]] = {}  # the arrays of each record, by its prefix
            for entry, array in arrays.items():
                rooms.setdefault(entry[: entry.rfind("/") + 1], {})[entry] = array
            record = _gather(header, rooms, "")
        except _Refused as error:
            raise ValueError(f"{name!r} {error}") from None
        except Exception as error:  # of zipfile, json or NumPy, where bytes are damaged
            raise ValueError(
                f"{name!r} is damaged, or no file of {FORMAT} ({_checks.show(error)}): copy it again, or save it anew"
            ) from error
    if rooms:
        entries = ", ".join(entry for room in rooms.values() for entry in room)
        raise ValueError(f"{name!r} is malformed: nothing in its header stands for {entries}; save it anew")
    return record


class _Refused(Exception):
    """A complaint about a file that can be opened, without its name."""


def _read_verified(file: IO[bytes], size: int, most_arrays: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read the header and the arrays of a file, and check its checksum."""
    # Step 1: an archive of arrays, none of which is compressed
    if not zipfile.is_zipfile(file):
        raise _Refused(f"is no file of {FORMAT}, or was cut off: load reads what .save wrote; copy it again")
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        if HEADER not in archive.files:
            raise _Refused(f"is no file of {FORMAT}, but an archive of something else: load reads what .save wrote")
        members = archive.zip.infolist()
        if any(m.compress_type != zipfile.ZIP_STORED for m in members) or sum(m.file_size for m in members) > size:
            raise _Refused("is malformed: its members must be stored, not compressed, and not overlap; save it anew")
        if len(members) > most_arrays:
            raise _Refused(f"is malformed: it has {len(members)} arrays, more than {most_arrays}; save its parts")
        arrays = {name: archive[name] for name in archive.files}
    # Step 2: its checksum
    checksum = arrays.pop(CHECKSUM)
    if not np.array_equal(checksum, _checksum(arrays)):
        raise _Refused("is damaged: its arrays do not have its checksum; copy it again, or save it anew")
    # Step 3: its header, of this version
    header = json.loads(arrays.pop(HEADER).tobytes())
    form, version, writer = (header.pop(key) for key in ("format", "version", "written_by"))
    if form != FORMAT or version != VERSION:
        raise _Refused(
            f"cannot be read: {_checks.show(writer)} wrote it in version {_checks.show(version)} of the format "
            f"{form!r}, and {FORMAT} {__version__} reads version {VERSION} of {FORMAT!r}; load it with the library "
            "that wrote it"
        )
    return header, arrays


def _checksum(arrays: Mapping[str, Array]) -> Array:
    """Return the SHA-256 of all names, types, shapes and bytes, in their order, shape (32,)."""
    state = hashlib.sha256()
    for name, array in arrays.items():
        state.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        state.update(array.reshape(-1).view(np.uint8).data)
    return np.frombuffer(state.digest(), np.uint8)


def _flatten(record: Record, header: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Floats]]:
    """Write strings, integers and None into the header; yield floats and arrays, little-endian, with their names."""
    header["kind"] = record.kind
    for name, value in record.fields.items():
        if isinstance(value, Record):
            header[name] = {}
            yield from _flatten(value, header[name], f"{prefix}{name}/")
        elif isinstance(value, tuple):
            header[name] = [{} if isinstance(item, Record) else item for item in value]
            for i, item in enumerate(value):
                if isinstance(item, Record):
                    yield from _flatten(item, header[name][i], f"{prefix}{name}/{i}/")
        elif isinstance(value, float | np.ndarray):
            array = np.asarray(value)
            yield prefix + name, np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        else:
            header[name] = value


def _gather(node: dict[str, Any], rooms: dict[str, dict[str, Array]], prefix: str) -> Record:
    """Return the record of a part of the header, and take its arrays away."""
    if prefix.count("/") > DEEPEST:
        raise _Refused(f"is malformed: its records lie deeper in each other than {DEEPEST} names; save it anew")
    fields: dict[str, Field] = {}
    kind = node.pop("kind")
    for name, value in node.items():
        if isinstance(value, list):
            fields[name] = tuple(
                _gather(item, rooms, f"{prefix}{name}/{i}/") if isinstance(item, dict) else item
                for i, item in enumerate(value)
            )
        else:
            fields[name] = _gather(value, rooms, f"{prefix}{name}/") if isinstance(value, dict) else value
    for entry, array in rooms.pop(prefix, {}).items():
        if array.dtype.str not in ("<f4", "<f8"):
            raise _Refused(f"is malformed: {entry!r} must hold '<f4' or '<f8', got {array.dtype.str!r}; save it anew")
        native = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        fields[entry[len(prefix) :]] = native if native.ndim else float(native)
    return Record(kind, fields)


def place(path: object, name: str = "path") -> str:
    """Return where a file will be, in a folder that exists, and not over one that is write-protected."""
    target = os.path.realpath(_checks.path(path, name))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder: make it first", folder)
    if os.path.exists(target) and not os.access(target, os.W_OK):  # a rename would replace it all the same
        raise PermissionError(errno.EACCES, "the file there is write-protected, nothing was changed", target)
    return target
