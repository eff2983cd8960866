"""Controls of a figure's style.

The figures package decides which controls there are: see `viz_app.figures.style_support`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import streamlit as st

from viz_app.figure_editor.figure_spec import DPIS, PARTS, FigureSpec
from viz_app.figures import PRESETS, SCALES, Style
from viz_app.figures.colours.palette import THEMES
from viz_app.figures.model.style import MAPPINGS, ROTATIONS, Rotation
from viz_app.figures.option import Real, declared
from viz_app.text import LANGUAGE_NAMES, LANGUAGES, Texts
from viz_app.ui.figures.widgets import Widgets

OWN_SIZE = "own"
_START = (0.0, 0.5)  # a range of one's own, at first


class StyleControls:
    """Controls of a style.

    Args:
        t: Labels in the visitor's language.
        used: The fields of `Style` that the figure supports; the others stay unchanged.
    """

    def __init__(self, t: Texts, used: Collection[str]) -> None:
        self.t, self.used, self.widgets = t, used, Widgets(t)

    def draw(self, style: Style) -> Style:
        """Draw size, type, colours and the parts around the panels."""
        t, widgets = self.t, self.widgets
        now = style.preset or (OWN_SIZE if style.width_mm is not None else "")
        size = widgets.list("size", ("", *PRESETS, OWN_SIZE), now, self._size_name)
        changes: dict[str, Any] = {"preset": "" if size == OWN_SIZE else size, "width_mm": None, "height_mm": None}
        if size == OWN_SIZE:
            left, right = st.columns(2)
            with left:
                changes["width_mm"] = self._number("width_mm", style.width_mm or 120.0, 5.0)
            with right:
                changes["height_mm"] = self._number("height_mm", style.height_mm, 5.0)
        places = iter(st.columns(2))
        if "scale" in self.used:
            with next(places):
                changes["scale"] = widgets.list(
                    "scale", SCALES, style.scale, lambda name: t(f"figures_page.scale_{name}")
                )
        with next(places):
            changes["font_pt"] = self._number("font_pt", style.font_pt, 0.5)
        offered = [part for part in PARTS if part in self.used]
        parts = st.pills(
            t("figures_page.parts"),
            offered,
            selection_mode="multi",
            default=[part for part in offered if getattr(style, part)],
            format_func=lambda part: t(f"figures_page.part_{part}"),
            key=widgets.key("-".join(["parts", *offered])),
        )
        changes |= {part: part in parts for part in offered}
        return replace(style, **changes)

    def more(self, spec: FigureSpec) -> FigureSpec:
        """Draw rarely used settings: range and mapping of the colours, labels, background, language, resolution."""
        t, widgets, style = self.t, self.widgets, spec.style
        changes: dict[str, Any] = {}
        if "value_range" in self.used:
            changes["value_range"] = self._range(style.value_range)
        if "mapping" in self.used:
            now = style.mapping
            changes["mapping"] = widgets.row("mapping", MAPPINGS, now, lambda name: t(f"figures_page.mapping_{name}"))
        if "rotation" in self.used:
            changes["rotation"] = widgets.row("rotation", ROTATIONS, style.rotation, self._angle)
        theme = widgets.row("theme", THEMES, style.theme or "light", lambda name: t(f"figures_page.theme_{name}"))
        changes["theme"] = None if theme == "light" else theme
        changes["outlines"] = widgets.switch("outlines", style.outlines)
        language = widgets.row("language", LANGUAGES, spec.language or t.language, LANGUAGE_NAMES.__getitem__)
        dpi = widgets.row("dpi", DPIS, spec.dpi, str)
        language = None if language == t.language else language
        return replace(spec, style=replace(style, **changes), language=language, dpi=dpi)

    def _number(self, name: str, now: float | None, step: float) -> float | None:
        """Return a field of the style, within its bounds."""
        each = declared(Style)[name]
        assert isinstance(each.form, Real), name
        return self.widgets.number(each.in_address, now, float(each.form.low), float(each.form.high), step)

    def _range(self, value: Any) -> Any:
        """Return the ends of the colour scale."""
        t = self.t
        choices = (None, "shared", OWN_SIZE)
        now = OWN_SIZE if isinstance(value, tuple) else value if value in choices else None
        choice = self.widgets.list("range", choices, now, lambda name: t(f"figures_page.range_{name or 'unit'}"))
        if choice != OWN_SIZE:
            return choice
        ends = self._ends(value if isinstance(value, tuple) else None)
        return ends if ends[0] < ends[1] else value

    def _ends(self, now: tuple[float, float] | None) -> tuple[float, float]:
        low, high = (min(max(end, 0.0), 1.0) for end in now or _START)
        low, high = (low, high) if low < high else _START  # an address may tell a range without any weight
        label, key = self.t("figures_page.range_ends"), self.widgets.key("ends")
        ends: tuple[float, float] = st.slider(label, 0.0, 1.0, (low, high), 0.05, key=key)
        return ends

    def _angle(self, rotation: Rotation) -> str:
        return self.t("figures_page.auto") if rotation == "auto" else f"{rotation}°"

    def _size_name(self, name: str) -> str:
        key = name.replace("-", "_") or "auto"
        return self.t(f"figures_page.size_{key}")
