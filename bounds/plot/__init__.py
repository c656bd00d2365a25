"""The figures: of studies, searches, the ladder, partitions, control points, and programs of recurrent models."""

from .coefficients import Curve, coefficients_figure
from .errors import error_figure, error_grid, slope
from .ladder import concentration_figure, ladder_figure
from .maps import maps_figure
from .points import covering_figure, partition_figure
from .programs import program_figure
from .shortest import control_points_figure, shortest_figure
from .style import write
from .validation import error_figure_of, validation_figure

__all__ = [
    "Curve",
    "coefficients_figure",
    "concentration_figure",
    "control_points_figure",
    "covering_figure",
    "error_figure",
    "error_figure_of",
    "error_grid",
    "ladder_figure",
    "maps_figure",
    "partition_figure",
    "program_figure",
    "shortest_figure",
    "slope",
    "validation_figure",
    "write",
]
