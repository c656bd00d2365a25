"""Control points on S^m: the record `PointSet`, makers of point sets, and their refinement."""

from .gauss import gauss_product
from .pointset import Points, PointSet, nodes, require_equal
from .sequences import fibonacci, sobol, uniform

__all__ = ["PointSet", "Points", "fibonacci", "gauss_product", "nodes", "require_equal", "sobol", "uniform"]
