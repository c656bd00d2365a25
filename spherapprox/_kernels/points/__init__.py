"""Kernels of `spherapprox.points`."""
