import errno
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


def header(**changes):
    fields = {"format": "spherapprox", "version": 2, "written_by": "spherapprox 0.1.0", "kind": "thing"} | changes
    return json.dumps(fields).encode()


def forge(path, head, save=np.savez, **arrays):
    """Write a file as someone else would, with a right checksum."""
    arrays = {"header": np.frombuffer(head, np.uint8), **arrays}
    save(path, **arrays, sha256=_archive._checksum(arrays))


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


def test_a_changed_byte_is_refused_or_changes_nothing(path, saved):
    refused = 0
    for i in range(len(saved)):
        changed = bytearray(saved)
        changed[i] ^= 0xFF if i % 9 == 8 else 1 << i % 9
        path.write_bytes(changed)
        try:
            again = read(path)
        except ValueError as error:
            refused += path.name in str(error)
        else:
            assert same(again, SMALL)  # dates, permissions and the like
    assert refused > 0.75 * len(saved)


def test_every_changed_bit_of_the_contents_is_refused(path, saved):
    for piece in (b'"thing"', rb"\u00e9", np.array([[1.5, -0.0], [5e-324, 2.0]]).tobytes()):
        for i in range(saved.index(piece), saved.index(piece) + len(piece)):
            path.write_bytes(saved[:i] + bytes([saved[i] ^ 1]) + saved[i + 1 :])
            with pytest.raises(ValueError, match=r"thing.npz' is damaged"):
                read(path)


@pytest.mark.parametrize(
    "change", [{"rows": np.zeros((2, 2))}, {"more": np.zeros(1)}, {"header": np.zeros(9, np.uint8)}]
)
def test_arrays_that_do_not_have_the_checksum_are_refused(path, saved, change):
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | change))
    with pytest.raises(ValueError, match=r"thing.npz' is damaged: its arrays do not have its checksum; copy it again"):
        read(path)


def test_every_cut_is_refused(path, saved):
    for length in range(len(saved)):
        path.write_bytes(saved[:length])
        with pytest.raises(ValueError, match=r"thing.npz' is no file of spherapprox, or was cut off: .*copy it again"):
            read(path)


@pytest.mark.parametrize(
    "content", [b"", b"a text\n" * 30, pickle.dumps({"kind": "core-head"}), b"\x89PNG\r\n\x1a\n" + bytes(200)]
)
def test_foreign_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"thing.npz' is no file of spherapprox"):
        read(path)


def test_foreign_archives_and_folders(path):
    for save in (np.savez, np.savez_compressed):
        save(path, rows=np.eye(3))
        with pytest.raises(ValueError, match=r"is no file of spherapprox, but an archive of something else"):
            read(path)
    with pytest.raises(ValueError, match=r"'path' must name a file, got .* which is a folder"):
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
    for content in (pickle.dumps(Evil(trap)), saved_array(evil)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is no file of spherapprox"):
            read(path)
    forge(path, header())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("rows.npy", saved_array(evil))
    with pytest.raises(ValueError, match=r"is damaged, or no file of spherapprox .*allow_pickle=False"):
        read(path)
    assert not trap.exists()


def saved_array(array):
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("head", "arrays", "message"),
    [
        (header(version=3, written_by="spherapprox 9.1"), {}, r"'spherapprox 9.1' wrote it in version 3 of the format "
         r"'spherapprox', and spherapprox [\d.]+ reads version 2 of .*; load it with"),
        (header(format="else"), {}, "wrote it in version 2 of the format 'else'"),
        (header(version=1), {}, "wrote it in version 1 of the format"),
        (header(version="2"), {}, "wrote it in version '2' of the format"),
        (b"[]", {}, "is damaged, or no file"),
        (b"{", {}, "is damaged, or no file"),
        (b"[" * 100_000, {}, "is damaged, or no file"),
        (header(part={}), {}, "is damaged, or no file"),
        (header(), {"rows": np.arange(3)}, "'rows' must hold '<f4' or '<f8', got '<i8'"),
        (header(), {"part/rows": np.ones(3)}, "nothing in its header stands for part/rows"),
    ],
)  # fmt: skip
def test_forged_contents_are_refused(path, head, arrays, message):
    forge(path, head, **arrays)
    with pytest.raises(ValueError, match=rf"thing.npz'.*{message}"):
        read(path)


def test_a_small_file_does_not_become_large_arrays(path):
    forge(path, header(), np.savez_compressed, rows=np.zeros(10**6))
    with pytest.raises(ValueError, match="must be stored, not compressed"):
        read(path)
    huge = BytesIO()
    np.lib.format.write_array_header_1_0(huge, {"descr": "<f8", "fortran_order": False, "shape": (2**48,)})
    forge(path, header())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("rows.npy", huge.getvalue())
    with pytest.raises(ValueError, match="is damaged, or no file"):
        read(path)


def test_many_arrays_and_deep_records_are_refused_before_long_work(path):
    deep = Record("piece", {"rows": np.ones(3)})
    for _ in range(500):
        deep = Record("thing", {"part": deep})
    write(path, deep)
    with pytest.raises(ValueError, match="its records lie deeper in each other than 20 names"):
        read(path)
    several = Record("thing", {str(i): np.ones(0) for i in range(8)})
    with pytest.raises(ValueError, match="would have 10 arrays, more than 9: save its parts"):
        write(path, several, most_arrays=9)
    write(path, several, most_arrays=10)
    with pytest.raises(ValueError, match="it has 10 arrays, more than 9"):
        read(path, most_arrays=9)


def test_files_that_are_too_large(path, saved, monkeypatch):
    monkeypatch.setattr(_checks.limits, "MEMORY_LIMIT", 40)
    with pytest.raises(ValueError, match=r"thing.npz' would take .* GiB, above the limit .*: np.load reads single"):
        read(path)
    with pytest.raises(ValueError, match=r"thing.npz' would take .* GiB, above the limit .*: save the arrays"):
        write(path, SMALL)
    assert path.read_bytes() == saved


@pytest.mark.parametrize("step", [(np, "savez"), (os, "fsync"), (os, "replace")])
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
    assert not os.listdir(path.parent)
    pipe = path.parent / "pipe"
    os.mkfifo(pipe)  # not the null device, which root would replace if the guard were gone
    with pytest.raises(ValueError, match=r"'path' must name a file, got .* which is no regular file"):
        write(pipe, SMALL)


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


def test_names_without_folder_or_suffix_are_kept(path, monkeypatch):
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
