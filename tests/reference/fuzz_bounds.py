"""Call every public function of bounds with edge values of its arguments, and count the calls that end badly.

    python tests/reference/fuzz_bounds.py [--cases 20000] [--seed 0] [--function error_bound ...] [--seconds 20]

A call ends well with numbers that are not nan, or with a ValueError or TypeError whose message names an argument in
quotes. A warning, any other exception, and a call that takes longer than the seconds given are failures; one of each
kind is printed as a line that repeats it. The suite runs a smaller sample (tests/bounds/test_fuzz.py).
"""

from __future__ import annotations

import argparse
import inspect
import math
import re
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tqdm

import bounds
from bounds import api, certify, covering, error, jackson, spectral
from bounds.records import Prefix
from bounds.theorems import THEOREMS, state, state_all
from bounds.theorems._options import OPTIONS
from bounds.theorems.thesis import convolution, lemmas

Rng = np.random.Generator
Call = tuple[str, dict[str, Any]]

LEAST, LARGEST = 5e-324, math.nextafter(math.inf, 0.0)
HUGE = 10**400
ANYWHERE = [0.0, LEAST, 2.2e-308, 1e-300, 1e-154, 1e-61, 1e16, 1e101, 1e151, 1e301, LARGEST, HUGE]
"""Values of any argument now and then, most of them outside its range."""
SIZES = [1e-60, 1e-30, 1e-16, 1e-3, 0.1, 0.5, 1.0, 2.0, 1e16, 1e100]
ANGLES = [LEAST, 1e-300, 1e-60, 1e-59, 1e-30, 1e-8, 0.1, 1.0, math.nextafter(math.pi / 2, 0.0), math.pi / 2, 3.0,
          math.nextafter(math.pi, 0.0), math.pi]  # fmt: skip
LOGS = [-1e300, -700.0, 0.0, 700.0, 1e300]
WHOLE = [0, 1, 2, 3, 4, 5, 8, 64, 129, 130, 1000, 10**6, 10**9, 10**30, HUGE, 1e300]
EDGES: dict[str, list[Any]] = {
    "dim": [1, 2, 3, 4, 7, 8, 9, 24, 33, 64, 65, 1000, 10**6],
    "exponent": [LEAST, 1e-300, 1e-16, 1e-3, 0.01, 0.1, 0.5, 0.999, math.nextafter(1.0, 0.0), 1.0],
    "concentration": [0.0, LEAST, 2.2e-308, 1e-300, 1e-154, 1e-16, 0.1, 1.0, 5.0, 30.0, 1e3, 1e5, 1e8, 1e16, 1e150],
    "slack": [0.0, LEAST, 1e-300, 1e-16, 1e-12, 1e-3, 0.5, math.nextafter(1.0, 0.0)],
    "sobolev_order": [LEAST, 0.5, 0.5 + 2e-16, 1.0, 1.5, 4.0, 4.0 + 1e-9, 5.0, 100.0, 1e5, 1e6],
    "bits": [1.0, 1.5, 64.0, 1e12],
    "n": [1, 2, 3, 4, 5, 6, 12, 13, 100, 1e6, 1e15, 1e16, 1e300],
    "memory": [1.0, 40.0, 100.0, 1e9, 1e300],
    "n_outputs": [1, 2, 1000, 10**30, HUGE],
    "order": [-0.5, 0.0, 0.5, 3.5, 1e6, 1e150, 1e300, LARGEST],
    "x": [0.0, LEAST, 1e-154, 1.0, 1e150, 1e300, LARGEST],
    "power": [LEAST, 1e-3, 1.0, 2.0, 100.0],
    "log_delta": [-1e300, -1e4, -745.0, -1.0, -1e-3, -1e-16],
    "log_concentration": [-1e4, -700.0, 0.0, 300.0, 460.0, 461.0, 700.0, 1e4],
    "inputs": [1, 2, 10**6, HUGE],
    "covering": list(covering.SUFFICIENT),
    "method": list(covering.METHODS),
    **dict.fromkeys(
        ["eps", "lipschitz", "sup_norm", "jackson_constant", "harmonic_constant", "smoothness", "inner"], SIZES
    ),
    **dict.fromkeys(
        ["component_error", "numerator_error", "denominator_error", "numerator", "denominator", "product"], SIZES
    ),
    **dict.fromkeys(("radius", "separation", "angle"), ANGLES),
    **dict.fromkeys(("degree", "exactness"), WHOLE),
    **dict.fromkeys(("log_slope", "log_mass", "mask"), LOGS),
}
"""Argument -> its edge values; "theorem" depends on the function."""
USUAL = {"eps": (-62.0, 2.0), "dim": (0.0, 6.0), "radius": (-20.0, 0.497), "separation": (-20.0, 0.497),
        "concentration": (-20.0, 20.0), "n": (0.0, 30.0), "degree": (0.0, 4.0), "exactness": (0.0, 4.0)}  # fmt: skip
