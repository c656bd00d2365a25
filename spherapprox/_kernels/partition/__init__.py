"""Kernels of `spherapprox.partition`."""
