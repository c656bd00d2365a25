"""The figures: of studies, validations, searches, the ladder, partitions, recurrent programs, and maps of S^2."""

from .errors import error_figure
from .ladder import ladder_figure
from .maps import draw_map, maps_figure
from .points import partition_figure
from .programs import program_figure, trace_figure
from .shortest import control_points_figure, shortest_figure
from .style import write
from .validation import validation_figure

__all__ = [
    "control_points_figure",
    "draw_map",
    "error_figure",
    "ladder_figure",
    "maps_figure",
    "partition_figure",
    "program_figure",
    "shortest_figure",
    "trace_figure",
    "validation_figure",
    "write",
]
