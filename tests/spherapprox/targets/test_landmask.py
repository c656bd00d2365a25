from importlib import resources

import numpy as np
import pytest

from spherapprox import SplitHead, points, sphere, sup_error, targets
from spherapprox.targets import landmask

LAND = {
    "Nairobi": (-1.29, 36.82), "Madrid": (40.42, -3.70), "Moscow": (55.76, 37.62), "Denver": (39.74, -104.99),
    "Brasilia": (-15.79, -47.88), "Alice Springs": (-23.70, 133.88), "Ulan Bator": (47.92, 106.92),
    "Yakutsk": (62.03, 129.73), "Nagpur": (21.15, 79.09), "Summit Camp, Greenland": (72.58, -38.46),
    "Vostok": (-78.46, 106.84), "Chukotka, east of the date line": (67.0, -177.0),
    "Chukotka, west of the date line": (68.0, 179.0), "South Pole": (-90.0, 0.0),
    "Lesotho, a hole in South Africa's ring": (-29.6, 28.2), "Lake Superior counts as land": (47.7, -88.0),
}  # fmt: skip
SEA = {
    "Gulf of Guinea": (0.0, 0.0), "Point Nemo": (-48.88, -123.39), "mid-Atlantic": (30.0, -40.0),
    "Bay of Bengal": (15.0, 88.0), "Mediterranean": (35.0, 19.0), "Hudson Bay": (60.0, -86.0),
    "Black Sea": (43.3, 34.0), "Caspian Sea": (42.0, 50.5), "Red Sea": (20.0, 38.5), "Drake Passage": (-59.0, -65.0),
    "Coral Sea": (-16.0, 154.0), "Pacific on the date line, west": (10.0, -179.99),
    "Pacific on the date line, east": (10.0, 179.99), "North Pole": (90.0, 0.0),
}  # fmt: skip


def at(places):
    return sphere.from_latitude_longitude(*np.array(list(places.values())).T)


def test_known_places_are_land_or_sea():
    land = targets.land()
    for places, number in ((LAND, 1.0), (SEA, 0.0)):
        for rows in (at(places), at(places).astype(np.float32)):
            assert [name for name, value in zip(places, land(rows), strict=True) if value != number] == []


def test_share_of_land():
    # 148.9 of 510.1 million square kilometres, ice shelves included
    x = points.fibonacci(40_000).points
    assert targets.land()(x).mean() == pytest.approx(0.29, abs=0.005)
    northern = x[:, 2] > 0  # two thirds of the land are in the north
    assert targets.land()(x[northern]).mean() == pytest.approx(0.39, abs=0.01)


def test_values_are_the_map_s_bits():
    # a second reader of the bitmap, one bit at a time, and the cells' midpoints
    data = resources.files("spherapprox").joinpath("data/land.pbm").read_bytes()
    assert data[:11] == b"P4\n720 360\n"
    rng = np.random.default_rng(0)
    row, column = rng.integers(0, 360, 300), rng.integers(0, 720, 300)
    bits = [(data[11 + 90 * i + j // 8] >> (7 - j % 8)) & 1 for i, j in zip(row.tolist(), column.tolist(), strict=True)]
    inside = rng.uniform(-0.249, 0.249, (2, 300))
    x = sphere.from_latitude_longitude(90 - (row + 0.5) / 2 + inside[0], -180 + (column + 0.5) / 2 + inside[1])
    assert np.array_equal(targets.land()(x), bits)
    assert 0 < sum(bits) < 300


def test_the_mask_is_zero_or_one_and_has_no_lipschitz_constant():
    land = targets.land()
    assert (land.dim, land.lipschitz, land.sup_norm, land.n_outputs) == (2, None, 1.0, None)
    assert land.modulus(1e-9) == 2.0
    assert set(land(sphere.uniform(2, 2000, rng=1))) == {0.0, 1.0}


def test_date_line_and_poles_have_a_cell():
    land = targets.land()
    for latitude in (-90.0, -75.0, 0.0, 66.0, 90.0):
        east, west = land(sphere.from_latitude_longitude([latitude] * 2, [180.0, -180.0]))
        assert east == west
    assert np.array_equal(land(np.array([[0.0, 0.0, -1.0], [-0.0, -0.0, -1.0], [0.0, 0.0, 1.0]])), [1.0, 1.0, 0.0])
    assert np.array_equal(land(np.array([[-1.0, -0.0, 0.0], [-1.0, 0.0, 0.0]])), [0.0, 0.0])


def test_no_head_is_nearer_than_one_half():
    land = targets.land()
    head = SplitHead.from_target(land, points.fibonacci(1000), 700.0)
    interval = sup_error(head, land, n=4000)
    assert 0.49 < interval.lower <= 1.0
    x = sphere.uniform(2, 2000, rng=0)
    assert np.abs(head(x) - land(x)).mean() < 0.15


def test_a_damaged_map_is_refused(monkeypatch):
    class Short:
        def joinpath(self, *_):
            return self

        def read_bytes(self):
            return b"P4\n720 360\n" + bytes(10)

    landmask._map.cache_clear()
    monkeypatch.setattr(landmask.importlib.resources, "files", lambda _: Short())
    with pytest.raises(RuntimeError, match=r"land\.pbm is damaged: install spherapprox again"):
        targets.land()(np.eye(3))
