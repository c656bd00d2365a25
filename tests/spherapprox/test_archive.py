import errno
import hashlib
import json
import os
import pickle
import stat
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import _archive, _checks
from spherapprox._archive import Record, read, write

SMALL = Record(
    "thing",
    {
        "rows": np.array([[1.5, -0.0], [5e-324, 2.0]]),
        "size": 3,
        "scale": 0.1,
        "word": "é",
        "nothing": None,
        "part": Record("piece", {"rows": np.array([1e-45, 3.0], np.float32), "n": 2**60}),
    },
)


def same(one, other):
    """Tell whether two records agree, arrays by dtype, shape and every bit."""
    return one.kind == other.kind and known(one) == known(other)


def known(record):
    """Return the fields in a form that == compares bit by bit."""
    return {name: comparable(value) for name, value in record.fields.items()}


def comparable(value):
    if isinstance(value, Record):
        return value.kind, known(value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return type(value), value.hex() if isinstance(value, float) else value


def seal(data):
    """Return a file's bytes with the checksum that belongs to them."""
    return data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode()


def forge(path, members, compression=zipfile.ZIP_STORED):
    """Write an archive as someone else would, with a right checksum."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.comment = bytes(64)
    path.write_bytes(seal(buffer.getvalue()))


def npy(array, **options):
    buffer = BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), **options)
    return buffer.getvalue()


def header(**changes):
    fields = {"format": "spherapprox", "version": 1, "written_by": "spherapprox 0.1.0", "kind": "thing"} | changes
    return json.dumps(fields).encode()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "thing.npz"


@pytest.fixture
def saved(path):
    write(path, SMALL)
    return path.read_bytes()


def test_what_is_written_is_read(path, saved):
    assert same(read(path), SMALL)
    assert same(read(str(path)), SMALL)
    assert [entry.name for entry in path.parent.iterdir()] == ["thing.npz"]
    write(path, SMALL)
    assert path.read_bytes() == saved  # no chance
    with zipfile.ZipFile(path) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}  # no date


@settings(max_examples=30)
@given(
    bits=st.binary(max_size=64),
    dtype=st.sampled_from([np.float32, np.float64]),
    columns=st.sampled_from([None, 1, 2]),
    number=st.floats(),
)
def test_any_bits_come_back(tmp_path_factory, bits, dtype, columns, number):
    path = tmp_path_factory.mktemp("bits") / "x"
    array = np.frombuffer(bits[: len(bits) // 16 * 16], dtype)
    if columns:
        array = array.reshape(-1, columns)
    write(path, Record("any", {"array": array, "number": number, "inside": Record("any", {"array": array.T})}))
    again = read(path).fields
    for twin, wanted in ((again["array"], array), (again["inside"].fields["array"], np.ascontiguousarray(array.T))):
        assert (twin.dtype, twin.shape, twin.tobytes()) == (wanted.dtype, wanted.shape, wanted.tobytes())
        assert twin.flags.c_contiguous
    assert np.float64(again["number"]).tobytes() == np.float64(number).tobytes()


def test_big_endian_arrays_are_written_little_endian(path):
    write(path, Record("thing", {"rows": np.array([1.0, 2.0], ">f8")}))
    with np.load(path) as file:
        assert file["rows"].dtype.str == "<f8"
    np.testing.assert_array_equal(read(path).fields["rows"], [1.0, 2.0])


def test_every_changed_byte_is_refused(path, saved):
    for i in range(len(saved)):
        for mask in (1 << i % 8, 0xFF):
            changed = bytearray(saved)
            changed[i] ^= mask
            path.write_bytes(changed)
            with pytest.raises(ValueError, match=r"thing.npz' is (damaged|no file of)"):
                read(path)


def test_every_cut_and_every_addition_is_refused(path, saved):
    for length in range(len(saved)):
        path.write_bytes(saved[:length])
        with pytest.raises(ValueError, match=r"thing.npz' is (damaged|no file of|empty)"):
            read(path)
    for more in (b"\0", b"\n", bytes(64), saved):
        path.write_bytes(saved + more)
        with pytest.raises(ValueError, match=r"is damaged: .*cut off or changed after it was saved; copy it again"):
            read(path)


def refuses(path):
    """Tell whether a file is refused; what is no ValueError that names it passes on."""
    try:
        read(path)
    except ValueError as error:
        if path.name not in str(error):
            raise
        return True
    return False


def test_forged_bytes_raise_nothing_but_value_errors(path, saved):
    # Whoever changes a byte and makes the checksum anew gets past it: then structure and sizes are checked.
    refused = 0
    for i in range(len(saved) - 64):
        changed = bytearray(saved)
        changed[i] ^= 1 << i % 8
        path.write_bytes(seal(bytes(changed)))
        refused += refuses(path)
    assert refused > 0.5 * len(saved)


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b"", "is empty"),
        (b"a text\n" * 30, "something else"),
        (pickle.dumps({"kind": "core-head"}), "a pickle, which can run any code"),
        (npy(np.eye(9)), r"a single array \(.npy\), which np.load reads"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "an image"),
        (b"PK\x05\x06" + bytes(18), "something else"),
    ],
)
def test_foreign_files(path, content, looks):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"thing.npz'.*{looks}"):
        read(path)


def test_foreign_archives_and_folders(path):
    np.savez(path, rows=np.eye(3))
    with pytest.raises(ValueError, match=r"is no file of spherapprox.*a zip archive .* of something else"):
        read(path)
    with pytest.raises(ValueError, match=r"is a folder: name a file"):
        read(path.parent)
    with pytest.raises(FileNotFoundError, match=r"nothing.npz"):
        read(path.parent / "nothing.npz")
    if os.path.exists(os.devnull):
        with pytest.raises(ValueError, match="is no regular file"):
            read(os.devnull)


class Evil:
    """Makes a file where it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def test_no_pickle_is_ever_opened(path):
    trap = path.parent / "trap"
    evil = np.array([Evil(trap)], dtype=object)
    pickle.loads(pickle.dumps(Evil(trap))).close()
    assert trap.exists()  # the trap works
    trap.unlink()
    np.savez(path, rows=evil)
    with pytest.raises(ValueError, match="is no file of spherapprox"):
        read(path)
    forge(path, {"spherapprox.json": header(), "rows.npy": npy(evil, allow_pickle=True)})
    with pytest.raises(ValueError, match=r"cannot be read: 'rows.npy' must hold '<f4' or '<f8' in C order, got '\|O'"):
        read(path)
    assert not trap.exists()


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (header(version=2, written_by="spherapprox 9.1"), r"'spherapprox 9.1' wrote it in version 2 of the format, and "
         r"spherapprox [\d.]+ reads up to version 1; upgrade spherapprox"),
        (header(version=0), "version from 1 on, got 'spherapprox' and 0"),
        (header(version=True), "version from 1 on, got 'spherapprox' and True"),
        (header(version="1"), "version from 1 on, got 'spherapprox' and '1'"),
        (header(format="else"), "must say format 'spherapprox'"),
        (b"[]", "is no well-formed file"),
        (b"{", "is no well-formed file"),
        (b"\xff{}", "is no well-formed file"),
        (b"{}", "is no well-formed file"),
        (b"[" * 100_000, "is no well-formed file"),
        (b" " * 2**20 + header(), "its header of .* bytes is above the limit"),
        (header(size=0.5), "'size' must be a string, an integer or null, got 0.5"),
        (header(rows=[1, 2]), r"'rows' must be a string, an integer or null, got \[1, 2\]"),
        (header(kind=[1]), r"cannot be read: a kind must be a string, got \[1\]"),
        (header(part={}), "is no well-formed file"),
    ],
)  # fmt: skip
def test_forged_headers(path, head, message):
    forge(path, {"spherapprox.json": head})
    with pytest.raises(ValueError, match=message):
        read(path)


