"""The wing's own compiled code."""
