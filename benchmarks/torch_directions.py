"""Distributions of directions in torch beside what others do: values, the range where they are numbers, and time.

The peers are rewritten from their formulas: a hyperspherical VAE's class (Davidson et al. 2018), whose Bessel function
is SciPy's `ive` with NumPy between; TensorFlow Probability's recurrence for 2 to 5 columns; and the power spherical
distribution by `lgamma` (De Cao & Aziz 2020), beside De Cao's package `power_spherical` where that is installed. The
truth is the core's in float64, and mpmath's for the latter::

    python benchmarks/torch_directions.py
    python benchmarks/torch_directions.py --columns 3 128 --rounds 5
    python benchmarks/torch_directions.py --compile  # seconds of torch's compiler, nothing kept from earlier runs
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import torch
from scipy.special import ive
from tabulate import tabulate
from timing import machine

from spherapprox import VonMisesFisher as Core
from spherapprox.directional.torch_modules import PowerSpherical, VonMisesFisher

CONCENTRATIONS = np.concatenate([[0.0], np.logspace(-3, 7, 51)])
SHAPES = ((1024, 128), (64, 768))
DTYPES = (torch.float32, torch.float64)
HEADER = ["density", "columns", "dtype", "numbers for", "of", "error / (1 + |log f|)"]


class Ive(torch.autograd.Function):
    """e^-x I_v(x) by SciPy, whose derivative is by neighbouring orders."""

    @staticmethod
    def forward(ctx: Any, v: float, x: Any) -> Any:
        """Return the function."""
        ctx.v = v
        ctx.save_for_backward(x)
        return torch.from_numpy(np.asarray(ive(v, x.detach().cpu().numpy()))).to(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Return the gradient."""
        (x,) = ctx.saved_tensors
        return None, grad * (Ive.apply(ctx.v - 1, x) - Ive.apply(ctx.v, x) * (ctx.v + x) / x)


def vae(loc: Any, k: Any, x: Any) -> Any:
    """Return the log density as a hyperspherical VAE's class does."""
    p = loc.shape[-1]
    log_c = (0.5 * p - 1) * k.log() - 0.5 * p * math.log(2 * math.pi) - (k + Ive.apply(0.5 * p - 1, k).log())
    return k * (loc * x).sum(-1) + log_c


def recurrent_ive(v: float, x: Any) -> Any:
    """Return e^-x I_v(x) by closed forms and the recurrence up."""
    if v in (0.0, 1.0):
        return torch.special.i0e(x) if v == 0.0 else torch.special.i1e(x)
    if abs(v) == 0.5:
        return x.neg().exp() * (x.sinh() if v > 0 else x.cosh()) / (0.5 * math.pi * x).sqrt()
    return recurrent_ive(v - 2, x) - (2 / x) * (v - 1) * recurrent_ive(v - 1, x)


def tfp(loc: Any, k: Any, x: Any) -> Any:
    """Return the log density as TensorFlow Probability did, which refuses more than 5 columns."""
    p = loc.shape[-1]
    if p > 5:
        return k * math.nan
    log_c = (0.5 * p - 1) * k.log() - 0.5 * p * math.log(2 * math.pi) - recurrent_ive(0.5 * p - 1, k).log() - k
    return k * (loc * x).sum(-1) + log_c


def power(loc: Any, k: Any, x: Any) -> Any:
    """Return the log density of the power spherical distribution by differences of `lgamma`."""
    b = 0.5 * (loc.shape[-1] - 1)
    a = b + k
    log_c = -((a + b) * math.log(2) + b * math.log(math.pi) + torch.lgamma(a) - torch.lgamma(a + b))
    return log_c + k * torch.log1p((loc * x).sum(-1))


def package(name: str, loc: Any, k: Any, x: Any) -> Any:
    """Return the log density of the power spherical distribution by De Cao's package, which refuses 0."""
    law = importlib.import_module(name).PowerSpherical(loc.expand(*k.shape, -1), k.clamp_min(1e-9))
    return torch.where(k > 0.0, law.log_prob(x), math.nan)


METHODS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "ours": lambda loc, k, x: VonMisesFisher(loc, k).log_prob(x),
    "VAE (SciPy)": vae,
    "TFP": tfp,
    "ours, power": lambda loc, k, x: PowerSpherical(loc, k).log_prob(x),
    "power, lgamma": power,
}
if importlib.util.find_spec("power_spherical"):
    METHODS["power_spherical"] = lambda loc, k, x: package("power_spherical", loc, k, x)


