"""Attention as a figure needs it: sliced to a step, merged to a unit, with the names of both axes.

Which axis is named after which tokens is decided here and nowhere else: a row of encoder-decoder attention is named
after the token that it writes, a row of decoder self-attention after the token that it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer_core.attention_maps import AttentionMaps, Axis
from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.arrays import OWN, Maps, OwnMaps
from viz_app.figures.model.figure import HeatmapFigure, HeatmapPanel, NumbersPanel, SignedPanel
from viz_app.figures.options import UNITS, AnyKind, Unit
from viz_app.text import Texts


@dataclass(frozen=True, kw_only=True)
class AttentionSlice:
    """Maps cut to a step and merged to a unit, and what every figure of them shares."""

    maps: Maps
    kind: AnyKind
    unit: Unit
    upto: int | None
    t: Texts
    theme: Theme
    provenance: Mapping[str, Any]
    of_parser: bool = False

    @property
    def query_title(self) -> str:
        """Title of the rows."""
        return self._axis_title("query")

    @property
    def key_title(self) -> str:
        """Title of the columns."""
        return self._axis_title("key")

    def _axis_title(self, side: str) -> str:
        """Return the title of an axis: the tokens that a parser generates are brackets."""
        generated = self.kind == "decoder" or (self.kind == "cross" and side == "query")
        unit = "brackets" if self.of_parser and generated else self.unit
        return self.t(f"figures.{unit}_{side}_{self.kind}")

    @property
    def kind_title(self) -> str:
        """Name of the kind of attention, or of the numbers."""
        return self.scale_title if self.signed is not None else self.t(f"figures.kind_{self.kind}")

    @property
    def figure_kind(self) -> str:
        """The kind that gives a figure its colour; own arrays have none."""
        return "" if self.kind == OWN else self.kind

    def panel(self, layer: int, head: int, title: str = "") -> HeatmapPanel:
        """Return the map of one head. Raises ValueError when the layer or head does not exist."""
        maps, kind = self.maps, self.kind
        check_index("layer", layer, maps.layers(kind))
        check_index("head", head, maps.heads(kind))
        queries, keys = maps.queries(kind), maps.keys(kind)
        tokens = self.unit == "tokens"
        weights = maps.weights(kind)[layer, head]
        numbers = self.signed is not None or np.isnan(weights[0, 0])  # or a head that the layer lacks
        panel = SignedPanel if self.signed else NumbersPanel if numbers else HeatmapPanel
        return panel(
            weights=weights,
            query_labels=queries.tokens,
            key_labels=keys.tokens,
            masked=future_mask(maps, kind),
            query_words=queries.words if tokens else None,
            key_words=keys.words if tokens else None,
            query_notes=self._notes(),
            title=title,
            layer=layer,
            head=head,
        )

    def heads(self, layer: int) -> list[int]:
        """Heads of a layer; layers of other programs' models may differ in them."""
        check_index("layer", layer, self.maps.layers(self.kind))
        there = ~np.isnan(self.maps.weights(self.kind)[layer]).all(axis=(1, 2))
        return [int(head) for head in np.flatnonzero(there | (self.signed is not None))]

    @property
    def signed(self) -> bool | None:
        """Whether own numbers have both signs; None for attention weights."""
        return self.maps.signed if isinstance(self.maps, OwnMaps) else None

    @property
    def scale_title(self) -> str:
        """Title of the scale of colours."""
        if self.signed is None or not isinstance(self.maps, OwnMaps):
            return self.t("figures.scale")
        return self.maps.scale_title or self.t("figures.scale_own")

    def _notes(self) -> tuple[str, ...] | None:
        if self.kind not in ("decoder", "cross"):
            return None
        others = (self.maps.outputs if self.kind == "decoder" else self.maps.inputs).tokens
        rows = len(self.maps.queries(self.kind))
        return (*others, *[""] * rows)[:rows]

    def title(self, title: str) -> str:
        """Return a heading that says at which step, if at one."""
        return title if self.upto is None else self.t("figures.title_step", title=title, step=self.upto)

    def place(self, layer: int, *heads: int) -> str:
        """Return the name of a layer, such as `cross.6`, of a head of it, `cross.6.8`, or of several, `cross.6.1-8`."""
        return ".".join([self.kind, str(layer + 1), *filter(None, ["-".join(str(head + 1) for head in heads)])])

    def shared(self, panels: list[HeatmapPanel], where: str, view: Mapping[str, Any]) -> dict[str, Any]:
        """Return the common fields of figures; `where` is the part of the file's name that names the heads."""
        step = f"step{self.upto}" if self.upto else ""
        parts = ["headlight", where, "words" if self.unit == "words" else "", step]
        return {
            "kind": self.figure_kind,
            "language": self.t.language,
            "theme": self.theme,
            "name": "_".join(part for part in parts if part),
            "provenance": self._record(panels, view),
        }

    def figure(
        self, panels: list[HeatmapPanel], *, title: str, where: str, view: Mapping[str, Any], **options: Any
    ) -> HeatmapFigure:
        """Return a figure of these panels. `view` is the view's name and its own parameters."""
        t, kind = self.t, self.kind
        rows, columns = panels[-1].weights.shape
        hatched = {"masked": kind == "decoder", "missing": any(np.isnan(panel.weights).any() for panel in panels)}
        counts = {"rows": rows, "columns": columns}
        if self.signed is not None:  # captions tell of attention; `View.figure` has others
            options |= {"caption": "", "alt": ""}
        made: dict[str, Any] = {
            "query_title": self.query_title,
            "key_title": self.key_title,
            "scale_title": self.scale_title,
            "difference_title": self.scale_title if self.signed else t("figures.difference"),
            "note_title": t(f"figures.note_{kind}") if kind in ("decoder", "cross") else "",
            "tile_note": t("figures.tile_note", query_title=self.query_title, key_title=self.key_title, **counts),
            "masked_note": "; ".join(t(f"figures.{name}") for name, there in hatched.items() if there),
            "masked_cell": t("figures.missing_cell" if self.signed is not None else "figures.masked_cell"),
            **self.shared(panels, where, view),
        }
        return HeatmapFigure(panels=panels, title=self.title(title), **{**made, **options})

    def _record(self, panels: list[HeatmapPanel], view: Mapping[str, Any]) -> dict[str, Any]:
        """Return the caller's provenance (checkpoint, hash, sentence, ...) with the record of this view."""
        language = {"language": self.t.language} if self.t.language != "en" else {}
        ours: dict[str, Any] = {
            "kind": self.kind,
            "heads": [
                f"{panel.kind or self.kind}.{(panel.layer or 0) + 1}.{(panel.head or 0) + 1}" for panel in panels
            ],
            "unit": self.unit,
            "view": {"kind": self.kind, "unit": self.unit, **language, **view},
        }
        if self.upto is not None:
            ours["step"] = ours["view"]["step"] = self.upto
        return {**self.provenance, **ours}


