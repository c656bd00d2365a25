"""Who else could have written a file: compiled kernels are code, and run as the user who loads them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, where they are missing, such that no other user writes to them."""
    for place in (*reversed(folder.parents), folder):
        if not place.is_dir():
            place.mkdir(0o755, exist_ok=True)


def shared_place(folder: Path) -> Path | None:
    """Return the first of a folder, its parents and what they link to that another user can change, None if none."""
    places = (place for place in _places(folder) if is_shared(place.lstat(), sticky=place != folder))
    return next(places, None)


def _places(path: Path) -> Iterator[Path]:
    """Yield all that whoever changes it leads the path elsewhere."""
    for place in (path, *path.parents):
        yield place
        if place.is_symlink():
            yield from _places(place.parent / place.readlink())


def is_shared(status: os.stat_result, sticky: bool = False) -> bool:
    """Tell whether another user than the administrator can change a file; False on Windows, which has no modes.

    Where that is enough, a folder with the sticky bit, as /tmp, is safe: others add files to it, but replace none.
    """
    if not hasattr(os, "geteuid"):
        return False
    if status.st_uid not in (0, os.geteuid(), os.stat("/").st_uid):  # / tells root's number inside a container
        return True
    mode = status.st_mode
    if stat.S_ISLNK(mode) or (sticky and mode & stat.S_ISVTX):
        return False
    return bool(mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_private(status.st_gid)))


def _is_private(group: int) -> bool:
    """Tell whether a group has no other member: many systems give each user one of the user's name."""
    import grp
    import pwd

    try:
        user, members = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:  # without a name
        return False
    return members.gr_name in (user, "root") and {user, "root"}.issuperset(members.gr_mem)
