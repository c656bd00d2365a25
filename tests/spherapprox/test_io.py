import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import (
    ClassicalHead,
    CoreHead,
    EqualMeasurePartition,
    PointSet,
    SplitHead,
    _archive,
    load,
    points,
    sphere,
)
from spherapprox._archive import Record

HEADS = (CoreHead, SplitHead, ClassicalHead)
every = pytest.mark.parametrize("kind", HEADS)
FORMAT = Path(__file__).parents[2] / "docs" / "format.md"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "head.npz"


def through(path, thing):
    """Save and load."""
    thing.save(path)
    return load(path)


def assert_same_bits(one, other):
    assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    assert not one.flags.writeable
    assert one.flags.c_contiguous
    assert one.flags.aligned


def assert_same_set(one, other):
    assert type(one) is type(other) is PointSet
    assert_same_bits(one.points, other.points)
    assert_same_bits(one.weights, other.weights)
    assert (one.degree, one._covering_radius) == (other.degree, other._covering_radius)


@settings(max_examples=20)
@given(
    kind=st.sampled_from(HEADS),
    seed=st.integers(0, 10**6),
    dim=st.sampled_from([1, 2, 3, 8, 63]),
    n=st.integers(1, 40),
    p=st.sampled_from([None, 1, 3]),
    dtypes=st.tuples(*[st.sampled_from([np.float32, np.float64])] * 2),
    concentration=st.floats(0.0, 1e300),
    made_from=st.sampled_from(["rows", "partition", "set"]),
)
def test_heads_come_back_bit_by_bit(
    tmp_path_factory, kind, seed, dim, n, p, dtypes, concentration, made_from
):  # fmt: skip
    path = tmp_path_factory.mktemp("heads") / "head.npz"
    rng = np.random.default_rng(seed)
    rows = sphere.uniform(dim, n, rng=rng)
    values = rng.standard_normal((n, p or 1)) * 10.0 ** rng.integers(-30, 30, (n, p or 1))
    values.flat[0] = [-0.0, 1e-45, 1e38, 0.1][seed % 4]
    source = {"rows": None, "partition": EqualMeasurePartition(dim, n), "set": PointSet(rows, degree=0)}[made_from]
    values = values.astype(dtypes[1]) if p else values[:, 0].astype(dtypes[1])
    head = kind(rows.astype(dtypes[0]), values, concentration, source)
    again = through(path, head)
    assert type(again) is kind
    assert_same_bits(again.control_points, head.control_points)
    assert_same_bits(again.values, head.values)
    assert again.concentration.hex() == head.concentration.hex()
    assert again.n_outputs == p
    if made_from == "rows":
        assert again.points is again.control_points
    elif made_from == "partition":
        assert again.points == source
    else:
        assert_same_set(again.points, source)
    x = sphere.uniform(dim, 7, rng=rng).astype(dtypes[0])
    with np.errstate(all="ignore"):
        assert again(x).tobytes() == head(x).tobytes()


@every
def test_values_with_rare_bits(path, kind):
    largest, least = np.finfo(np.float64).max, np.finfo(np.float64).tiny
    head = kind(np.eye(3), [[-0.0, 5e-324], [largest, -least], [np.nextafter(1, 2), 0.0]], -0.0)
    again = through(path, head)
    assert_same_bits(again.values, head.values)
    assert again.concentration.hex() == "-0x0.0p+0"


@every
def test_concentrations_come_back_bit_by_bit(path, kind):
    concentrations = np.array([0.0, np.nextafter(1, 2), 1e300])
    head = kind(np.eye(3), np.ones(3), concentrations)
    again = through(path, head)
    assert_same_bits(again.concentration, head.concentration)
    assert again == head
    again = through(path, kind(np.eye(3)[:1], np.ones(1), [2.5]))
    assert again.concentration.shape == (1,)


@every
def test_values_in_columns_come_back_in_rows(path, kind):
    rows, values = np.asfortranarray(sphere.uniform(2, 9, rng=0)), np.arange(18.0).reshape(2, 9).T
    again = through(path, kind(rows, values, 3.0))
    np.testing.assert_array_equal(again.values, values)
    np.testing.assert_array_equal(again.control_points, rows)


@pytest.mark.parametrize("centers", ["midpoint", "smallest-cap", "centroid"])
@pytest.mark.parametrize(("dim", "n"), [(1, 1), (2, 60), (8, 10**12), (2, 2**53)])
def test_partitions_are_saved_as_their_parameters(path, dim, n, centers):
    partition = EqualMeasurePartition(dim, n, centers)
    again = through(path, partition)
    assert type(again) is EqualMeasurePartition
    assert again == partition
    assert path.stat().st_size < 1000  # its parameters, none of its cells


