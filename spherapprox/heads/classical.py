"""The classical head: a split head as query, key and value matrices and a prefix, for inputs or sequences of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Floats
from ..points.pointset import Points
from . import interaction as interactions
from .attention import attention
from .construction import Construction
from .split import SplitHead


class ClassicalHead(Construction):
    """A split head as classical attention ``softmax((Z query)(Z key)^T / sqrt(d)) (Z value)`` over a prefix and inputs.

    The rows of Z are the n tokens ``(0, concentration_k b_k, values_k)`` of the prefix and the tokens ``(x, 0, 0)`` of
    the inputs; the dimension is d = 2 (dim+1) + p for values of p columns, 3 (dim+1) for p = dim+1. The matrices know
    the shapes and the mask only: the function is in the prefix.

    Parameters
    ----------
    control_points, values, concentration, points
        As in `SplitHead`; values of shape (n,) count as p = 1; concentration is at most 1e300. A `SplitHead` in place
        of control points brings the other three: ``ClassicalHead(head)`` is ``ClassicalHead.from_head(head)``.
    interaction : {"flag", "none", "printed"}
        The logit between two inputs of a sequence, x_i and x_j (or x_i and itself). "flag": `mask`, by one more
        coordinate, so that d grows by 1; it is 1 for inputs and 0 in the prefix. "none": 0. "printed":
        ``mask <x_i, x_j>``, as in the thesis, for single inputs only: inputs at an obtuse angle get a large logit, and
        the output collapses to 0. `interaction_bound` says what each costs.
    mask : float, optional
        M, from -1e304 to 0; None means ``-(2 concentration + 1000)``, with the largest one, at which the weight that
        "flag" leaves to inputs underflows to 0. One mask serves all heads of smaller concentration with the same
        matrices. "none" takes none.
        `dataclasses.replace` keeps the mask: give None with a larger concentration or another interaction.

    Raises
    ------
    TypeError, ValueError
        If rows have no unit length, the values do not fit, or an option is out of its range.

    Notes
    -----
    ``head(x)``, and all else that it has of a split head, is that of the split head: the function that each input is to
    be mapped to. `attend` is the attention itself; it differs by at most `interaction_bound` and by roundings.

    References
    ----------
    docs/theorems/4.14-classical-head.md and 3-errata.md, 3.7; Petrov (2025), Lemma 4.16 and Corollary 4.18.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import ClassicalHead, EqualMeasurePartition
    >>> head = ClassicalHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 2000), 200.0)
    >>> head
    ClassicalHead(n=2000, dim=2, concentration=200, interaction='flag')
    >>> head.query.shape, head.prefix.shape
    ((8, 8), (2000, 8))
    >>> x = np.array([[0.6, 0.0, 0.8], [0.0, 0.6, -0.8]])
    >>> head(x).round(3), head.attend(x).round(3)
    (array([ 0.796, -0.796]), array([ 0.796, -0.796]))
    """

    _kind = "classical-head"
    _torch_module = "spherapprox.heads.torch_modules.classical.ClassicalAttention"

    def __init__(
        self,
        control_points: ArrayLike | SplitHead,
        values: ArrayLike | None = None,
        concentration: float | ArrayLike | None = None,
        points: Points | None = None,
        *,
        interaction: str = "flag",
        mask: float | None = None,
    ) -> None:
        recipe: Any = (control_points, values, concentration, points)
        if isinstance(control_points, SplitHead):
            if recipe[1:] != (None, None, None):
                raise TypeError(
                    f"ClassicalHead takes nothing but 'interaction' and 'mask' beside a {type(control_points).__name__}"
                )
            head = control_points
            recipe = head.control_points, head.values, head.concentration, head.points
        elif values is None or concentration is None:
            raise TypeError("ClassicalHead takes a SplitHead, or 'control_points', 'values' and 'concentration'")
        options: Any = {"interaction": interaction, "mask": mask}
        super().__init__(*recipe, **options)

    @classmethod
    def from_target(
        cls,
        target: Callable[[Any], ArrayLike],
        points: Points,
        concentration: float | None = None,
        coefficients: str = "riemann",
        *,
        degree: int | None = None,
        regularization: float | None = None,
        samples: Points | int | None = None,
        interaction: str = "flag",
        mask: float | None = None,
    ) -> Self:
        """Make a head that approximates a function, by the values that `SplitHead.from_target` takes.

        Parameters
        ----------
        target, points, concentration, coefficients, degree, regularization, samples
            As in `SplitHead.from_target`.
        interaction, mask
            As in `ClassicalHead`.

        Returns
        -------
        ClassicalHead

        Raises
        ------
        TypeError, ValueError
            As `SplitHead.from_target` and `ClassicalHead` do.

        Examples
        --------
        >>> from spherapprox import ClassicalHead, EqualMeasurePartition
        >>> ClassicalHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 100), 20.0, interaction="none")
        ClassicalHead(n=100, dim=2, concentration=20, interaction='none')
        """
        split = SplitHead.from_target(
            target,
            points,
            concentration,
            coefficients,
            degree=degree,
            regularization=regularization,
            samples=samples,
        )
        return cls.from_head(split, interaction=interaction, mask=mask)

    @classmethod
    def from_head(cls, head: SplitHead, *, interaction: str = "flag", mask: float | None = None) -> Self:
        """Make the classical head of a split head.

        Parameters
        ----------
        head : SplitHead
            A classical head may be given too; its interaction is replaced.
        interaction, mask
            As in `ClassicalHead`.

        Returns
        -------
        ClassicalHead

        Raises
        ------
        TypeError, ValueError
            If `head` is no split head, or an option is out of its range.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import ClassicalHead, SplitHead
        >>> ClassicalHead.from_head(SplitHead(np.eye(3), [1.0, 2.0, 3.0], 5.0), interaction="none").query.shape
        (7, 7)
        """
        head = _checks.instance(head, "head", SplitHead, remedy="only softmax is attention")
        return cls(head, interaction=interaction, mask=mask)

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "interaction": self.interaction, "mask": self.mask}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, interaction={self.interaction!r})"

    def attend(self, x: ArrayLike) -> Floats:
        """Return the attention's outputs for sequences of inputs, each over the prefix and its own inputs.

        Parameters
        ----------
        x : array_like, shape (T, dim+1) or (batch, T, dim+1)
            Inputs of unit length: one sequence of T, or several that do not see each other.

        Returns
        -------
        ndarray, shape (T,), (T, p), (batch, T) or (batch, T, p)
            float32 if x, control points and values all are, else float64; computed in float64. It is ``head(x)`` up to
            `interaction_bound` and, relative to the largest of the |values|, 1e-12 for concentrations to 1e3 and 1e-15
            times the (largest) concentration beyond: logits ``concentration <x, b_k>`` have roundings of that size,
            which the chords in ``head(x)`` have not. For control points whose lengths are off by delta, such as 6e-8 in
            float32, add ``delta (1 + concentration (1 - cos t))``, at control points at angles up to t that matter.

        Raises
        ------
        ValueError
            If the rows are no points of S^dim, or the tokens would be too large for memory.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import ClassicalHead
        >>> head = ClassicalHead(np.eye(2), [1.0, 2.0], 9.0, interaction="printed")
        >>> x = np.array([[1.0, 0.0], [-0.6, 0.8]])
        >>> head.attend(x[:1]).round(4), head.attend(x[1:]).round(4)
        (array([1.0001]), array([2.]))
        >>> head.attend(x).round(4)  # an obtuse angle
        array([0., 0.])
        """
        points = _checks.sequences(x, dim=self.dim)
        _checks.memory(40.0 * points[..., 0].size * self.embedding_dim, "attention", "take fewer sequences at a time")
        tokens = self.embed(points)
        outputs = attention(tokens.reshape(-1, *tokens.shape[-2:]), self.prefix, self.query, self.key, self.value)
        dtype = np.result_type(points, self.control_points, self.values)
        return self.project(outputs.reshape(tokens.shape)).astype(dtype)

    def interaction_bound(self, length: int = 1, *, log: bool = False) -> float:
        """Return a proven bound of ``|attend(x)_i - head(x_i)|``, over all sequences of a length, without roundings.

        Parameters
        ----------
        length : int
            T >= 1, inputs in a sequence.
        log : bool, default False
            Return its logarithm, which does not underflow; -inf if all values are 0.

        Returns
        -------
        float
            ``F A / (A + S)``: F the largest Euclidean norm of a row of values; A = T for "none", ``T e^mask`` for
            "flag", and ``e^mask + (T-1) e^-mask`` for "printed"; S a lower bound of
            ``sum_k exp(concentration_k <x, b_k>)`` from the mean of the keys and, where it is known and concentrations
            are equal, the control points' covering radius. Positive unless F is 0.

        Raises
        ------
        TypeError, ValueError
            If `length` is no integer above 0.

        References
        ----------
        docs/theorems/4.14-classical-head.md.

        Examples
        --------
        >>> from spherapprox import ClassicalHead, EqualMeasurePartition
        >>> split = ClassicalHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 2000), 20.0)
        >>> for kind in ("flag", "none", "printed"):
        ...     print(kind, f"{ClassicalHead.from_head(split, interaction=kind).interaction_bound(10):.1e}")
        flag 4.9e-324
        none 1.7e-09
        printed 1.0e+00
        """
        length, log = _checks.integer(length, "length", minimum=1), _checks.flag(log, "log")
        log_bound = interactions.log_bound(self, length)
        if log or log_bound == -math.inf:
            return log_bound if log else 0.0
        with np.errstate(over="ignore"):
            return max(float(np.exp(log_bound)), 5e-324)
