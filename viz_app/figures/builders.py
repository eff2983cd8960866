"""From a model's AttentionMaps to figures: one head, the heads of a layer, all heads of a kind.

Which axis is named after which tokens is decided here and nowhere else: a row of encoder-decoder attention is named
after the piece that it writes, a row of decoder self-attention after the piece that it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from transformer_core.attention_maps import AttentionMaps, Axis, Kind
from viz_app.figures import captions
from viz_app.figures.colour import Theme
from viz_app.figures.spec import HeatmapFigure, HeatmapPanel
from viz_app.text import Texts, texts

Unit = Literal["pieces", "words"]
UNITS: tuple[Unit, ...] = ("pieces", "words")
LAYER_COLUMNS = 4  # heads beside each other: two rows of four fit the width of a page with readable labels


@dataclass(frozen=True, kw_only=True)
class _View:
    """Maps cut to a step and merged to a unit, and what every figure of them shares."""

    maps: AttentionMaps
    kind: Kind
    unit: Unit
    upto: int | None
    t: Texts
    theme: Theme
    provenance: Mapping[str, Any]

    def panel(self, layer: int, head: int, title: str = "") -> HeatmapPanel:
        maps, kind = self.maps, self.kind
        queries, keys = maps.queries(kind), maps.keys(kind)
        pieces = self.unit == "pieces"
        return HeatmapPanel(
            weights=maps.weights(kind)[layer, head],
            query_labels=queries.tokens,
            key_labels=keys.tokens,
            masked=future_mask(maps, kind),
            query_words=queries.words if pieces else None,
            key_words=keys.words if pieces else None,
            query_notes=self._notes(),
            title=title,
            layer=layer,
            head=head,
        )

    def _notes(self) -> tuple[str, ...] | None:
        if self.kind == "encoder":
            return None
        others = (self.maps.outputs if self.kind == "decoder" else self.maps.inputs).tokens
        rows = len(self.maps.queries(self.kind))
        return (*others, *[""] * rows)[:rows]

    def figure(self, panels: list[HeatmapPanel], *, title: str, where: str, **options: Any) -> HeatmapFigure:
        """`where` is the part of the file name that tells which heads."""
        t, kind, unit, step = self.t, self.kind, self.unit, self.upto
        rows, columns = panels[0].weights.shape
        query_title, key_title = t(f"figures.{unit}_query_{kind}"), t(f"figures.{unit}_key_{kind}")
        counts = {"rows": rows, "columns": columns}
        parts = ["headlight", kind, where, "words" if unit == "words" else "", f"step{step}" if step else ""]
        return HeatmapFigure(
            panels=panels,
            query_title=query_title,
            key_title=key_title,
            scale_title=t("figures.scale"),
            note_title="" if kind == "encoder" else t(f"figures.note_{kind}"),
            title=title if step is None else t("figures.title_step", title=title, step=step),
            tile_note=t("figures.tile_note", query_title=query_title, key_title=key_title, **counts),
            masked_note=t("figures.masked") if kind == "decoder" else "",
            masked_cell=t("figures.masked_cell"),
            kind=kind,
            language=t.language,
            theme=self.theme,
            name="_".join(part for part in parts if part),
            provenance=self._provenance(panels),
            **options,
        )

    def _provenance(self, panels: list[HeatmapPanel]) -> dict[str, Any]:
        """What the caller knows (checkpoint, hash, sentence, command, ...), and what this view adds to it."""
        ours: dict[str, Any] = {
            "kind": self.kind,
            "heads": [f"{(panel.layer or 0) + 1}.{(panel.head or 0) + 1}" for panel in panels],
            "unit": self.unit,
            "scale": "linear, 0 to 1",
        }
        if self.upto is not None:
            ours["step"] = self.upto
        return {**self.provenance, **ours}


def one_head(
    maps: AttentionMaps,
    kind: Kind,
    layer: int,
    head: int,
    *,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
    upto: int | None = None,
) -> HeatmapFigure:
    """One head, with captions made from its weights.

    Args:
        maps: Maps of one sentence, by pieces.
        kind: Which attention.
        layer: Layer, from 0.
        head: Head, from 0.
        language: "en" or "ko".
        theme: "light" or "dark".
        provenance: Checkpoint, hash, sentence, command, ...; plain values, written into every file.
        unit: "pieces", or "words" to merge the pieces of a word.
        upto: Decoding step: only the rows of the first so many written pieces exist. None for all.

    Raises:
        ValueError: The layer, head, unit or step does not exist.
    """
    view = _view(maps, kind, language, theme, provenance, unit, upto)
    _check("layer", layer, maps.layers(kind))
    _check("head", head, maps.heads(kind))
    t = view.t
    return view.figure(
        [view.panel(layer, head)],
        title=t("figures.title_head", layer=layer + 1, head=head + 1, kind=t(f"figures.kind_{kind}")),
        where=f"layer{layer + 1}_head{head + 1}",
        draw_notes=kind == "decoder",
        caption=captions.head_caption(view.maps, kind, layer, head, language=language).text,
        alt=captions.head_alt(view.maps, kind, layer, head, language=language, unit=unit),
    )


def layer_heads(
    maps: AttentionMaps,
    kind: Kind,
    layer: int,
    *,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
    upto: int | None = None,
    columns: int = LAYER_COLUMNS,
) -> HeatmapFigure:
    """All heads of one layer side by side; arguments as for `one_head`, and `columns` heads beside each other."""
    view = _view(maps, kind, language, theme, provenance, unit, upto)
    _check("layer", layer, maps.layers(kind))
    t, count = view.t, maps.heads(kind)
    caption = captions.layer_caption(view.maps, kind, layer, language=language)
    return view.figure(
        [view.panel(layer, head, t("figures.panel_head", head=head + 1)) for head in range(count)],
        title=t("figures.title_layer", layer=layer + 1, count=count, kind=t(f"figures.kind_{kind}")),
        where=f"layer{layer + 1}",
        columns=columns,
        caption=caption.text,
        alt=captions.grid_alt(view.maps, kind, caption, language=language, unit=unit),
    )


def all_heads(
    maps: AttentionMaps,
    kind: Kind,
    *,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
    upto: int | None = None,
) -> HeatmapFigure:
    """Every head of one kind, a row for each layer; arguments as for `one_head`."""
    view = _view(maps, kind, language, theme, provenance, unit, upto)
    t, layers, heads = view.t, maps.layers(kind), maps.heads(kind)
    caption = captions.all_caption(view.maps, kind, language=language)
    titles = [t("figures.panel_head", head=head + 1) for head in range(heads)]
    return view.figure(
        [view.panel(layer, head, titles[head]) for layer in range(layers) for head in range(heads)],
        title=t("figures.title_all", layers=layers, heads=heads, kind=t(f"figures.kind_{kind}")),
        where="all",
        columns=heads,
        row_titles=[t("figures.row_layer", layer=layer + 1) for layer in range(layers)],
        caption=caption.text,
        alt=captions.grid_alt(view.maps, kind, caption, language=language, unit=unit),
    )


def upto_step(maps: AttentionMaps, step: int) -> AttentionMaps:
    """The maps that exist when `step` pieces have been written; the encoder's are complete from the start.

    Raises:
        ValueError: `step` is not between 1 and the number of written pieces.
    """
    count = len(maps.outputs)
    if not 1 <= step <= count:
        raise ValueError(f"step is {step}, but must be between 1 and {count}, the pieces written")
    return AttentionMaps(
        encoder=maps.encoder,
        decoder=maps.decoder[:, :, :step, :step],
        cross=maps.cross[:, :, :step],
        source=maps.source,
        inputs=_first(maps.inputs, step),
        outputs=_first(maps.outputs, step),
        finished=maps.finished and step == count,
    )


def future_mask(maps: AttentionMaps, kind: Kind) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """(Q, K) True where decoder self-attention would look at the future; None for kinds without such cells."""
    if kind != "decoder":
        return None
    count = len(maps.inputs)
    return np.triu(np.ones((count, count), dtype=bool), k=1)


def _first(axis: Axis, count: int) -> Axis:
    return Axis(axis.tokens[:count], axis.words[:count], axis.special[:count])


def _view(
    maps: AttentionMaps,
    kind: Kind,
    language: str,
    theme: Theme,
    provenance: Mapping[str, Any] | None,
    unit: Unit,
    upto: int | None,
) -> _View:
    maps.weights(kind)  # refuses an unknown kind
    if unit not in UNITS:
        raise ValueError(f"unit is {unit!r}, but must be one of {', '.join(UNITS)}")
    if upto is not None:
        maps = upto_step(maps, upto)
    if unit == "words":
        maps = maps.merged_to_words()
    return _View(
        maps=maps, kind=kind, unit=unit, upto=upto, t=texts(language), theme=theme, provenance=provenance or {}
    )


def _check(name: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise ValueError(f"{name} is {value}, but must be between 0 and {count - 1} (counted from 0)")
