"""The records of theorems: that they say all that is asked of them, and that their files mirror one another."""

import dataclasses
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import bounds
from bounds import theorems
from bounds.records import Prefix
from bounds.records.theorem import Theorem
from bounds.theorems import LADDER, THEOREMS
from bounds.theorems._options import OPTIONS
from bounds.validation import claims
from spherapprox import EqualMeasurePartition, PointSet, points

ROOT = Path(theorems.__file__).parent
FILES = [
    path.relative_to(ROOT).with_suffix("")
    for path in ROOT.rglob("*.py")
    if re.search(r"^[A-Z]+ = Theorem\(", path.read_text("utf-8"), re.MULTILINE)
]
CELLS, CENTROIDS = EqualMeasurePartition(2, 20), EqualMeasurePartition(2, 20, centers="centroid")
SPREAD, RULE, DESIGN = points.fibonacci(20), points.gauss_product(2, 6), points.spherical_design(2, 6)
BARE = PointSet(points.uniform(7, 20, rng=0).points)


def test_the_ladder_lists_every_record_once():
    modules = [importlib.import_module(f"bounds.theorems.{'.'.join(file.parts)}") for file in FILES]
    records = [value.name for module in modules for value in vars(module).values() if isinstance(value, Theorem)]
    listed = [theorem.name for theorem in LADDER]
    lost = sorted({*records} - {*listed})
    assert not lost, "theorems that LADDER does not list"
    assert sorted(records) == sorted(listed)
    assert set(THEOREMS) == {*records, "sharp-split"}


def test_the_docstring_lists_every_theorem():
    for theorem in THEOREMS.values():
        assert f"\n{theorem.name} " in bounds.__doc__


@pytest.mark.parametrize("theorem", THEOREMS.values(), ids=THEOREMS)
def test_a_record_is_complete(theorem):
    assert theorem.count or theorem.error
    assert bool(theorem.needs) == bool(theorem.error)
    names = {*inspect.signature(bounds.error_bound).parameters, *theorem.options}
    assert {*theorem.needs, *theorem.uses} <= names | {field.name for field in dataclasses.fields(Prefix)}
    assert set(theorem.options) <= set(OPTIONS)
    assert set(theorem.constants) <= {"lipschitz", "sup_norm", "smoothness"}
    assert not theorem.joins or THEOREMS[theorem.joins].head == theorem.head
    assert set(theorem.requires.claims) <= {claims.COVERING, claims.EXACTNESS}
    if theorem.measured or theorem.free_concentration:
        assert theorem.error


@pytest.mark.parametrize("theorem", [t for t in LADDER if t.count], ids=lambda theorem: theorem.name)
def test_a_proof_has_the_name_of_the_theorem_s_own_file(theorem):
    pytest.importorskip("flint")
    proofs = importlib.import_module("bounds.certify._proofs").PROOFS
    room = theorem.count.__module__.removeprefix("bounds.theorems.").split(".")[0]  # the thesis's have one file
    assert room in proofs or importlib.util.find_spec(f"bounds.certify.{room}"), f"there is no proof of {room}"


@pytest.mark.parametrize(
    ("name", "enough"),
    [
        ("convolution", (CELLS, CENTROIDS, SPREAD, RULE, BARE, None)),
        ("sharp-core", (CELLS, CENTROIDS)),
        ("sharp-core-centroid", (CENTROIDS,)),
        ("sharp-core-quadrature", (RULE,)),
        ("sharp-core-smooth", (RULE,)),
        ("sharp-split-smooth", (DESIGN,)),
        ("sharp-split", (CELLS, CENTROIDS, SPREAD, RULE)),
    ],
)
def test_what_control_points_must_be(name, enough):
    enough += (DESIGN,) if RULE in enough else ()
    for nodes in (CELLS, CENTROIDS, SPREAD, RULE, DESIGN, BARE, None):
        assert bool(THEOREMS[name].requires.lack(nodes)) == (nodes not in enough)


def test_no_other_file_asks_for_a_theorem_s_name():
    names = "|".join(name for name in THEOREMS if name != "lower")  # a side too
    asks = re.compile(rf'startswith\("(thesis|sharp|lower)|[!=]= "({names})"')
    for path in {*ROOT.parent.rglob("*.py")} - {*(ROOT.parent / "covering").rglob("*.py")}:
        assert not asks.search(path.read_text("utf-8")), path
