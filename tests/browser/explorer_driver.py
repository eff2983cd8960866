"""Working the explorer in a browser, and reading what it shows."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from tests.browser import explorer_samples as samples
from transformer_core.attention_maps import WORD_BOUNDARY, AttentionMaps, Kind
from viz_app.figures.colours.palette import Theme, scale
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


ENGLISH = texts("en").table("explorer")
MAPS = samples.sample(*samples.SENTENCE)  # what the page shows at first
LAYER, HEAD = 3, 5  # where it starts

Open = Callable[..., "Page"]

# What is written above the words, whenever it is drawn before the translation is whole.
WATCH_DRAFTS = """(root) => {
  root.drafts = [];
  const { explorer } = root, draw = explorer.renderDraft.bind(explorer);
  explorer.renderDraft = (...all) => {
    draw(...all);
    root.drafts.push([root.ariaBusy, root.querySelector(".sentence bdi").textContent]);
  };
}"""


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


def press(page: Page, selector: str, *keys: str) -> None:
    """Press keys where the focus then is."""
    page.locator(selector).focus()
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def state(page: Page, name: str) -> Any:
    """What the explorer has selected, by its name in store.js."""
    return page.locator(".explorer").evaluate("(root, name) => root.explorer.store.state[name]", name)


def patch(page: Page, **changes: Any) -> None:
    """Select, as an element of the explorer would."""
    page.locator(".explorer").evaluate("(root, changes) => root.explorer.store.set(changes)", changes)
    settle(page)


def nodes(page: Page) -> int:
    """Number of elements in the explorer."""
    answer: int = page.locator(".explorer").evaluate("(root) => root.querySelectorAll('*').length")
    return answer


def announced(page: Page) -> str:
    """What a screen reader was told last of the large map."""
    return page.locator("figure.head > [aria-live]").inner_text()


def selected(page: Page) -> str | None:
    """The head that the tiles show as selected, such as 4.6."""
    return page.locator(".tile[aria-selected=true]").get_attribute("data-head")


def focused(page: Page) -> str:
    """The kind and head of the tile that has the focus."""
    answer: str = page.locator(".explorer").evaluate(
        """(root) => {
          const tile = root.getRootNode().activeElement;
          return `${tile.closest(".block").dataset.kind} ${tile.dataset.head}`;
        }"""
    )
    return answer


def place_of(page: Page, selector: str = ".map") -> dict[str, float]:
    """Where a large map has its cells, or lines their tokens, in pixels."""
    place = page.locator(selector).evaluate("(element) => ({ ...element.dataset, scroll: element.scrollTop })")
    return {name: float(value) for name, value in place.items()}


def pixels(page: Page, selector: str = ".map") -> npt.NDArray[np.uint8]:
    """The canvas of a large map, (height, width, 3)."""
    png = page.locator(f"{selector} >> canvas").evaluate("(canvas) => canvas.toDataURL('image/png').split(',')[1]")
    image: npt.NDArray[np.uint8] = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB"))
    return image


def inside(page: Page, query: int, key: int) -> set[tuple[int, ...]]:
    """The colours that a cell of the large map has, without its edges; a hatched one has several."""
    place = {name: int(value) for name, value in place_of(page).items()}
    top, left, size = place["top"] + query * place["cell"], place["left"] + key * place["cell"], place["cell"]
    inner = pixels(page)[top + 3 : top + size - 3, left + 3 : left + size - 3]
    return {tuple(pixel) for pixel in inner.reshape(-1, 3).tolist()}


def cell_colors(page: Page, queries: int, keys: int, *, selector: str = ".map") -> npt.NDArray[np.uint8]:
    """(queries, keys, 3): the colour at the centre of each cell."""
    place = {name: int(value) for name, value in place_of(page, selector).items()}
    rows = place["top"] + place["cell"] * np.arange(queries) + place["cell"] // 2
    columns = place["left"] + place["cell"] * np.arange(keys) + place["cell"] // 2
    return pixels(page, selector)[np.ix_(rows, columns)]


def allowed(kind: Kind, shape: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Cells that are not masked."""
    return np.tri(*shape, dtype=np.bool_) if kind == "decoder" else np.ones(shape, dtype=np.bool_)


def colors(weights: npt.NDArray[np.float32], theme: Theme) -> npt.NDArray[np.uint8]:
    """The colours that these weights should have, after their way through uint16."""
    quantised = np.rint(weights.astype(np.float64) * 65535)
    result: npt.NDArray[np.uint8] = scale(theme)[np.floor(quantised / 65535 * 255 + 0.5).astype(int)]
    return result


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


def check_table(page: Page, columns: Sequence[str], rows: Sequence[str], weights: npt.NDArray[Any]) -> None:
    """The open table has these tokens at its edges, and these weights, rounded to three digits."""
    heads, names, cells = read_table(page)
    assert (heads, names) == ([shown(token) for token in columns], [shown(token) for token in rows])
    assert np.abs(numbers(cells) - weights).max() <= 0.0005 + 1e-4


def shown(token: str) -> str:
    return token.replace(WORD_BOUNDARY, "")


def painting(page: Page) -> float:
    """Milliseconds that it takes to paint all tiles; they are painted anew for that."""
    page.evaluate("window.dispatchEvent(new Event('resize'))")
    settle(page)
    milliseconds: float = page.evaluate("performance.getEntriesByName('explorer tiles').at(-1).duration")
    return milliseconds


def milliseconds_of(button: Locator) -> float:
    """From a click until what it changes is drawn."""
    milliseconds: float = button.evaluate(
        """async (button) => {
          const start = performance.now();
          button.click();
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          return performance.now() - start;
        }"""
    )
    return milliseconds
