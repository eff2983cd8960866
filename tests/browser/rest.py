"""Waiting until a page has come to rest, or shows what it should; and measuring while others use the machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

# A test goes on as soon as it sees what it waits for; where many start at once on a small machine that may take long.
PAGE_MILLISECONDS = 120_000 if os.environ.get("CI", "").lower() == "true" else 40_000

# Streamlit has run the script to its end, nothing that it replaced is left, and no fade or slide is going on, for so
# many frames in a row: between a change and the fade that it sets off lies a frame.
FRAMES = 4
AT_REST = """(frames) => new Promise((done) => {
    const roots = (node) => [node, ...Array.from(node.querySelectorAll("*"))
        .flatMap((each) => each.shadowRoot ? roots(each.shadowRoot) : [])];
    const moves = (animation) => animation.playState === "running"
        && animation.timeline instanceof DocumentTimeline  // others follow scrolling
        && animation.effect?.getComputedTiming().endTime !== Infinity;  // a spinner turns for ever
    const restful = () => {
        const app = document.querySelector("[data-testid=stApp]");
        const isStreamlit = document.getElementById("root") !== null;
        return (!isStreamlit || app?.dataset.testScriptState === "notRunning")
            && document.fonts.status === "loaded"
            && !document.querySelector("[data-stale=true], [data-testid=stSkeleton]")
            && !roots(document).some((root) => root.getAnimations().some(moves));
    };
    let quiet = 0;
    const look = () => {
        quiet = restful() ? quiet + 1 : 0;
        if (quiet >= frames) done(true);
        else if (quiet) requestAnimationFrame(look);
        else setTimeout(look, 30);  // looking at all of a page in each frame would slow down what it waits for
    };
    look();
})"""


def wait_until_idle(page: Page) -> None:
    """Wait until Streamlit has run the script to its end."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(state="attached")


def rest(page: Page) -> None:
    """Wait until nothing runs, fades or slides any more."""
    page.wait_for_function(AT_REST, arg=FRAMES)


# Nothing of the page has changed, in its light or in a shadow root, for so long; a scene that follows something at the
# server changes for ever, so there is a longest time.
SETTLED_MILLISECONDS = 500
LONGEST_MILLISECONDS = 5_000
SETTLED = """([milliseconds, longest]) => new Promise((done) => {
    const start = performance.now();
    const roots = (node) => [node, ...Array.from(node.querySelectorAll("*"))
        .flatMap((each) => each.shadowRoot ? roots(each.shadowRoot) : [])];
    let changed = start;
    const changes = new MutationObserver(() => { changed = performance.now(); });
    const watched = new Set();
    const look = () => {
        for (const root of roots(document)) {
            if (watched.has(root)) continue;
            watched.add(root);
            changes.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
            changed = performance.now();
        }
        const now = performance.now();
        if (now - changed >= milliseconds || now - start >= longest) {
            changes.disconnect();
            done(true);
        } else setTimeout(look, 50);
    };
    look();
})"""


def settled(page: Page) -> None:
    """Wait until the page is at rest and no element, attribute or text of it has changed for half a second."""
    rest(page)
    page.wait_for_function(SETTLED, arg=[SETTLED_MILLISECONDS, LONGEST_MILLISECONDS])
    rest(page)


def until(page: Page, holds: Callable[[], bool], milliseconds: float = PAGE_MILLISECONDS) -> bool:
    """Whether something holds, as soon as it does, or when the time is over."""
    end = time.monotonic() + milliseconds / 1000
    while not (result := holds()) and time.monotonic() < end:
        page.wait_for_timeout(50)
    return result


def wait_for_value(field: Locator, text: str) -> None:
    """Wait until a field shows this text: Streamlit draws the fields of a new page empty, and fills them then."""
    from playwright.sync_api import expect

    expect(field).to_have_value(text, timeout=PAGE_MILLISECONDS)


def steady(canvas: Locator) -> str:
    """The picture of a canvas (a data URL) as soon as it stays the same for some frames: fades have ended."""
    picture: str = canvas.evaluate(
        """(canvas, frames) => new Promise((done) => {
            let last = "", same = 0;
            const look = () => {
                const now = canvas.toDataURL();
                same = now === last ? same + 1 : 0;
                last = now;
                if (same >= frames) done(now);
                else requestAnimationFrame(look);
            };
            look();
        })""",
        FRAMES,
    )
    return picture


def quickest(measure: Callable[[], float], limit: float, tries: int = 10) -> float:
    """The shortest of several times, or the first below a limit: how long it takes, not how busy the machine is."""
    shortest = measure()
    for _ in range(tries - 1):
        if shortest < limit:
            break
        shortest = min(shortest, measure())
    return shortest
