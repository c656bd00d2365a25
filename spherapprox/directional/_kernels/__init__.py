"""Kernels of `spherapprox.directional`."""