"""Argument -> the decimal logarithms between which it is also drawn."""
MODERATE = {"dim": 40, "degree": 60, "concentration": 100.0, "order": 100.0}
"""Argument -> its largest value in ball arithmetic, which takes minutes with larger ones and cannot be interrupted."""
POSITIVE = (-3.0, 3.0)
FIELDS = ("n", "radius", "separation", "exactness")
"""The fields of `Prefix`."""
LEFT_OUT = {"certified", "digits", "target", "points", "samples", "theorems"}
"""Arguments that are not drawn, or not like the others."""
WORDS = {
    bounds.prefix_length: tuple(api.COUNTED),
    bounds.error_bound: tuple(error.ERRORS),
    bounds.best_concentration: tuple(error.FREE),
    bounds.concentration: ("sharp-core", "thesis-core"),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        *WORDS, bounds.ladder, bounds.error.tokens_within, bounds.covering_number, bounds.covering.covering_radius,
        bounds.jackson.jackson_degree, bounds.jackson.approximation_error, bounds.jackson.jackson_constant,
        jackson.jackson_limit, jackson.jackson_floor, jackson.bessel_zero, spectral.iv_ratio_bounds,
        spectral.eigenvalue_bounds, spectral.mean_angle_upper, spectral.mean_angle_lower,
    )
}  # fmt: skip
LEMMAS = {name: lemma for name, lemma in (vars(convolution) | vars(lemmas)).items() if hasattr(lemma, "__wrapped__")}
PROVEN = {name: getattr(certify, name) for name in certify.__all__ if name[0].islower() and name != "certified"}
GROUPS = {"": FUNCTIONS, "thesis.": LEMMAS, "certify.": PROVEN}
CALLABLES = {prefix + name: function for prefix, group in GROUPS.items() for name, function in group.items()}


def draw(name: str, rng: Rng) -> Any:
    """Return a value of an argument: an edge, or log-uniform in its usual range."""
    if name not in EDGES:
        return bool(rng.random() < 0.5)  # a flag
    if (chance := rng.random()) < 0.4 or name in ("covering", "method"):
        edges = ANYWHERE if chance < 0.01 else EDGES[name]
        return edges[rng.integers(len(edges))]
    value = 10.0 ** rng.uniform(*USUAL.get(name, POSITIVE))
    return round(value) if name in ("dim", "degree", "exactness") else value


def call(name: str, rng: Rng) -> dict[str, Any]:
    """Return random arguments: what must be given, what the theorem needs, and some of the others."""
    arguments: dict[str, Any] = {}
    function, needed = CALLABLES[name], {"dim"}
    parameters = inspect.signature(function).parameters
    if function in WORDS:
        words = WORDS[function]
        arguments["theorem"] = words[rng.integers(len(words))]
        theorem = error.ERRORS.get(arguments["theorem"])
        needed |= {*theorem.needs, "lipschitz"} if theorem else set()
        needed = needed - {"radius"} | {"n"} if rng.random() < 0.5 else needed
    for parameter in parameters.values():
        wanted = parameter.default is inspect.Parameter.empty or parameter.name in needed or rng.random() < 0.01
        if wanted and parameter.name not in {*arguments, *LEFT_OUT}:
            arguments[parameter.name] = draw(parameter.name, rng)
            if name.startswith("certify.") and parameter.name in MODERATE:
                arguments[parameter.name] = min(arguments[parameter.name], MODERATE[parameter.name])
    if "points" in parameters:
        arguments["points"] = {field: draw(field, rng) for field in FIELDS if field in needed or rng.random() < 0.01}
    if function in WORDS or function is bounds.ladder:
        options = THEOREMS[arguments["theorem"]].options if function in WORDS else tuple(OPTIONS)
        arguments["options"] = {
            option: draw(option, rng) for option in options if option in needed or rng.random() < 0.3
        }
    return arguments


