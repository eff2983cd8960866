"""Working a lesson in a browser, and reading what its stage holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.browser.rest import PAGE_MILLISECONDS, until
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

ANSWERED = "lesson.scene.own && !lesson.scene.waits(lesson.settings())"  # a bench of the Lab
# Share of the picture's pixels that are painted.
INK = """({ lesson }) => {
    const { canvas } = lesson.stage;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
    return (4 * count) / data.length;
}"""


class Lesson:
    """A page that shows a lesson, once its stage has painted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root = page.locator(".lesson").first
        self.canvas = self.root.locator(".stage canvas")
        self.readout = self.root.locator(".readout")
        self.rows = page.locator(".numbers tbody tr")
        self.canvas.wait_for()
        self.wait("lesson?.theme && lesson.stage.width > 0")

    def get(self, expression: str) -> Any:
        """The value of an expression in JavaScript, in which `lesson` is the stage's object."""
        return self.root.evaluate(f"({{ lesson }}) => {expression}")

    def wait(self, expression: str) -> None:
        """Wait until an expression holds."""
        assert until(self.page, lambda: bool(self.get(f"!!({expression})"))), f"never: {expression}"

    def wait_for_address(self, part: str) -> None:
        """Wait until the settings in the address have this part."""
        self.page.wait_for_function(
            "(part) => (new URL(location.href).searchParams.get('with') ?? '').includes(part)", arg=part
        )

    def settings(self) -> dict[str, Any]:
        """The settings of the scene that is shown."""
        entry: dict[str, Any] = self.get("lesson.settings()")
        return entry

    def said(self) -> str:
        """The line under the picture."""
        return self.readout.inner_text()

    def go(self, scene: str) -> None:
        """Show a scene."""
        self.get(f"lesson.go({scene!r})")

    def press(self, *keys: str) -> None:
        """Press keys on the picture."""
        self.canvas.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def hit(self, name: str) -> None:
        """Press a named part of the picture; see `hit` in scene.js."""
        self.canvas.click(position=self.get(f"lesson.stage.hit({name!r})"))

    def choose(self, name: str) -> None:
        """Choose one of several by its label."""
        self.page.get_by_role("radio", name=name, exact=True).check(force=True)

    def show_table(self) -> None:
        """Show the numbers, or hide them: an item of the menu Export."""
        self.click(texts("en")("lesson.export"))
        self.click(texts("en")("lesson.table"))

    def click(self, name: str) -> None:
        """Press a button by its label."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def tab(self, title: str) -> None:
        """Show the scene with this title, as a person would."""
        self.page.get_by_role("tab", name=title).click()

    def painted(self, least: float = 0.002) -> None:
        """Wait until so large a share of the picture is not empty: a new size empties it until the next frame."""
        share = 0.0

        def enough() -> bool:
            nonlocal share
            share = float(self.root.evaluate(INK))
            return share > least

        until(self.page, enough, PAGE_MILLISECONDS / 4)
        assert share > least, f"{share:.4f} of {self.get('lesson.name')} is painted"
