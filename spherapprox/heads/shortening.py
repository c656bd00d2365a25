"""Constructors of heads that take few tokens: for a target, and in place of a longer head."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from .._loading import load
from .kernel_sum import KernelSum


class Shortening(KernelSum):
    """Search for heads of few tokens."""

    family: ClassVar[str]
    """The class of functions that rules for values and theorems treat: "core" sums, "split" quotients of sums."""

    @classmethod
    def shortest(cls, target: Callable[[Any], ArrayLike], eps: float, **options: Any) -> Any:
        """Search for the shortest head of this family whose sup error on a target is at most eps.

        Parameters
        ----------
        target : Target or callable
            Maps points (n, dim+1) to values (n,) or (n, p).
        eps : float
            The sup error asked for.
        **options
            Those of `spherapprox.shortest_head`, but for `kind`.

        Returns
        -------
        ShortestHead
            Its `head` is a `CoreHead` or a `SplitHead`, of which ``ClassicalHead.from_head`` makes a classical one.

        Raises
        ------
        TypeError, ValueError
            As `shortest_head` does.

        Examples
        --------
        >>> from spherapprox import SplitHead
        >>> found = SplitHead.shortest(lambda x: x[:, 2], 0.05, dim=2)
        >>> found.head.n_outputs, found.n < 5, found.reached
        (None, True, True)
        """
        return _search()(target, eps, cls.family, **options)

    def compress(self, eps: float, *, keys: str = "free", **options: Any) -> Any:
        """Search for the shortest head that differs from this one by at most eps.

        Parameters
        ----------
        eps : float
            The largest difference anywhere on the sphere, in the Euclidean norm of the values.
        keys : {"free", "unit"}
            Whether tokens have concentrations of their own.
        **options
            Those of `spherapprox.shortest_head`, but for `kind`: ``relative=True`` takes eps as a share of the head's
            largest value.

        Returns
        -------
        ShortestHead
            No longer than this head, which is the answer where no shorter one is found, unless an option excludes it:
            `max_tokens`, `value_bound`, `dtype`, or ``keys="unit"`` for tokens with concentrations of their own.

        Raises
        ------
        TypeError, ValueError
            As `shortest_head` does.

        See Also
        --------
        spherapprox.prompts.prefix.compress : the same for queries that are given, of any length, and with a bias per
        token.

        Examples
        --------
        >>> from spherapprox import CoreHead, EqualMeasurePartition
        >>> head = CoreHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 1000), 20.0)
        >>> short = head.compress(1e-3)
        >>> short.reached, short.n < 10
        (True, True)
        """
        return _search()(self, eps, self.family, dim=self.dim, keys=keys, **options)


def _search() -> Callable[..., Any]:
    """Return `shortest_head`, which is built on heads, when it is called."""
    found: Callable[..., Any] = load("spherapprox.shortest").shortest_head
    return found
