"""Compiled code for the errors of heads; here the columns of the sums that it writes for each cell."""

ZETA, E_B, E_V, E_VB, E_VBB, G_BB, G_VB, V, V_B, V_BB, KAPPA, NOISE = range(12)
"""Of derivatives (6.6): growths of the weights, sums of |v| |b|^j, kappa, and the weights' uncertainty."""
REST, GROWTH, SPREAD, FAR_WEIGHT, ROUNDING = range(5)
"""Of values (6.5): S, Z, the largest distance of a value, the weights of terms that are far, and the uncertainty."""