def upto_step(maps: AttentionMaps, step: int) -> AttentionMaps:
    """Return the maps that exist when `step` tokens have been written; the encoder's are complete from the start.

    Raises:
        ValueError: `step` is not between 1 and the number of written tokens.
    """
    count = len(maps.outputs)
    if not 1 <= step <= count:
        raise ValueError(f"step is {step}, but must be between 1 and {count}, the number of generated tokens")
    return AttentionMaps(
        encoder=maps.encoder,
        decoder=maps.decoder[:, :, :step, :step],
        cross=maps.cross[:, :, :step],
        source=maps.source,
        inputs=_first(maps.inputs, step),
        outputs=_first(maps.outputs, step),
        finished=maps.finished and step == count,
    )


def future_mask(maps: Maps, kind: AnyKind) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """(Q, K) True where decoder self-attention would look at the future; None for kinds without such cells."""
    if kind != "decoder":
        return None
    count = len(maps.inputs)
    return np.triu(np.ones((count, count), dtype=bool), k=1)


def _first(axis: Axis, count: int) -> Axis:
    return Axis(axis.tokens[:count], axis.words[:count], axis.special[:count], axis.spans[:count])


def cut_maps(maps: Maps, unit: Unit, step: int | None) -> Maps:
    """Cut maps to a step and merge them to a unit. Raises ValueError for a unit or step that does not exist."""
    if unit not in UNITS:
        raise ValueError(f"unit is {unit!r}, but must be one of {', '.join(UNITS)}")
    if step is not None:
        if not isinstance(maps, AttentionMaps):
            raise ValueError("own arrays have no decoding steps; leave the step out")
        maps = upto_step(maps, step)
    return maps.merged_to_words() if unit == "words" else maps


def check_index(name: str, value: int, count: int) -> None:
    """Raise ValueError unless 0 <= value < count."""
    if not 0 <= value < count:
        raise ValueError(f"{name} is {value}, but must be between 0 and {count - 1} (counted from 0)")
