"""What notebooks show: a frame with hostile text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import OpenPage
from tests.browser.explorer_samples import sample
from tests.hostile import LONE, SAFE, STRINGS
from viz_app import show

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_hostile_text_stays_text_in_the_frame_and_out_of_it(tmp_path: Path, open_page: OpenPage) -> None:
    tokens = [*STRINGS, LONE]
    html = show(sample(tokens, tokens), title=STRINGS[0]).html
    out = tmp_path / "cell.html"
    out.write_text(f'<!doctype html><meta charset="utf-8">{html}', encoding="utf-8", errors="replace")
    page: Page = open_page(out.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(".token").first.wait_for()
    assert inside.locator(".page-title").text_content() == STRINGS[0]
    owned, _, frames = page.evaluate(SAFE)
    assert owned is None and frames == 1
    (frame,) = page.frames[1:]
    assert frame.evaluate("() => [window.owned ?? null, window.origin]") == [None, "null"]
