"""The index page of a folder of results: HTML that loads nothing but the figures beside it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

import harness

STYLE = """figure img { background: #fff; border-radius: .4rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
a { color: var(--holds); } td, th { hyphens: auto; }
.number { text-align: right; } section { overflow-x: auto; scroll-margin-top: .5rem; }
"""


def inline(text: str) -> str:
    """Return a line of Markdown as HTML: code, bold and what is escaped."""
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text.replace(r"\|", "|"), quote=False))
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)


def cells(line: str) -> list[str]:
    """Return the cells of a line of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def table(lines: list[str]) -> str:
    """Return a table of Markdown as HTML, which a phone shows as cards."""
    heads, right = cells(lines[0]), [mark.endswith(":") for mark in cells(lines[1])]
    kinds = [" class=number" if is_right else "" for is_right in right]
    head = "".join(f"<th{kind}>{inline(text)}</th>" for text, kind in zip(heads, kinds, strict=True))
    rows = []
    for line in lines[2:]:
        row = zip(heads, cells(line), kinds, strict=True)
        rows.append("".join(
            f'<td{kind}{f" data-label={chr(34)}{escape(name)}{chr(34)}" if k else ""}>{inline(text)}</td>'
            for k, (name, text, kind) in enumerate(row)
        ))  # fmt: skip
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def html(markdown: str) -> str:
    """Return paragraphs and tables of Markdown as HTML."""
    parts = []
    for is_table, group in groupby(markdown.splitlines(), lambda line: line.lstrip().startswith("|")):
        lines = [line for line in group if line.strip()]
        if is_table:
            parts.append(table(lines))
        else:
            parts += [f"<p>{inline(line)}</p>" for line in lines]
    return "\n".join(parts)


def card(document: dict[str, Any]) -> str:
    """Return the section of an experiment."""
    name = document["name"]
    files = " · ".join(f'<a href="{name}.{end}">{end.upper()}</a>' for end in ("csv", "json", "png", "md"))
    return (
        f'\n<section id="{name}">\n<h2>{escape(name.replace("_", " ").capitalize())}</h2>\n'
        f"<p>{escape(document['question'])}</p>\n"
        f'<figure><img alt="{escape(document["question"])}" src="{name}.png" loading="lazy"></figure>\n'
        f'{html(document["summary"])}\n<p class="note">{inline(harness.footer(document))} {files}</p>\n</section>'
    )


def cards(out: Path, others: dict[str, str], said: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names and sections: of experiments, of other scripts' outputs, of what has no results."""
    for path in sorted(out.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if {"name", "question", "summary"} <= set(document):
            yield document["name"], card(document)
    for name, words in others.items():
        if (out / f"{name}.txt").exists():
            link = f'<a href="{name}.txt">{name}.txt</a>'
            yield name, f'\n<section id="{name}">\n<h2>{name}</h2>\n<p>{escape(words)}</p>\n<p>{link}</p>\n</section>'
    if said:
        rows = "".join(f"<dt>{name}</dt><dd>{escape(words)}</dd>" for name, words in said.items())
        yield (
            "without-results",
            f'\n<section id="without-results">\n<h2>Without results</h2>\n<dl>{rows}</dl>\n</section>',
        )


def write(out: Path, others: dict[str, str], said: dict[str, str]) -> None:
    """Write index.html, whole or not at all."""
    sections = dict(cards(out, others, said))
    links = " ".join(f'<a href="#{name}">{name.replace("_", " ").replace("-", " ")}</a>' for name in sections)
    style = resources.files("bounds.report").joinpath("page.css").read_text(encoding="utf-8")
    text = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>spherapprox: experiments</title>
<style>
{style}{STYLE}</style>
</head>
<body>
<main>
<header>
<h1>Experiments</h1>
<nav>{links}</nav>
</header>
{"".join(sections.values())}
<footer>Made by spherapprox {harness.__version__}: python -m benchmarks.</footer>
</main>
</body>
</html>
"""
    unfinished = out / "index.html.part"
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, out / "index.html")
