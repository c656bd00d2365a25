"""The pages of the built site in headless Chromium: what its console says, and pictures to look at.

    python tests/reference/pages.py docs/_build --out pictures [--only tutorial api]

Writes each page at the width of a phone and of a desk, in light and in dark, and prints what went wrong. Needs
``pip install playwright`` and a Chromium.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WIDTHS = {"phone": 390, "desk": 1280}
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


def browser() -> str | None:
    """Return the path of a Chromium, None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a folder on this machine alone; yields its address."""
    handler = functools.partial(_Silent, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def faults(site: Path, pages: Sequence[str], out: Path | None = None) -> list[str]:
    """Open pages as each kind of reader; returns errors of the console and of requests, wide pages, addresses outside.

    With `out`, pictures of the pages are written there.
    """
    from playwright.sync_api import sync_playwright

    found: list[str] = []
    with served(site) as address, sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser(), args=[*FLAGS])
        for scheme in ("light", "dark"):
            for device, width in WIDTHS.items():
                context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                tab = context.new_page()
                said: list[str] = []
                tab.on("console", lambda m, said=said: said.append(m.text) if m.type in ("error", "warning") else None)
                tab.on("pageerror", lambda error, said=said: said.append(str(error)))
                tab.on("requestfailed", lambda request, said=said: said.append(f"failed: {request.url}"))
                tab.on("request", lambda r, said=said: None if r.url.startswith((address, "data:")) else said.append(r.url))
                for page in pages:
                    said.clear()
                    tab.goto(address + page)
                    tab.evaluate("window.MathJax?.startup?.promise ?? null")
                    wide = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                    found += [f"{page} ({device}, {scheme}): {text}" for text in said]
                    found += [f"{page} ({device}): {wide} pixels wider than the screen"] * (wide > 0 and scheme == "light")
                    if out:
                        path = out / f"{page.removesuffix('.html').replace('/', '.')}-{device}-{scheme}.png"
                        tab.screenshot(path=path, full_page=True)
                context.close()
        chromium.close()
    return found


def main() -> int:
    """Write the pictures and print the faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path, help="folder of the built site")
    parser.add_argument("--out", type=Path, help="folder for pictures")
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of the pages' paths")
    options = parser.parse_args()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    every = sorted(path.relative_to(options.site).as_posix() for path in options.site.rglob("*.html"))
    chosen = [page for page in every if page.startswith(tuple(options.only)) and not page.startswith("_")]
    found = faults(options.site, chosen, options.out)
    print("\n".join([*found, f"{len(chosen)} pages, {len(found)} faults"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
