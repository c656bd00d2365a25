"""The figures: of studies, searches, the ladder, partitions, points, programs of recurrent models, and the thesis's."""

from .coefficients import Curve, coefficients_figure
from .errors import error_figure, error_grid, slope
from .ladder import concentration_figure, ladder_figure
from .maps import maps_figure
from .points import covering_figure, partition_figure
from .programs import program_figure
from .proof import head_figure, proof_figure
from .shortest import control_points_figure, shortest_figure
from .style import write
from .thesis import closeness_figure, decoder_figure, eigenvalue_figure, kernel_figure
from .validation import error_figure_of, validation_figure

__all__ = [
    "Curve",
    "closeness_figure",
    "coefficients_figure",
    "concentration_figure",
    "control_points_figure",
    "covering_figure",
    "decoder_figure",
    "eigenvalue_figure",
    "error_figure",
    "error_figure_of",
    "error_grid",
    "head_figure",
    "kernel_figure",
    "ladder_figure",
    "maps_figure",
    "partition_figure",
    "program_figure",
    "proof_figure",
    "shortest_figure",
    "slope",
    "validation_figure",
    "write",
]
