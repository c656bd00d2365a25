"""Searches for the fewest tokens that were given odd targets, bounds, files, limits, interruptions and threads."""

import time

import numpy as np
import pytest
import searches
from processes import run_with_threads
from threadpoolctl import threadpool_info

from spherapprox import CoreHead, EqualMeasurePartition, Target, load, targets
from spherapprox.shortest import ShortestHead
from spherapprox.shortest.jumps import largest_jump

FIELD = targets.geomagnetic_field(2025.0)


def height(x):
    return x[:, -1]


def search(target=height, eps=0.1, kind="split", **options):
    return searches.search(target, eps, kind, **{"dim": 2, "lower": False, "starts": 2} | options)


def test_an_eps_above_the_target_takes_a_constant():
    for eps in (2.0, 1e308):
        found = search(eps=eps)
        assert (found.n, found.reached, found.eps) == (1, True, eps)
    assert search(lambda x: 1e-300 * x[:, 0], 1.0).reached
    assert search(lambda x: 0.0 * x[:, 0], 1e-3, relative=True).error.lower == 0.0


def test_what_the_target_raises_is_raised_and_a_folder_that_is_missing_comes_first(tmp_path):
    calls = []

    def fails(x):
        calls.append(len(x))
        if len(calls) > 4:
            raise LookupError("no such row")
        return x[:, 0]

    with pytest.raises(LookupError, match="no such row"):
        search(fails)
    calls.clear()
    with pytest.raises(FileNotFoundError, match="no such folder"):
        search(fails, checkpoint=tmp_path / "none" / "file.npz")
    assert len(calls) < 3


@pytest.mark.parametrize("bound", [1e-300, 1e-5])
@pytest.mark.parametrize("kind", ["core", "split"])
def test_heads_with_values_beyond_their_bound_are_in_no_row(kind, bound):
    with pytest.warns(RuntimeWarning, match="no head within eps"):
        found = search(kind=kind, value_bound=bound, max_tokens=2)
    assert all(row.largest_value <= bound for row in found.history)
    assert not any(row.lower <= found.eps for row in found.history)


def test_keys_beyond_the_largest_number_of_a_type_are_that_number():
    narrow = CoreHead(np.eye(3)[:1], [3.0], 1e5)
    with pytest.warns(RuntimeWarning, match="no head within eps"):
        found = search(narrow, 1e-2, "core", dtype="float16", max_tokens=2)
    keys = found.head.control_points * np.asarray(found.head.concentration)[:, None]
    assert np.abs(keys).max() <= 65504.0
    assert np.isfinite([row.lower for row in found.history]).all()


class TestJumps:
    @pytest.mark.parametrize("dim", [1, 2, 5, 12])
    def test_a_jump_is_found_in_all_dimensions(self, dim):
        with pytest.warns(RuntimeWarning, match="jumps by 2: every head errs by 1 at least"):
            found = search(lambda x: np.where(x[:, 0] > 0.3, 1.0, -1.0), dim=dim, max_tokens=2)
        assert not found.reached

    def test_one_point_of_the_circle_is_enough(self):
        with pytest.warns(RuntimeWarning, match="jumps by 6.283"):
            search(lambda x: np.arctan2(x[:, 1], x[:, 0]), dim=1, max_tokens=4)

    @pytest.mark.parametrize("function", [height, lambda x: np.cbrt(x[:, 0]), lambda x: np.tanh(1e4 * x[:, 0])])
    def test_what_is_continuous_does_not_jump(self, function):
        x = EqualMeasurePartition(2, 5000).centers()
        assert largest_jump(lambda at: function(at)[:, None], x, function(x)[:, None], 1e-12) == 0.0


@pytest.fixture(scope="module")
def earlier():
    return search(FIELD, 0.2, relative=True)