def shaped(shape, descr="<f8", data=bytes(8), fortran=False):
    buffer = BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": fortran, "shape": shape})
    return buffer.getvalue() + data


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (shaped((10**15,)), r"'rows.npy' has 8 bytes for shape \(1000000000000000,\)"),
        (shaped((2**40, 2**40)), "has 8 bytes for shape"),
        (shaped((-1,)), "has 8 bytes for shape"),
        (shaped((-1, -1)), "has 8 bytes for shape"),
        (shaped((1,), data=bytes(7)), "has 7 bytes for shape"),
        (shaped((1,), data=bytes(9)), "has 9 bytes for shape"),
        (shaped((1,), descr=">f8"), "got '>f8'"),
        (shaped((1,), descr="<i8"), "got '<i8'"),
        (shaped((1,), descr="|O"), r"got '\|O'"),
        (shaped((1,), fortran=True), "in C order"),
        (npy(np.ones(1), version=(2, 0)), "version 1.0 of the .npy format"),
        (b"", "is no well-formed file"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "is no well-formed file"),
    ],
)
def test_forged_arrays(path, array, message):
    forge(path, {"spherapprox.json": header(), "rows.npy": array})
    with pytest.raises(ValueError, match=message):
        read(path)


def test_forged_archives(path):
    rows = npy(np.frombuffer(np.random.default_rng(0).bytes(800)))  # no smaller when compressed
    forge(path, {"spherapprox.json": header(), "rows.npy": rows}, zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="must be stored, not compressed"):
        read(path)
    forge(path, {"spherapprox.json": header(), "part/rows.npy": rows})
    with pytest.raises(ValueError, match=r"nothing in its header stands for part/rows.npy"):
        read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("spherapprox.json", header())
        archive.writestr("rows.npy", rows)
        archive.filelist.reverse()
        archive.comment = bytes(64)
    path.write_bytes(seal(path.read_bytes()))
    with pytest.raises(ValueError, match=r"'spherapprox.json' must be its first member"):
        read(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (("spherapprox.json", header()), ("rows.npy", rows)):
            archive.writestr(name, content)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("rows.npy", rows)
        archive.comment = bytes(64)
    path.write_bytes(seal(path.read_bytes()))
    with pytest.raises(ValueError, match="no name may be there twice"):
        read(path)


def test_members_may_not_overlap(path):
    # Many entries of the directory for one member: a small file that would unpack to a large one.
    rows = npy(np.zeros(10**4))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("spherapprox.json", header())
        archive.writestr("rows.npy", rows)
        for i in range(100):
            twin = zipfile.ZipInfo(f"rows{i}.npy")
            for name in ("header_offset", "CRC", "compress_size", "file_size"):
                setattr(twin, name, getattr(archive.filelist[1], name))
            archive.filelist.append(twin)
        archive.comment = bytes(64)
    path.write_bytes(seal(path.read_bytes()))
    with pytest.raises(ValueError, match="not overlap"):
        read(path)


def test_files_that_are_too_large(path, saved, monkeypatch):
    monkeypatch.setattr(_checks.limits, "MEMORY_LIMIT", 40)
    with pytest.raises(ValueError, match=r"thing.npz' would take .* GiB, above the limit .*: np.load reads single"):
        read(path)
    with pytest.raises(ValueError, match=r"thing.npz' would take .* GiB, above the limit .*: save the arrays"):
        write(path, SMALL)
    assert path.read_bytes() == saved


@pytest.mark.parametrize("step", [(np.lib.format, "write_array"), (os, "fsync"), (os, "replace")])
@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError])
def test_an_interruption_leaves_what_was_there(path, saved, monkeypatch, step, fault):
    def interrupted(*args, **options):
        raise fault

    monkeypatch.setattr(*step, interrupted)
    for target in (path, path.parent / "new.npz"):
        with pytest.raises(fault):
            write(target, Record("thing", {"rows": np.ones(5)}))
    assert path.read_bytes() == saved
    assert os.listdir(path.parent) == ["thing.npz"]