def test_point_sets_come_back_with_what_is_known(path):
    rule = points.gauss_product(2, 7)
    assert_same_set(through(path, rule), rule)
    assert rule.degree == 7
    unknown = PointSet(sphere.uniform(5, 20, rng=0), rng_weights(20))
    again = through(path, unknown)
    assert_same_set(again, unknown)
    assert (again.covering_is_known, again.degree) == (False, None)
    one = PointSet([[0.0, -1.0]], covering_radius=np.pi, degree=2**70)
    assert_same_set(through(path, one), one)


def rng_weights(n):
    """Weights of both signs that sum to 1."""
    weights = np.random.default_rng(1).standard_normal(n)
    return weights / weights.sum()


def test_a_radius_that_was_not_asked_for_is_not_computed(path):
    fresh = PointSet(sphere.uniform(2, 30, rng=0))
    assert through(path, fresh)._covering_radius is None
    radius = fresh.covering_bound()
    again = through(path, fresh)
    assert again._covering_radius.hex() == radius.hex()


@pytest.mark.parametrize("options", [{}, {"interaction": "none"}, {"interaction": "printed", "mask": -12.5}])
def test_a_classical_head_keeps_its_interaction(path, options):
    head = ClassicalHead(sphere.uniform(2, 9, rng=0), np.arange(18.0).reshape(9, 2), 5.0, **options)
    again = through(path, head)
    assert (again.interaction, again.mask.hex()) == (head.interaction, head.mask.hex())
    x = sphere.uniform(2, 4, rng=1)
    np.testing.assert_array_equal(again.attend(x), head.attend(x))


def test_equal_objects_make_equal_files(path):
    partition = EqualMeasurePartition(2, 100)
    heads = [SplitHead.from_target(lambda x: x[:, 0], partition, 30.0) for _ in range(2)]
    contents = []
    for head in heads:
        head.save(path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    load(path).save(path)
    assert path.read_bytes() == contents[0]


def split(**changes):
    """The record of a split head, with some fields changed."""
    fields = {"control_points": np.eye(3), "values": np.ones(3), "concentration": 5.0, "points": None}
    return Record("split-head", fields | changes)


def rung(n, **changes):
    """The record of a row of a search, with some fields changed."""
    head = split(control_points=np.eye(3)[:n], values=np.ones(n))
    numbers = dict.fromkeys(("lower", "upper", "rms", "condition", "digits_lost", "seconds"), 0.5)
    return Record("rung", {"head": head, "at": np.eye(3)[0], "start": "prune", "starts": 2, **numbers, **changes})


def searched(**changes):
    """The record of a search, with some fields changed."""
    fields = {"history": (rung(1), rung(3)), "n": 3, "eps": 1.0, "norm": "sup", "notes": ("a note", "")}
    return Record("shortest-head", fields | changes)


def test_searches_come_back(path):
    _archive.write(path, searched())
    found = load(path)
    assert ([row.n for row in found.history], found.n, found.notes) == ([1, 3], 3, ("a note", ""))
    assert np.array_equal(found.head.values, np.ones(3))
    found.save(path)
    load(path).save(path)
    again = load(path)
    assert [row.head for row in again.history] == [row.head for row in found.history]
    assert np.array_equal(again.history[0].at, np.eye(3)[0])


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (Record("new-head", {}),
         r"the kind 'new-head' is none of .*core-head, .*point-set, .*shortest-head, .*which spherapprox .* knows"),
        (Record("core-head", {"values": np.ones(3)}), "missing 2 required positional arguments"),
        (Record("partition", {"dim": 2, "n": 4, "cells": 7}), "unexpected keyword argument 'cells'"),
        (Record("partition", {"dim": 2, "n": "4"}), "'n' must be an integer, got '4'"),
        (Record("partition", {"dim": 2, "n": 4, "centers": "corner"}), "'centers' must be one of"),
        (Record("point-set", {"points": 2 * np.eye(3)}), "'points' must have rows of unit length"),
        (Record("point-set", {"points": np.eye(3), "weights": np.ones(3)}), "'weights' must sum to 1"),
        (Record("point-set", {"points": np.eye(3), "covering_radius": np.nan}), "'covering_radius' must be a number"),
        (split(concentration="5"), "'concentration' must be a real number"),
        (split(values=np.full(3, np.nan)), "'values' must be finite"),
        (split(points=np.eye(3)[::-1]), "'points' must be what the control points were made from"),
        (split(points=Record("partition", {"dim": 2, "n": 4})), "'points' must be what the control points were made"),
        (split(points=Record("new-set", {})), "the kind 'new-set' is none of"),
        (split(points=split()), "'points' must"),
        (Record("recurrent-layer", {"op": "state", "weight": np.zeros((10**5, 1)), "bias": np.zeros(10**5)}),
         "the recurrent weights of 100000 rows would take 74.5 GiB"),
        (searched(history=()), "'history' must hold"),
        (searched(history="rows"), "'history' must be a tuple"),
        (searched(history=(rung(3), rung(1))), "'history' must hold heads of more and more tokens"),
        (searched(history=("row",)), "'history' must be a Rung"),
        (searched(history=(split(),)), "'history' must be a Rung"),
        (searched(n=2), "among them of n = 2"),
        (searched(eps=np.nan), "'eps' must be a number"),
        (searched(notes="text"), "'notes' must be a tuple"),
        (searched(notes=(3,)), "'notes' must be a str"),
        (searched(history=(rung(1, lower=-1.0),), n=1), "'lower' must be at least 0"),
        (searched(history=(rung(1, at=np.eye(4)[0]),), n=1), "'at' must have shape"),
        (searched(history=(rung(1, head=Record("partition", {"dim": 2, "n": 4, "centers": "midpoint"})),), n=1),
         "'head' must be a Head"),
        (searched(history=(rung(1, head=(split(),)),), n=1), "'head' must be a Head"),
    ],
)  # fmt: skip
def test_files_that_hold_no_such_object(path, record, message):
    _archive.write(path, record)
    with pytest.raises(ValueError, match=f"head.npz' holds no .* that can be made: .*{message}"):
        load(path)


