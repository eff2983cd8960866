"""What the stage of a lesson reports: the scene, and how its controls stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Setting = float | str | bool

MOST_SETTINGS = 12
MOST_LETTERS = 200
_NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")
_PLAIN = re.compile(r"[\w.+-]{1,40}", re.ASCII)
_LARGEST = 1e9


@dataclass(frozen=True)
class LessonState:
    """Where somebody stands in a lesson.

    Args:
        scene: Name of the scene; "" for the first one.
        settings: Controls of this scene by name: numbers, choices, switches. What the stage does not know it leaves
            out of account, and it brings numbers into their range.
    """

    scene: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @classmethod
    def from_report(cls, report: object) -> LessonState | None:
        """What the browser says; None when it says nothing that makes sense."""
        if not isinstance(report, Mapping):
            return None
        scene, settings = report.get("scene", ""), report.get("settings", {})
        if not isinstance(scene, str) or not isinstance(settings, Mapping) or not (_NAME.fullmatch(scene) or not scene):
            return None
        return cls(scene, clean(settings))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the browser."""
        return {"scene": self.scene, "settings": dict(self.settings)}

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A setting that is a number, brought into its range."""
        value = self.settings.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return default
        return min(max(float(value), low), high)

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """A setting that is one of several words; an address makes a number of a word such as "512"."""
        value = self.settings.get(name, default)
        value = value if isinstance(value, bool) else _told(value)
        return value if isinstance(value, str) and value in allowed else default


def clean(settings: Mapping[Any, Any]) -> dict[str, Setting]:
    """The settings that make sense: short names, finite numbers, short texts, switches."""
    kept: dict[str, Setting] = {}
    for name, value in settings.items():
        if len(kept) == MOST_SETTINGS or not isinstance(name, str) or not _NAME.fullmatch(name):
            continue
        short = isinstance(value, str) and len(value) <= MOST_LETTERS
        if short or (isinstance(value, (int, float)) and abs(value) <= _LARGEST):  # neither NaN nor infinite
            kept[name] = value
    return kept


def to_address(settings: Mapping[str, Setting]) -> str | None:
    """Settings as one parameter of the address, "at:5,mask:on"; texts that hold other characters are left out."""
    told = {name: _told(value) for name, value in sorted(settings.items())}
    return ",".join(f"{name}:{text}" for name, text in told.items() if _PLAIN.fullmatch(text)) or None


def _told(value: Setting) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else f"{value:g}"


def from_address(text: str) -> dict[str, Setting]:
    """The settings that a parameter of the address holds; what makes no sense is left out."""
    settings: dict[str, Any] = {}
    for part in text[: MOST_LETTERS * 4].split(","):
        name, _, value = part.partition(":")
        if value in ("on", "off"):
            settings[name] = value == "on"
        elif value:
            try:
                settings[name] = float(value)
            except ValueError:
                settings[name] = value
    return clean(settings)
