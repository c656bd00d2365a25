"""How good control points are: covering radius, separation, quadrature error and cap discrepancy."""
