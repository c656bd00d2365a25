"""How much longer others take for the same numbers: sums, attention, special functions, programs.

Every row is one piece of work done by this library and by a named peer on one thread, in interleaved rounds, after
calls that load compiled code; medians of CPU seconds, which other work on the machine hardly disturbs, and how far the
two results are apart. Peers that are not installed are left out, and named at the end::

    python benchmarks/speed.py --quick
    python benchmarks/speed.py --out results
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import timing
from catalogue import missing
from harness import Experiment, main
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tabulate import tabulate
from timing import Row, Timed, seconds

from bounds.report.plot.style import BLUE, RED
from spherapprox import CoreHead, Target, VonMisesFisher, attention, evaluate, sphere
from spherapprox._extras import installed
from spherapprox.summation import AttentionSolver

Array = NDArray[Any]

ROUNDS = 5
WARM_UP = 2
"""Calls before any is timed: they load compiled code."""
RTOL = 1e-12


def apart(ours: Timed, peer: Timed, size: float | None = None) -> str:
    """Return the largest difference of two results, over the peer's largest value or a size."""
    mine, theirs = (np.asarray(call.result, dtype=float) for call in (ours, peer))
    return f"{np.abs(mine - theirs).max() / (size or np.abs(theirs).max()):.1e}"


def compared(what: str, ours: Callable[[], Any], peer: Callable[[], Any], peer_rounds: int = ROUNDS) -> Row:
    """Return the row of two calls with arrays as results."""
    mine, theirs = Timed(ours), Timed(peer)
    return Row(what, mine, theirs, partial(apart, mine, theirs), peer_rounds=peer_rounds)


def special_functions(quick: bool) -> Iterator[Row]:
    """Compare Bessel functions, caps and eigenvalues with SciPy's."""
    import special

    size = 10**4 if quick else 2 * 10**5
    yield from special.ratio_rows(size)
    yield from special.log_rows(size)
    chosen = "measure, dim 8,", "dim 8, 100 /"  # of many dimensions and concentrations
    rows = (*special.cap_rows(size), *special.eigenvalue_rows())
    yield from (row for row in rows if any(text in row.what for text in chosen))


