"""The controls of the page Figures: a draft in, what the visitor has made of it out.

Streamlit forgets a widget that is not on the page, and the page is long and its controls come and go; so the draft, not
the widgets, holds the state: each widget starts at the draft's value and is read back into a new draft.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import streamlit as st

from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from viz_app.components.explorer import UNITS
from viz_app.figures import PRESETS, SCALES, VIEWS, Style
from viz_app.figures.spec import shown
from viz_app.figures.style import MAPPINGS, ROTATIONS, Rotation
from viz_app.services.compare import checkpoints, model_name
from viz_app.services.draft import DPIS, PARTS, Draft
from viz_app.text import LANGUAGE_NAMES, LANGUAGES, Texts

OWN_SIZE = "own"
_WITHOUT_SCALE = ("lines", "beam")  # views without maps of weights
_LABEL = 16  # characters of a token in a list


class Controls:
    """Draws the controls.

    Args:
        t: Labels in the visitor's language.
        maps: All maps of the translation, by pieces.
    """

    def __init__(self, t: Texts, maps: AttentionMaps) -> None:
        self.t, self.maps = t, maps

    def draw(self, draft: Draft) -> Draft:
        """The draft as the visitor has changed it."""
        t = self.t
        view = self._list("view", tuple(VIEWS), draft.view, lambda name: t(f"studio.view_{name}"))
        draft = replace(draft, view=view)
        draft = self._place(draft)
        if view == "lines":
            draft = self._lines(draft)
        elif view == "steps":
            draft = replace(draft, steps=self._steps(draft))
        elif view == "compare":
            draft = self._compared(draft)
        draft = replace(draft, style=self._look(draft.style, view not in _WITHOUT_SCALE))
        with st.expander(t("studio.more"), key=self._key("more")):
            return self._more(draft)

    def _place(self, draft: Draft) -> Draft:
        """Where in the model."""
        t, chosen, needs = self.t, draft.selection, VIEWS[draft.view].parameters
        changes: dict[str, Any] = {}
        if "kind" in needs:
            changes["kind"] = self._row("kind", KINDS, chosen.kind, lambda kind: t(f"studio.kind_{kind}"))
        kind = changes.get("kind", chosen.kind)
        if "layer" in needs:
            layers = range(self.maps.layers(kind))
            changes["layer"] = self._number_of("layer", layers, min(chosen.layer, layers[-1]))
        if "head" in needs and draft.view != "lines":
            heads = range(self.maps.heads(kind))
            changes["head"] = self._number_of("head", heads, min(chosen.head, heads[-1]))
        if "unit" in needs:
            changes["unit"] = self._row("unit", UNITS, chosen.unit, lambda unit: t(f"explorer.unit_{unit}"))
        return replace(draft, selection=replace(chosen, **changes)).fitted(self.maps)

    def _lines(self, draft: Draft) -> Draft:
        """Which heads, and whether of one token only."""
        t, heads = self.t, range(self.maps.heads(draft.selection.kind))
        wanted = st.pills(
            t("studio.heads"),
            heads,
            selection_mode="multi",
            default=draft.heads or (draft.selection.head,),
            format_func=_from_one,
            key=self._key("heads"),
        )
        chosen = tuple(sorted(wanted)) or (draft.selection.head,)
        tokens = draft.queries(self.maps)
        rows = (None, *range(len(tokens)))
        query = self._list(
            "query",
            rows,
            draft.query if draft.query in rows else None,
            lambda row: _token(tokens, row, t("studio.all")),
        )
        heads_again = () if len(chosen) == 1 else chosen
        return replace(draft, heads=heads_again, query=query, selection=replace(draft.selection, head=chosen[0]))

    def _steps(self, draft: Draft) -> tuple[int, ...]:
        """Which steps of the decoding stand side by side."""
        tokens = self.maps.outputs.tokens
        wanted = st.multiselect(
            self.t("studio.steps"),
            range(1, len(tokens) + 1),
            default=draft.steps,
            format_func=lambda step: _token(tokens, step - 1),
            placeholder=self.t("studio.steps_even"),
            max_selections=12,
            key=self._key("steps"),
        )
        return tuple(sorted(wanted))

    def _compared(self, draft: Draft) -> Draft:
        """What the selected head, B, is compared with: A."""
        t, chosen = self.t, draft.selection
        kind: Kind
        kind, layer, head = cast(Any, chosen.against or "cross.0.0").split(".")
        with st.container(border=True, key="studio-against"):
            st.markdown(f"**{t('studio.against')}**")
            kind = self._list("against_kind", KINDS, kind, lambda name: t(f"studio.kind_{name}"))
            layers, heads = range(self.maps.layers(kind)), range(self.maps.heads(kind))
            place = [
                self._number_of(f"against_{name}", places, min(int(now), places[-1]))
                for name, places, now in (("layer", layers, layer), ("head", heads, head))
            ]
            sentence = st.text_input(
                t("studio.against_sentence"),
                value=chosen.vs or "",
                placeholder=t("studio.against_same"),
                max_chars=500,
                key=self._key("vs"),
                autocomplete="off",
            )
            vs = " ".join((sentence or "").split()) or None
            model = chosen.vsmodel
            others = list(checkpoints())
            if others:
                names = [None, *others]
                now = model if model in names else None
                model = self._list("vsmodel", names, now, lambda name: name or model_name())
            branch = chosen.vsbranch if vs == chosen.vs and model == chosen.vsmodel else 0
            aligned = draft.aligned
            if vs or model:
                aligned = st.checkbox(t("studio.aligned"), value=aligned, key=self._key("aligned"))
        head_a = f"{kind}.{place[0]}.{place[1]}"
        place_b = replace(chosen, against=head_a, vs=vs, vsmodel=model, vsbranch=branch)
        return replace(draft, selection=place_b, aligned=aligned)

    def _look(self, style: Style, scaled: bool) -> Style:
        """Size, type, colours and what stands around the panels."""
        t = self.t
        now = style.preset or (OWN_SIZE if style.width_mm is not None else "")
        size = self._list("size", ("", *PRESETS, OWN_SIZE), now, self._size_name)
        changes: dict[str, Any] = {"preset": "" if size == OWN_SIZE else size, "width_mm": None, "height_mm": None}
        if size == OWN_SIZE:
            left, right = st.columns(2)
            with left:
                changes["width_mm"] = self._number("width", style.width_mm or 120.0, 20.0, 2000.0, 5.0)
            with right:
                changes["height_mm"] = self._number("height", style.height_mm, 15.0, 2000.0, 5.0)
        places = iter(st.columns(2))
        if scaled:
            with next(places):
                changes["scale"] = self._list("scale", SCALES, style.scale, lambda name: t(f"studio.scale_{name}"))
        with next(places):
            changes["font_pt"] = self._number("font", style.font_pt, 3.0, 48.0, 0.5)
        parts = st.pills(
            t("studio.parts"),
            PARTS,
            selection_mode="multi",
            default=[part for part in PARTS if getattr(style, part)],
            format_func=lambda part: t(f"studio.part_{part}"),
            key=self._key("parts"),
        )
        changes |= {part: part in parts for part in PARTS}
        return replace(style, **changes)

    def _angle(self, rotation: Rotation) -> str:
        return self.t("studio.auto") if rotation == "auto" else f"{rotation}°"

    def _size_name(self, name: str) -> str:
        key = name.replace("-", "_") or "auto"
        return self.t(f"studio.size_{key}")

    def _more(self, draft: Draft) -> Draft:
        """What is seldom needed."""
        t, style, chosen, needs = self.t, draft.style, draft.selection, VIEWS[draft.view].parameters
        changes: dict[str, Any] = {}
        if draft.view != "beam":
            changes["value_range"] = self._range(style.value_range)
            changes["mapping"] = self._row("mapping", MAPPINGS, style.mapping, lambda name: t(f"studio.mapping_{name}"))
        if draft.view not in _WITHOUT_SCALE:
            changes["rotation"] = self._row("rotation", ROTATIONS, style.rotation, self._angle)
        theme = self._row("theme", ("light", "dark"), style.theme or "light", lambda name: t(f"studio.theme_{name}"))
        changes["theme"] = None if theme == "light" else theme
        language = self._row("language", LANGUAGES, draft.language or t.language, LANGUAGE_NAMES.__getitem__)
        dpi = self._row("dpi", DPIS, draft.dpi, str)
        if "step" in needs:
            tokens = self.maps.outputs.tokens
            rows = (None, *range(1, len(tokens)))
            step = self._list(
                "step",
                rows,
                chosen.step if chosen.step in rows else None,
                lambda row: _token(tokens, None if row is None else row - 1, t("studio.all_steps")),
            )
            chosen = replace(chosen, step=step)
        pruned = draft.pruned
        if "pruned" in needs:
            pruned = st.checkbox(t("studio.pruned"), value=pruned, key=self._key("pruned"))
        return replace(
            draft,
            style=replace(style, **changes),
            selection=chosen,
            language=None if language == t.language else language,
            dpi=dpi,
            pruned=pruned,
        ).fitted(self.maps)

    def _range(self, value: Any) -> Any:
        """The ends of the colour scale."""
        t = self.t
        now = value if value is None or value == "shared" else OWN_SIZE
        chosen = self._list("range", (None, "shared", OWN_SIZE), now, lambda name: t(f"studio.range_{name or 'unit'}"))
        if chosen != OWN_SIZE:
            return chosen
        ends = st.slider(
            t("studio.range_ends"), 0.0, 1.0, value if now == OWN_SIZE else (0.0, 0.5), 0.05, key=self._key("ends")
        )
        return ends if ends[0] < ends[1] else value

    def _list(self, name: str, options: Sequence[Any], now: Any, told: Callable[[Any], str]) -> Any:
        """A list to choose one of."""
        index = list(options).index(now)
        return st.selectbox(self.t(f"studio.{name}"), list(options), index=index, format_func=told, key=self._key(name))

    def _row(self, name: str, options: Sequence[Any], now: Any, told: Callable[[Any], str]) -> Any:
        """A row of buttons to choose one of."""
        label, key = self.t(f"studio.{name}"), self._key(name)
        return st.segmented_control(label, list(options), default=now, format_func=told, key=key, required=True)

    def _number_of(self, name: str, numbers: Sequence[int], now: int) -> int:
        """A layer or head, counted from 1 on the screen."""
        label, key = self.t(f"studio.{name}"), self._key(name)
        return st.pills(label, list(numbers), default=now, format_func=_from_one, key=key, required=True)

    def _number(self, name: str, now: float | None, low: float, high: float, step: float) -> float | None:
        """A number, or none where none is needed."""
        return st.number_input(
            self.t(f"studio.{name}"),
            low,
            high,
            now,
            step,
            format="%.1f",
            placeholder=self.t("studio.auto"),
            key=self._key(name),
        )

    def _key(self, name: str) -> str:
        # In another language it is another widget, which starts at the draft's value.
        return f"studio-{self.t.language}-{name}"


def _from_one(number: int) -> str:
    return str(number + 1)


def _token(tokens: Sequence[str], row: int | None, otherwise: str = "") -> str:
    """A token with its number, so that no two are alike."""
    return otherwise if row is None else f"{row + 1} · {shown(tokens[row], _LABEL)}"
