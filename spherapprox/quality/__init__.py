"""Measures of control points: separation, quadrature error and cap discrepancy."""
