"""The thesis's theorems in ball arithmetic, by the file names of `bounds.theorems.thesis`."""
