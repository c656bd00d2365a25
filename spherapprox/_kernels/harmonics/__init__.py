"""Kernels of `spherapprox.harmonics`, whose non-uniform transforms `spherapprox.summation` takes too."""
