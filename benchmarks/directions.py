"""Statistics of directions beside what others have: what each offers, values and range, times, clusters, the circle.

Peers: ``scipy.stats.vonmises_fisher``, a hyperspherical VAE's class (`torch_directions.py`), ``power_spherical`` where
it is installed, KMeans and GaussianMixture of scikit-learn on unit rows, and R's package circular where ``Rscript`` is
found (Debian: r-cran-circular). The truth of values is python-flint's::

    python benchmarks/directions.py
    python benchmarks/directions.py --tables offers circle --rscript /usr/bin/Rscript
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
import torch_directions
from flint import arb, ctx
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import normalize
from tabulate import tabulate
from timing import HEADER, Row, Timed, machine, measure

from spherapprox import VonMisesFisher, directional
from spherapprox.directional import torch_modules

COLUMNS = (2, 3, 5, 64, 128, 768, 4096)
CONCENTRATIONS = np.concatenate([[0.0], np.logspace(-3, 7, 51)])
POLE = np.array([0.0, 0.0, 1.0])


def of(p: int, k: Any = 10.0) -> VonMisesFisher:
    """Return the distribution about the first axis of p columns."""
    return VonMisesFisher(np.eye(1, p)[0], k)


# What each offers: calls.


def slopes(log_prob: Callable[[Any, Any], Any]) -> Any:
    """Return the gradient of a log density in the concentration, in 768 columns and float32."""
    k = torch.tensor([100.0], requires_grad=True)
    log_prob(torch.nn.functional.normalize(torch.ones(1, 768), dim=-1), k).sum().backward()
    return k.grad


SPARSE = scipy.sparse.random_array(
    (200, 5000), density=0.01, rng=np.random.default_rng(0), format="csr"
) + scipy.sparse.eye_array(200, 5000, format="csr")
SCIPY = stats.vonmises_fisher
OFFERS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "log density, 768 columns, concentration 500": (
        lambda: of(768, 500.0).logpdf(np.eye(1, 768)),
        lambda: SCIPY(np.eye(1, 768)[0], 500.0).logpdf(np.eye(1, 768)),
    ),
    "log density, 4096 columns, concentration 10": (
        lambda: of(4096).logpdf(np.eye(1, 4096)),
        lambda: SCIPY(np.eye(1, 4096)[0], 10.0).logpdf(np.eye(1, 4096)),
    ),
    "the uniform distribution, concentration 0": (
        lambda: of(3, 0.0).logpdf(POLE),
        lambda: SCIPY(POLE, 0.0).logpdf(POLE),
    ),
    "a batch of distributions": (
        lambda: VonMisesFisher(np.eye(3), [1.0, 2.0, 3.0]).entropy(),
        lambda: SCIPY(np.eye(3), [1.0, 2.0, 3.0]).entropy(),
    ),
    "sample, 768 columns": (lambda: of(768, 500.0).rvs(10, rng=0), lambda: SCIPY(np.eye(1, 768)[0], 500.0).rvs(10)),
    "fit, 768 columns": (
        lambda: VonMisesFisher.fit(of(768, 500.0).rvs(2000, rng=0))[1].concentration,
        lambda: SCIPY.fit(of(768, 500.0).rvs(2000, rng=0))[1],
    ),
    "fit of 200 sparse rows": (
        lambda: VonMisesFisher.fit(normalize(SPARSE))[1].concentration,
        lambda: SCIPY.fit(normalize(SPARSE))[1],
    ),
    "distribution function of the cosine": (lambda: of(3).cdf(0.5), lambda: SCIPY(POLE, 10.0).cdf(0.5)),
    "divergence": (lambda: of(3).kl_divergence(of(3, 2.0)), lambda: SCIPY(POLE, 10.0).kl_divergence(SCIPY(POLE, 2.0))),
    "cone of confidence": (
        lambda: directional.confidence_cone(of(3).rvs(30, rng=0), method="conditional")[1],
        lambda: stats.confidence_cone(of(3).rvs(30, rng=0)),
    ),
    "test of a common mean": (
        lambda: directional.same_mean(of(3).rvs(30, rng=0), of(3).rvs(30, rng=1)).pvalue,
        lambda: stats.same_mean(of(3).rvs(30, rng=0), of(3).rvs(30, rng=1)),
    ),
    "gradients in torch, 768 columns, against the VAE's class": (
        lambda: slopes(lambda x, k: torch_modules.VonMisesFisher(x, k).log_prob(x)),
        lambda: slopes(lambda x, k: torch_directions.vae(x, k, x)),
    ),
    "a mixture of 200 sparse rows, against GaussianMixture": (
        lambda: directional.VonMisesFisherMixture(3, random_state=0).fit(SPARSE).weights_,
        lambda: GaussianMixture(3, random_state=0).fit(SPARSE).weights_,
    ),
}


def attempt(call: Callable[[], Any]) -> Any:
    """Return a call's numbers, or what happened instead."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call()
        return np.asarray(result.detach() if torch.is_tensor(result) else result, dtype=float)
    except Exception as error:
        return f"no: {type(error).__name__}: {str(error).splitlines()[0][:60]}"


