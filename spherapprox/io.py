"""Load heads, partitions, point sets, networks, prefixes and searches for a shortest head from what `save` wrote."""

from __future__ import annotations

import os
from typing import Any

from . import _archive
from .heads.registry import HEADS
from .partition import EqualMeasurePartition
from .points import PointSet
from .shortest import Rung, ShortestHead

__all__ = ["load"]

SAVED = (*HEADS, EqualMeasurePartition, PointSet, Rung, ShortestHead)
"""What registers itself for `load` by being imported here; wings are imported when a file holds what none of these is.
"""


def load(path: str | os.PathLike[str]) -> Any:
    """Load a head, a partition, a point set, a network, a prefix or a search for the shortest head, bit by bit.

    Parameters
    ----------
    path : str or os.PathLike
        A file that the method `save` of one of these wrote.

    Returns
    -------
    CoreHead, SplitHead, ClassicalHead, SequenceHead, EqualMeasurePartition, PointSet, Network, ShortestHead, ...
        As it was: its arrays with their dtypes and all their bits, and a head's `points` as the partition or point set
        that they were. A partition's centres are computed anew where they are asked for; a head's control points come
        from the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError
        If `path` is no path.
    ValueError
        If the file was cut off or its contents were changed, if it is none of this library's, or if a newer version
        of the library wrote it in a newer version of the format.

    Notes
    -----
    Files are archives of NumPy arrays (.npz) with a SHA-256 over all of them; nothing in them is ever unpickled
    or run, so that files from strangers can be opened. The checksum tells of accidents: it does not prove who wrote a
    file. The format is described in docs/format.md.

    Examples
    --------
    >>> import os, tempfile
    >>> from spherapprox import EqualMeasurePartition, SplitHead, load
    >>> head = SplitHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 2000), 200.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "head.npz")
    ...     head.save(path)
    ...     again = load(path)
    >>> again, again.points, again == head
    (SplitHead(n=2000, dim=2, concentration=200), EqualMeasurePartition(dim=2, n=2000), True)
    """
    return _archive.load(path)
