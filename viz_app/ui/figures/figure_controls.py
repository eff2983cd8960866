"""Controls of a view of attention on the page Figures: a spec in, the changed spec out.

Streamlit forgets a widget that is not on the page, and the page is long and its controls come and go; so the spec, not
the widgets, holds the state: each widget starts at the spec's value and is read back into a new spec.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from transformer_core.atlas.measures import measures
from transformer_core.atlas.record import Atlas
from transformer_core.attention_maps import KINDS, AttentionMaps
from transformer_core.head import Head, head_named
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figures import VIEWS, View, supported_options
from viz_app.figures.build.atlas import measure_name, most_left, pruned_groups
from viz_app.figures.model.figure import display_label
from viz_app.figures.option import Switch, declared
from viz_app.figures.options import MAX_STEPS, SCORES, UNITS, ViewOptions
from viz_app.serving.models.comparison import other_models
from viz_app.serving.models.registry import display_names
from viz_app.text import Texts
from viz_app.ui.figures.style_controls import StyleControls
from viz_app.ui.figures.widgets import Widgets, one_based

_LABEL = 16  # characters of a token in a list


class FigureControls:
    """Controls of a view.

    Args:
        t: Labels in the visitor's language.
        maps: All maps of the translation, by tokens.
        candidates: The likeliest tokens at each step of it.
        own: Name of the model that wrote it.
        of_parser: Whether that is a parser.
        atlas: Its head atlas; None where it has none.
    """

    def __init__(
        self,
        t: Texts,
        maps: AttentionMaps,
        candidates: Sequence[Sequence[str]],
        own: str,
        *,
        of_parser: bool = False,
        atlas: Atlas | None = None,
    ) -> None:
        self.t, self.maps, self.candidates, self.own, self.widgets = t, maps, candidates, own, Widgets(t)
        self.of_parser, self.atlas = of_parser, atlas

    def draw(self, spec: FigureSpec) -> FigureSpec:
        """Draw the controls and return the spec as the visitor has changed it."""
        t = self.t
        offered = tuple(name for name, view in VIEWS.items() if self._has(view))
        now = spec.view if spec.view in offered else offered[0]
        view = self.widgets.list("view", offered, now, lambda name: t(f"figures_page.view_{name}"))
        spec = replace(spec, view=view).fitted(self.maps)
        spec = self._place(spec)
        if view == "lines":
            spec = self._lines(spec)
        elif view == "steps":
            spec = replace(spec, steps=self._steps(spec))
        elif view == "compare":
            spec = self._compared(spec)
        elif view == "flow":
            spec = self._flow(spec)
        elif self.atlas is not None and VIEWS[view].of_atlas:
            spec = self._of_atlas(spec, self.atlas)
        look = StyleControls(t, supported_options(VIEWS[view].kind))
        spec = replace(spec, style=look.draw(spec.style))
        with st.expander(t("figures_page.more"), key=self.widgets.key("more")):
            return self._more(spec, look)

    def _has(self, view: View) -> bool:
        """Return whether this model has the data of a view."""
        if view.of_atlas is not None:
            return self.atlas is not None and view.of_atlas(self.atlas)
        return self.of_parser or not view.of_parsers

    def _of_atlas(self, spec: FigureSpec, atlas: Atlas) -> FigureSpec:
        """Choose the measure, or the heads to remove and the score."""
        t = self.t
        if spec.view == "grid":
            names = tuple(measure.name for measure in measures(atlas))
            now = spec.measure if spec.measure in names else names[0]
            return replace(spec, measure=self.widgets.list("measure", names, now, lambda name: measure_name(t, name)))
        groups = pruned_groups(atlas)
        now = spec.group if spec.group in groups else groups[0]
        group = self.widgets.row("group", groups, now, lambda name: t(f"atlas.group_{name}"))
        score = self.widgets.row("score", SCORES, spec.score, lambda name: t(f"atlas.score_{name}"))
        count = spec.left
        if count is not None:  # the page Model reads the curves at a place; here they are whole, or read there
            count = min(count, most_left(atlas, group))
        return replace(spec, group=group, score=score, left=count)

    def _place(self, spec: FigureSpec) -> FigureSpec:
        """Choose the place in the model."""
        t, place, needs = self.t, spec.selection, VIEWS[spec.view].parameters
        changes: dict[str, Any] = {}
        if "kind" in needs:
            changes["kind"] = self.widgets.row("kind", KINDS, place.kind, lambda kind: t(f"figures_page.kind_{kind}"))
        kind = changes.get("kind", place.kind)
        if "layer" in needs:
            layers = range(self.maps.layers(kind))
            changes["layer"] = self.widgets.index_pills("layer", layers, min(place.layer, layers[-1]))
        if "head" in needs and spec.view != "lines":
            heads = range(self.maps.heads(kind))
            changes["head"] = self.widgets.index_pills("head", heads, min(place.head, heads[-1]))
        if "unit" in needs:
            changes["unit"] = self.widgets.row("unit", UNITS, place.unit, lambda unit: t(f"explorer.unit_{unit}"))
        return replace(spec, selection=replace(place, **changes)).fitted(self.maps)

    def _lines(self, spec: FigureSpec) -> FigureSpec:
        """Choose the heads, and perhaps one token."""
        t, heads = self.t, range(self.maps.heads(spec.selection.kind))
        selected = st.pills(
            self.widgets.label("heads"),
            heads,
            selection_mode="multi",
            default=spec.heads or (spec.selection.head,),
            format_func=one_based,
            key=self.widgets.key("heads"),
        )
        numbers = tuple(sorted(selected)) or (spec.selection.head,)
        tokens = spec.queries(self.maps)
        rows = (None, *range(len(tokens)))
        query = self.widgets.list(
            "query",
            rows,
            spec.query if spec.query in rows else None,
            lambda row: _token(tokens, row, t("figures_page.all")),
        )
        heads_again = () if len(numbers) == 1 else numbers
        return replace(spec, heads=heads_again, query=query, selection=replace(spec.selection, head=numbers[0]))

    def _steps(self, spec: FigureSpec) -> tuple[int, ...]:
        """Choose the steps side by side."""
        tokens = self.maps.outputs.tokens
        selected = st.multiselect(
            self.widgets.label("steps"),
            range(1, len(tokens) + 1),
            default=spec.steps,
            format_func=lambda step: _token(tokens, step - 1),
            placeholder=self.t("figures_page.steps_even"),
            max_selections=MAX_STEPS,
            key=self.widgets.key("steps"),
        )
        return tuple(sorted(selected))

    def _flow(self, spec: FigureSpec) -> FigureSpec:
        """Choose a token, what it is compared with, and how much of its whole way is drawn."""
        t, widgets, tokens = self.t, self.widgets, self.maps.outputs.tokens
        every, mean = t("figures_page.all"), t("figures_page.versus_mean")
        word = widgets.list("word", (None, *range(len(tokens))), spec.word, lambda row: _token(tokens, row, every))
        if word is None:
            return replace(spec, word=None, against=None, unfold=False)
        others = [token for step in self.candidates[word : word + 1] for token in step if token != tokens[word]]
        against = spec.against if word == spec.word else None
        options = tuple(dict.fromkeys((None, *others, against)))
        against = widgets.list("versus", options, against, lambda token: display_label(token) if token else mean)
        unfold = widgets.switch("unfold", spec.unfold)
        share = widgets.number("share", spec.share, 1, 99, 1, "%d") if unfold else spec.share
        return replace(spec, word=word, against=against, unfold=unfold, share=int(share or spec.share))

    def _compared(self, spec: FigureSpec) -> FigureSpec:
        """Choose A, with which the selected head, B, is compared."""
        t, base = self.t, spec.selection
        kind, layer, head = head_named(base.against or "cross.1.1")
        with st.container(border=True, key="figures-against"):
            st.markdown(f"**{t('figures_page.against')}**")
            kind = self.widgets.list("against_kind", KINDS, kind, lambda name: t(f"figures_page.kind_{name}"))
            layers, heads = range(self.maps.layers(kind)), range(self.maps.heads(kind))
            place = [
                self.widgets.index_pills(f"against_{name}", places, min(now, places[-1]))
                for name, places, now in (("layer", layers, layer), ("head", heads, head))
            ]
            sentence = st.text_input(
                t("figures_page.against_sentence"),
                value=base.vs or "",
                placeholder=t("figures_page.against_same"),
                max_chars=500,
                key=self.widgets.key("vs"),
                autocomplete="off",
            )
            vs = " ".join((sentence or "").split()) or None
            model = base.vsmodel
            beside = other_models(self.own)
            if beside:
                names = [None, *beside]
                now = model if model in names else None
                called = display_names(t)
                model = self.widgets.list("vsmodel", names, now, lambda name: called.get(name or self.own, self.own))
            branch = base.vsbranch if vs == base.vs and model == base.vsmodel else 0
            aligned = spec.aligned
            if vs or model:
                aligned = None if self.widgets.switch("aligned", aligned is not False) else False
        head_a = str(Head(kind, *place))
        place_b = replace(base, against=head_a, vs=vs, vsmodel=model, vsbranch=branch)
        return replace(spec, selection=place_b, aligned=aligned)

    def _more(self, spec: FigureSpec, look: StyleControls) -> FigureSpec:
        """Draw the rarely used settings."""
        t, needs = self.t, VIEWS[spec.view].parameters
        spec = look.more(spec)
        place = spec.selection
        if "step" in needs:
            tokens = self.maps.outputs.tokens
            rows = (None, *range(1, len(tokens)))
            step = self.widgets.list(
                "step",
                rows,
                place.step if place.step in rows else None,
                lambda row: _token(tokens, None if row is None else row - 1, t("figures_page.all_steps")),
            )
            place = replace(place, step=step)
        switches: dict[str, Any] = {
            name: self.widgets.switch(name, getattr(spec, name))
            for name, each in declared(ViewOptions).items()
            if name in needs and isinstance(each.form, Switch) and name not in ("aligned", "unfold")
        }
        return replace(spec, selection=place, **switches).fitted(self.maps)


def _token(tokens: Sequence[str], row: int | None, otherwise: str = "") -> str:
    """Return a token with its number, so that no two are alike."""
    return otherwise if row is None else f"{row + 1} · {display_label(tokens[row], _LABEL)}"
