"""Kernels of certified errors: moments of a head's terms about the centres of cells."""
