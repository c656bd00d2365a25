"""Integrals over S^m of exp(lambda cos theta), as logarithms, for `vmf` and `bounds`."""
