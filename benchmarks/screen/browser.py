"""Chromium, and a Streamlit script on a free port, for benchmarks in a browser."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.chromium import executable

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "viz_app" / "main.py"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def chromium() -> str:
    """Return the browser of the browser tests."""
    path = executable()
    if path is None:
        raise SystemExit("no Chromium: install it, or name it in HEADLIGHT_CHROMIUM")
    return path


@contextmanager
def serving(script: Path) -> Iterator[str]:
    """Run a Streamlit script on a free port; yield its address once it answers."""
    with server(script) as (address, _):
        yield address


@contextmanager
def server(script: Path, root: Path = ROOT) -> Iterator[tuple[str, int]]:
    """Run a Streamlit script from the folder `root`; yield address and process once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    process = subprocess.Popen(
        [*command, "--server.headless=true", "--server.address=127.0.0.1", "--browser.gatherUsageStats=false"],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(address)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(timeout=20)


@contextmanager
def browsing() -> Iterator[Browser]:
    """Chromium with software rendering."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


def wait_until_up(address: str) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the app did not start within two minutes")
