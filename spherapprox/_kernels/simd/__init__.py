"""Vectors and blocks of registers in compiled code."""
