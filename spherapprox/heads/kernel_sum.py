"""The function of a head: a sum of kernels, or the quotient of two, with its gradient and its torch module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._loading import load
from .._types import Floats
from ..summation import small
from ..summation.evaluation import LARGEST_CONCENTRATION, evaluate_arrays
from . import gradient
from .recipe import Recipe

if TYPE_CHECKING:
    import torch


class KernelSum(Recipe):
    """Evaluate ``sum_k values_k exp(-concentration_k |x - b_k|^2 / 2)``, or the average by softmax if normalised."""

    _normalize: ClassVar[bool]
    _torch_module: ClassVar[str]
    """Dotted name of the class that `to_torch` makes, imported when it is called."""

    def __call__(
        self,
        x: ArrayLike,
        *,
        method: str = "auto",
        rtol: float | None = 1e-14,
        workers: int | None = None,
        out: Floats | None = None,
        progress: bool = False,
    ) -> Floats:
        """Evaluate the head at points of the sphere.

        Parameters
        ----------
        x : array_like, shape (m, dim+1)
            Points of unit length.
        method, rtol, workers, out, progress
            As in `spherapprox.evaluate`.

        Returns
        -------
        ndarray, shape (m,) or (m, p)
            float32 if x, control points and values all are, else float64.

        Raises
        ------
        ValueError
            If the rows are no points of S^dim, or an option is out of its range.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import SplitHead
        >>> head = SplitHead(np.eye(2), [[1.0, 0.0], [2.0, 5.0]], 9.0)
        >>> head([[1.0, 0.0], [0.6, 0.8]]).round(3).tolist()
        [[1.0, 0.001], [1.858, 4.291]]
        """
        b, values = self.control_points, self.values
        if out is None and progress is False:
            found = small.sums(x, b, values, self.concentration, self._normalize, method, rtol, workers)
            if found is not None:
                return found
        rows, shown = _checks.rows(x, dim=b.shape[1] - 1), _checks.flag(progress, "progress")
        return evaluate_arrays(
            rows, b, values, self.concentration, self._normalize, method, rtol, workers, out, progress=shown
        )[0]

    def gradient(
        self, x: ArrayLike, *, method: str = "auto", rtol: float | None = 1e-14, workers: int | None = None
    ) -> Floats:
        """Evaluate the gradient on the sphere: tangent vectors, the slope per radian.

        Parameters
        ----------
        x : array_like, shape (m, dim+1)
            Points of unit length.
        method : {"auto", "differences", "dense", "truncated", "harmonic", "lowrank"}
            "differences" adds multiples of ``b_k - x`` over the control points near x and keeps all digits. The others
            are sums of multiples of b_k by that method of `spherapprox.evaluate`, fast, but with an error that grows
            with the concentration, since b_k - x is small where it matters. "auto" takes the sums while the largest
            concentration is at most ``64 (dim+1)``, where they lose about a digit, and else the differences.
        rtol : float or None, default 1e-14
            What may be left out on purpose: by sums as in `spherapprox.evaluate`, by differences in each row this times
            ``lambda**0.5`` and ``sum_k |v_k| e_k``, for a split head the range of the v_k. None leaves out nothing, and
            so do differences where control points have concentrations of their own.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.

        Returns
        -------
        ndarray, shape (m, dim+1), or (m, p, dim+1) for values of p columns
            ``[i, j]`` is the gradient of column j at ``x[i]``, orthogonal to ``x[i]`` to rounding. float32 if x,
            control points and values all are, computed in float64, else float64.

        Raises
        ------
        ValueError
            If the rows are no points of S^dim, or an option is out of its range.

        Notes
        -----
        With ``e_k = exp(-lambda |x - b_k|^2 / 2)`` it is, of a core head, the tangent part of
        ``lambda sum_k v_k e_k (b_k - x)``, of a split head that of the same sum for ``v_k - h(x)``, over ``sum_k e_k``.
        For ``lambda`` from 1 to 1e8 and a dozen control points at distances near ``lambda**-0.5``, the error of
        "differences" is at most 1e-15 times ``lambda**0.5`` and ``sum_k |v_k| e_k``, for a split head the range of the
        v_k; that of the sums is ``lambda**0.5`` times as large. Where all are farther, it grows with the exponents.

        References
        ----------
        docs/theorems/4.15-gradient.md.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import CoreHead
        >>> CoreHead([[1.0, 0.0]], [1.0], 2.0).gradient([[0.6, 0.8]]).round(6)  # 2 exp(-0.8) (b - <b, x> x)
        array([[ 0.575141, -0.431356]])
        """
        rows = _checks.rows(x, dim=self.dim)
        gradient.check(method, rtol)
        limit = LARGEST_CONCENTRATION[np.dtype(np.float64)]
        concentration = _checks.concentrations(self.concentration, len(self), maximum=limit)
        b, table = self.control_points, self.values.reshape(len(self), -1)
        vectors = gradient.gradients(
            rows, b, table, concentration, self._normalize, method, rtol, _checks.workers(workers)
        )
        result: Floats = vectors[:, 0] if self.values.ndim == 1 else vectors
        return result.astype(np.result_type(rows, b, self.values), copy=False)

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
            An `ExponentialSum` or `SplitAttention` of `spherapprox.heads.torch_modules` maps (..., dim+1) to (...) or
            (..., p), a `ClassicalAttention` maps (T, dim+1) or (batch, T, dim+1) to what `ClassicalHead.attend`
            returns, in the module's dtype and on its device; gradients flow to the points and to its parameters. The
            sum of a core head is no attention, for nothing divides it.

        Raises
        ------
        ImportError
            If PyTorch is missing.
        TypeError, ValueError
            If `dtype` is another one or too small for concentration, mask or a value, or `trainable` is no bool.
        RuntimeError
            If torch has no such device.

        See Also
        --------
        spherapprox.heads.torch_modules : the modules, their layout and accuracy.

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
        made: torch.nn.Module = getattr(load(module), name)(self, dtype=dtype, device=device, trainable=trainable)
        return made
