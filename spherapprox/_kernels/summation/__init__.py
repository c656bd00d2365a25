"""Kernels of `spherapprox.summation`."""
