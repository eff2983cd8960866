"""Films the home of a site for the README: `python -m tests.browser.readme_movie [--site DIR]`.

The page's clock stands while a frame is taken, so that the film is smooth on any machine. Without --site, a site with
the small French model is written first. Needs Chromium.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.screen.browser import browsing
from benchmarks.screen.lighthouse import served, write_small_site
from tests.browser.readme_pictures import FOLDER, WIDTH

if TYPE_CHECKING:
    from PIL.Image import Image
    from playwright.sync_api import Locator, Page

FILE = FOLDER / "headlight.webp"
MAX_BYTES = 3_000_000
SENTENCES = 2
HEIGHT, SCALE, QUALITY = 714, 0.75, 60
FRAME = 80  # milliseconds
REST = 12  # frames at the end of a sentence, in which nothing moves
_STOPPED = 60_000  # milliseconds of the clock, at which it is stopped


def film(page: Page, address: str) -> list[Image]:
    """The frames of the first sentences."""
    from PIL import Image

    page.clock.install(time=0)
    page.goto(address)
    page.clock.pause_at(_STOPPED)
    link, frames = page.locator(".turn-open"), list[Image.Image]()
    texts = [_text(link)]  # the first is under way
    while len(texts) <= SENTENCES + 1:
        page.clock.run_for(FRAME)
        with Image.open(BytesIO(page.screenshot(animations="allow"))) as taken:
            size = round(SCALE * taken.width), round(SCALE * taken.height)
            frame = taken.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        if _text(link) != texts[-1]:
            texts.append(_text(link))
        if 1 < len(texts) <= SENTENCES + 1:
            frames.append(frame)
    return frames


def _text(link: Locator) -> str:
    """The sentence that is shown, as in the link to its page."""
    return (link.get_attribute("href") or "").partition("#")[2]


def main() -> None:
    """Film, and write the file."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.readme_movie", description=__doc__)
    parser.add_argument("--site", type=Path, metavar="DIR", help="A site that was written before.")
    site = parser.parse_args().site
    with tempfile.TemporaryDirectory() as folder:
        if site is None:
            site = Path(folder) / "site"
            write_small_site(site)
        with served(site) as start, browsing() as browser:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="dark", locale="en-US")
            frames = film(page, f"{start}en/index.html")
    first, *others = frames[-REST:] + frames[:-REST]  # a viewer that shows no films shows a whole picture
    first.save(FILE, save_all=True, append_images=others, duration=FRAME, loop=0, quality=QUALITY, method=4)
    size = FILE.stat().st_size
    if size > MAX_BYTES:
        raise SystemExit(f"{FILE} has {size / 1e6:.1f} MB, but may have {MAX_BYTES / 1e6:.0f} MB")
    sys.stdout.write(f"{FILE}: {1 + len(others)} frames, {size / 1e6:.2f} MB\n")


if __name__ == "__main__":
    main()
