"""From attention maps to heatmaps: one head, the heads of a layer, all heads of a kind, all of the model.

The maps are a model's AttentionMaps, or a user's own arrays (`arrays.OwnMaps`, whose kind is "own").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from transformer_core.attention_maps import KINDS, AttentionMaps
from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.arrays import AnyKind, Maps
from viz_app.figures.model.slicing import UNITS as UNITS
from viz_app.figures.model.slicing import Unit, check_index, slice_attention
from viz_app.figures.model.spec import HeatmapFigure
from viz_app.figures.text import captions, view_captions

LAYER_COLUMNS = 4  # heads beside each other: two rows of four fit the width of a page with readable labels


def one_head(
    maps: Maps,
    kind: AnyKind,
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
    view = slice_attention(maps, kind, language, theme, provenance, unit, upto)
    return view.figure(
        [view.panel(layer, head)],
        title=view.t("figures.title_head", layer=layer + 1, head=head + 1, kind=view.kind_title),
        where=f"layer{layer + 1}_head{head + 1}",
        view={"name": "head", "layer": layer, "head": head},
        draw_notes=kind == "decoder",
        caption=captions.head_caption(view.maps, kind, layer, head, language=language).text,
        alt=captions.head_alt(view.maps, kind, layer, head, language=language, unit=unit),
    )


def layer_heads(
    maps: Maps,
    kind: AnyKind,
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
    view = slice_attention(maps, kind, language, theme, provenance, unit, upto)
    check_index("layer", layer, maps.layers(kind))
    t, count = view.t, maps.heads(kind)
    caption = captions.layer_caption(view.maps, kind, layer, language=language)
    return view.figure(
        [view.panel(layer, head, t("figures.panel_head", head=head + 1)) for head in range(count)],
        title=t("figures.title_layer", layer=layer + 1, count=count, kind=view.kind_title),
        where=f"layer{layer + 1}",
        view={"name": "layer", "layer": layer},
        columns=columns,
        caption=caption.text,
        alt=captions.grid_alt(view.maps, kind, caption, language=language, unit=unit),
    )


def all_heads(
    maps: Maps,
    kind: AnyKind,
    *,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
    upto: int | None = None,
) -> HeatmapFigure:
    """Every head of one kind, a row for each layer; arguments as for `one_head`."""
    view = slice_attention(maps, kind, language, theme, provenance, unit, upto)
    t, layers, heads = view.t, maps.layers(kind), maps.heads(kind)
    caption = captions.all_caption(view.maps, kind, language=language)
    titles = [t("figures.panel_head", head=head + 1) for head in range(heads)]
    return view.figure(
        [view.panel(layer, head, titles[head]) for layer in range(layers) for head in range(heads)],
        title=t("figures.title_all", layers=layers, heads=heads, kind=view.kind_title),
        where="all",
        view={"name": "heads"},
        columns=heads,
        row_titles=[t("figures.row_layer", layer=layer + 1) for layer in range(layers)],
        caption=caption.text,
        alt=captions.grid_alt(view.maps, kind, caption, language=language, unit=unit),
    )


def all_kinds(
    maps: AttentionMaps,
    *,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
    upto: int | None = None,
) -> HeatmapFigure:
    """Every head of the model, a row for each layer, the three kinds below each other; arguments as for `one_head`.

    Raises:
        ValueError: The kinds have different numbers of heads, so that there is no table of them.
    """
    views = {kind: slice_attention(maps, kind, language, theme, provenance, unit, upto) for kind in KINDS}
    heads = maps.heads("encoder")
    if any(maps.heads(kind) != heads for kind in KINDS):
        raise ValueError(
            f"the kinds of attention have {[maps.heads(k) for k in KINDS]} heads, but must all have the same number"
        )
    view, t = views["cross"], views["cross"].t
    titles = [t("figures.panel_head", head=head + 1) for head in range(heads)]
    panels = [
        replace(views[kind].panel(layer, head, titles[head]), kind=kind)
        for kind in KINDS
        for layer in range(maps.layers(kind))
        for head in range(heads)
    ]
    caption = view_captions.kinds_caption(view.maps, language=language)
    record = view.shared(panels, "all_kinds", {"name": "all"})["provenance"]
    record.pop("kind")
    record["view"].pop("kind")
    return view.figure(
        panels,
        title=t("figures.title_kinds", count=len(panels)),
        where="",
        view={},
        kind="",
        name="_".join(
            ["headlight_all_kinds", *(["words"] if unit == "words" else []), *([f"step{upto}"] if upto else [])]
        ),
        provenance=record,
        columns=heads,
        row_titles=[t("figures.row_layer", layer=layer + 1) for kind in KINDS for layer in range(maps.layers(kind))],
        row_groups=[(views[kind].kind_title, maps.layers(kind)) for kind in KINDS],
        tile_note=t("figures.tile_note_kinds"),
        masked_note=t("figures.masked"),
        caption=caption.text,
        alt=view_captions.kinds_alt(view.maps, caption, language=language),
    )