def run(name: str, arguments: dict[str, Any]) -> Any:
    """Make a call, with the options and the fields of a prefix as arguments of their own."""
    arguments = dict(arguments)
    options = arguments.pop("options", None)
    if options and "theorem" in arguments:
        arguments["theorem"] = state(arguments["theorem"], **options)
    elif options:
        arguments["theorems"] = state_all(**options)
    if "points" in arguments:
        arguments["points"] = Prefix(**arguments["points"])
    return CALLABLES[name](**arguments)


def numbers(value: Any) -> Iterator[float]:
    """Return the numbers in a result, which a bound must also be able to print."""
    if isinstance(value, bounds.Bound):
        str(value)
        logs = (value.log, value.value, value.log10, value.concentration, value.radius)
        yield from (number for number in logs if number is not None)
        yield from (number for _, number in value.constants)
    elif isinstance(value, certify.Enclosure):
        yield from (float(value.lower), float(value.upper))
    elif isinstance(value, (tuple, list, np.ndarray)):
        for item in value:
            yield from numbers(item)
    else:
        yield float(value) if abs(value) < LARGEST else math.inf


def judge(name: str, arguments: dict[str, Any], seconds: int) -> str:
    """Return "" for a call that ends well, else what is wrong with it."""
    names = {*inspect.signature(CALLABLES[name]).parameters, *OPTIONS, *FIELDS}
    signal.alarm(seconds)
    try:
        values = list(numbers(run(name, arguments)))
    except certify.CertificationError:
        return ""
    except (ValueError, TypeError) as error:
        named = names & set(re.findall(r"'(\w+)'", str(error)))
        wanted = isinstance(error, bounds.records.HypothesisError) or named
        return "" if wanted else f"{type(error).__name__} without a name: {error}"
    except Exception as error:  # whatever it is, it is what is looked for
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return "nan" if any(math.isnan(number) for number in values) else ""


def fuzz(names: list[str], cases: int, seed: int, seconds: int = 20, *, quiet: bool = True) -> dict[str, Counter[str]]:
    """Return function -> what is wrong -> an example of it, and print nothing."""
    bad: dict[str, Counter[str]] = {}
    for name in names:
        rng = np.random.default_rng([seed, *name.encode()])
        bad[name] = Counter()
        for _ in tqdm.trange(cases, desc=name, leave=False, disable=quiet):
            arguments = call(name, rng)
            if wrong := judge(name, arguments, seconds):
                kind = re.sub(r"[-+.\de]{2,}", "#", wrong)
                if not bad[name][kind]:
                    print(f"{name}(**{arguments}): {wrong}", flush=True)
                bad[name][kind] += 1
    return bad


def _too_long(*_: Any) -> None:
    raise TimeoutError("takes too long")


def main() -> int:
    """Print the failures, one of each kind, and their counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000, help="per function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=20, help="a call may take")
    parser.add_argument("--function", nargs="*", default=list(CALLABLES), choices=list(CALLABLES))
    options = parser.parse_args()
    warnings.simplefilter("error")
    signal.signal(signal.SIGALRM, _too_long)
    bad = fuzz(options.function, options.cases, options.seed, options.seconds, quiet=False)
    print()
    for name, kinds in bad.items():
        print(f"{name:32} {options.cases:6} calls, {sum(kinds.values()):5} bad, {len(kinds):3} kinds")
    return int(any(bad.values()))


if __name__ == "__main__":
    sys.exit(main())
