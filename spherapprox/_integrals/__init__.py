"""Integrals over S^m of exp(lambda cos theta), as logarithms: what `vmf` and `bounds` share."""
