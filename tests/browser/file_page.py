"""A component in a page of the disk: no server, opened in a moment; what it reports is answered by the test."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.rest import rest
from viz_app.components.html_document import theme_style
from viz_app.components.modules import self_starting

if TYPE_CHECKING:
    from playwright.sync_api import Page

Answer = Callable[[str, Any], bytes | None]
"""From the name and the value of a report to the data that a page would send then; None for the same as before."""

STYLE = """
body { margin: 0; }
main { padding: 1rem; font: 16px / 1.5 var(--st-font); }
main { color: var(--st-text-color); background: var(--st-background-color); }
::-webkit-scrollbar { width: 6px; height: 6px; } /* as in the app */
"""
FONTS = {"Pretendard": "PretendardVariable.woff2", "STIX Two Math": "STIXTwoMath.woff2"}  # of the app
FONT_FOLDER = Path(__file__).parents[2] / "viz_app" / "static" / "fonts"
# What the component has reported last stands below it.
HOST = """
let last = [];
globalThis.show = (name, text) => {
    last = [name, text];
    const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const place = document.querySelector("#place");
    if (!place.shadowRoot)
        place.attachShadow({ mode: "open" }).innerHTML = `<div class="${name.split(".")[0]}"></div>`;
    const setStateValue = async (what, value) => {
        if (["selection", "state"].includes(what))
            document.querySelector("#reported").textContent = JSON.stringify(value, null, 1);
        const answer = await globalThis.answer(what, value);
        if (answer) show(name, answer);
    };
    const mounted = { data, parentElement: place.shadowRoot, setStateValue, setTriggerValue() {} };
    globalThis[Symbol.for(`headlight.${name}`)](mounted);
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => last.length && show(...last));
"""


class FilePage:
    """Opens components one after the other.

    Args:
        page: Stays open.
        folder: For its documents.
    """

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self._folder = page, folder
        self._answer: Answer | None = None
        page.expose_function("answer", self._answered)

    def open(self, name: str, code: str, data: bytes, answer: Answer | None = None) -> None:
        """Show data in a new document.

        Args:
            name: Of the component, as `mountWith` knows it.
            code: Joined modules whose default export provides it.
            data: What it shows at first.
            answer: Answers its reports; None sends nothing more.
        """
        self._answer = answer
        document = self._folder / f"{name}.html"
        if not document.exists():
            document.write_text(_document(code), encoding="utf-8")
        self.page.goto(document.as_uri())
        show(self.page, name, data)
        self.page.locator(f".{name.partition('.')[0]} > *").first.wait_for()
        rest(self.page)

    def _answered(self, name: str, value: Any) -> str | None:
        data = self._answer(name, value) if self._answer else None
        return None if data is None else base64.b64encode(data).decode()


def show(page: Page, name: str, data: bytes) -> None:
    """Hand the component new data, as a run of the app does."""
    page.evaluate("([name, text]) => show(name, text)", [name, base64.b64encode(data).decode()])


@cache
def _fonts() -> str:
    """Return the app's fonts as rules; a page of the disk may load no files."""
    return "".join(
        f'@font-face {{ font-family: "{name}"; font-weight: 45 920; src: url(data:font/woff2;base64,'
        f"{base64.b64encode((FONT_FOLDER / file).read_bytes()).decode()}); }}\n"
        for name, file in FONTS.items()
    )


def _document(code: str) -> str:
    script = self_starting(code).replace("</script", "<\\/script")
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Headlight</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{theme_style()}{_fonts()}{STYLE}</style>"
        '<main class="stApp" data-testid="stMain"><h1 hidden>Headlight</h1>'
        '<div id="place"></div><p id="reported"></p></main>'
        f'<script type="module">{script}</script><script>{HOST}</script></html>'
    )