def distribution(quick: bool) -> Iterator[Row]:
    """Compare von Mises-Fisher distributions with SciPy's."""
    from scipy.stats import vonmises_fisher

    n = 10**4 if quick else 10**5
    for dim, rows in ((2, n), (63, n // 10)):
        mean = np.eye(dim + 1)[0]
        kernel, peer = VonMisesFisher(mean, 50.0), vonmises_fisher(mean, 50.0)
        x = kernel.rvs(rows, rng=0)
        yield compared(f"logpdf on S^{dim}, {rows} points / SciPy", partial(kernel.logpdf, x), partial(peer.logpdf, x))
    for dim, rows in ((2, n), (767, 100 if quick else 2000)):
        mean = np.eye(dim + 1)[0]
        kernel, peer = VonMisesFisher(mean, 10.0 * dim), vonmises_fisher(mean, 10.0 * dim)
        ours = Timed(partial(kernel.rvs, rows, rng=1))
        theirs = Timed(partial(peer.rvs, rows, random_state=1))
        yield Row(f"rvs on S^{dim}, {rows} points / SciPy", ours, theirs, lambda: "random", peer_rounds=2)


def dense_sums(quick: bool) -> Iterator[Row]:
    """Compare dense sums and softmax attention with NumPy's, scikit-learn's and torch's."""
    import dense

    n = 1536 if quick else 4096
    for d in (3, 65):
        x, b = sphere.uniform(d - 1, n, 0), sphere.uniform(d - 1, n, 1)
        for split, peers in ((False, dense.core_peers), (True, dense.split_peers)):
            w = np.random.default_rng(2).random((n, d if split else 1))
            sums = partial(evaluate, x, b, w, dense.CONCENTRATION, normalize=split, method="dense", workers=1)
            what = f"{'split' if split else 'core'} head, {d} columns, {n}^2"
            for name, peer in peers(x, b, w):
                if not name.startswith(" "):  # parts of the peer above
                    yield compared(f"{what} / {name}", sums, peer)


def fast_sums(quick: bool) -> Iterator[Row]:
    """Compare the faster methods of `evaluate` with SciPy's tree, and with this library's own dense sums."""
    import methods

    n = 10_000 if quick else 50_000
    sums, tree = methods.problem(n, 3), 1e5
    ours = partial(evaluate, *sums, tree, method="truncated", workers=1)
    yield compared(f"truncated, S^2, N = {n}, λ {tree:g} / SciPy cKDTree", ours, partial(methods.by_tree, *sums, tree))
    for d, method, rate in ((3, "truncated", 1e5), (3, "harmonic", 100.0), (2, "harmonic", 100.0), (9, "lowrank", 0.1)):
        sums = methods.problem(n, d)
        call = partial(evaluate, *sums, rate, rtol=RTOL, workers=1)
        what = f"{method}, S^{d - 1}, N = {n}, λ {rate:g} / our dense sums"
        yield compared(
            what, partial(call, method=method), partial(call, method="dense"), peer_rounds=1 if n > 10**4 else 3
        )


def transforms(quick: bool) -> Iterator[Row]:
    """Compare the harmonic method with transforms of ducc0 and FINUFFT."""
    import transforms

    chosen = transforms.options([])
    for d in (3, 2):
        yield transforms.comparison(d, 10**4 if quick else 2 * 10**5, 100.0, 1, chosen)


def dot_products(quick: bool) -> Iterator[Row]:
    """Compare attention of queries and keys of any length with torch's."""
    import dot_product

    n = 1024 if quick else 4096
    for s in (8, 64):
        rows = dot_product.trained(n, s)
        for rtol in (1e-14, 1e-3):
            ours = Timed(partial(attention, *rows, solver=AttentionSolver(rtol=rtol, workers=1)))
            peer = dot_product.torch_attention(rows)
            what = f"attention, {s} columns, {n} tokens, rtol {rtol:g} / torch SDPA"
            yield Row(what, ours, peer, partial(apart, ours, peer))


def kernel_ridge(quick: bool) -> Iterator[Row]:
    """Compare interpolation, and sums of its coefficients, with scikit-learn's KernelRidge."""
    from sklearn.kernel_ridge import KernelRidge

    n, rows, rate = (300, 2000, 60.0) if quick else (1500, 30_000, 300.0)
    b, x = sphere.uniform(2, n, 0), sphere.uniform(2, rows, 1)
    target = Target(lambda x: np.sin(3.0 * x[:, 0]) + x[:, 2], 2)
    y, peer = target(b), KernelRidge(kernel="rbf", gamma=rate / 2.0, alpha=1e-8)
    peer.fit(b, y)
    head = CoreHead(b, peer.dual_coef_, rate)
    yield compared(f"{rows} predictions from {n} / KernelRidge", partial(head, x, workers=1), partial(peer.predict, x))
    ours = Timed(lambda: CoreHead.from_target(target, b, rate, coefficients="interpolation"))
    theirs = Timed(lambda: peer.fit(b, y))

    def agreement() -> str:
        return f"{np.abs(ours.result(x) - theirs.result.predict(x)).max():.1e} of values"

    yield Row(f"interpolation at {n} points / KernelRidge, alpha 1e-8", ours, theirs, agreement)


def partitions(quick: bool) -> Iterator[Row]:
    """Compare equal-measure partitions with pyeqsp's."""
    import partition

    if quick:
        partition.CELLS = 10**4
    yield from (row for row in partition.speed_rows() if "1 thread" in row.what)


def programs(quick: bool) -> list[dict[str, Any]]:
    """Compare a recurrent program's kernel with torch's LSTM of the same program, and with NumPy."""
    import recurrent

    rows = []
    for steps, batch, ours, lstm, numpy, _, _, gap in recurrent.ratios(200 if quick else 1000, 2):
        for peer, theirs in (("torch LSTM", lstm), ("NumPy", numpy)):
            times = {"ours": float(ours), "theirs": float(theirs)}
            rows.append({"what": f"dictionary, {steps} steps, batch {batch}", "peer": peer, **times, "apart": gap})
    return rows


WORK: dict[str, tuple[Callable[[bool], Any], tuple[str, ...]]] = {
    "special functions": (special_functions, ()),
    "von Mises-Fisher": (distribution, ()),
    "dense sums": (dense_sums, ()),
    "fast sums": (fast_sums, ()),
    "transforms": (transforms, ("ducc0", "finufft")),
    "attention": (dot_products, ("torch",)),
    "kernel ridge": (kernel_ridge, ("sklearn",)),
    "partitions": (partitions, ("eqsp",)),
    "recurrent programs": (programs, ("torch",)),
}
"""The work, and the modules of peers without which it is left out."""
PEERS = {"torch": "torch", "sklearn": "scikit-learn", "ducc0": "ducc0", "finufft": "finufft", "eqsp": "--pre pyeqsp",
         "numexpr": "numexpr", "pykeops": "pykeops"}  # fmt: skip
"""Modules of peers, and how pip calls them."""


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return the kinds of work whose peers are installed."""
    found = [{"work": name, "quick": quick} for name, (_, peers) in WORK.items() if not missing(peers)]
    present = " ".join(peer for peer in PEERS if installed(peer))
    return [case | {"peers": present} if case["work"] == "dense sums" else case for case in found]


@cache
def prepare() -> None:
    """Count CPU seconds, leave torch one thread, and load kernels of sums, which short work would leave to NumPy."""
    timing.clock = time.process_time
    if installed("torch"):
        import torch

        torch.set_num_threads(1)
    import methods

    methods.load_kernels()


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the seconds of both for every row of a kind of work."""
    prepare()
    made = WORK[case["work"]][0](case["quick"])
    rows = made if isinstance(made, list) else [timed(row, 3 if case["quick"] else ROUNDS) for row in made]
    return [{"work": case["work"], **row, "ratio": row["theirs"] / row["ours"]} for row in rows]


def timed(row: Row, rounds: int) -> dict[str, Any]:
    """Time a row; calls that take a second are made fewer times."""
    start = time.perf_counter()
    for _ in range(WARM_UP):
        row.ours()
        if time.perf_counter() - start > 1.0:
            break
    ours, theirs = seconds(row, rounds)
    what, _, peer = row.what.partition(" / ")
    return {"what": what, "peer": peer, "ours": ours, "theirs": theirs, "apart": row.agreement()}


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw how many times longer the peers take, a dot below the name of each, on a logarithmic axis."""
    works = list(dict.fromkeys(row["work"] for row in rows))
    figure = Figure(figsize=(5.6, 1.0 + 0.4 * len(rows) + 0.3 * len(works)), layout="constrained")
    axes = figure.add_subplot()
    y = 0.0
    for work in works:
        y += 0.9
        axes.text(0.01, y, work, transform=axes.get_yaxis_transform(), fontsize=11, fontweight="bold", va="center")
        for row in (row for row in rows if row["work"] == work):
            y += 1.1
            name, colour = f"{row['what']} / {row['peer']}", BLUE if row["ratio"] >= 1.0 else RED
            axes.text(0.01, y - 0.45, name, transform=axes.get_yaxis_transform(), fontsize=10, va="center")
            axes.plot([1.0, row["ratio"]], [y, y], color=colour, lw=2.0, alpha=0.5)
            axes.plot(row["ratio"], y, "o", color=colour, ms=6)
    axes.tick_params(top=True, labeltop=True)
    axes.axvline(1.0, color="0.4", lw=1.0, zorder=0)
    ratios = [row["ratio"] for row in rows]
    axes.set(xscale="log", ylim=(y + 0.8, 0.2), xlim=(min([0.5, *ratios]) / 1.5, max(ratios) * 1.5), yticks=[])
    axes.set(xlabel="peer's time over ours", title="Time of the peer over ours\n")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(axis="x", color="0.9")
    axes.set_axisbelow(True)
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return a line for each comparison, and what was left out."""
    table = [
        [row["what"], row["peer"], f"{row['ours']:.3g}", f"{row['theirs']:.3g}", f"{row['ratio']:.3g}",
         row["apart"].replace("|", "\\|")]
        for row in rows
    ]  # fmt: skip
    header = ["what", "peer", "ours (s)", "peer (s)", "peer / ours", "apart"]
    ratios = [row["ratio"] for row in rows]
    said = f"The median of {len(rows)} ratios is {statistics.median(ratios):.3g}"
    said += f"; {sum(ratio < 1.0 for ratio in ratios)} are below 1, where the peer is faster."
    if lack := [name for peer, name in PEERS.items() if not installed(peer)]:
        said += f" Left out, as they are not installed: {', '.join(name.split()[-1] for name in lack)}"
        said += f" (`pip install {' '.join(lack)}`)."
    return f"{tabulate(table, header, tablefmt='github', disable_numparse=True)}\n\n{said}"


EXPERIMENT = Experiment(
    name="speed",
    question="How many times longer do others take for the same numbers?",
    cases=cases,
    measure=measure,
    draw=draw,
    summary=summary,
    packages=("torch", "scikit-learn", "pyeqsp", "ducc0", "finufft"),
)

if __name__ == "__main__":
    main(EXPERIMENT)
