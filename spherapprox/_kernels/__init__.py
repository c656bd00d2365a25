"""Compiled kernels, and the only importer of numba. Kernels check nothing: the public functions do, once."""
