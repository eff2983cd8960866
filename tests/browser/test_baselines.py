"""Twelve pictures of the explorer are compared with approved ones.

They show every zoom in light and dark, at 390 and 1280 pixels, in English and Korean, so that any two of these values
meet in one of them.

A change that is meant renews them; look at each before you commit it:

    HEADLIGHT_APPROVE=1 python -m pytest tests/browser/test_baselines.py

The maps are made by a formula and all letters come from the app's own fonts, so that the pictures depend neither on the
model nor on the machine. What may differ stands in pictures.py.
"""

from __future__ import annotations

import dataclasses
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from tests.browser.explorer_driver import Open, choose, setting, settle
from tests.browser.file_explorer import sample, show_next
from tests.browser.pictures import Pixels, marked, mismatch, read

if TYPE_CHECKING:
    from playwright.sync_api import Page

APPROVED = Path(__file__).with_name("baselines")
APPROVE = os.environ.get("HEADLIGHT_APPROVE") == "1"
MAX_BYTES = 1_200_000  # of all approved pictures together
# Tokens too are in the font that ships with the app.
STYLE = ':root { --st-code-font: "Pretendard", sans-serif; } @media (width > 800px) { main { padding: 1rem 5rem; } }'
ZOOMS = ("heads", "head", "token")


@dataclasses.dataclass(frozen=True)
class Look:
    """One page, and what is pressed before the picture of a zoom is taken."""

    width: int
    height: int  # of the window: so high that it limits no part, and that nothing is scrolled, which would not be taken
    dark: bool
    language: str
    presses: dict[str, tuple[str, ...]]

    def name(self, zoom: str) -> str:
        return f"{zoom}-{self.width}-{'dark' if self.dark else 'light'}-{self.language}"


LOOKS = [
    Look(1280, 1500, dark=False, language="en", presses={}),
    Look(
        1280,
        1500,
        dark=True,
        language="ko",
        presses={"head": (".form-lines",)},
    ),
    Look(390, 1750, dark=False, language="ko", presses={}),
    Look(390, 1750, dark=True, language="en", presses={"heads": (".kind-decoder",), "head": (".form-lines",)}),
]


def look_at(open_explorer: Open, look: Look) -> Page:
    page = open_explorer(language=look.language, width=look.width, height=look.height, dark=look.dark, still=True)
    page.add_style_tag(content=STYLE)
    show_next(page, sample("sentence", look.language))  # reads the style again
    page.wait_for_function("document.fonts.check('16px Pretendard') && document.fonts.status === 'loaded'")
    settle(page)
    return page


def taken(page: Page) -> Pixels:
    """The explorer as it stands, (height, width, 3)."""
    page.mouse.move(2, 2)
    page.evaluate("document.fonts.ready.then(() => window.dispatchEvent(new Event('resize')))")
    settle(page)
    png = page.locator(".explorer").screenshot(animations="disabled", caret="hide", scale="css")
    pixels: Pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
    assert pixels.shape[0] < page.evaluate("innerHeight") - 60, "the window is too low for the explorer"
    return pixels


def check(name: str, picture: Pixels, folder: Path) -> str | None:
    """What is wrong with a picture and where to see it; with HEADLIGHT_APPROVE=1 it becomes the approved one."""
    path = APPROVED / f"{name}.webp"
    if APPROVE:
        Image.fromarray(picture).save(path, lossless=True, quality=100, method=6)
        return None
    if not path.exists():
        return f"{name}: nobody has approved a picture yet"
    approved = read(path)
    wrong = mismatch(picture, approved)
    if wrong is None:
        return None
    Image.fromarray(picture).save(folder / f"{name}.png")
    marked(picture, approved).save(folder / f"{name}-difference.png")
    return f"{name}: {wrong}; see {folder / name}.png and {name}-difference.png beside it"


@pytest.mark.parametrize(
    "look",
    # The first and the last have both widths and both themes; Korean texts are looked at in the slow run.
    [LOOKS[0], *(pytest.param(look, marks=pytest.mark.slow) for look in LOOKS[1:3]), LOOKS[3]],
    ids=lambda look: look.name("all").removeprefix("all-"),
)
def test_it_looks_as_approved(look: Look, open_explorer: Open, tmp_path: Path) -> None:
    page = look_at(open_explorer, look)
    wrong = []
    for zoom in ZOOMS:
        choose(page, f".zoom-{zoom}")
        for selector in look.presses.get(zoom, ()):
            choose(page, selector)
        wrong.append(check(look.name(zoom), taken(page), tmp_path))
    assert not any(wrong), "\n".join(text for text in wrong if text)


@pytest.mark.slow  # of the comparison of pictures, not of the app
def test_a_shifted_legend_is_found(open_explorer: Open) -> None:
    page = look_at(open_explorer, LOOKS[0])
    choose(page, ".zoom-head")
    before = taken(page)
    assert mismatch(taken(page), before) is None
    legend = page.locator(".head .legend")
    for shift in ("0 5px", "5px 0"):
        legend.evaluate("(legend, shift) => { legend.style.translate = shift; }", shift)
        assert "differ" in (mismatch(taken(page), before) or ""), shift
    legend.evaluate("(legend) => { legend.style.translate = 'none'; }")
    assert mismatch(taken(page), before) is None
    setting(page, ".scale-sqrt")
    assert mismatch(taken(page), before) is not None


def beside(picture: Pixels, shifts: tuple[float, float, float]) -> Pixels:
    """A picture whose channels lie by parts of a pixel farther right."""
    channels = [
        (1 - abs(shift)) * picture[..., channel]
        + abs(shift) * np.roll(picture[..., channel], int(np.sign(shift)), axis=1)
        for channel, shift in enumerate(shifts)
    ]
    shifted: Pixels = np.stack(channels, axis=-1).round().astype(np.uint8)
    return shifted


def test_approved_pictures_are_complete_and_small_and_other_edges_of_letters_pass() -> None:
    """Letters between two pixels or in coloured subpixels, as others draw them; what is paler or gone does not pass."""
    files = sorted(APPROVED.iterdir())
    assert [file.stem for file in files] == sorted(look.name(zoom) for look in LOOKS for zoom in ZOOMS)
    assert sum(file.stat().st_size for file in files) < MAX_BYTES
    approved = read(APPROVED / f"{LOOKS[0].name('head')}.webp")
    assert mismatch(beside(approved, (0.3, 0.3, 0.3)), approved) is None
    assert mismatch(beside(approved, (0.3, 0.0, -0.3)), approved) is None
    paler = approved.copy()
    paler[200:300, 100:200] = 255 - (255 - paler[200:300, 100:200]) // 2
    assert mismatch(paler, approved) is not None
    without = approved.copy()
    without[:, :200] = approved[0, 0]
    assert mismatch(without, approved) is not None
    assert mismatch(approved[1:], approved) is not None
