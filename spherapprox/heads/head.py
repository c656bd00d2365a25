"""The constructors of heads: from a target, from data, or from another head by residual steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from numpy.typing import ArrayLike

from .. import _checks
from .._loading import load
from .._types import Floats
from ..coefficients.iteration import refine_values
from ..coefficients.resolution import warn_unresolved
from ..coefficients.rules import resolve_options
from ..coefficients.task import sample
from ..fitting import fit_recipe
from ..points import nodes
from ..points.pointset import Points
from .kernel_sum import KernelSum

if TYPE_CHECKING:
    import torch


class Head(KernelSum):
    """A head of some family: approximate a target by values at control points."""

    family: ClassVar[str]
    """The class of functions that rules for values and theorems treat: "core" sums, "split" quotients of sums."""
    _values: ClassVar[Callable[..., Floats]]
    """The rules for the values of the family."""
    _torch_module: ClassVar[str]
    """Dotted name of the class that `to_torch` makes, imported when it is called."""

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
    ) -> Self:
        """Approximate a function by a head.

        Parameters
        ----------
        target : Target or callable
            Maps points (n, dim+1) to values (n,) or (n, p).
        points : EqualMeasurePartition, PointSet or array_like (n, dim+1)
            Control points: the centres of the partition's cells (measure 1/n each), the points and weights of a point
            set (equal weights for a split head), or bare rows with weight 1/n each.
        concentration : float, optional
            lambda, at least 0. None, for "interpolation" alone, means
            `spherapprox.coefficients.well_conditioned_concentration` for the condition 1e10, or 1e5 beyond 4096
            points, of points without those that lie much closer to another one than most do to their neighbours: else
            one close pair would make all kernels too narrow. Beyond 4096 such points take a `regularization` of 1e-10.
        coefficients : {"riemann", "interpolation", "least_squares", "spectral"}
            How the values are chosen. "riemann": ``c exp(lambda) w_k f(b_k)`` for a core head, ``f(b_k)`` for a split
            head. "interpolation": the head equals f at every control point. "least_squares": its mean square error is
            least. "spectral", for a core head: "riemann" with f's harmonics divided by the kernel's eigenvalues.
        degree, regularization, samples
            Options of rules that take them: `spherapprox.coefficients.core_values` and `split_values`.

        Returns
        -------
        CoreHead or SplitHead

        Raises
        ------
        TypeError, ValueError
            If the target and the points do not fit together, a split head's points have unequal weights, or a core
            head's peak is too large for float64; and what `core_values` and `split_values` raise.

        Warns
        -----
        RuntimeWarning
            If the points, the concentration and the rule do not suit each other: `core_values` says when. And if a core
            head's kernels are too narrow for its points, seen at up to 16 of them: with "riemann" the head of the
            function 1 errs there by more than 1/2; with "interpolation" it errs by more than 15 % between most of them
            and a neighbour.

        References
        ----------
        docs/theorems/4.3-core-head.md, 4.4-split-head.md, 4.7-spectral-correction.md and 4.13-interpolation.md.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition, SplitHead, sup_error
        >>> height, partition = lambda x: x[:, 2], EqualMeasurePartition(2, 500)
        >>> for rule in ("riemann", "interpolation"):
        ...     head = SplitHead.from_target(height, partition, 40.0, rule)
        ...     print(rule, f"{sup_error(head, height, n=2000).lower:.0e}")
        riemann 2e-02
        interpolation 7e-05
        """
        concentration, regularization = resolve_options(points, concentration, regularization, rule=coefficients)
        rows, weights = nodes(points)
        options: Any = {"degree": degree, "regularization": regularization, "samples": samples}
        values = cls._values(target, points, concentration, coefficients, **options)
        if not cls._normalize:
            warn_unresolved(rows, weights, concentration, rule=coefficients)
        return cls(rows, values, concentration, points)

    @classmethod
    def fit(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        *,
        n: int | str = "auto",
        concentration: float | None = None,
        regularization: float | None = None,
        weights: ArrayLike | None = None,
        rng: object = None,
        points: str = "fixed",
    ) -> Self:
        """Approximate data, values at points of the sphere with noise or without, by a head.

        Parameters
        ----------
        x : array_like, shape (m, dim+1)
            Points of unit length.
        y : array_like, shape (m,) or (m, p)
            Values at these points.
        n : int or "auto"
            Number of control points, at most m. "auto" takes 300, or m where that is less, and then doubles it as long
            as that lowers the mean square of cross-validation by 2 %, up to m or ``20 (m + 4 n) n^2`` of 5e11; of free
            points it takes the 300. They are centres of k-means, started from rows that are far apart, and do not
            depend on y; if no more than n rows are distinct, these are the control points.
        concentration : float, optional
            lambda, at least 0. None takes one that is best in cross-validation: of a grid that goes up by factors of 2,
            then refined to a factor of 2**(1/4), or 2**(1/2) if n is above 300. Mean squares within 0.1 % are equal,
            and the largest lambda is taken, so that roundings choose neither it nor mu.
        regularization : float, optional
            mu > 0. A core head has the values v that minimise ``|K v - y|^2 + mu v^T A v``, with the kernel's matrix K
            between x and the control points and A among these: kernel ridge regression, if these are all rows. A split
            head has those that minimise ``|W v - y|^2 + mu |v - c|^2`` for the best number c, with the softmax W. None
            takes the mu that is best in cross-validation. The least is some 2e-15 times the largest squared singular
            value of ``K A**-0.5``, or of W less its columns' means: rounding errors hide what is smaller.
        weights : array_like, shape (m,), optional
            Weights of the rows' squares, at least 0 and not all 0; None means 1 each. A weight of 2 counts as the row
            twice, 0 as if it were left out.
        rng : None, int or numpy.random.Generator
            Draws the row that k-means starts from, and for free points the rows that are left out.
        points : {"fixed", "free"}
            "free" moves the control points, too, from where k-means leaves them, together with the values and the
            concentration (a given one is where they start): the same error with far fewer of them. What is minimised
            then is ``|h - y|^2 + mu |v|^2``, with ``|v - c|^2`` for the mean c of y in a split head; the mu is best for
            a fifth of the rows that are left out. Where fixed ones do as well in cross-validation with five folds, to
            5 % of the mean square, as where noise prevails, control points stay. The work is some hundred steps of
            m n^2 dim^2, or more of m n dim where that would take long. It is a local minimum; up to
            ``m (n dim)**2 p`` of 5e9 the steps that choose it end on a grid, so that whatever BLAS and processor, it is
            the same one and the head agrees to 1e-6 of y's largest. Beyond, roundings may choose another one.

        Returns
        -------
        CoreHead, SplitHead or ClassicalHead
            As the class; a classical head with its usual interaction. With float32 arrays if x and y are float32.

        Raises
        ------
        TypeError, ValueError
            If the rows have no unit length, y does not fit, an option is out of its range, or m n is too large.

        Notes
        -----
        Cross-validation leaves out each row in turn, and all that are equal to it, in closed form, with the control
        points kept: the weighted mean squared error over rows, summed over columns. The work is a few dozen times
        m n^2.

        References
        ----------
        Golub, Heath and Wahba (1979), Generalized cross-validation as a method for choosing a good ridge parameter;
        Dhillon and Modha (2001), Concept decompositions for large sparse text data using clustering.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import SplitHead, sphere
        >>> x = sphere.uniform(2, 400, rng=0)
        >>> noise = np.random.default_rng(1).normal(0.0, 0.1, 400)
        >>> head = SplitHead.fit(x, np.sin(3 * x[:, 2]) + noise, n=60, rng=0)
        >>> bool(np.sqrt(np.mean((head(x) - np.sin(3 * x[:, 2])) ** 2)) < 0.04)  # less than half the noise is left
        True
        """
        recipe = fit_recipe(
            x, y, points, n=n, normalize=cls._normalize, concentration=concentration, regularization=regularization,
            weights=weights, rng=rng,
        )  # fmt: skip
        return cls(recipe.control_points, recipe.values, recipe.concentration)

    def refine(self, target: Callable[[Any], ArrayLike], steps: int = 1, *, workers: int | None = None) -> Self:
        """Correct the values by residual steps, towards interpolation of a target at the control points.

        Each step adds ``target(b_k) - head(b_k)`` to the value at b_k; for a core head, divided by the sum of all
        kernels there. If the points are distinct and the concentration is above 0, it converges to interpolation, fast
        for what is smooth and slowly for what is rough: the matrix has eigenvalues in (0, 1], and on many points it
        damps degree l by the kernel's a_l, so that k steps make an error 1 - a_l into ``(1 - a_l)^(k+1)``. A few steps
        are cheap and need no system to be solved.

        Parameters
        ----------
        target : Target or callable
            Maps points (n, dim+1) to values (n,) or (n, p), as the head does.
        steps : int, default 1
            0 to 1e6.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.

        Returns
        -------
        CoreHead or SplitHead
            With float64 values.

        Raises
        ------
        TypeError, ValueError
            If the target does not fit, `steps` is no integer of that range, or concentrations differ.

        References
        ----------
        docs/theorems/4.13-interpolation.md.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition, SplitHead, sup_error
        >>> height = lambda x: x[:, 2]
        >>> head = SplitHead.from_target(height, EqualMeasurePartition(2, 500), 40.0)
        >>> better = head.refine(height, 2)
        >>> [round(sup_error(h, height, n=2000).lower, 4) for h in (head, better)]
        [0.0245, 0.0002]
        """
        steps = _checks.integer(steps, "steps", minimum=0, maximum=10**6)
        concentration = _checks.one_concentration(self.concentration, "residual steps converge for")
        f = sample(target, self.control_points, "control_points")
        _checks.shaped(f, "target", self.values.shape, note=" as the head does", verb="return")
        options: Any = {"normalize": self._normalize, "workers": _checks.workers(workers)}
        values = refine_values(f, self.control_points, self.values, concentration=concentration, steps=steps, **options)
        return replace(self, values=values)

    def to_torch(self, *, dtype: Any = None, device: Any = None, trainable: bool = False) -> torch.nn.Module:
        """Return the head as a `torch.nn.Module`: torch's own attention, or for core heads a sum.

        Parameters
        ----------
        dtype : torch.dtype, optional
            torch.float64 or torch.float32; None means the head's own.
        device : torch.device or str, optional
            None means torch's default device.
        trainable : bool, default False
            Make control points and values parameters, in place of buffers, and an array of concentrations too; of a
            classical head the prefix, to be tuned: its matrices stay as they are. Nothing keeps concentrations that
            are trained at least 0.

        Returns
        -------
        torch.nn.Module
            An `ExponentialSum` or `SplitAttention` of `spherapprox.heads.torch_modules`, which states layout and
            accuracy, maps (..., dim+1) to (...) or (..., p), a `ClassicalAttention` maps (T, dim+1) or (batch, T,
            dim+1) to what `ClassicalHead.attend` returns, in the module's dtype and on its device; gradients flow to
            the points and to its parameters. The sum of a core head is no attention, for nothing divides it.

        Raises
        ------
        ImportError
            If PyTorch is missing.
        TypeError, ValueError
            If `dtype` is another one or too small for concentration, mask or a value, or `trainable` is no bool.
        RuntimeError
            If torch has no such device.

        Examples
        --------
        >>> import numpy as np, torch
        >>> from spherapprox import ClassicalHead, CoreHead, SplitHead
        >>> for kind in (CoreHead, SplitHead, ClassicalHead):
        ...     module = kind(np.eye(3), [1.0, 2.0, 4.0], 9.0).to_torch(trainable=True)
        ...     trained = [name for name, parameter in module.named_parameters() if parameter.requires_grad]
        ...     print(module(torch.eye(3, dtype=torch.float64)).detach().numpy().round(4), trained)
        [1.0007 2.0006 4.0004] ['control_points', 'values']
        [1.0005 2.0001 3.9994] ['control_points', 'values']
        [1.0005 2.0001 3.9994] ['prefix']
        """
        module, _, name = self._torch_module.rpartition(".")
        layer: torch.nn.Module = getattr(load(module), name)(self, dtype=dtype, device=device, trainable=trainable)
        return layer
