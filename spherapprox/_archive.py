"""One file that holds arrays and scalars, sealed by a checksum: docs/format.md describes it to the byte."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import secrets
import shutil
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, ClassVar

import numpy as np

from . import __version__, _checks
from ._types import Floats

FORMAT = "spherapprox"
VERSION = 1
HEADER = "spherapprox.json"
SEAL = 64
"""Length of the checksum at the end, hexadecimal digits of SHA-256."""

_NAME_AT = 30
"""Where the name of a zip archive's first member stands."""

_HEADER_LIMIT = 2**20
"""Bytes that the header may take."""

_CHUNK = 2**20

_FOREIGN = {
    b"PK\x03\x04": "a zip archive (.npz, .pt, ...) of something else",
    b"\x93NUMPY": "a single array (.npy), which np.load reads",
    b"\x80": "a pickle, which can run any code and is never opened",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
}
"""What foreign files are, by the bytes they begin with."""


@dataclass(frozen=True)
class Record:
    """What a file holds: the name of a kind of object, and what its constructor takes."""

    kind: str
    fields: Mapping[str, Field]


Field = Floats | float | int | str | None | Record


class Savable:
    """What can be saved: its constructor's arguments are its state."""

    _kind: ClassVar[str]

    def _arguments(self) -> Mapping[str, Any]:
        """Return what the constructor would make this again from, bit by bit."""
        raise NotImplementedError

    def _record(self) -> Record:
        if "_kind" not in vars(type(self)):
            raise TypeError(
                f"{type(self).__name__} is a subclass of what can be saved, and may hold more: save an instance of "
                f"the library's own class for {self._kind!r}"
            )
        arguments = self._arguments().items()
        return Record(self._kind, {k: v._record() if isinstance(v, Savable) else v for k, v in arguments})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this to a file from which `spherapprox.load` makes it again, bit by bit.

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

        See Also
        --------
        spherapprox.load : the way back.

        Notes
        -----
        The format is described in docs/format.md; NumPy alone reads it.

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


def write(path: object, record: Record) -> None:
    """Write a record to a file that appears complete or not at all."""
    target = os.path.realpath(_checks.path(path))
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "written_by": f"{FORMAT} {__version__}"}
    arrays = dict(_flatten(record, header))
    size = sum(array.nbytes for array in arrays.values())
    _checks.memory(size, f"the file {target!r}", "save the arrays themselves with np.save")
    with _replacing(target) as file:
        with zipfile.ZipFile(file, "w") as archive:
            with archive.open(_member(HEADER), "w") as entry:
                entry.write(json.dumps(header, indent=1, allow_nan=False).encode() + b"\n")
            for name, array in arrays.items():
                with archive.open(_member(name + ".npy"), "w", force_zip64=array.nbytes > 2**30) as entry:
                    np.lib.format.write_array(entry, array, version=(1, 0), allow_pickle=False)
            archive.comment = bytes(SEAL)  # the last bytes of the file, written again below
        sealed = file.tell() - SEAL
        seal = _digest(file, sealed)
        file.seek(sealed)
        file.write(seal)


