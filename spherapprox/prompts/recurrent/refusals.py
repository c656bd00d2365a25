"""What a variable of a program refuses, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


def site(variable: Any) -> str:
    """Return a variable and the line that made it, in words."""
    return f"{variable!r} ({variable.line})"


def _refusal(what: str, remedy: str) -> Any:
    """Return a method that says what to write in place of an operator."""

    def _refuse(self: Any, *others: Any, **options: Any) -> Any:
        raise TypeError(f"{site(self)} {what}: {remedy}")

    return _refuse


class Refusals:
    """Operators that a linear recurrent model does not have."""

    line: str

    def __bool__(self) -> bool:
        raise TypeError(f"{site(self)} has a value at each step, and no truth value here: choose by recurrent.gate")

    _not_equal = _refusal("has no value here to compare", "recurrent.equal is 1 where integers are equal")
    __lt__ = __le__ = __gt__ = __ge__ = _refusal(
        "has no value here to compare", "recurrent.step(v - w) is 1 where integers v > w; see maximum and minimum too"
    )
    __pow__ = __rpow__ = _refusal("has no powers", "v * v is a square")
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _refusal(
        "has no quotients and remainders", "divide by constants, and count modulo n by recurrent.cycle"
    )
    __rtruediv__ = _refusal("cannot be a divisor", "a recurrent model divides by constants only")
    __matmul__ = _refusal("cannot be on the left of @", "write A @ v, or v * w for entrywise products")
    __and__ = __rand__ = _refusal("has no operator &", "of truth values, ReLU(c + d - 1) is 1 where both are")
    __or__ = __ror__ = _refusal("has no operator |", "of truth values, 1 - ReLU(1 - c - d) is 1 where one is")
    __invert__ = _refusal("has no operator ~", "of a truth value, 1 - c is the opposite")
    __abs__ = _refusal("cannot be given to abs", "use recurrent.absolute")
    if not TYPE_CHECKING:  # or A @ v would count as an array
        __array__ = _refusal("is no array", "programs are run on arrays, and variables stand for values at each step")
