"""The pages of the built site in headless Chromium: what its console says, and pictures to look at.

    python tests/reference/pages.py docs/_build --out pictures [--only tutorial api]

Opens each page at the width of a phone and of a desk, in light and in dark, and prints what went wrong; pictures are
written with ``--out``. Needs ``pip install playwright`` and a Chromium.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WIDTHS = {"phone": 390, "desk": 1280}
PROBES = {
    "pixels wider than the screen": "document.documentElement.scrollWidth - window.innerWidth",
    "formulas that MathJax does not read": "document.querySelectorAll('[data-mjx-error]').length",
    "pictures that are broken": "[...document.images].filter(image => image.complete && !image.naturalWidth).length",
}
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


@functools.cache
def browser() -> str | None:
    """Return the path of a Chromium that starts, None where there is none, or no Playwright."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return None
    try:
        with sync_playwright() as play:
            play.chromium.launch(executable_path=path, args=[*FLAGS]).close()
    except Error:
        return None
    return path


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


def listen(tab: Any, address: str) -> list[str]:
    """Return a list that takes what the console says, requests that fail, and those that leave the site."""
    texts: list[str] = []
    tab.on("console", lambda message: message.type in ("error", "warning") and texts.append(message.text))
    tab.on("pageerror", lambda error: texts.append(str(error)))
    aborted = "net::ERR_ABORTED"  # by going on to the next page
    tab.on("requestfailed", lambda request: request.failure == aborted or texts.append(f"failed: {request.url}"))
    tab.on("request", lambda request: request.url.startswith((address, "data:")) or texts.append(request.url))
    return texts


def list_faults(
    site: Path, pages: Sequence[str], out: Path | None = None, probes: Mapping[str, str] = PROBES
) -> list[str]:
    """Open pages as each kind of reader; returns what `listen` hears, and what probes, of JavaScript, count.

    With `out`, pictures of the pages are written there.
    """
    from playwright.sync_api import sync_playwright

    faults: list[str] = []
    path = browser()  # it tries Playwright, which does not start within itself
    with served(site) as address, sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=[*FLAGS])
        for scheme, (device, width) in [(s, w) for s in ("light", "dark") for w in WIDTHS.items()]:
            tab = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            texts = listen(tab, address)
            for page in pages:
                texts.clear()
                tab.goto(address + page, timeout=120_000)
                tab.evaluate("window.MathJax?.startup?.promise?.then(() => null) ?? null")
                texts += [f"{number} {fault}" for fault, probe in probes.items() if (number := tab.evaluate(probe)) > 0]
                faults += [f"{page} ({device}, {scheme}): {text}" for text in texts]
                if out:
                    name = page.removesuffix(".html").replace("/", ".")
                    tab.screenshot(path=out / f"{name}-{device}-{scheme}.png", full_page=True)
            tab.close()
        chromium.close()
    return faults


def main() -> int:
    """Write the pictures and print the faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path, help="folder of the built site")
    parser.add_argument("--out", type=Path, help="folder for pictures")
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of the pages' paths")
    options = parser.parse_args()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    pages = sorted(path.relative_to(options.site).as_posix() for path in options.site.rglob("*.html"))
    pages = [page for page in pages if page.startswith(tuple(options.only)) and not page.startswith("_")]
    faults = list_faults(options.site, pages, options.out)
    print("\n".join([*faults, f"{len(pages)} pages, {len(faults)} faults"]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