def offer_rows() -> list[list[Any]]:
    """Return what each call does here and there; "wrong" is a number that ours, within 1 %, is not."""
    rows = []
    for what, (ours, theirs) in OFFERS.items():
        own, other = attempt(ours), attempt(theirs)
        if not isinstance(other, str):
            samples = "sample" in what or own.shape != other.shape
            wrong = f"wrong: {other.reshape(-1)[0]:.3g}, not {own.reshape(-1)[0]:.3g}"
            fine = np.isfinite(other).all() and (samples or np.allclose(own, other, rtol=0.01))
            other = "yes" if fine else wrong
        rows.append([what, own if isinstance(own, str) else "yes" if np.isfinite(own).all() else "nan or inf", other])
    return rows


# Values and their range.


def exact_log_peak(p: int, k: float) -> float:
    """Return the log density at the mean direction with respect to the surface, to 50 digits and more."""
    ctx.dps = 60 + p // 100
    half = arb(p) / 2
    if k == 0.0:
        return float(half.lgamma() - arb(2).log() - half * arb.pi().log())
    value = arb(k).bessel_i(half - 1, scaled=True)
    return float((half - 1) * arb(k).log() - half * (2 * arb.pi()).log() - value.log())


def value_rows() -> list[list[Any]]:
    """Return where log densities at the peak and entropies are numbers, and the largest error there."""
    rows = []
    for p in COLUMNS:
        exact = np.array([exact_log_peak(p, k) for k in CONCENTRATIONS])
        pole = np.eye(1, p)[0]
        for name, law in (("ours", VonMisesFisher), ("SciPy", SCIPY)):
            found = np.array([_number(_log_peak, law, pole, k) for k in CONCENTRATIONS])
            fine = np.isfinite(found)
            error = np.abs(found - exact)[fine] / (1.0 + np.abs(exact[fine]))
            entropies = sum(np.isfinite(_number(_entropy, law, pole, k)) for k in CONCENTRATIONS)
            worst = f"{error.max():.1e}" if fine.any() else "-"
            rows.append([name, p, f"{fine.sum()}/{fine.size}", worst, f"{entropies}/{fine.size}"])
    return rows


def _log_peak(law: Any, pole: Any, k: float) -> Any:
    return law(pole, k).logpdf(pole)


def _entropy(law: Any, pole: Any, k: float) -> Any:
    return law(pole, k).entropy()


def _number(call: Callable[..., Any], *arguments: Any) -> float:
    """Return a call's number, nan where it is refused."""
    try:
        with np.errstate(all="ignore"):
            return float(np.asarray(call(*arguments)).reshape(-1)[0])
    except (ValueError, OverflowError, ArithmeticError):
        return math.nan


# Times beside SciPy's.


def time_rows(rounds: int) -> list[list[str]]:
    """Return seconds of both, medians of interleaved rounds."""
    rows = []
    for n, p, k in ((100_000, 3, 20.0), (10_000, 64, 100.0), (2000, 768, 500.0)):
        pole = np.eye(1, p)[0]
        ours, peer = VonMisesFisher(pole, k), SCIPY(pole, k)
        x = ours.rvs(n, rng=0)
        calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "logpdf": (lambda o=ours, x=x: o.logpdf(x), lambda o=peer, x=x: o.logpdf(x)),
            "fit": (lambda x=x: VonMisesFisher.fit(x)[1].concentration, lambda x=x: SCIPY.fit(x)[1]),
            "rvs": (lambda o=ours, n=n: o.rvs(n, rng=0), lambda o=peer, n=n: o.rvs(n, random_state=0)),
            "entropy": (ours.entropy, peer.entropy),
        }
        for name, (mine, theirs) in calls.items():
            a, b = Timed(mine), Timed(theirs)
            rows.append(measure(Row(f"{name}, {n} x {p} / SciPy", a, b, _agreement(name, a, b)), rounds))
    return rows


