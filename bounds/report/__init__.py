"""Studies, reports of what was measured and proven, figures, and the commands that write them.

`Report` is the one record: builders make it of a study, a validation, the ladder and a search, and it writes tables, a
document, figures and a page. Names are loaded when they are first used (PEP 562).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spherapprox import _extras
from spherapprox._loading import load as _load

if TYPE_CHECKING:
    from . import plot
    from ._study import Row as Row
    from ._study import Study as Study
    from .from_ladder import report_ladder
    from .from_search import compare_fixed_points, report_search
    from .from_study import report_study
    from .from_validation import report_validation
    from .ladder import Curves as Curves
    from .ladder import evaluate_ladder
    from .report import Report as Report
    from .study import estimate_constants, run_study

_HOME = {
    "Curves": "ladder",
    "Report": "report",
    "Row": "_study",
    "Study": "_study",
    "compare_fixed_points": "from_search",
    "estimate_constants": "study",
    "evaluate_ladder": "ladder",
    "report_ladder": "from_ladder",
    "report_search": "from_search",
    "report_study": "from_study",
    "report_validation": "from_validation",
    "run_study": "study",
}

__all__ = [
    "compare_fixed_points",
    "estimate_constants",
    "evaluate_ladder",
    "plot",
    "report_ladder",
    "report_search",
    "report_study",
    "report_validation",
    "run_study",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(_load(f"{__name__}.{_HOME[name]}"), name)
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
