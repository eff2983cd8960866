"""Working the explorer in a browser, and reading what it shows."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from transformer_core.attention_maps import WORD_BOUNDARY, AttentionMaps, Kind
from viz_app.figures.colours.palette import Theme, scale
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page


PAGE = Path(__file__).with_name("explorer_page.py")
ENGLISH = texts("en").table("explorer")
LAYER, HEAD = 3, 5  # where the page starts

Open = Callable[..., "Page"]


def settle(page: Page) -> None:
    """Wait for two frames, so that everything that a click changed is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def choose(page: Page, selector: str) -> None:
    page.locator(selector).click()
    page.mouse.move(2, 2)
    settle(page)


def setting(page: Page, selector: str) -> None:
    """Click something in the menu and close it again."""
    page.locator(".menu-button").click()
    page.locator(f".menu-panel {selector}").click()
    page.keyboard.press("Escape")
    page.mouse.move(2, 2)
    settle(page)


def map_of(maps: AttentionMaps, kind: Kind, layer: int = LAYER, head: int = HEAD) -> npt.NDArray[np.float32]:
    weights: npt.NDArray[np.float32] = maps.weights(kind)[layer, head]
    return weights


def pixels(page: Page) -> tuple[npt.NDArray[np.uint8], dict[str, int]]:
    """The large map's canvas as (height, width, 3) and where its cells lie."""
    answer = page.locator(".map").evaluate(
        """(map) => {
          const [, png] = map.querySelector("canvas").toDataURL("image/png").split(",");
          return { png, place: { ...map.dataset } };
        }"""
    )
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(answer["png"]))).convert("RGB"))
    return image, {name: int(value) for name, value in answer["place"].items()}


def cell_colors(page: Page, queries: int, keys: int) -> npt.NDArray[np.uint8]:
    """(queries, keys, 3): the colour at the centre of each cell."""
    image, place = pixels(page)
    rows = place["top"] + place["cell"] * np.arange(queries) + place["cell"] // 2
    columns = place["left"] + place["cell"] * np.arange(keys) + place["cell"] // 2
    return image[np.ix_(rows, columns)]


def colors(weights: npt.NDArray[np.float32], theme: Theme) -> npt.NDArray[np.uint8]:
    """The colours that these weights should have, after their way through uint16."""
    quantised = np.rint(weights.astype(np.float64) * 65535)
    found: npt.NDArray[np.uint8] = scale(theme)[np.floor(quantised / 65535 * 255 + 0.5).astype(int)]
    return found


def read_table(page: Page) -> tuple[list[str], list[str], list[list[str]]]:
    """Column heads, row heads and cells of the open table."""
    answer: list[Any] = page.locator(".table table").evaluate(
        """(table) => {
          const texts = (nodes) => Array.from(nodes, (node) => node.textContent);
          const rows = Array.from(table.tBodies[0].rows);
          return [texts(table.tHead.rows[0].cells).slice(1), rows.map((row) => row.cells[0].textContent),
                  rows.map((row) => texts(row.cells).slice(1))];
        }"""
    )
    return answer[0], answer[1], answer[2]


def numbers(cells: list[list[str]]) -> npt.NDArray[np.float64]:
    """Cells as numbers; a masked cell counts as 0."""
    return np.array([[0.0 if cell == "–" else float(cell) for cell in row] for row in cells])


def shown(token: str) -> str:
    return token.replace(WORD_BOUNDARY, "")


def painting(page: Page) -> float:
    """Milliseconds that it takes to paint all tiles; they are painted anew for that."""
    page.evaluate("window.dispatchEvent(new Event('resize'))")
    settle(page)
    milliseconds: float = page.evaluate("performance.getEntriesByName('explorer tiles').at(-1).duration")
    return milliseconds


def reported(page: Page) -> dict[str, Any]:
    """The selection as Python knows it."""
    answer: dict[str, Any] = json.loads(page.locator("[data-testid=stMarkdown] p", has_text="kind").inner_text())
    return answer
