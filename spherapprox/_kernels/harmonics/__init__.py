"""Kernels of `spherapprox.harmonics`."""
