"""State of a stage: the scene and the settings of its controls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

Setting = float | str | bool

MAX_SETTINGS = 12
MAX_LETTERS = 256  # of a set of heads: a letter and five heads in each of the others
_NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")
_MAX_ADDRESS = MAX_SETTINGS * (18 + 12 * MAX_LETTERS)  # a letter takes at most four bytes, a byte three characters
_VALUE = re.compile(r"(?:[\w.+~-]|%[0-9A-F]{2})+", re.ASCII)
_LARGEST = 1e9


@dataclass(frozen=True)
class LessonState:
    """Scene and settings in a lesson.

    Args:
        scene: Name of the scene; "" for the first one.
        settings: Of this scene's controls, by name: numbers, choices, switches. The stage ignores unknown ones and
            brings numbers into their range.
    """

    scene: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @classmethod
    def from_report(cls, report: object) -> LessonState | None:
        """Read a report of the browser; None for an invalid one."""
        if not isinstance(report, Mapping):
            return None
        scene, settings = report.get("scene", ""), report.get("settings", {})
        if not isinstance(scene, str) or not isinstance(settings, Mapping) or not (_NAME.fullmatch(scene) or not scene):
            return None
        return cls(scene, valid_settings(settings))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the browser."""
        return {"scene": self.scene, "settings": dict(self.settings)}

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """Return a setting that is a number, brought into its range."""
        value = self.settings.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return default
        return min(max(float(value), low), high)

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return a setting that is one of several words; an address holds digits as a number, "on" as a switch."""
        value = self.settings.get(name, default)
        text = value if isinstance(value, str) else _format_value(value)
        return text if text in allowed else default


def valid_settings(settings: Mapping[Any, Any]) -> dict[str, Setting]:
    """Keep the valid settings: short names, finite numbers, short texts, switches."""
    valid: dict[str, Setting] = {}
    for name, value in settings.items():
        if len(valid) == MAX_SETTINGS or not isinstance(name, str) or not _NAME.fullmatch(name):
            continue
        short = isinstance(value, str) and len(value) <= MAX_LETTERS
        if short or (isinstance(value, (int, float)) and abs(value) <= _LARGEST):  # neither NaN nor infinite
            valid[name] = value
    return valid


def settings_to_param(settings: Mapping[str, Setting]) -> str | None:
    """Write settings as one parameter of the address, "at:5,mask:on,text:Guten%20Tag"."""
    formatted = {
        name: _quoted(value) if isinstance(value, str) else _format_value(value)
        for name, value in sorted(settings.items())
    }
    return ",".join(f"{name}:{text}" for name, text in formatted.items() if text) or None


def _format_value(value: Setting) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else f"{value:g}"


def _quoted(text: str) -> str:
    """Percent-encode a text; where it would read as a number or a switch, its first character too."""
    quoted = quote(text, safe="+", errors="replace")
    return quoted if "%" in quoted or isinstance(_parse_value(quoted), str) else f"%{ord(text[0]):02X}{quoted[1:]}"


def settings_from_param(text: str) -> dict[str, Setting]:
    """Read the valid settings from a parameter of the address."""
    parts = (part.partition(":") for part in text[:_MAX_ADDRESS].split(","))
    return valid_settings({name: _parse_value(value) for name, _, value in parts if _VALUE.fullmatch(value)})


def _parse_value(text: str) -> Setting:
    """Parse a switch, a number, or a text; with an encoded character it is always a text."""
    if "%" in text:
        return unquote(text, errors="replace")
    if text in ("on", "off"):
        return text == "on"
    try:
        return float(text)
    except ValueError:
        return text
