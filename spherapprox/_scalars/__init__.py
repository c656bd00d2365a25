"""Scalar special functions in plain Python that numba can compile; nothing here imports it."""
