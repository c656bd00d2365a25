"""How good control points are: separation, quadrature error and cap discrepancy."""
