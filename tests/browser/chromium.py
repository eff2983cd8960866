"""The Chromium that the tests drive: which one, and one for many tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",  # the shell alone would move letters to whole pixels, which the pictures show
]
# Debian's shell without a window system starts and draws quicker than the whole browser, which it comes from.
PLACES = ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Where macOS and Windows keep their browsers, which are not on the path there.
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)


def executable() -> str | None:
    """The Chromium of this machine, or the one that HEADLIGHT_CHROMIUM names; None without any."""
    result = (shutil.which(name) for name in NAMES)
    candidates = (os.environ.get("HEADLIGHT_CHROMIUM"), *PLACES, *result, *ELSEWHERE)
    return next((candidate for candidate in candidates if candidate and Path(candidate).exists()), None)


class Chromium:
    """One headless Chromium, started when a test first needs it.

    While Playwright runs, no other test of this process can use asyncio; so it is closed before such a test.
    """

    def __init__(self) -> None:
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._profiles: dict[str, BrowserContext] = {}

    def get(self, path: str) -> Browser:
        """The running browser, or a new one where it has crashed."""
        from playwright.sync_api import sync_playwright

        if self._browser is not None and not self._browser.is_connected():
            self.close()
        if self._browser is None:
            self._playwright = sync_playwright().start()
            self._browser = self._playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        return self._browser

    def profile(self, path: str, locale: str, prepare: Callable[[BrowserContext], None]) -> BrowserContext:
        """The profile of all pages in a locale: the second page has Streamlit in its cache. A new one is prepared."""
        browser = self.get(path)
        if locale not in self._profiles:
            self._profiles[locale] = browser.new_context(locale=locale)
            prepare(self._profiles[locale])
        return self._profiles[locale]

    def close(self) -> None:
        """End the browser and Playwright, if they run."""
        browser, playwright = self._browser, self._playwright
        self._browser = self._playwright = None
        self._profiles.clear()
        if browser is not None:
            browser.close()
        if playwright is not None:
            playwright.stop()
