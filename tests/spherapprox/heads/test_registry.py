"""The lists from which everything else is derived: kinds of head, and targets of the catalogue."""

import inspect
from importlib.util import find_spec

import numpy as np
import pytest

import spherapprox
from spherapprox import (
    ClassicalHead,
    CoreHead,
    EqualMeasurePartition,
    SplitHead,
    evaluate,
    heads,
    load,
    sphere,
    targets,
)
from spherapprox.heads.registry import FAMILIES, HEADS
from spherapprox.target import Target

every = pytest.mark.parametrize("kind", HEADS)


def test_the_list_of_heads_is_what_is_public():
    assert [kind.__name__ for kind in HEADS] == list(heads.HOMES)
    assert set(heads.HOMES) == set(heads.__all__) <= set(spherapprox.__all__)
    assert {CoreHead, SplitHead, ClassicalHead} <= set(HEADS)


def test_a_family_is_one_class_of_functions():
    assert {"core": CoreHead, "split": SplitHead}.items() <= FAMILIES.items()
    assert all(kind._normalize == FAMILIES[kind.family]._normalize for kind in HEADS)


@every
def test_a_kind_of_head_is_the_function_of_its_family_and_survives_a_file(kind, tmp_path):
    x = sphere.uniform(2, 20, rng=0)
    head = kind.from_target(lambda x: 1.0 + x[:, 2], EqualMeasurePartition(2, 50), 9.0)
    recipe = head.control_points, head.values, head.concentration
    np.testing.assert_array_equal(head(x), evaluate(x, *recipe, normalize=kind.family == "split"))
    head.save(tmp_path / "head.npz")
    again = load(tmp_path / "head.npz")
    assert type(again) is kind
    assert again == head
    assert again.points == head.points


@every
def test_the_torch_module_of_a_kind_gives_its_values(kind):
    torch = pytest.importorskip("torch", reason="the extra `torch`")
    x = sphere.uniform(2, 20, rng=0)
    head = kind(sphere.uniform(2, 9, rng=1), np.arange(9.0), 3.0)
    np.testing.assert_allclose(head.to_torch()(torch.tensor(x)).numpy(), head(x), atol=1e-12)


@pytest.mark.skipif(find_spec("sklearn") is None, reason="the extra `learn`")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_regressor_fits_every_family(family):
    x = np.linspace(-1.0, 1.0, 20)[:, None]
    model = spherapprox.HeadRegressor(family, concentration=3.0, regularization=0.1).fit(x, x[:, 0])
    assert type(model.head_) is FAMILIES[family]


def test_the_catalogue_holds_every_public_function_that_makes_a_target():
    makers = {name: getattr(targets, name) for name in targets.__all__ if name not in ("make", "with_constants")}
    assert set(targets.names()) == {
        name for name, maker in makers.items() if inspect.signature(maker).return_annotation == "Target"
    }


@pytest.mark.parametrize("name", targets.names())
def test_a_target_of_the_catalogue_is_made_on_its_sphere(name):
    made = targets.make(name)
    assert isinstance(made, Target)
    assert made.dim == targets.make(name, dim=made.dim).dim
