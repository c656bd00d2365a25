"""How heads are shortened: the methods, and what else may be asked."""

from __future__ import annotations

from dataclasses import dataclass

from ..... import _checks

FITTED = ("descent", "attention matching", "top attention")
"""Methods with biases and values of their own, best first."""
CONTEXT = ("snapkv", "h2o")
"""Methods that choose by what the context itself attends to."""
METHODS = (*FITTED, *CONTEXT, "recent", "uniform")


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How accurately tokens are fitted, and the end.

    Parameters
    ----------
    mass : float, default 0.5
        What an error of 1 in the log mass counts in a descent, against the root mean square of the outputs.
    ridge : float, default 1e-5
        The ridge on values, over the mean square of a token's attention. Smaller ones lower errors at the queries of
        the fit, and raise them at others where queries are few.
    iterations : int, default 200
        Iterations of a descent.
    work : float, default 1e12
        Operations of a descent in each head, at most: some 20 seconds of one core. Where they suffice for fewer than
        20 iterations, tokens are chosen as in "attention matching".
    time_limit : float, optional
        Seconds after which descents end, and heads that are left are done by "top attention".
    progress : bool, default False
        Print a line for each layer, or for heads that are done together.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.prefix.torch_modules.heads import FitOptions
    >>> FitOptions(iterations=50).ridge
    1e-05
    """

    mass: float = 0.5
    ridge: float = 1e-5
    iterations: int = 200
    work: float = 1e12
    time_limit: float | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        _checks.real(self.mass, "mass", minimum=0.0, maximum=1e6)
        _checks.real(self.ridge, "ridge", minimum=1e-12, maximum=1.0)
        iterations = _checks.integer(self.iterations, "iterations", minimum=0, maximum=10**5)
        object.__setattr__(self, "iterations", iterations)
        _checks.real(self.work, "work", minimum=0.0)
        if self.time_limit is not None:
            _checks.real(self.time_limit, "time_limit", above=0.0)
        _checks.flag(self.progress, "progress")


@dataclass(frozen=True, kw_only=True)
class HeadOptions(FitOptions):
    """How `compress_heads` works: the softcap of logits, and all that `FitOptions` has.

    Parameters
    ----------
    softcap : float, optional
        Logits are ``softcap * tanh(logits / softcap)``, as in Gemma 2, before biases.
    mass, ridge, iterations, work, time_limit, progress
        As those of `FitOptions`.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.prefix.torch_modules.heads import HeadOptions
    >>> HeadOptions(softcap=50.0, time_limit=60.0).softcap
    50.0
    """

    softcap: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.softcap is not None:
            _checks.real(self.softcap, "softcap", above=0.0)