def _agreement(name: str, ours: Timed, peer: Timed) -> Callable[[], str]:
    if name == "rvs":
        return lambda: "-"
    return lambda: f"{np.max(np.abs(1.0 - np.asarray(ours.result) / np.asarray(peer.result))):.1e}"


# Clusters.

CLUSTERS: dict[str, tuple[int, int, int, tuple[float, ...]]] = {  # parts, columns, rows, concentrations in turn
    "10 parts, 3 columns": (10, 3, 3000, (100.0, 400.0)),
    "4 parts, narrow in wide": (4, 16, 3000, (2000.0, 12.0)),
    "30 parts, 768 columns": (30, 768, 3000, (500.0,)),
    "30 parts, 768 columns, few rows": (30, 768, 900, (300.0, 800.0)),
}


def methods(k: int, seed: int) -> dict[str, Any]:
    """Return the estimators by name."""
    return {
        "VonMisesFisherMixture": directional.VonMisesFisherMixture(k, random_state=seed),
        "SphericalKMeans": directional.SphericalKMeans(k, random_state=seed),
        "KMeans": KMeans(k, random_state=seed),
        "GaussianMixture, diagonal": GaussianMixture(k, covariance_type="diag", random_state=seed),
        "GaussianMixture, full": GaussianMixture(k, random_state=seed),
    }


def cluster_rows(seeds: int) -> list[list[Any]]:
    """Return the adjusted Rand index against the parts that rows were drawn from, and seconds, by default arguments."""
    rows = []
    for what, (k, p, n, sizes) in CLUSTERS.items():
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            means = rng.standard_normal((k, p))
            means /= np.linalg.norm(means, axis=1, keepdims=True)
            labels = rng.integers(k, size=n)
            x = VonMisesFisher(means[labels], np.resize(sizes, k)[labels]).rvs(1, rng=rng)[0]
            for name, model in methods(k, seed).items():
                found.setdefault(name, []).append(_fit(model, x, labels))
        for name, pairs in found.items():
            indices, seconds = np.array(pairs).T
            rows.append([what, name, f"{np.median(indices):.3f}", f"{indices.min():.3f}", f"{np.median(seconds):.3g}"])
    return rows


def _fit(model: Any, x: Any, labels: Any) -> tuple[float, float]:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(x).predict(x)
    return float(adjusted_rand_score(labels, found)), time.perf_counter() - start


# The circle: R's circular.

NAMES = {
    "fit": "fit (R: the ratio's inverse by three polynomials)",
    "rayleigh": "rayleigh (R: another correction for the size)",
    "same_mean": "same_mean, F (R: F times 1 + 3 / (8 k))",
}
R_SCRIPT = """
suppressMessages(library(circular)); options(digits = 17)
read <- function(name) circular(scan(name, quiet = TRUE))
x <- read("%(x)s"); y <- read("%(y)s"); z <- read("%(z)s"); k <- c(0.001, 0.5, 2, 20, 500, 1e4, 1e6)
cat("version", as.character(packageVersion("circular")), "\\n")
cat("fit", mle.vonmises(x)$kappa, "\\n")
cat("rayleigh", rayleigh.test(z)$p.value, "\\n")
cat("same_mean", watson.williams.test(list(x, y))$p.value, "\\n")
cat("logpdf", sapply(k, function(k) dvonmises(circular(0.3), circular(0), k, log = TRUE)), "\\n")
cat("cdf", sapply(k[k < 1e3], function(k) pvonmises(circular(0.3), circular(0), k, from = circular(-pi))), "\\n")
cat("ratio", sapply(k, A1), "\\n")
cat("seconds", system.time(rvonmises(1e5, circular(0), 20))[3], system.time(mle.vonmises(x))[3], "\\n")
"""


