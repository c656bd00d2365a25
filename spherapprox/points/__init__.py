"""Control points on S^m: the record `PointSet`, makers of point sets, and their refinement."""

from .designs import design_bound, spherical_design
from .gauss import gauss_product
from .lattice import lattice_cover
from .pointset import PointSet, nodes
from .refine import greedy, relax
from .sequences import fibonacci, sobol, uniform

__all__ = [
    "PointSet",
    "design_bound",
    "fibonacci",
    "gauss_product",
    "greedy",
    "lattice_cover",
    "nodes",
    "relax",
    "sobol",
    "spherical_design",
    "uniform",
]