def test_a_full_disk(path, saved, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: the file could not be written.*thing.npz") as caught:
        write(path, Record("thing", {"rows": np.ones(5)}))
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == saved
    assert os.listdir(path.parent) == ["thing.npz"]


def test_folders_that_cannot_be_written_to(path, monkeypatch):
    path.parent.chmod(0o500)
    if os.geteuid() == 0:  # root may write everywhere

        def forbidden(file, mode):
            raise PermissionError(errno.EACCES, "Permission denied", file)

        monkeypatch.setattr(_archive, "open", forbidden, raising=False)
    try:
        with pytest.raises(PermissionError, match=r"Permission denied: the file could not be written.*thing.npz'$"):
            write(path, SMALL)
    finally:
        path.parent.chmod(0o700)
    with pytest.raises(FileNotFoundError, match=r"there is no such folder: make it first: .*away'$"):
        write(path.parent / "away" / "thing.npz", SMALL)
    with pytest.raises(ValueError, match=r"'path' must name a file, got .* which is a folder"):
        write(path.parent, SMALL)
    with pytest.raises(ValueError, match=r"'path' must name a file, got .* which is no regular file"):
        write(os.devnull, SMALL)
    assert not os.listdir(path.parent)


def test_permissions_and_links_stay(path):
    mask = os.umask(0o027)
    try:
        write(path, SMALL)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640  # as open would make it
    path.chmod(0o604)
    link = path.parent / "link.npz"
    link.symlink_to(path)
    write(link, Record("other", {}))
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert link.is_symlink()
    assert read(path).kind == "other"


def test_write_protected_files_stay(path, saved, monkeypatch):
    path.chmod(0o400)
    if os.geteuid() == 0:  # root may write everywhere
        monkeypatch.setattr(os, "access", lambda file, mode: (Path(file), mode) != (path.resolve(), os.W_OK))
    with pytest.raises(PermissionError, match=r"the file there is write-protected, nothing was changed: .*thing.npz'$"):
        write(path, Record("other", {}))
    assert path.read_bytes() == saved


def test_paths(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    write("plain", SMALL)  # no folder, no suffix
    assert os.listdir() == ["plain"]
    assert same(read(Path("plain")), SMALL)
    long = "n" * 255
    write(long, SMALL)
    assert same(read(long), SMALL)
    for call in (read, lambda name: write(name, SMALL)):
        for bad in (None, 3, b"x", BytesIO()):
            with pytest.raises(TypeError, match=r"'path' must be a path, str or os.PathLike, got"):
                call(bad)
        for bad in ("", "a\0b", "new/"):
            with pytest.raises(ValueError, match="'path' must name a file, got"):
                call(bad)
