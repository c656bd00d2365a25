"""Non-uniform Fourier transforms on S^1 and S^2: values at scattered points, through a grid and a smooth window."""