class TestResumed:
    def test_another_target_is_searched_anew(self, earlier):
        found = search(Target(height, 2), 0.2, start=earlier)
        fresh = search(Target(height, 2), 0.2)
        assert found.n <= fresh.n
        assert found.failed[0] == found.n - 1
        assert next(row for row in found.history if row.n == 1).lower == pytest.approx(1.0, rel=0.01)

    @pytest.mark.parametrize("limit", [1e-9, None])
    def test_nothing_is_lost_in_no_time_and_none_is_longer_than_what_reached_eps(self, earlier, limit):
        found = search(FIELD, 0.2, relative=True, start=earlier, time_limit=limit)
        assert found.reached
        assert found.n <= earlier.n
        assert {row.n for row in earlier.history} <= {row.n for row in found.history}
        assert found.history[-1].n == earlier.history[-1].n

    def test_fewer_tokens_may_be_asked_for(self, earlier):
        with pytest.warns(RuntimeWarning, match="no head within eps"):
            found = search(FIELD, 0.2, relative=True, start=earlier, max_tokens=2)
        assert found.n <= 2

    @pytest.mark.parametrize("change", [{"keys": "free"}, {"norm": "rms"}, {"polish": True}])
    def test_what_failed_with_other_options_is_tried_again(self, earlier, change):
        found = search(FIELD, 0.2, relative=True, start=earlier, **change)
        assert found.n <= search(FIELD, 0.2, relative=True, **change).n
        assert found.reached
        assert found.options != earlier.options
        assert earlier.failed[0] >= 1

    def test_free_keys_are_shorter_where_unit_ones_failed(self):
        unit = search(FIELD, 0.15, "core", relative=True)
        assert search(FIELD, 0.15, "core", relative=True, keys="free", start=unit).n <= unit.failed[0]

    def test_fits_that_time_cut_short_are_tried_again(self, tmp_path):
        path = tmp_path / "checkpoint.npz"
        with pytest.warns(RuntimeWarning, match="no head within eps"):
            cut = search(FIELD, 0.1, relative=True, starts=1, time_limit=0.05, checkpoint=path)
        assert cut.history[-1].starts == 0
        assert search(FIELD, 0.1, relative=True, starts=1, start=path, checkpoint=path).reached
        assert load(path).reached


@pytest.mark.parametrize("options", [{}, {"kind": "core", "polish": True}, {"dtype": "float16"}, {"value_bound": 1e4}])
def test_the_time_limit_holds(options):
    begin = time.process_time()  # of this process alone, however busy the machine is
    with pytest.warns(RuntimeWarning, match="no head within eps"):
        search(FIELD, 1e-3, relative=True, time_limit=0.15, **options)
    assert time.process_time() - begin < 4.0


def test_an_interruption_ends_the_search_and_restores_the_threads(tmp_path):
    path, before = tmp_path / "checkpoint.npz", [pool["num_threads"] for pool in threadpool_info()]

    def interrupted(x):
        if path.exists():
            raise KeyboardInterrupt
        return np.sin(5.0 * x[:, 0]) * x[:, 1]

    with pytest.raises(KeyboardInterrupt):
        search(interrupted, 1e-3, checkpoint=path)
    assert [pool["num_threads"] for pool in threadpool_info()] == before
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.npz"]
    assert isinstance(load(path), ShortestHead)


@pytest.mark.once
def test_searches_and_fits_end_in_the_same_head_with_any_number_of_threads():
    code = (
        "import hashlib, numpy as np; from spherapprox import *; from spherapprox.shortest import *\n"
        "options = dict(tokens=TokenFormat(keys='free'), search=SearchOptions(lower=False, starts=1))\n"
        "found = shortest_head(targets.geomagnetic_field(2025.0), 0.3, 'core', relative=True, **options)\n"
        "print([(row.n, row.lower, row.start, row.starts) for row in found.history])\n"
        "x = sphere.uniform(7, 300, rng=0); y = np.tanh(3.0 * x[:, 0]) * x[:, 1]\n"
        "fitted = SplitHead.fit(x, y, n=6, concentration=3.0, points='free', rng=0)\n"
        "for head in (found.head, fitted):\n"
        "    print(hashlib.sha256(head.control_points.tobytes() + head.values.tobytes()).hexdigest())"
    )
    assert run_with_threads(code, "1") == run_with_threads(code, "2") != ""
