"""Settings of the server from environment variables."""

from __future__ import annotations

import os
import re

from viz_app.serving.server_address import MODEL_SERVER_SETTING, parse_address

TEACHER_KEY_SETTING = "HEADLIGHT_TEACHER_KEY"
MIN_TEACHER_KEY = 8  # characters
SITE_SETTING = "HEADLIGHT_SITE"
FRAME_SETTING = "HEADLIGHT_FRAME_ANCESTORS"
METRICS_SETTING = "HEADLIGHT_METRICS_PORT"


class SettingError(ValueError):
    """An environment variable has an unusable value."""


def check_settings() -> None:
    """Raise SettingError for an unusable value, before a server starts that could only show it on its pages."""
    teacher_key(), site_address(), frame_ancestors(), model_server()
    for name in ("HEADLIGHT_THREADS", "HEADLIGHT_WORKERS", "HEADLIGHT_SLOTS", METRICS_SETTING):
        if (name, os.environ.get(name, "").strip()) != ("HEADLIGHT_WORKERS", "0"):  # none
            positive_setting(name, 1)


def positive_setting(name: str, default: int) -> int:
    """Return a whole number from the environment. Raises SettingError for anything but 1, 2, 3, ..."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise SettingError(f"{name} is {text!r}, but must be a positive whole number")
    return int(text)


def model_server() -> tuple[str, int] | None:
    """Return host and port of the server that decodes; None if this one does. Raises SettingError."""
    text = os.environ.get(MODEL_SERVER_SETTING, "").strip()
    try:
        return parse_address(text) if text else None
    except ValueError as error:
        raise SettingError(f"{MODEL_SERVER_SETTING} is {text!r}, but must be {error}") from None


def teacher_key() -> str:
    """Return the key that opens a class from another computer; "" if none is needed. Raises SettingError."""
    key = os.environ.get(TEACHER_KEY_SETTING, "").strip()
    if 0 < len(key) < MIN_TEACHER_KEY:
        raise SettingError(f"{TEACHER_KEY_SETTING} has {len(key)} characters, but must have at least {MIN_TEACHER_KEY}")
    return key


def site_address() -> str:
    """Return the address of the site that students may open instead of the app; "" for none. Raises SettingError."""
    address = os.environ.get(SITE_SETTING, "").strip()
    if address and not re.fullmatch(r"https?://[!-~]{1,500}", address):
        raise SettingError(f"{SITE_SETTING} is {address[:80]!r}, but must be an address, https://...")
    return address


def frame_ancestors() -> list[str]:
    """Return the addresses of other sites that may show the app in a frame. Raises SettingError."""
    addresses = os.environ.get(FRAME_SETTING, "").split()
    for each in addresses:
        # A browser would drop or misread anything else in the policy without a word.
        if not re.fullmatch(r"https?://(\*\.)?[a-zA-Z0-9.-]+(:[0-9]+)?", each):
            form = "addresses such as https://moodle.example.org, with blanks between them"
            raise SettingError(f"{FRAME_SETTING} has {each[:80]!r}, but must have {form}")
    return addresses
