"""Links both ways between theorem pages and functions, and theorems set as such.

- `spherapprox.name` or `bounds.name(...)` in backticks on any page becomes a link to the reference.
- A path docs/theorems/... in a docstring becomes a link to the page, and every function that a page of theorems names
  under its heading "Functions" lists that page.
- The statement and the proof of a page of theorems become those of sphinx-proof.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx_proof.domain import ProofDomain

DOCS = Path(__file__).parents[1]
NAME = re.compile(r"(?:spherapprox|bounds)(?:\.\w+)+")


@cache
def title(page: str) -> str:
    """Return the title of a page, without its marks of code and mathematics."""
    first = (DOCS / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0]
    return re.sub(r"[`$\\]|(?<=^\d)\.(?= )", "", first.removeprefix("# "))


@cache
def theorems_of() -> dict[str, list[str]]:
    """Return for each function the pages of theorems that name it under "Functions"."""
    pages: dict[str, list[str]] = {}
    for path in sorted((DOCS / "theorems").glob("[0-9]*.md"), key=lambda path: _order(path.stem)):
        functions = path.read_text(encoding="utf-8").partition("\n## Functions\n")[2].partition("\n## ")[0]
        for name in dict.fromkeys(re.findall(rf"`({NAME.pattern})", functions)):
            pages.setdefault(name, []).append(f"theorems/{path.stem}")
    return pages


def _order(stem: str) -> tuple[int, bool, int, str]:
    chapter, _, item = stem.partition("-")[0].partition(".")
    return int(chapter), item.isalpha(), int(item) if item.isdigit() else 0, item


def link_docstring(app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Make links of the pages that a docstring cites, and list those that name the function."""

    def link(match: re.Match[str]) -> str:
        return f":doc:`{title(match[1])} </{match[1]}>`"

    for i, line in enumerate(lines):
        lines[i] = re.sub(r"`{0,2}\bdocs/((?:theorems/|how-to/)?[\w.-]+)\.md`{0,2}", link, line)
        lines[i] = re.sub(r"^( *(?:\.\. \[\S+\] )?[A-Z])\. (?=[A-Z])", r"\1\\. ", lines[i])  # initials number no list
        if not line.lstrip().startswith((">>>", "...")):  # |x| is a size, not a substitution
            lines[i] = re.sub(r"(``.*?``)|\|", lambda match: match[1] or r"\|", lines[i])
    if pages := theorems_of().get(name):
        lines += ["", ".. rubric:: Theorems", ""]
        lines += [f"- :doc:`{title(page)} </{page}>`" for page in pages]


class LinkNames(SphinxTransform):
    """Make links of the public names in backticks on pages written in Markdown."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Wrap each literal that begins with a public name in a reference, which stays plain if nothing answers."""
        if self.env.doc2path(self.env.docname).suffix != ".md":
            return
        for literal in [*self.document.findall(nodes.literal)]:
            match = NAME.match(literal.astext())
            if match and not isinstance(literal.parent, (nodes.reference, addnodes.pending_xref)):
                reference = addnodes.pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=match[0], refdoc=self.env.docname, refwarn=False
                )
                literal.replace_self(reference)
                reference += literal


def list_theorems(app: Sphinx, page: str, source: list[str]) -> None:
    """Give the index of theorems a table of contents for each of its tables."""
    if page != "theorems/index":
        return
    for heading, rows in re.findall(r"^## (.*)\n\n((?:\|.*\n)+)", source[0], re.MULTILINE):
        pages = "\n".join(re.findall(r"^\| \[[^]]+\]\((.*?)\.md\)", rows, re.MULTILINE))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{pages}\n```\n"


def set_theorem(app: Sphinx, page: str, source: list[str]) -> None:
    """Set the statement and the proof of a page of theorems as such."""
    if not re.match(r"theorems/\d", page):
        return
    number = title(page).partition(" ")[0]
    statement = f"{{prf:theorem}} {title(page)}\n:nonumber:\n:label: theorem-{number}"
    for heading, opening in (("Statement", statement), ("Proof", "{prf:proof}")):
        source[0] = re.sub(
            rf"(?<=\n## {heading}\n)\n(.*?)\n(?=\n## |\Z)",
            lambda match, opening=opening: match[0] if "\n#" in match[0] else
            f"\n``````{opening}\n\n{match[1]}\n``````\n",
            source[0], count=1, flags=re.DOTALL,
        )  # fmt: skip


def drop_last_blank_lines(app: Sphinx, page: str, source: list[str]) -> None:
    """End no block of code with the blank line by which doctest tells output from the fence."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n\n")


def drop_docstring_of_class(app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Let a constant not take the docstring of tuple or dict for its own; the page says what it is."""
    if kind == "data" and lines and lines[0] == (inspect.getdoc(type(thing)) or "").partition("\n")[0]:
        lines.clear()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the links and the theorems."""
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True  # it only adds files, and does not say so
    ProofDomain.merge_domaindata = lambda *_: None  # parallel reading asks for it; an event does the work
    app.connect("autodoc-process-docstring", link_docstring, priority=900)  # after numpydoc
    app.connect("autodoc-process-docstring", drop_docstring_of_class, priority=100)
    app.connect("source-read", set_theorem)
    app.connect("source-read", list_theorems)
    app.connect("source-read", drop_last_blank_lines)
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
