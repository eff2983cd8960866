"""From attention maps to heatmaps: one head, the heads of a layer, all heads of a kind, all of the model.

The maps are a model's AttentionMaps, or a user's own arrays (`arrays.OwnMaps`, whose kind is "own").
"""

from __future__ import annotations

from dataclasses import replace

from viz_app.figures.build.request import Request
from viz_app.figures.model.figure import HeatmapFigure
from viz_app.figures.model.slicing import check_index
from viz_app.figures.text import captions, view_captions

LAYER_COLUMNS = 4  # heads beside each other: two rows of four fit the width of a page with readable labels


def one_head(r: Request) -> HeatmapFigure:
    """Return one head, with captions made from its weights."""
    view, kind, layer, head = r.attention, r.kind, r.layer, r.head
    if head not in view.heads(layer):
        check_index("head", head, len(view.heads(layer)))
    return view.figure(
        [view.panel(layer, head)],
        title=view.t("figures.title_head", head=captions.head_name(kind, layer, head), kind=view.kind_title),
        where=view.place(layer, head),
        view={"name": "head", "layer": layer, "head": head},
        draw_notes=kind == "decoder",
        caption=captions.head_caption(view.maps, kind, layer, head, language=r.language).text,
        alt=captions.head_alt(view, layer, head),
    )


def layer_heads(r: Request) -> HeatmapFigure:
    """Return all heads of one layer side by side."""
    view, kind, layer = r.attention, r.kind, r.layer
    heads = view.heads(layer)
    t, count = view.t, len(heads)
    if not heads:
        raise ValueError(f"layer {layer + 1} has no heads")
    caption = captions.layer_caption(view.maps, kind, layer, language=r.language)
    return view.figure(
        [view.panel(layer, head, t("figures.panel_head", head=head + 1)) for head in heads],
        title=t("figures.title_layer", layer=layer + 1, count=count, kind=view.kind_title),
        where=view.place(layer),
        view={"name": "layer", "layer": layer},
        columns=min(LAYER_COLUMNS, count),
        caption=caption.text,
        alt=captions.grid_alt(view, caption),
    )


def all_heads(r: Request) -> HeatmapFigure:
    """Return every head of one kind, a row for each layer."""
    view, kind = r.attention, r.kind
    t, layers, heads = view.t, view.maps.layers(kind), view.maps.heads(kind)
    caption = captions.all_caption(view.maps, kind, language=r.language)
    titles = [t("figures.panel_head", head=head + 1) for head in range(heads)]
    return view.figure(
        [view.panel(layer, head, titles[head]) for layer in range(layers) for head in range(heads)],
        title=t("figures.title_all", layers=layers, heads=heads, kind=view.kind_title),
        where=f"{kind}_all",
        view={"name": "heads"},
        columns=heads,
        row_titles=[t("figures.row_layer", layer=layer + 1) for layer in range(layers)],
        caption=caption.text,
        alt=captions.grid_alt(view, caption),
    )


def all_kinds(r: Request) -> HeatmapFigure:
    """Return every head of the model, a row for each layer, the three kinds below each other.

    Raises:
        ValueError: The kinds have different numbers of heads, so that there is no table of them.
    """
    maps, unit, upto = r.require_decoding, r.unit, r.step
    kinds = maps.kinds
    views = {kind: replace(r, kind=kind).attention for kind in kinds}
    view = views[kinds[-1]]
    heads, t = maps.heads(kinds[-1]), view.t
    if any(maps.heads(kind) != heads for kind in kinds):
        raise ValueError(
            f"the kinds of attention have {[maps.heads(k) for k in kinds]} heads, but must all have the same number"
        )
    titles = [t("figures.panel_head", head=head + 1) for head in range(heads)]
    panels = [
        replace(views[kind].panel(layer, head, titles[head]), kind=kind)
        for kind in kinds
        for layer in range(maps.layers(kind))
        for head in range(heads)
    ]
    caption = view_captions.kinds_caption(view.maps, kinds, language=r.language)
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
        row_titles=[t("figures.row_layer", layer=layer + 1) for kind in kinds for layer in range(maps.layers(kind))],
        row_groups=[(views[kind].kind_title, maps.layers(kind)) for kind in kinds],
        tile_note=t("figures.tile_note_kinds"),
        masked_note=t("figures.masked") if "decoder" in kinds else "",
        caption=caption.text,
        alt=view_captions.kinds_alt(view.maps, kinds, caption, language=r.language),
    )
