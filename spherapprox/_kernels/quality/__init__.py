"""Kernels of `spherapprox.quality`."""
