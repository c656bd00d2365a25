"""`Report`: what was measured and proven as tables, figures and a document, for files and one self-contained page."""

from __future__ import annotations

import base64
import functools
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from spherapprox import __version__, _checks
from spherapprox._loading import Later
from spherapprox.target import CONSTANTS, Target

from ._files import write_csv, write_together

_plot = Later(f"{__package__}.plot")  # matplotlib is loaded when a figure is drawn

SIGNS = {"proved": "✓✓", "certified": "✓✓", "holds": "✓", "survived": "✓", "violated": "✗", "refuted": "✗"}
"""Marks beside colours, for readers who do not see these."""


class Cell(NamedTuple):
    """A cell of a table.

    `kind` is "name", "number", "verdict" (`text` is shown in its colour, with its sign) or nothing; the details stand
    below in small print.
    """

    text: str
    kind: str = ""
    details: tuple[str, ...] = ()

    @classmethod
    def number(cls, value: float | None, digits: int = 4) -> Cell:
        """Write a number, nothing for None."""
        return cls("" if value is None else f"{value:.{digits}g}", "number")


class Table(NamedTuple):
    """A table, which a phone shows as cards; the note stands above it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


class Picture(NamedTuple):
    """A figure, drawn when it is asked for, and its file."""

    file: str
    draw: Callable[[], Any]
    title: str
    caption: str


class Facts(NamedTuple):
    """Names with what they are."""

    title: str
    pairs: Sequence[tuple[str, str]]
    note: str = ""


class Verdict(NamedTuple):
    """The first thing to read: a word that chooses the colour, the verdict in words, and names with numbers."""

    word: str
    text: str
    numbers: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Report:
    """What was measured and proven, ready for files and readers.

    Parameters
    ----------
    name : str
        Of its files: NAME.csv, NAME.json and NAME.html.
    title, subtitle : str
        The heading of the page.
    verdict : Verdict
        What a reader wants first.
    rows : sequence of mapping
        The rows of NAME.csv, all with the same names.
    document : mapping
        The content of NAME.json.
    tables, figures, facts : sequence of Table, Picture, Facts
        The parts of the page, in this order: figures, tables, facts; each figure is a file, too.
    saved : mapping of str to callable
        Other files, each with what writes it to a path.
    marks : mapping of str to bytes
        The names of all files that such a report may have, and what stands near the beginning of each: earlier results
        are known by it, and replaced or deleted.
    command, source : str
        The command line, and the lines of Python, that reproduce all this.

    Raises
    ------
    TypeError
        When `command` or `source` is no text.

    Examples
    --------
    >>> import bounds, tempfile
    >>> from spherapprox import targets
    >>> study = bounds.report.run_study(targets.distance(3), [20, 50], choices=["theory"], points=200)
    >>> report = bounds.report.report_study(study)
    >>> report.title, report.records()[0]["head"], report.to_html().splitlines()[0]
    ('Study: distance on S³', 'core', '<!DOCTYPE html>')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in report.save(folder)]
    ['error.png', 'study.csv', 'study.html', 'study.json']
    """

    name: str
    title: str
    subtitle: str
    verdict: Verdict
    rows: Sequence[Mapping[str, Any]]
    document: Mapping[str, Any]
    tables: Sequence[Table] = ()
    figures: Sequence[Picture] = ()
    facts: Sequence[Facts] = ()
    saved: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)
    marks: Mapping[str, bytes] = field(default_factory=dict)
    command: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("command", "source"):
            _checks.instance(getattr(self, name), name, str)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of NAME.csv, for ``pandas.DataFrame(report.records())``."""
        return [dict(row) for row in self.rows]

    def to_html(self) -> str:
        """Return one self-contained page, which loads nothing and suits phones, desktops and dark screens."""
        return self._page(self._images())

    def save(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write NAME.csv, NAME.json, NAME.html, the figures and the other files, all or none; returns their paths.

        Parameters
        ----------
        folder : str or os.PathLike
            Made where there is none; files of these names in it are replaced.

        Raises
        ------
        OSError, TypeError
            When the folder cannot be written, or is no path.
        """
        _checks.instance(folder, "folder", str, os.PathLike, remedy="name one")
        images = self._images()
        texts = {
            f"{self.name}.html": self._page(images),
            f"{self.name}.json": json.dumps(self.document, indent=1, allow_nan=False) + "\n",
        }
        writers: dict[str, Callable[[Path], object]] = {
            f"{self.name}.csv": lambda path: write_csv(path, list(self.rows[0]), (row.values() for row in self.rows)),
            **{name: functools.partial(Path.write_text, data=text, encoding="utf-8") for name, text in texts.items()},
            **{name: functools.partial(Path.write_bytes, data=image) for name, image in images.items()},
            **self.saved,
        }
        return write_together(folder, self.marks, writers)

    def _images(self) -> dict[str, bytes]:
        """Draw the figures; returns their files."""
        images = {}
        for picture in self.figures:
            _plot.write(picture.draw(), stream := io.BytesIO())
            images[picture.file] = stream.getvalue()
        return images

    def _page(self, images: Mapping[str, bytes]) -> str:
        encoded = {name: base64.b64encode(image).decode() for name, image in images.items()}
        return str(environment().get_template("report.html").render(report=self, images=encoded))


@functools.cache
def environment() -> Any:
    """Return the environment of the templates: all text is escaped, and a name that is missing is an error."""
    import jinja2  # when the first page is written

    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    pages = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    pages.globals |= {"version": __version__, "signs": SIGNS}
    pages.filters["zip"] = zip
    return pages


def name_sphere(dim: int) -> str:
    """Return S^m in letters that need no markup."""
    return "S" + str(dim).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def list_facts(target: Target, note: str = "") -> Facts:
    """Return the constants stated of a target, with their origins."""
    pairs = [("function", str(target.name)), ("sphere", f"{name_sphere(target.dim)} in R^{target.dim + 1}")]
    pairs += [("unit", target.unit)] if target.unit else []
    pairs += [("exponent", f"{target.exponent:g}")] if target.exponent != 1.0 else []
    pairs += [("constants from", target.provenance)] if target.provenance else []
    pairs += [
        (name.replace("_", " "), f"{getattr(target, name):.6g} ({target.origin(name)})")
        for name in CONSTANTS
        if getattr(target, name) is not None and (name != "remainder" or target.degree is not None)
    ]
    return Facts("The function", pairs, note)


def with_unit(text: str, target: Target) -> str:
    """Return a number with the target's unit."""
    return f"{text} {target.unit}" if target.unit else text
