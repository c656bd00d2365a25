"""Rows of the estimators: every storage gives the same products, in its own precision, and what is refused."""

import dask.array
import numpy as np
import pytest
import scipy.sparse

from spherapprox import VonMisesFisher, _threads
from spherapprox.directional import rows as module
from spherapprox.directional.rows import read_rows

N, P = 900, 40
MEANS = VonMisesFisher(P - 1, 0.0).rvs(np.eye(P)[0], 3, rng=1)


def data(dtype=np.float64):
    """Return rows of many lengths."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal((N, P)) * rng.uniform(0.01, 100.0, (N, 1)) * (rng.random((N, P)) < 0.5)).astype(dtype)


def unit(x):
    x = np.asarray(x, dtype=np.float64)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def work(block, weights):
    """Return sums that use both products."""
    cosines = block.cosines(MEANS)
    return block.add_up(np.exp(cosines) * weights), float((cosines * weights).sum())


STORAGES = {
    "float64": (lambda x: x, np.float64),
    "unit": (unit, np.float64),
    "float32": (np.float32, np.float32),
    "float16": (np.float16, np.float32),
    "bfloat16": (lambda x: pytest.importorskip("torch").tensor(x).bfloat16(), np.float32),
    "tensor with a graph": (lambda x: pytest.importorskip("torch").tensor(x, requires_grad=True), np.float64),
    "integers": (lambda x: (1e3 * x).astype(int), np.float64),
    "CSR": (scipy.sparse.csr_array, np.float64),
    "CSR of float32": (lambda x: scipy.sparse.csr_matrix(x.astype(np.float32)), np.float32),
    "COO": (scipy.sparse.coo_array, np.float64),
    "Dask": (lambda x: dask.array.from_array(x, chunks=(400, 25)), np.float64),
    "Dask of float32": (lambda x: dask.array.from_array(np.float32(x), chunks=(400, P)), np.float32),
}


@pytest.mark.parametrize("storage", STORAGES)
def test_all_storages_give_the_products_of_unit_rows(storage, monkeypatch):
    monkeypatch.setattr(module, "NUMBERS", 5000)  # 125 rows
    make, dtype = STORAGES[storage]
    x, weights = data(), np.random.default_rng(2).random(N)
    rows = read_rows(make(x))
    given = x.astype(np.float16) if storage == "float16" else x
    given = make(x).float().numpy() if storage == "bfloat16" else given
    given = (1e3 * x).astype(int) if storage == "integers" else given
    cosines = MEANS @ unit(given).T
    sums, total = rows.total(work, weights)
    tolerance = 1e-13 if dtype == np.float64 else 2e-6
    assert rows.dtype == dtype
    assert rows.shape == (N, P)
    assert sums == pytest.approx((np.exp(cosines) * weights) @ unit(given), abs=tolerance * N)
    assert total == pytest.approx((cosines * weights).sum(), abs=tolerance * N)
    assert rows.concatenate(lambda block: block.cosines(MEANS)) == pytest.approx(cosines, abs=tolerance)
    part = rows[np.array([3, 700])].unit()
    part = part.toarray() if scipy.sparse.issparse(part) else part
    assert part == pytest.approx(unit(given)[[3, 700]], abs=tolerance)


def test_unit_rows_are_not_copied():
    x = unit(data()).astype(np.float32)
    assert read_rows(x).values is x
    assert read_rows(x)[100:300].unit().base is x


def test_no_number_of_threads_changes_a_bit(monkeypatch):
    monkeypatch.setattr(module, "NUMBERS", 2000)
    results = []
    for threads in (1, 3):
        monkeypatch.setattr(_threads, "max_threads", lambda workers, n=threads: n)
        monkeypatch.setattr(_threads, "WORTH", 0.0)
        results.append(read_rows(np.float32(data())).total(work, np.ones(N))[0])
    assert np.array_equal(*results)


def test_sparse_rows_are_never_dense_and_duplicates_are_added():
    wide = scipy.sparse.random_array((50, 10**8), density=1e-7, format="csr", rng=0)
    assert read_rows(wide).present().sum() == np.count_nonzero(np.diff(wide.indptr))
    twice = scipy.sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert read_rows(twice).unit().toarray() == pytest.approx(np.array([[0.6, 0.8]]))


@pytest.mark.parametrize(
    "make", [np.asarray, scipy.sparse.csr_array, lambda x: dask.array.from_array(x, chunks=(2, 2))]
)
def test_rows_of_zeros_have_no_direction(make):
    rows = read_rows(make(np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]])))
    assert rows.present().tolist() == [True, False, True]
    assert rows.concatenate(lambda block: block.cosines(np.eye(2)))[:, 1].tolist() == [0.0, 0.0]


def test_complaints_about_chunks_name_the_row_of_the_whole():
    x = dask.array.from_array(np.where(np.arange(10)[:, None] == 7, np.nan, np.ones((10, 3))), chunks=(4, 3))
    with pytest.raises(ValueError, match="row 7"):
        read_rows(x).present()
