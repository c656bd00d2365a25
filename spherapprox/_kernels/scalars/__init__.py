"""The scalar functions in compiled code: as subroutines, as loops over arrays, and inside users' own functions."""
