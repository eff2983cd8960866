"""State of the page Figures, and its address.

Names are as on the command line, except `figure` and `colours`: `view` and `scale` mean something else in the address
of Translate. Layers, heads and queries count from 1 in the address, from 0
in code; steps count from 1 in both. What makes no sense is left out of account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from transformer_core.attention_maps import AttentionMaps
from transformer_core.head import Head, head_named
from viz_app.components.explorer.selection import Selection
from viz_app.figures import VIEWS, FigureOptions, Style, upto_step
from viz_app.figures.model.figure import display_label
from viz_app.figures.option import Choice, declared, from_query, to_query
from viz_app.figures.options import ViewOptions
from viz_app.state.query_params import selection_from_params, selection_to_params
from viz_app.text import LANGUAGES

DPIS = (150, 300, 600)
PARTS = ("title", "caption", "legend", "letters")  # what may stand around the panels
_COMPARED = ("branch", "force", "against", "vs", "vsmodel", "vsbranch")
_HEAD = ("kind", "layer", "head", "step", "unit")
_PLACE = (*_HEAD, *_COMPARED)
_PARAMS = ("head", "step", "unit", *_COMPARED)
_OWN = {"view": ("figure", Choice((*VIEWS,))), "language": ("words", Choice(LANGUAGES)), "dpi": ("dpi", Choice(DPIS))}


@dataclass(frozen=True, kw_only=True)
class FigureSpec(ViewOptions):
    """One state of the page Figures.

    Args:
        view: One of VIEWS.
        selection: Kind, layer, head, step, unit, branch and forced beginning; what it is compared with; the rest plays
            no part.
        language: Of the figure's words; None for the language of the page.
        style: How it is drawn.
        dpi: Dots per inch of a PNG.
    """

    view: str = "head"
    selection: Selection = field(default_factory=Selection)
    language: str | None = None
    style: Style = field(default_factory=Style)
    dpi: int = 300

    def with_selection(self, selection: Selection) -> FigureSpec:
        """Return the figure of another place in the model."""
        place = {name: getattr(selection, name) for name in _PLACE}
        return replace(self, selection=Selection(**place), heads=(), query=None, steps=(), word=None, against=None)

    def follow_explorer(self, selection: Selection, words: Sequence[int]) -> FigureSpec:
        """Return the figure that comes nearest to what the explorer shows; `words` has the word of each output."""
        view = "head"
        if selection.against is not None:
            view = "compare"
        elif selection.zoom == "heads":
            view = {"heads": "heads", "layer": "layer", "kinds": "all"}[selection.view]
        elif selection.form != "map":
            view = selection.form
        style = replace(self.style, mapping="sqrt" if selection.scale == "sqrt" else "linear")
        spec = replace(self.with_selection(selection), view=view, style=style)
        if view != "flow":
            return spec
        word, against = selection.chosen_token(words), selection.versus
        return replace(spec, word=word, against=against, unfold=selection.unfold, share=selection.share)

    def for_new_sentence(self) -> FigureSpec:
        """Return the figure of another sentence, without tokens, steps, branch and forced beginning of the old one."""
        place = replace(self.selection, step=None, branch=0, force=None)
        return replace(self, selection=place, query=None, steps=(), word=None, against=None)

    def fitted(self, maps: AttentionMaps) -> FigureSpec:
        """Return the nearest spec that exists in these maps."""
        place = self.selection
        if self.view == "tree":  # it shows encoder-decoder attention and no other
            place = replace(place, kind="cross")
        place = place.fitted(maps)
        if self.view == "compare":
            place = replace(place, against=_other_head(place, maps))
        query = self.query
        if query is not None and query >= len(replace(self, selection=place).queries(maps)):
            query = None
        labels, word = [display_label(token) for token in maps.outputs.tokens], self.word
        if isinstance(word, str):
            word = labels.index(word) if word in labels else None
        word = None if word is None or word >= len(labels) else word
        return replace(
            self,
            selection=place,
            query=query,
            word=word,
            against=None if word is None else self.against,
            unfold=self.unfold and word is not None,
            heads=tuple(head for head in self.heads if head < maps.heads(place.kind)),
            steps=tuple(step for step in self.steps if step <= len(maps.outputs)),
        )

    def queries(self, maps: AttentionMaps) -> tuple[str, ...]:
        """Return the tokens that "lines" can be limited to."""
        place = self.selection
        if place.step is not None:
            maps = upto_step(maps, place.step)
        axis = maps.queries(place.kind)
        return tuple(axis.merged().tokens if place.unit == "words" else axis.tokens)

    def options(self, language: str) -> FigureOptions:
        """Return the options of the view; those that it does not have are at their defaults.

        Of a comparison A is the head that was pinned, and B the selected one.

        Args:
            language: Of the page.
        """
        values = {name: getattr(self.selection, name) for name in _HEAD}
        if self.view == "compare":
            assert self.selection.against is not None, "a spec of two heads was not fitted to its maps"
            values |= {f"other_{name}": values[name] for name in ("kind", "layer", "head")}
            values |= head_named(self.selection.against)._asdict()
        values |= {name: getattr(self, name) for name in declared(ViewOptions)}
        taken = {name: value for name, value in values.items() if name in VIEWS[self.view].parameters}
        return FigureOptions(view=self.view, language=self.language or language, **taken)

    def to_query(self) -> dict[str, str | None]:
        """Return the URL parameters; None for one that is as it is at the start."""
        parts = [part for part in PARTS if getattr(self.style, part)]
        return {
            **self._what(),
            "words": self.language,
            "dpi": None if self.dpi == 300 else str(self.dpi),
            **to_query(Style, self.style),
            "parts": None if parts == ["title", "legend"] else ",".join(parts) or "none",
        }

    def _what(self) -> dict[str, str | None]:
        """Return place and options as URL parameters."""
        selection = self.selection
        place = selection_to_params(selection if self.view == "compare" else replace(selection, against=None))
        values: dict[str, str | None] = {name: place[name] for name in _PARAMS}
        return values | {"figure": self.view} | to_query(ViewOptions, self)

    @classmethod
    def from_query(cls, params: Mapping[str, str], default: FigureSpec) -> FigureSpec:
        """Return the spec that an address asks for; what it does not say, or says wrongly, comes from the default."""
        place = selection_from_params({name: params[name] for name in _PARAMS if name in params}, default.selection)
        changes = from_query(ViewOptions, params)
        for name, (key, form) in _OWN.items():
            value = form.loads(params.get(key, ""))
            if value in form.choices:
                changes[name] = value
        return replace(default, selection=place, style=_style(params, default.style), **changes)


def _style(params: Mapping[str, str], default: Style) -> Style:
    changes = from_query(Style, params)
    if "parts" in params:
        listed = params["parts"].split(",")
        if all(part in (*PARTS, "none") for part in listed):
            changes |= {part: part in listed for part in PARTS}
    return replace(default, **changes)


def _other_head(place: Selection, maps: AttentionMaps) -> str:
    """Return the head that is compared with, fitted to the maps; by default the neighbour."""
    if place.against is None:
        head = place.head - 1 if place.head else min(1, maps.heads(place.kind) - 1)
        return str(Head(place.kind, place.layer, head))
    kind, layer, head = head_named(place.against)
    return str(Head(kind, min(layer, maps.layers(kind) - 1), min(head, maps.heads(kind) - 1)))
