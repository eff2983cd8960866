"""Takes the pictures of the README from the running app: `python -m tests.browser.readme_pictures [NAME ...]`.

They show the checkpoints that ship; so they are taken anew when one of these, or a page, has changed. Needs Chromium.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from benchmarks.screen.browser import wait_until_up
from tests.browser.app_driver import press_tool
from tests.browser.chromium import Chromium, executable
from tests.browser.rest import rest
from tests.browser.served import ROOT, address_of, stop_all
from viz_app.cli import class_
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = ROOT / "docs" / "images"
WIDTH = 1280
COLORS = 256  # of a light picture, which is a third as large then; dark ones would show bands


def _beam(page: Page) -> None:
    press_tool(page, "beam-button")


def _card(page: Page) -> None:
    card = page.locator(".atlas-card")
    card.evaluate("each => each.scrollIntoView({block: 'start', behavior: 'instant'})")
    page.mouse.move(5, 400)  # over nothing that would light up


def _growth(page: Page) -> None:
    slider = page.get_by_text(texts("en")("growth.moment"), exact=True)
    slider.evaluate("each => each.scrollIntoView({block: 'start', behavior: 'instant'})")
    page.mouse.move(5, 400)  # over nothing that would light up
    page.mouse.wheel(0, -70)  # below the header


def _class(page: Page) -> None:
    """A question of the lessons, with the answers of 24 browsers."""
    t = texts("en")
    page.get_by_role("button", name=t("classroom.open")).click()
    join = f"{page.url.split('/classroom')[0]}/join/{page.locator('.board-code').inner_text()}"
    for _ in range(2):  # the second question has a formula
        page.locator(".st-key-class-ask-next button").click()
        rest(page)
    browser = page.context.browser
    assert browser is not None
    for option in [0] * 5 + [1] * 12 + [2] * 4 + [3] * 3:
        student = browser.new_context()
        student.request.get(join, headers={"accept": "text/html"})
        student.request.post(f"{join}/answer", data={"poll": 2, "option": option})
        student.close()


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What one picture shows.

    Args:
        height: Of the window, in CSS pixels.
        page: Path of the page; empty for Translate.
        address: Parameters of the address.
        dark: In dark colours.
        to_class: From a server that is open to the network, so that the page shows its QR code.
        then: What is done before it is taken.
    """

    height: int
    page: str = ""
    address: dict[str, str] | None = None
    dark: bool = False
    to_class: bool = False
    then: Callable[[Page], None] | None = None


GROWN = {"model": "en-fr-small", "head": "cross.6.5", "grown_at": "7400", "grown_text": "8"}
FLOW = {"text": "The dog is sleeping on the sofa.", "pin": "q5"}
PICTURES = {
    "translate-light": Picture(height=800, address=FLOW),
    "translate-dark": Picture(height=800, address=FLOW, dark=True),
    "heads": Picture(height=732, address={"view": "kinds", "zoom": "heads"}),
    "head-card": Picture(
        height=808,
        address={
            "text": "The dog that chased the cat is tired.",
            "head": "cross.6.2",
            "card": "open",
        },
        then=_card,
    ),
    "beam": Picture(height=752, address={"text": "I know that he is reading a book."}, then=_beam),
    "tree": Picture(height=720, address={"model": "en-tree", "text": "I saw the man with the telescope."}),
    "figures-light": Picture(height=860, page="figures", address={"size": "acl-column"}),
    "figures-dark": Picture(height=860, page="figures", address={"size": "acl-column"}, dark=True),
    "lab": Picture(height=860, page="lab"),
    "circuit": Picture(height=940, page="lab", address={"scene": "circuit"}),
    "lessons": Picture(height=760, page="lessons"),
    "class": Picture(height=760, page="classroom", to_class=True, then=_class),
    "lesson-positions": Picture(height=760, page="lessons", address={"lesson": "positions", "with": "at:6"}),
    "model-growth": Picture(height=860, page="model", address=GROWN, then=_growth),
}


@contextmanager
def _open_to_class() -> Iterator[str]:
    """The address of a server that the command `class` would start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with subprocess.Popen(class_.command(port), cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        try:
            wait_until_up(f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def take(page: Page, url: str, picture: Picture, path: Path) -> None:
    """Open the page, wait until it is at rest, and write what the window shows as PNG."""
    from PIL import Image

    page.goto(f"{url}/{picture.page}?{urlencode({'lang': 'en', **(picture.address or {})})}")
    rest(page)
    if picture.then is not None:
        picture.then(page)
    page.wait_for_timeout(1_500)  # what comes into view is drawn late
    rest(page)
    page.screenshot(path=path)
    with Image.open(path) as taken:
        image = taken.convert("RGB")
    if not picture.dark:
        image = image.quantize(COLORS, dither=Image.Dither.NONE)
    image.save(path, optimize=True)


def main() -> None:
    """Take all pictures, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.readme_pictures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; all without any")
    names = parser.parse_args().names or list(PICTURES)
    unknown = sorted(set(names) - set(PICTURES))
    browser = executable()
    if unknown or browser is None:
        parser.error(f"there is no picture {unknown[0]}" if unknown else "there is no Chromium")
    chromium = Chromium()
    with tempfile.TemporaryDirectory() as servers:
        try:
            url = address_of(ROOT / "viz_app" / "main.py", {}, Path(servers))
            for name in names:
                picture = PICTURES[name]
                context = chromium.get(browser).new_context(
                    viewport={"width": WIDTH, "height": picture.height},
                    color_scheme="dark" if picture.dark else "light",
                    locale="en-US",
                )
                with _open_to_class() if picture.to_class else nullcontext(url) as address:
                    take(context.new_page(), address, picture, FOLDER / f"{name}.png")
                context.close()
        finally:
            chromium.close()
            stop_all(Path(servers))


if __name__ == "__main__":
    main()
