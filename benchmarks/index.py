"""The index page of a folder of results: HTML that loads nothing but the figures beside it."""

from __future__ import annotations

import json
import os
import re
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import harness

from bounds.report.report import environment

PAGE = """{% extends "report.html" %}
{% block title %}spherapprox: experiments{% endblock %}
{% block style %}
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
a { color: var(--holds); } td, th { hyphens: auto; }
.number { text-align: right; } section { overflow-x: auto; scroll-margin-top: .5rem; }
{% endblock %}
{% block main %}
<header>
<h1>Experiments</h1>
<nav>{% for name in (documents | list) + (others | list) %}
<a href="#{{ name }}">{{ name | replace("_", " ") }}</a>
{% endfor %}
{% if without %}<a href="#without-results">without results</a>{% endif %}</nav>
</header>
{% for name, document in documents.items() %}
<section id="{{ name }}">
<h2>{{ name | replace("_", " ") | capitalize }}</h2>
<p>{{ document.question }}</p>
<figure><img alt="{{ document.question }}" src="{{ name }}.png" loading="lazy"></figure>
{{ html(document.summary) | safe }}
<p class="note">{{ inline(footer(document)) | safe }}
{% for end in ("csv", "json", "png", "md") %}
{{ "" if loop.first else "· " }}<a href="{{ name }}.{{ end }}">{{ end | upper }}</a>
{% endfor %}</p>
</section>
{% endfor %}
{% for name, words in others.items() %}
<section id="{{ name }}">
<h2>{{ name }}</h2>
<p>{{ words }}</p>
<p><a href="{{ name }}.txt">{{ name }}.txt</a></p>
</section>
{% endfor %}
{% if without %}
<section id="without-results">
<h2>Without results</h2>
<dl>{% for name, words in without.items() %}<dt>{{ name }}</dt><dd>{{ words }}</dd>{% endfor %}</dl>
</section>
{% endif %}
<footer>Made by spherapprox {{ version }}: python -m benchmarks.</footer>
{% endblock %}
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


def experiments(out: Path) -> dict[str, Any]:
    """Return the documents of the experiments of a folder."""
    read = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(out.glob("*.json")))
    return {document["name"]: document for document in read if {"name", "question", "summary"} <= set(document)}


def write(out: Path, others: dict[str, str], without: dict[str, str]) -> None:
    """Write index.html, whole or not at all."""
    scripts = {name: words for name, words in others.items() if (out / f"{name}.txt").exists()}
    text = (
        environment()
        .from_string(PAGE)
        .render(
            documents=experiments(out), others=scripts, without=without, html=html, inline=inline, footer=harness.footer
        )
    )
    unfinished = out / "index.html.part"
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, out / "index.html")
