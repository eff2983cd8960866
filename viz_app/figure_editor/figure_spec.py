"""What somebody asks of the page Figures, complete, and how it is written in the page's address.

Names are those of the command line where the address of Translate has not taken them: there `view` and `scale` mean
something else, so here they are `figure` and `colors`. Layers, heads and queries count from 1 in the address, from 0
in code; steps count from 1 in both. What makes no sense is left out of account.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from transformer_core.atlas.measures import NAMES as MEASURES
from transformer_core.attention_maps import AttentionMaps, Kind
from viz_app.components.explorer import Selection
from viz_app.figure_editor.lesson_figure_spec import LessonFigureSpec, empty_query
from viz_app.figures import PRESETS, SCALES, VIEWS, Style, upto_step
from viz_app.figures.build.atlas import GROUPS, SCORES
from viz_app.figures.model.style import MAPPINGS, ROTATIONS
from viz_app.state.query_params import selection_from_params, selection_to_params
from viz_app.text import LANGUAGES

DPIS = (150, 300, 600)
MAX_STEPS = 12  # side by side
PARTS = ("title", "caption", "legend", "letters")  # what may stand around the panels
_PLACE = ("kind", "layer", "head", "step", "unit", "branch", "against", "vs", "vsmodel", "vsbranch")
_LARGEST = 1e9  # end of a range of colours
_NUMBERS = {"width": ("width_mm", 20, 2000), "height": ("height_mm", 15, 2000), "font": ("font_pt", 3, 48)}


@dataclass(frozen=True, kw_only=True)
class FigureSpec:
    """One state of the page Figures.

    Args:
        view: One of VIEWS.
        selection: Kind, layer, head, step, unit and branch; what it is compared with; the rest plays no part.
        heads: Heads of "lines"; empty for the selected one.
        query: The one query of "lines"; None for all.
        steps: Steps of "steps"; empty for four.
        aligned: Whether "compare" aligns different tokens.
        pruned: Whether "beam" draws pruned candidates.
        confidence: Whether "tree" tints constituents by their probability.
        measure: Of "grid"; empty for the first that the atlas has.
        group: Of "pruning": which heads go.
        score: Of "pruning".
        left: Heads that are left where "pruning" is read; None for no such place.
        language: Of the figure's words; None for the language of the page.
        style: How it is drawn.
        dpi: Dots per inch of a PNG.
        scene: The picture of a lesson, instead of a view of attention; None for attention.
    """

    view: str = "head"
    selection: Selection = field(default_factory=Selection)
    heads: tuple[int, ...] = ()
    query: int | None = None
    steps: tuple[int, ...] = ()
    aligned: bool = True
    pruned: bool = True
    confidence: bool = False
    measure: str = ""
    group: str = "all"
    score: str = "bleu"
    left: int | None = None
    language: str | None = None
    style: Style = field(default_factory=Style)
    dpi: int = 300
    scene: LessonFigureSpec | None = None

    def with_scene(self, scene: LessonFigureSpec | None) -> FigureSpec:
        """The picture of a lesson, or with None attention again, in the same style.

        The range of the colours stays behind: weights and the numbers of a lesson are not on one scale.
        """
        return replace(self, scene=scene, style=replace(self.style, value_range=None, mapping="linear"))

    def with_selection(self, selection: Selection) -> FigureSpec:
        """The same figure of another place in the model."""
        place = {name: getattr(selection, name) for name in _PLACE}
        return replace(self, selection=Selection(**place), heads=(), query=None, steps=())

    def follow_explorer(self, selection: Selection) -> FigureSpec:
        """The figure that comes nearest to what the explorer shows."""
        view = "head"
        if selection.against is not None:
            view = "compare"
        elif selection.zoom == "heads":
            view = {"heads": "heads", "layer": "layer", "kinds": "all"}[selection.view]
        elif selection.form == "lines":
            view = "lines"
        start = self if self.scene is None else self.with_scene(None)
        style = replace(start.style, mapping="sqrt" if selection.scale == "sqrt" else "linear")
        return replace(start.with_selection(selection), view=view, style=style)

    def for_new_sentence(self) -> FigureSpec:
        """The same figure of another sentence: without what only the old one had."""
        place = replace(self.selection, step=None, branch=0)
        return replace(self, selection=place, query=None, steps=())

    def fitted(self, maps: AttentionMaps) -> FigureSpec:
        """The nearest spec that exists in these maps."""
        place = self.selection
        if self.view == "tree":  # it shows encoder-decoder attention and no other
            place = replace(place, kind="cross")
        place = place.fitted(maps)
        if self.view == "compare":
            place = replace(place, against=_other_head(place, maps))
        query = self.query
        if query is not None and query >= len(replace(self, selection=place).queries(maps)):
            query = None
        return replace(
            self,
            selection=place,
            query=query,
            heads=tuple(head for head in self.heads if head < maps.heads(place.kind)),
            steps=tuple(step for step in self.steps if step <= len(maps.outputs)),
        )

    def queries(self, maps: AttentionMaps) -> tuple[str, ...]:
        """The tokens that "lines" can be limited to."""
        chosen = self.selection
        if chosen.step is not None:
            maps = upto_step(maps, chosen.step)
        axis = maps.queries(chosen.kind)
        return tuple(axis.merged().tokens if chosen.unit == "words" else axis.tokens)

    def parameters(self) -> dict[str, Any]:
        """Fields of `viz_app.figures.Request`, without the maps and what "compare" compares with."""
        chosen = self.selection
        given: dict[str, Any] = {
            "kind": chosen.kind,
            "layer": chosen.layer,
            "head": chosen.head,
            "unit": chosen.unit,
            "step": chosen.step,
            "heads": self.heads,
            "query": self.query,
            "steps": self.steps,
            "pruned": self.pruned,
            "confidence": self.confidence,
            "measure": self.measure,
            "group": self.group,
            "score": self.score,
            "left": self.left,
        }
        return {name: value for name, value in given.items() if name in VIEWS[self.view].parameters}

    def to_query(self) -> dict[str, str | None]:
        """The URL parameters; None for one that is as it is at the start."""
        style = self.style
        values = self._what()
        values |= {
            "words": self.language,
            "size": style.preset or None,
            "colours": None if style.scale == "headlight" else style.scale,
            "range": _range_text(style.value_range),
            "mapping": None if style.mapping == "linear" else style.mapping,
            "rotation": None if style.rotation == "auto" else str(style.rotation),
            "theme": style.theme,
            "dpi": None if self.dpi == 300 else str(self.dpi),
        }
        for name, (attribute, _, _) in _NUMBERS.items():
            number = getattr(style, attribute)
            values[name] = None if number is None else f"{number:g}"
        shown = [part for part in PARTS if getattr(style, part)]
        values["parts"] = None if shown == ["title", "legend"] else ",".join(shown) or "none"
        return values

    def _what(self) -> dict[str, str | None]:
        """What the figure shows, as URL parameters: a place in the model, or a scene."""
        chosen = self.selection
        place = selection_to_params(chosen if self.view == "compare" else replace(chosen, against=None))
        values: dict[str, str | None] = {name: place[name] for name in _PLACE}
        values |= {
            "figure": self.view,
            "heads": _joined(head + 1 for head in self.heads),
            "query": None if self.query is None else str(self.query + 1),
            "steps": _joined(self.steps),
            "aligned": None if self.aligned else "off",
            "pruned": None if self.pruned else "off",
            "confidence": "on" if self.confidence else None,
            "measure": self.measure or None,
            "group": None if self.group == "all" else self.group,
            "score": None if self.score == "bleu" else self.score,
            "left": None if self.left is None else str(self.left),
        }
        if self.scene is None:
            return values | empty_query()
        return dict.fromkeys(values) | self.scene.to_query()

    @classmethod
    def from_query(cls, params: Mapping[str, str], default: FigureSpec) -> FigureSpec:
        """The spec that an address asks for; what it does not say, or says wrongly, comes from the default."""
        place = selection_from_params({name: params[name] for name in _PLACE if name in params}, default.selection)
        changes: dict[str, Any] = {}
        _take(changes, params, "view", "figure", {name: name for name in VIEWS}.get)
        _take(changes, params, "language", "words", {name: name for name in LANGUAGES}.get)
        _take(changes, params, "dpi", "dpi", {str(dpi): dpi for dpi in DPIS}.get)
        _take(changes, params, "heads", "heads", lambda text: _places(text, 1))
        _take(changes, params, "steps", "steps", lambda text: _places(text, 0)[:MAX_STEPS])
        _take(changes, params, "query", "query", lambda text: (_places(text, 1) or (None,))[0])
        for name in ("aligned", "pruned"):
            _take(changes, params, name, name, {"off": False}.get)
        _take(changes, params, "confidence", "confidence", {"on": True}.get)
        for name, allowed in (("measure", MEASURES), ("group", GROUPS), ("score", SCORES)):
            _take(changes, params, name, name, {each: each for each in allowed}.get)
        _take(changes, params, "left", "left", _count)
        scene = LessonFigureSpec.from_query(params) or default.scene
        return replace(default, selection=place, style=_style(params, default.style), scene=scene, **changes)


def _style(params: Mapping[str, str], default: Style) -> Style:
    changes: dict[str, Any] = {}
    _take(changes, params, "preset", "size", {name: name for name in PRESETS}.get)
    _take(changes, params, "scale", "colours", {name: name for name in SCALES}.get)
    _take(changes, params, "mapping", "mapping", {name: name for name in MAPPINGS}.get)
    _take(changes, params, "rotation", "rotation", {str(each): each for each in ROTATIONS}.get)
    _take(changes, params, "theme", "theme", {"light": "light", "dark": "dark"}.get)
    _take(changes, params, "value_range", "range", _range_of)
    for name, (attribute, low, high) in _NUMBERS.items():
        _take(changes, params, attribute, name, partial(_number, low=low, high=high))
    if "parts" in params:
        wanted = params["parts"].split(",")
        if all(part in (*PARTS, "none") for part in wanted):
            changes |= {part: part in wanted for part in PARTS}
    return replace(default, **changes)


def _take(changes: dict[str, Any], params: Mapping[str, str], field: str, name: str, read: Callable[..., Any]) -> None:
    """Put a parameter that can be read among the changes."""
    value = read(params[name]) if name in params else None
    if value is not None and value != ():
        changes[field] = value


def _places(text: str, first: int) -> tuple[int, ...]:
    """Whole numbers with commas, rising, counted from `first` in the text where that is 1; () for anything else."""
    parts = text.split(",")[:64]
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 and int(part) > 0 for part in parts):
        return ()
    return tuple(sorted({int(part) - first for part in parts}))


def _count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else None


def _number(text: str, low: float, high: float) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and low <= value <= high else None


def _range_of(text: str) -> Any:
    if text == "shared":
        return text
    low, _, high = text.partition(",")
    ends = (_number(low, -_LARGEST, _LARGEST), _number(high, -_LARGEST, _LARGEST))
    return ends if None not in ends and cast(float, ends[0]) < cast(float, ends[1]) else None


def _range_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else ",".join(f"{end:g}" for end in value)


def _joined(numbers: Any) -> str | None:
    return ",".join(map(str, numbers)) or None


def _other_head(place: Selection, maps: AttentionMaps) -> str:
    """The head that is compared with, fitted to the maps; by default the neighbour."""
    if place.against is None:
        head = place.head - 1 if place.head else min(1, maps.heads(place.kind) - 1)
        return f"{place.kind}.{place.layer}.{head}"
    name, layer, head_text = place.against.split(".")
    kind = cast(Kind, name)
    return f"{kind}.{min(int(layer), maps.layers(kind) - 1)}.{min(int(head_text), maps.heads(kind) - 1)}"
