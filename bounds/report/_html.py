"""Self-contained pages: HTML that loads nothing, for phones and desktops, in light and dark."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

from spherapprox import __version__
from spherapprox.target import CONSTANTS, Target

SIGNS = {"proved": "✓✓", "certified": "✓✓", "holds": "✓", "survived": "✓", "violated": "✗", "refuted": "✗"}
"""Marks beside colours, for readers who do not see these."""

_NUMBERS = ("predicted", "achieved", "ratio", "stated", "found", "λ", "error", "proven", "2nd order", "a priori")


def document(kind: str, target: Target, subtitle: str, parts: Iterable[str]) -> str:
    """Return a page about a target from its sections."""
    style = resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    title = f"{target.name} on S^{target.dim}: {kind.lower()}"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="spherapprox {escape(__version__)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<header>
<h1>{escape(kind)}: {escape(str(target.name))} on S<sup>{target.dim}</sup></h1>
<p class="soft">{escape(subtitle)}</p>
</header>
{"".join(parts)}
<footer>Made by spherapprox {escape(__version__)}. Theorems and proofs: docs/theorems of the source.</footer>
</main>
</body>
</html>
"""


def picture(png: bytes, alt: str, caption: str, *, wide: bool = False) -> str:
    """Return a picture with its caption; a wide one is scrolled on a phone."""
    data = base64.b64encode(png).decode()
    return (
        f"<figure><div{' class=scrolled' if wide else ''}>"
        f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}"></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def section(title: str, body: str) -> str:
    return f"\n<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>" if body else ""


def pill(word: str) -> str:
    sign = f"{SIGNS[word]} " if word in SIGNS else ""
    return f'<span class="pill {word.replace(" ", "-")}">{sign}{escape(word)}</span>'


def table(headers: Sequence[str], rows: Iterable[Sequence[tuple[str, str]]]) -> str:
    """Return a table from rows of cells (HTML, class), which a phone shows as cards with the headers as labels."""
    lines = "".join(
        f'<th scope="col"{" class=number" if header in _NUMBERS else ""}>{escape(header)}</th>' for header in headers
    )
    body = []
    for row in rows:
        cells = [
            f"<td{f' class={kind}' if kind else ''}{f' data-label={chr(34)}{escape(header)}{chr(34)}' if k else ''}>"
            f"{html}</td>"
            if html
            else "<td></td>"
            for k, (header, (html, kind)) in enumerate(zip(headers, row, strict=True))
        ]
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>\n<thead><tr>{lines}</tr></thead>\n<tbody>\n{chr(10).join(body)}\n</tbody>\n</table>"


def banner(kind: str, said: str, numbers: Iterable[tuple[str, str]]) -> str:
    """Return the first section: a verdict of some kind in words, and the numbers that a reader wants first."""
    blocks = "".join(
        f'<div class="figure-of"><b>{escape(value)}</b><span>{escape(name)}</span></div>' for name, value in numbers
    )
    return (
        f'\n<section class="banner {kind.replace(" ", "-")}" aria-label="verdict">'
        f'<div class="verdict">{SIGNS.get(kind, "")} {escape(said)}</div>{blocks}</section>'
    )


def facts(target: Target) -> list[tuple[str, str]]:
    """Return what is known of a target, with the origins of its constants, as definitions."""
    of = [
        ("function", escape(str(target.name))),
        ("sphere", f"S<sup>{target.dim}</sup> in R<sup>{target.dim + 1}</sup>"),
    ]
    of += [("unit", escape(target.unit))] if target.unit else []
    of += [("exponent", f"{target.exponent:g}")] if target.exponent != 1.0 else []
    of += [("constants from", escape(target.provenance))] if target.provenance else []
    return of + [
        (name.replace("_", " "), f"{getattr(target, name):.6g} <span class=soft>({target.origin(name)})</span>")
        for name in CONSTANTS
        if getattr(target, name) is not None and (name != "remainder" or target.degree is not None)
    ]


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{html}</dd>" for name, html in pairs) + "</dl>"