def read(path: object) -> Record:
    """Return the record of a file, after checking that it is one and that no byte of it was changed."""
    name = _checks.path(path)
    if os.path.exists(name) and not os.path.isfile(name):
        raise ValueError(f"{name!r} is {'a folder' if os.path.isdir(name) else 'no regular file'}: name a file")
    with open(name, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        _check_beginning(file, size, name)
        _checks.memory(size, f"{name!r}", "np.load reads single arrays of it (docs/format.md)")
        seal = _digest(file, size - SEAL)
        file.seek(size - SEAL)
        if file.read(SEAL) != seal:
            raise ValueError(
                f"{name!r} is damaged: its bytes do not have the checksum at its end, so it was cut off or changed "
                "after it was saved; copy it again, or save it anew"
            )
        try:
            with zipfile.ZipFile(file) as archive:
                return _unpack(archive, size)
        except _Refused as error:
            raise ValueError(f"{name!r} cannot be read: {error}") from None
        except _MALFORMED as error:
            raise ValueError(
                f"{name!r} is no well-formed file of {FORMAT}: {_checks.show(error)}; save it anew"
            ) from error


class _Refused(Exception):
    """Says what is wrong with the contents of a file."""


_MALFORMED = (
    ValueError, TypeError, LookupError, AttributeError, EOFError, OverflowError, RuntimeError, SyntaxError, OSError,
    struct.error, zipfile.BadZipFile,
)  # fmt: skip
"""What zipfile, json and NumPy's parser raise where someone else wrote the file."""


def _check_beginning(file: IO[bytes], size: int, name: str) -> None:
    """Raise unless the file begins as all files of this format do: a zip archive with the header in front."""
    beginning = file.read(_NAME_AT + len(HEADER))
    if not size:
        raise ValueError(f"{name!r} is empty: copy it again, or save it anew")
    if beginning[:4] == b"PK\x03\x04" and beginning[_NAME_AT:] == HEADER.encode() and size > _NAME_AT + SEAL:
        return
    what = next((text for magic, text in _FOREIGN.items() if beginning.startswith(magic)), "something else")
    raise ValueError(
        f"{name!r} is no file of {FORMAT}, or its beginning is damaged: it looks like {what}; "
        "load reads what .save wrote"
    )


def _unpack(archive: zipfile.ZipFile, size: int) -> Record:
    """Return the record of an archive, whose members are stored as they are and so take no more than its size."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if names[0] != HEADER or len(set(names)) < len(names):
        raise _Refused(f"{HEADER!r} must be its first member, and no name may be there twice, got {names}")
    if any(m.compress_type != zipfile.ZIP_STORED for m in members) or sum(m.file_size for m in members) > size:
        raise _Refused("its members must be stored, not compressed, and not overlap; save it anew")
    if members[0].file_size > _HEADER_LIMIT:
        raise _Refused(f"its header of {members[0].file_size} bytes is above the limit of {_HEADER_LIMIT}")
    header = json.loads(archive.read(HEADER).decode())
    form, version, writer = (header.pop(key) for key in ("format", "version", "written_by"))
    if form != FORMAT or type(version) is not int or version < 1:
        raise _Refused(f"its header must say format {FORMAT!r} and a version from 1 on, got {form!r} and {version!r}")
    if version > VERSION:
        raise _Refused(
            f"{_checks.show(writer)} wrote it in version {version} of the format, and {FORMAT} {__version__} reads up "
            f"to version {VERSION}; upgrade {FORMAT}"
        )
    arrays = {member.filename: _read_array(archive, member) for member in members[1:]}
    record = _gather(header, arrays, "")
    if arrays:
        raise _Refused(f"nothing in its header stands for {', '.join(arrays)}")
    return record


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Floats:
    """Return a member's array after checking that it is as large as it says."""
    with archive.open(member) as entry:
        if np.lib.format.read_magic(entry) != (1, 0):
            raise _Refused(f"{member.filename!r} must be in version 1.0 of the .npy format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(entry)
        if dtype.str not in ("<f4", "<f8") or fortran:
            raise _Refused(f"{member.filename!r} must hold '<f4' or '<f8' in C order, got {dtype.str!r}")
        stored = member.file_size - entry.tell()
        if min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize != stored:
            raise _Refused(f"{member.filename!r} has {stored} bytes for shape {_checks.show(shape)}")
        array: Floats = np.empty(shape, dtype)
        flat = array.reshape(-1).view(np.uint8)
        for start in range(0, stored, _CHUNK):
            flat[start : start + _CHUNK] = np.frombuffer(entry.read(_CHUNK), np.uint8)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _flatten(record: Record, header: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Floats]]:
    """Write what is no float into the header; yield floats and arrays, little-endian, under their names."""
    header["kind"] = record.kind
    for name, value in record.fields.items():
        if isinstance(value, Record):
            header[name] = {}
            yield from _flatten(value, header[name], f"{prefix}{name}/")
        elif isinstance(value, float | np.ndarray):
            array = np.asarray(value)
            yield prefix + name, np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        else:
            header[name] = value


def _gather(node: dict[str, Any], arrays: dict[str, Floats], prefix: str) -> Record:
    """Return the record of a part of the header, and take its arrays away."""
    fields: dict[str, Field] = {}
    kind = node.pop("kind")
    if not isinstance(kind, str):
        raise _Refused(f"a kind must be a string, got {_checks.show(kind)}")
    for name, value in node.items():
        if not isinstance(value, dict | str | int | None):
            raise _Refused(f"{prefix + name!r} must be a string, an integer or null, got {_checks.show(value)}")
        fields[name] = _gather(value, arrays, f"{prefix}{name}/") if isinstance(value, dict) else value
    for entry in [entry for entry in arrays if entry.startswith(prefix) and "/" not in entry[len(prefix) :]]:
        array = arrays.pop(entry)
        fields[entry[len(prefix) :].removesuffix(".npy")] = array if array.ndim else float(array)
    return Record(kind, fields)


def _member(name: str) -> zipfile.ZipInfo:
    """Return a member without a date, so that the same object always makes the same file."""
    member = zipfile.ZipInfo(name)
    member.create_system, member.external_attr = 3, 0o644 << 16
    return member


def _digest(file: IO[bytes], length: int) -> bytes:
    """Return the SHA-256 of a file's first bytes, in hexadecimal digits."""
    file.seek(0)
    state = hashlib.sha256()
    while length > 0 and (chunk := file.read(min(length, _CHUNK))):
        state.update(chunk)
        length -= len(chunk)
    return state.hexdigest().encode()


@contextmanager
def _replacing(target: str) -> Iterator[IO[bytes]]:
    """Give a new file that takes the place of the target when the block ends, and vanishes if it fails."""
    if os.path.exists(target) and not os.path.isfile(target):
        what = "a folder" if os.path.isdir(target) else "no regular file"
        raise ValueError(f"'path' must name a file, got {target!r}, which is {what}")
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder: make it first", folder)
    if os.path.exists(target) and not os.access(target, os.W_OK):  # a rename would replace it all the same
        raise PermissionError(errno.EACCES, "the file there is write-protected, nothing was changed", target)
    unfinished = os.path.join(folder, f".unfinished-{secrets.token_hex(8)}")
    try:
        with open(unfinished, "x+b") as file:
            yield file
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
