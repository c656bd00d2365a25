import itertools

import numpy as np
import pytest
from processes import peak_memory
from sums import problem, sphere, truth, unit, wide

from spherapprox import evaluate
from spherapprox._kernels.summation import boxes, curve, layout
from spherapprox._kernels.summation import truncated as kernels
from spherapprox.summation import dense, explain_sum, truncated
from spherapprox.summation.method import Tolerance
from spherapprox.summation.truncated import sampled

TINY = np.finfo(np.float64).smallest_normal


def clusters(n, dim, seed=0, spread=0.03):
    rng = np.random.default_rng(seed)
    centers = sphere(6, dim, 99)[rng.integers(0, 6, n)]
    return unit(centers + spread * rng.standard_normal((n, dim + 1)) / np.sqrt(dim + 1))


def wide_clusters(n, dim, seed=0):
    """Thirty clusters so wide that in many dimensions the boxes of their blocks meet, but not their balls."""
    which = np.random.default_rng(seed).integers(30, size=n)
    return unit(sphere(30, dim, 17)[which] + 0.25 * sphere(n, dim, seed))


def image(n, columns, seed=0, scale=3.0):
    """Points of a smooth image of a cube, which is curved and of dimension 3 in any number of columns."""
    waves = scale * np.random.default_rng(11).standard_normal((3, columns // 2))
    phases = np.random.default_rng(seed).random((n, 3)) @ waves
    return unit(np.concatenate([np.cos(phases), np.sin(phases)], axis=1))


def computed_pairs(monkeypatch):
    """Count the pairs that the kernels compute."""
    counts = []
    for name in ("truncated_sums", "truncated_triples"):
        kernel = getattr(kernels, name)
        monkeypatch.setattr(kernels, name, lambda *a, kernel=kernel: counts.append(kernel(*a)))
    return counts


@wide
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("dim", "p"), [(1, 1), (2, 3), (2, 1), (4, 2), (10, 1), (13, 1)])
def test_errors_keep_to_the_bound_in_every_row(dim, p, normalize):
    x, b = np.concatenate([sphere(25, dim, 1), clusters(25, dim, 2)]), clusters(900, dim, 3)
    values = np.random.default_rng(4).standard_normal((900, p)) * 10.0 ** np.linspace(-6.0, 0.0, 900)[:, None]
    values[::3] = 0.0
    for concentration in (0.0, 300.0, 1e4, 1e8):
        expected, scale = truth(x, b, values, concentration, normalize)
        for rtol in (1e-14, 1e-2, 5.0):
            options = {"normalize": normalize, "method": "truncated", "rtol": rtol}
            result, record = explain_sum(x, b, values, concentration, **options)
            assert record.method == "truncated"
            assert (np.abs(result - expected) <= record.rtol * scale + TINY).all()
            rounding = explain_sum(x, b, values, concentration, normalize=normalize, method="dense")[1].rtol
            assert record.rtol <= (rounding + rtol) * (1.0 + 1e-12)


@pytest.mark.parametrize("weight", [1.0, 1e4])
def test_the_bound_is_nearly_attained(weight):
    # A block of points at the pole and the others elsewhere together: these are left out as soon as they may be.
    there = np.array([[np.sin(0.5), 0.0, np.cos(0.5)]])
    few, many = boxes.NEAR_BLOCK, 6400 - boxes.NEAR_BLOCK
    b = np.concatenate([np.tile(there, (many, 1)), np.tile([[0.0, 0.0, 1.0]], (few, 1))])
    values = np.repeat([weight, 1.0], [many, few])
    losses = []
    for exponent in np.linspace(7.0, 12.0, 21):
        concentration = (exponent + np.log(weight)) / (1.0 - np.cos(0.5))
        lost = many * np.exp(-exponent)
        result = evaluate(b[-1:], b, values, concentration, method="truncated", rtol=1e-2)[0]
        losses.append(1.0 - result / (few + lost))
    assert 5e-3 < max(losses) <= 1e-2


def test_few_pairs_are_computed_and_something_is_left_out(monkeypatch):
    x, b = sphere(4000, 2, 11), sphere(4000, 2, 12)
    values = np.random.default_rng(13).random(4000) + 0.1
    counts = computed_pairs(monkeypatch)
    everything = evaluate(x, b, values, 1e3, method="dense")
    left_out = []
    for rtol in (1e-14, 1e-2):
        counts.clear()
        result = evaluate(x, b, values, 1e3, method="truncated", rtol=rtol)
        left_out.append(np.max(np.abs(result / everything - 1.0)))
        assert 0 < sum(counts) < 0.25 * 4000**2
    assert left_out[0] < 1e-14
    assert 1e-13 < left_out[1] < 1e-2
    counts.clear()
    evaluate(x, b, values, 1e9, method="truncated", normalize=True)  # nearly all plain sums underflow
    assert 0 < sum(counts) < 0.12 * 4000**2


def test_pairs_are_left_out_for_clusters_in_many_dimensions(monkeypatch):
    x, b = clusters(3000, 16, 14), clusters(3000, 16, 15)
    counts = computed_pairs(monkeypatch)
    result = evaluate(x, b, np.ones(3000), 1e3, method="truncated")
    assert sum(counts) < 0.5 * 3000**2
    np.testing.assert_allclose(result, evaluate(x, b, np.ones(3000), 1e3, method="dense"), rtol=1e-13)


@pytest.mark.parametrize(("columns", "most"), [(10, 0.35), (64, 0.35)])
def test_pairs_are_left_out_on_a_curved_image_of_few_dimensions(monkeypatch, columns, most):
    x, b = image(6000, columns, 14), image(6000, columns, 15)
    counts = computed_pairs(monkeypatch)
    values = np.random.default_rng(16).standard_normal(6000)
    result = evaluate(x, b, values, 100.0, method="truncated", rtol=1e-6)
    assert sum(counts) < most * 6000**2
    scale = evaluate(x, b, np.abs(values), 100.0, method="dense")
    assert (np.abs(result - evaluate(x, b, values, 100.0, method="dense")) <= 1e-6 * scale).all()
    assert explain_sum(x, b, values, 100.0, rtol=1e-6)[1].method == "truncated"


def test_rows_of_a_tile_that_lie_in_several_clusters_look_each_for_near_points(monkeypatch):
    # some tiles hold points of two clusters: relative to the nearest of one, no block is too far for the other's rows
    centers = sphere(30, 63, 17)
    x = unit(centers[np.random.default_rng(19).integers(30, size=4000)] + 0.03 * sphere(4000, 63, 18))
    counts = computed_pairs(monkeypatch)
    evaluate(x, x, np.ones(4000), 100.0, method="truncated", rtol=1e-6)
    assert sum(counts) < 0.065 * 4000**2


@pytest.mark.parametrize(("dim", "n"), [(2, 600), (20, 5003)])
def test_balls_hold_their_blocks(dim, n):
    b = clusters(n, dim, 34)
    task = truncated._sorted(problem(b, b, np.ones((n, 1)), 10.0), 1e-14)
    tree = task.tree
    size = boxes.NEAR_BLOCK
    for k in range(-(-n // size)):
        distances = np.linalg.norm(tree.rows[k * size : min((k + 1) * size, n)] - tree.centres[k, :-1], axis=1)
        assert tree.radii[k] == pytest.approx(distances.max())
        defect = 0.5 * (1.0 - (tree.centres[k, :-1] ** 2).sum())
        assert tree.centres[k, -1] == pytest.approx(defect if dim > 12 else 0.0, abs=1e-15)


@wide
def test_each_column_has_its_own_scale():
    # Of a class that is far away only far points say anything: they must not be left out for those of the others.
    b = np.concatenate([clusters(500, 2, 23)[:, [i, (i + 1) % 3, (i + 2) % 3]] for i in range(3)])
    values = np.zeros((1500, 3))
    values[np.arange(1500), np.arange(1500) // 500] = 10.0 ** np.array([0.0, -200.0, 3.0])[np.arange(1500) // 500]
    for normalize in (False, True):
        expected, _ = truth(b[::60], b, values, 200.0, normalize)
        result = evaluate(b, b, values, 200.0, normalize=normalize, method="truncated", rtol=1e-3)[::60]
        np.testing.assert_allclose(result, expected.astype(np.float64), rtol=1.1e-3)


def test_memory_does_not_grow_with_the_product():
    x, b = sphere(6000, 2, 32), sphere(6000, 2, 33)
    evaluate(x[:5], b, np.ones(6000), 1e4, method="truncated")
    assert peak_memory(lambda: evaluate(x, b, np.ones(6000), 1e4, method="truncated"))[1] < 6e6  # all pairs: 288e6


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_curve_on_each_face_of_the_cube(dim):
    on_face = (np.arange(16.0) - 7.5) / 8.0
    face = np.stack(np.meshgrid(*[on_face] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    faces = [np.insert(face, j, sign, axis=1) for j in range(dim + 1) for sign in (1.0, -1.0)]
    rows = np.concatenate(faces)
    keys = np.empty(len(rows), np.uint64)
    curve.number(rows, 4, keys)
    assert len(np.unique(keys >> np.uint64(32))) == len(rows)
    steps = np.abs(np.diff(rows[np.argsort(keys)], axis=0)).sum(axis=1)
    across = np.arange(1, len(steps) + 1) % len(face) == 0  # from one face to the next
    np.testing.assert_allclose(steps[~across], 0.125)


@pytest.mark.parametrize("n", [1, 33, 1000, 30_000])
@pytest.mark.parametrize("kind", ["sphere", "clusters", "grid", "nested", "equal", "many columns"])
def test_blocks_of_an_order_are_small(n, kind):
    rng = np.random.default_rng(34)
    rows = {
        "sphere": lambda: sphere(n, 2, 34),
        "clusters": lambda: clusters(n, 3, 34, 1e-7),
        "grid": lambda: np.round(sphere(n, 2, 34), 1),
        "nested": lambda: np.array([0.6, 0.8, 0.0]) + 10.0 ** rng.uniform(-12.0, -3.0, (n, 1)) * sphere(n, 2, 34),
        "equal": lambda: np.tile([[0.0, -1.0, 0.0]], (n, 1)),
        "many columns": lambda: clusters(n, 16, 34),
    }[kind]()
    order = curve.order_of(rows)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    size = layout.NEAR_BLOCK
    blocks = rows[order][: n // size * size].reshape(-1, size, rows.shape[1])
    if n < 30_000:
        return
    widths = np.linalg.norm(np.ptp(blocks, axis=1), axis=1)
    if kind == "nested":  # as wide as they are far from the center of all scales
        far = np.linalg.norm(blocks.mean(axis=1) - [0.6, 0.8, 0.0], axis=1)
        assert np.median(widths / far) < 3.0
    else:
        limit = {"sphere": 4.5 * np.sqrt(128.0 / n), "clusters": 1e-7, "grid": 0.25, "equal": 0.0, "many columns": 0.1}
        assert np.median(widths) <= limit[kind]


@pytest.mark.parametrize("n", [1, 31, 32, 33, 600, 5003])
def test_boxes_enclose_their_points_and_bound_their_masses(n):
    b, values = clusters(n, 2, 34), np.random.default_rng(35).standard_normal((n, 2)) ** 3
    task = truncated._sorted(problem(b, b, values, 10.0), 1e-14)
    of_blocks, of_bundles, _, _, rows, lower, least = task.tree
    sizes = np.abs(task.problem.weights(slice(0, n)))
    masses = np.concatenate([sizes / sizes.mean(axis=0), np.ones((n, 1))], axis=1)
    np.testing.assert_array_equal(rows[:n], b[task.order])
    np.testing.assert_allclose(lower[:n], np.log(masses.min(axis=1)))
    assert least == pytest.approx(np.log(n))
    for level, size in ((of_blocks, boxes.NEAR_BLOCK), (of_bundles, boxes.NEAR_BLOCK * boxes.BUNDLE)):
        for k in range(level.shape[1]):
            part = slice(k * size, min((k + 1) * size, n))
            if part.start >= n:
                np.testing.assert_array_equal(level[:, k], [np.inf] * 3 + [-np.inf] * 5)
                continue
            np.testing.assert_array_equal(level[:3, k], rows[part].min(axis=0))
            np.testing.assert_array_equal(level[3:6, k], rows[part].max(axis=0))
            assert level[6, k] == pytest.approx(np.log(masses[part].max()))
            sums = masses[part].sum(axis=0).min()
            assert np.log(masses[part].min(axis=1).max()) - 1e-12 <= level[7, k] <= np.log(sums) + 1e-12
            if size == boxes.NEAR_BLOCK:
                assert level[7, k] == pytest.approx(np.log(sums))


def test_truncation_costs_less_than_all_pairs_where_pairs_are_left_out():
    def costs(n, dim, concentration, **options):
        task = problem(sphere(n, dim, 36), sphere(n, dim, 37), np.ones(n), concentration, **options)
        first = truncated.cost(task, Tolerance(1e-14, 1e-11))
        assert truncated.cost(task, Tolerance(1e-14, 1e-11)) == first
        return first, dense.cost(task, Tolerance(1e-14, 1e-11))

    assert costs(100, 2, 1e6)[0] == np.inf  # not worth a look
    assert costs(20000, 2, 10.0)[0] == np.inf  # no pair is below the tolerance
    low, all_pairs = costs(100_000, 2, 1e4)
    assert low < 0.2 * all_pairs
    assert costs(20000, 16, 100.0)[0] > costs(20000, 16, 100.0)[1]
    # in many dimensions a point is near few boxes, though balls about the boxes hold it
    low, all_pairs = costs(100_000, 8, 1e6, normalize=False)
    assert low < 0.1 * all_pairs
    low, all_pairs = costs(100_000, 8, 1e4, normalize=False)
    assert 0.2 * all_pairs < low < 0.6 * all_pairs
    assert costs(100_000, 8, 100.0, normalize=False)[0] > all_pairs
    with_shift = costs(20000, 2, 1e9, normalize=True)[0]
    assert with_shift > costs(20000, 2, 1e9, normalize=False)[0]


def uneven(n, dim, seed):
    """Fifty clusters, of very different sizes and widths."""
    rng, common = np.random.default_rng(seed), np.random.default_rng(5)
    sizes = np.arange(1.0, 51.0) ** -1.5
    which = rng.choice(50, n, p=sizes / sizes.sum())
    widths = np.exp(common.uniform(np.log(1e-4), np.log(0.3), 50))
    x = sphere(50, dim, 99)[which] + widths[which, None] * rng.standard_normal((n, dim + 1)) / np.sqrt(dim + 1)
    return unit(x)


@pytest.mark.parametrize(
    ("make", "dim", "concentration"),
    [
        *((sphere, 1, 1e4), (sphere, 2, 1e2), (sphere, 2, 1e4), (sphere, 4, 1e4)),
        *itertools.product((clusters, uneven), (2, 4), (1e2, 1e4, 1e6)),
        *((image, 10, 1e2), (image, 64, 1e2), (image, 64, 1e3), (clusters, 63, 1e2), (wide_clusters, 63, 140.0)),
    ],
)
def test_the_sampled_share_is_near_that_computed(monkeypatch, make, dim, concentration):
    n = 6000
    x, b = make(n, dim, 38), make(n, dim, 39)
    counts = computed_pairs(monkeypatch)
    evaluate(x, b, np.ones(n), concentration, method="truncated")
    task = problem(x, b, np.ones(n), concentration, normalize=False)
    cut = np.log(n / 1e-14) + truncated.USUAL
    share, _ = sampled.share(task, layout.NEAR_BLOCK, layout.NEAR_TILE, cut, truncated._negligible_exponent(task))
    assert 0.5 < share / (sum(counts) / n**2) < 2.0


def test_auto_takes_the_cheaper():
    x, b = sphere(8000, 2, 40), sphere(8000, 2, 41)
    result, record = explain_sum(x, b, np.ones(8000), 1e5)
    assert record.method == "truncated"
    assert set(record.costs) >= {"dense", "truncated"}
    np.testing.assert_array_equal(result, evaluate(x, b, np.ones(8000), 1e5, method="truncated"))
    assert explain_sum(x[:500], b, np.ones(8000), 2.0)[1].method != "truncated"


def test_no_sample_is_taken_where_sorting_alone_takes_longer(monkeypatch):
    x, b = sphere(10_000, 1, 42), sphere(10_000, 1, 43)
    evaluate(x[:50], b[:50], np.ones(50), 100.0, method="harmonic")
    record = explain_sum(x, b, np.ones(10_000), 100.0)[1]
    assert record.method == "harmonic"
    assert "truncated" in record.costs
    monkeypatch.setattr(sampled, "share", None)  # not called
    assert evaluate(x, b, np.ones(10_000), 100.0).shape == (10_000,)
