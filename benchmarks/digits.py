"""Handwritten digits by heads that are fitted to data, beside scikit-learn's kernel ridge regression.

The 1797 digits are points on S^63, split into a training and a test part in several ways; outputs are one-hot, and the
prediction is the largest. KernelRidge has the same kernel, exp(-gamma |x - b|^2) with gamma = concentration / 2, and
takes gamma and alpha from a grid by cross-validation with five folds on all training rows; once more on as many random
rows as a head has control points. The heads choose concentration and regularisation by themselves. It takes about two
minutes on one core::

    python benchmarks/digits.py
    python benchmarks/digits.py --seeds 5 --sizes 50 100
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from tabulate import tabulate
from tqdm import tqdm

from spherapprox import HeadRegressor, targets

Array = NDArray[np.float64]

CONCENTRATIONS = [2.0, 4.0, 8.0, 16.0, 32.0]
REGULARIZATIONS = [1e-3, 1e-2, 1e-1, 1.0]
HEADER = ["method", "control points", "accuracy (%)", "spread", "squared error", "fit (s)", "predict (ms)", "chosen"]


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--seeds", type=int, default=3, help="ways to split the digits")
    add("--sizes", type=int, nargs="+", default=[100, 300, 1000, 1257], help="numbers of control points")
    add("--train", type=float, default=0.7, help="share of the digits to fit to")
    return parser.parse_args()


def head(kind: str, n: int, seed: int) -> HeadRegressor:
    """Return a head's estimator."""
    return HeadRegressor(kind, n_control_points=n, embedding="normalize", random_state=seed)


def ridge() -> GridSearchCV:
    """Return kernel ridge regression with the kernel of a head, over the grid."""
    grid = {"gamma": [0.5 * concentration for concentration in CONCENTRATIONS], "alpha": REGULARIZATIONS}
    return GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5, scoring="neg_mean_squared_error")


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Call a function; return its seconds and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def chosen(model: Any) -> str:
    """Word a model's concentration and regularisation."""
    if isinstance(model, HeadRegressor):
        return f"{model.concentration_:.3g}, {model.regularization_:.1g}"
    return f"{2.0 * model.best_params_['gamma']:.3g}, {model.best_params_['alpha']:.1g}"


def run(model: Any, train: tuple[Array, Array], test: tuple[Array, Array]) -> tuple[list[float], str]:
    """Return accuracy in percent, squared error, seconds to fit and to predict, and the chosen parameters."""
    fitting = seconds(lambda: model.fit(*train))[0]
    times = [seconds(lambda: model.predict(test[0])) for _ in range(3)]
    outputs = times[0][1]
    accuracy = 100.0 * float(np.mean(outputs.argmax(axis=1) == test[1].argmax(axis=1)))
    error = float(np.square(outputs - test[1]).sum(axis=1).mean())
    return [accuracy, error, fitting, min(time for time, _ in times)], chosen(model)


def split(share: float, seed: int) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return training and test parts, each of rows and outputs."""
    x, y = targets.digits()
    order = np.random.default_rng(seed).permutation(len(x))
    train, test = order[: round(share * len(x))], order[round(share * len(x)) :]
    return (x[train], y[train]), (x[test], y[test])


def row(name: str, n: int, results: list[tuple[list[float], str]]) -> list[str]:
    """Return a row of the table from the results of all seeds."""
    numbers = np.array([numbers for numbers, _ in results])
    accuracy, error, fitting, predicting = numbers.mean(axis=0)
    spread = numbers[:, 0].std(ddof=1) if len(numbers) > 1 else 0.0
    return [
        name,
        str(n),
        f"{accuracy:.2f}",
        f"{spread:.2f}",
        f"{error:.4f}",
        f"{fitting:.2f}",
        f"{1e3 * predicting:.2g}",
        results[0][1],
    ]


def load_compiled(x: Array, y: Array) -> None:
    """Predict until the sums are compiled: small ones are left to NumPy until about a second has been spent on them."""
    for kind in ("split", "core"):
        model = HeadRegressor(kind, concentration=8.0, regularization=1.0, embedding="normalize").fit(x, y)
        for _ in range(20):
            model.predict(x)


def main() -> None:
    """Print the table."""
    chosen_options = options()
    parts = [split(chosen_options.train, seed) for seed in range(chosen_options.seeds)]
    rows_in_training = len(parts[0][0][0])
    sizes = sorted({min(n, rows_in_training) for n in chosen_options.sizes})
    load_compiled(*parts[0][0])
    warnings.simplefilter("ignore", LinAlgWarning)  # KernelRidge names a nearly singular kernel, and goes on
    table = []
    with tqdm(total=3 * len(sizes) * len(parts), leave=False) as bar:
        for n in sizes:
            results: dict[str, list[tuple[list[float], str]]] = {}
            for seed, (train, test) in enumerate(parts):
                few = tuple(part[:n] for part in train)  # rows are in random order
                for name, model, data in (
                    ("split head", head("split", n, seed), train),
                    ("core head", head("core", n, seed), train),
                    ("KernelRidge", ridge(), few),
                ):
                    results.setdefault(name, []).append(run(model, data, test))
                    bar.update()
            table += [row(name, n, result) for name, result in results.items()]
    print(f"{rows_in_training} digits to fit to, {len(parts[0][1][0])} to test on, {len(parts)} ways to split them")
    print(tabulate(table, headers=HEADER, disable_numparse=True))
    print("chosen: concentration and regularisation of the first split; KernelRidge sees as many rows as it has points")


if __name__ == "__main__":
    main()
