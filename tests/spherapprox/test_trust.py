"""Compiled kernels are code: none is read that another user could have put there or changed."""

import os
import stat
from types import SimpleNamespace

import pytest

from spherapprox._kernels import trust

grp, pwd = pytest.importorskip("grp"), pytest.importorskip("pwd")  # none on Windows


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "cache" / "kernels"
    trust.make_folder(place)
    return place


def status(mode, owner=None, group=0):
    return os.stat_result((mode, 0, 0, 1, os.geteuid() if owner is None else owner, group, 0, 0, 0, 0))


def test_a_folder_made_here_is_the_users_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        trust.make_folder(tmp_path / "deep" / "kernels")
    finally:
        os.umask(before)
    assert trust.shared_place(tmp_path / "deep" / "kernels") is None


def test_a_folder_or_parent_that_others_write_to_is_named(folder):
    assert trust.shared_place(folder) is None
    for place in (folder, folder.parent):
        place.chmod(0o757)
        assert trust.shared_place(folder) == place
        place.chmod(0o755)


def test_a_sticky_parent_is_safe_and_a_sticky_folder_is_not(folder):
    folder.parent.chmod(0o1777)
    assert trust.shared_place(folder) is None
    folder.chmod(0o1777)
    assert trust.shared_place(folder) == folder


def test_what_a_link_leads_to_counts(folder, tmp_path):
    (tmp_path / "link").symlink_to("cache/kernels")
    (tmp_path / "again").symlink_to("link")
    assert trust.shared_place(tmp_path / "again") is None
    folder.parent.chmod(0o757)
    assert trust.shared_place(tmp_path / "again") == folder.parent


@pytest.mark.parametrize("kind", [stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK])
def test_what_another_user_owns_is_shared(kind):
    stranger = 1 + max(os.geteuid(), os.stat("/").st_uid)
    for sticky in (False, True):
        assert trust.is_shared(status(kind | 0o1700, stranger), sticky)
        assert not trust.is_shared(status(kind | 0o1700), sticky)
        assert not trust.is_shared(status(kind | 0o1700, 0), sticky)


@pytest.mark.parametrize(
    ("name", "members", "shared"),
    [("user", [], False), ("user", ["user"], False), ("user", ["user", "eve"], True), ("staff", [], True)],
)
def test_a_group_that_has_no_other_member_may_write(name, members, shared, monkeypatch):
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="user"))
    monkeypatch.setattr(grp, "getgrgid", lambda _: SimpleNamespace(gr_name=name, gr_mem=members))
    assert trust.is_shared(status(stat.S_IFDIR | 0o775)) == shared
    assert not trust.is_shared(status(stat.S_IFDIR | 0o755))


def test_a_group_without_a_name_is_others(monkeypatch):
    def unnamed(_):
        raise KeyError

    monkeypatch.setattr(grp, "getgrgid", unnamed)
    assert trust.is_shared(status(stat.S_IFDIR | 0o775))