WEIRD = (
    None, True, -1, 10**400, "", "nan", Record("point-set", {}), np.empty((0, 3)), np.ones((2, 3, 4)), np.inf, -2.5
)  # fmt: skip


@pytest.mark.parametrize("name", ["control_points", "values", "concentration", "points", "else"])
@pytest.mark.parametrize("value", WEIRD)
def test_fields_of_the_wrong_kind(path, name, value):
    if name == "points" and value is None:
        return
    _archive.write(path, split(**{name: value}))
    with pytest.raises(ValueError, match=r"head.npz' holds no split-head that can be made"):
        load(path)


def test_subclasses_may_hold_more(path):
    class Own(SplitHead):
        pass

    class Named(PointSet):
        pass

    head = Own(np.eye(3), np.ones(3), 1.0)
    with pytest.raises(TypeError, match=r"Own is a subclass of what can be saved, .*class for 'split-head'"):
        head.save(path)
    with pytest.raises(TypeError, match="Named is a subclass of what can be saved"):
        SplitHead(np.eye(3), np.ones(3), 1.0, Named(np.eye(3))).save(path)
    assert not path.exists()


def test_the_example_of_the_format_reads_a_head_with_numpy_alone(path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", FORMAT.read_text(encoding="utf-8"), re.DOTALL)
    assert "import spherapprox" not in code
    assert "from spherapprox" not in code
    monkeypatch.chdir(path.parent)
    head = SplitHead.from_target(lambda x: x[:, :2], EqualMeasurePartition(2, 60), 12.5)
    head.save("head.npz")
    scope = {}
    exec(compile(code, str(FORMAT), "exec"), scope)
    np.testing.assert_allclose(scope["h"], head(scope["x"]), rtol=1e-12, atol=1e-15)
    assert "split-head {'kind': 'partition', 'dim': 2, 'n': 60, 'centers': 'midpoint'}" in capsys.readouterr().out
    for kind in HEADS:
        for values in (head.values, head.values[:, 0]):
            for concentration in (12.5, 1e4, np.linspace(0.0, 2000.0, 60)):
                kind(head.control_points, values, concentration).save("head.npz")
                exec(compile(code, str(FORMAT), "exec"), scope)
                np.testing.assert_allclose(scope["h"], load("head.npz")(scope["x"]), rtol=1e-11, atol=1e-11)
    with np.load("head.npz") as file:
        np.savez(path, **{**file, "values": 2.0 * file["values"]})
    with pytest.raises(AssertionError):
        exec(compile(code, str(FORMAT), "exec"), {})