def ask_r(rscript: str, samples: dict[str, Any]) -> dict[str, list[str]]:
    """Return the words of each line that R prints."""
    with tempfile.TemporaryDirectory() as folder:
        names = {name: str(Path(folder, f"{name}.txt")) for name in samples}
        for name, rows in samples.items():
            np.savetxt(names[name], np.arctan2(rows[:, 1], rows[:, 0]), fmt="%.17g")
        script = Path(folder, "circle.R")
        script.write_text(R_SCRIPT % names, encoding="utf-8")
        output = subprocess.run([rscript, script], capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.strip()}


def circle_rows(rscript: str) -> list[list[Any]]:
    """Return numbers on the circle, here and in R."""
    x, y = (VonMisesFisher([math.cos(a), math.sin(a)], 3.0).rvs(200, rng=i) for i, a in enumerate((0.5, 0.6)))
    z = VonMisesFisher([1.0, 0.0], 0.3).rvs(60, rng=2)
    theirs = ask_r(rscript, {"x": x, "y": y, "z": z})
    k = np.array([0.001, 0.5, 2.0, 20.0, 500.0, 1e4, 1e6])
    at = [math.cos(0.3), math.sin(0.3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = directional.same_mean(x, y, method="F").pvalue
    lower = VonMisesFisher(np.tile([1.0, 0.0], (len(k), 1)), k)
    ours: dict[str, Any] = {
        "fit": VonMisesFisher.fit(x)[1].concentration,
        "rayleigh": directional.rayleigh(z).pvalue,
        "same_mean": same,
        "logpdf": lower.logpdf(at),
        "cdf": (1.0 - lower.cdf(at[0]) / 2.0)[k < 1e3],  # from 1e4 on R's series does not end
        "ratio": lower.mean_cosine(),
    }
    rows = [["version of circular", theirs["version"][0], "", ""]]
    for name, mine in ours.items():
        labels = [NAMES[name]] if np.ndim(mine) == 0 else [f"{name}, concentration {each:g}" for each in k[: len(mine)]]
        for label, a, b in zip(labels, np.atleast_1d(mine), np.array(theirs[name], dtype=float), strict=True):
            rows.append([label, f"{b:.12g}", f"{a:.12g}", f"{abs(a - b) / abs(a):.0e}"])
    mine_draw, mine_fit = Timed(lambda: of(2, 20.0).rvs(100_000, rng=0)), Timed(lambda: VonMisesFisher.fit(x))
    for label, call, other in zip(
        ("rvs of 1e5 (s)", "fit of 200 (s)"), (mine_draw, mine_fit), theirs["seconds"], strict=True
    ):
        call()
        rows.append([label, other, f"{call():.2g}", ""])
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ("offers", "values", "times", "torch", "clusters", "circle")
    parser.add_argument("--tables", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=5, help="how often calls are timed")
    parser.add_argument("--seeds", type=int, default=5, help="of clusters")
    parser.add_argument("--rscript", default=shutil.which("Rscript"), help="R's, with its package circular")
    arguments = parser.parse_args()
    tables: dict[str, Callable[[], tuple[list[list[Any]], list[str]]]] = {
        "offers": lambda: (offer_rows(), ["what", "ours", "SciPy, or whom it is against"]),
        "values": lambda: (value_rows(), ["", "columns", "log densities", "error / (1 + |log f|)", "entropies"]),
        "times": lambda: (time_rows(arguments.rounds), HEADER),
        "torch": lambda: (torch_directions.value_rows([3, 5, 64, 128, 768]), torch_directions.HEADER),
        "clusters": lambda: (cluster_rows(arguments.seeds), ["rows", "estimator", "Rand index", "worst", "s"]),
        "circle": lambda: (circle_rows(arguments.rscript), ["", "R", "ours", "relative difference"]),
    }
    print(machine("numpy", "scipy", "scikit-learn", "torch", "power-spherical"))
    for name in arguments.tables:
        if name == "circle" and arguments.rscript is None:
            print("\nno R here: the circle is left out")
            continue
        rows, header = tables[name]()
        print(f"\n{name}", tabulate(rows, header, disable_numparse=True), sep="\n\n")


if __name__ == "__main__":
    main()
