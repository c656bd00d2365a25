"""One attention layer, its prefix, and what the prefix does to its outputs."""