def exact_peaks(p: int, power_law: bool) -> list[float]:
    """Return the log densities at the mean direction."""
    if not power_law:
        return [Core(p - 1, k).log_density(1.0, measure="surface") for k in CONCENTRATIONS]
    with mpmath.workdps(40):
        b = mpmath.mpf(p - 1) / 2
        gammas = [(mpmath.loggamma(k + 2 * b), mpmath.loggamma(k + b)) for k in map(mpmath.mpf, CONCENTRATIONS)]
        return [float(top - low - b * mpmath.log(4 * mpmath.pi)) for top, low in gammas]


def value_rows(columns: list[int]) -> list[list[Any]]:
    """Return errors at the mean direction, and where values and gradients are no numbers."""
    rows = []
    for name, method in METHODS.items():
        for p in columns:
            exact = np.array(exact_peaks(p, "power" in name))
            for dtype in DTYPES:
                k = torch.tensor(CONCENTRATIONS, dtype=dtype, requires_grad=True)
                loc = torch.zeros(p, dtype=dtype)
                loc[0] = 1.0
                result = method(loc, k, loc)
                slope = torch.autograd.grad(result.sum(), k)[0]
                fine = (torch.isfinite(result) & torch.isfinite(slope)).numpy()
                error = np.abs(result.detach().double().numpy() - exact) / (1.0 + np.abs(exact))
                range_ = CONCENTRATIONS[fine]
                span = f"{range_.min():.3g} to {range_.max():.3g}" if fine.any() else "none"
                worst = error[fine].max() if fine.any() else math.nan
                rows.append([name, p, str(dtype)[6:], span, f"{fine.sum()}/{fine.size}", f"{worst:.1e}"])
    return rows


def time_rows(rounds: int) -> list[list[Any]]:
    """Return milliseconds of log_prob and its gradients in loc and the concentration, medians of interleaved rounds."""
    rows = []
    for n, p in SHAPES:
        for dtype in DTYPES:
            torch.manual_seed(0)
            loc, x = (torch.nn.functional.normalize(torch.randn(n, p, dtype=dtype), dim=-1) for _ in range(2))
            k = torch.full((n,), 0.5 * p, dtype=dtype) * (1.0 + torch.rand(n, dtype=dtype))
            times: dict[str, list[float]] = {name: [] for name in METHODS if p <= 5 or name != "TFP"}
            for _ in range(rounds):
                for name, spent in times.items():
                    leaves = loc.clone().requires_grad_(), k.clone().requires_grad_()
                    start = time.perf_counter()
                    METHODS[name](*leaves, x).sum().backward()
                    spent.append(1e3 * (time.perf_counter() - start))
            rows += [[f"({n}, {p})", str(dtype)[6:], name, statistics.median(t)] for name, t in times.items()]
    return rows


def compile_rows(columns: list[int]) -> list[list[Any]]:
    """Return seconds of the compiler for a density and a sample, and for their gradients, after its own start."""
    torch.compiler.config.force_disable_caches = True
    torch.compile(torch.sin)(torch.ones(300))
    rows = []
    for kind in (VonMisesFisher, PowerSpherical):
        for p in columns:
            for name in ("log_prob", "rsample"):
                torch.compiler.reset()
                loc, x = (torch.nn.functional.normalize(torch.randn(256, p), dim=-1) for _ in range(2))
                leaves = loc.requires_grad_(), torch.full((256,), 10.0, requires_grad=True)
                if name == "log_prob":
                    function = torch.compile(lambda loc, k, kind=kind, x=x: kind(loc, k).log_prob(x), fullgraph=True)
                else:
                    function = torch.compile(lambda loc, k, kind=kind: kind(loc, k).rsample(), fullgraph=True)
                times = [time.perf_counter()]
                result = function(*leaves).sum()
                times.append(time.perf_counter())
                result.backward()
                rows.append([kind.__name__, name, p, times[1] - times[0], time.perf_counter() - times[1]])
    return rows


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, nargs="+", default=[2, 3, 5, 64, 128, 768, 4096])
    parser.add_argument("--rounds", type=int, default=51, help="how often each call is timed")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    parser.add_argument("--compile", action="store_true", help="time torch's compiler instead")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(machine())
    if arguments.compile:
        header = ["density", "function", "columns", "seconds", "its gradients"]
        print(tabulate(compile_rows(arguments.columns), header, floatfmt=".1f"))
        return
    print(tabulate(value_rows(arguments.columns), HEADER))
    print()
    print(tabulate(time_rows(arguments.rounds), ["rows, columns", "dtype", "density", "ms"], floatfmt=".3f"))


if __name__ == "__main__":
    main()
