"""Lines between tokens, for one head or several heads of a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.arrays import AnyKind, Maps
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.slicing import Unit, check_index, slice_attention
from viz_app.figures.text import view_captions


def head_lines(
    maps: Maps,
    kind: AnyKind,
    layer: int,
    heads: Sequence[int],
    *,
    query: int | None = None,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
    upto: int | None = None,
) -> LinesFigure:
    """Lines from queries to the keys that they look at, as in Figures 3 to 5 of the paper.

    Args:
        maps: Maps of one sentence, by pieces.
        kind: Which attention.
        layer: Layer, from 0.
        heads: One or more heads of that layer, from 0; several get colours of their own.
        query: The one query whose lines are drawn, from 0, counted in the unit shown; None for all.
        language: "en" or "ko".
        theme: "light" or "dark".
        provenance: Checkpoint, hash, sentence, command, ...; plain values, written into every file.
        unit: "pieces" or "words".
        upto: Decoding step, or None for all.

    Raises:
        ValueError: A layer, head, query, unit or step does not exist, or a head is named twice.
    """
    heads = tuple(heads)
    if not heads or len(set(heads)) < len(heads):
        raise ValueError(f"heads are {list(heads)}, but must be one or more different heads")
    view = slice_attention(maps, kind, language, theme, provenance, unit, upto)
    t = view.t
    panels = [view.panel(layer, head, t("figures.panel_head", head=head + 1)) for head in heads]
    if query is not None:
        check_index("query", query, len(panels[0].query_labels))
    numbers = ", ".join(str(head + 1) for head in heads)
    if len(heads) == 1:
        title = t("figures.title_head", layer=layer + 1, head=numbers, kind=view.kind_title)
    else:
        title = t("figures.title_lines", layer=layer + 1, heads=numbers, kind=view.kind_title)
    where = f"layer{layer + 1}_head{'-'.join(str(head + 1) for head in heads)}_lines"
    caption = view_captions.lines_caption(view.maps, kind, layer, heads, query, language=language)
    parameters: dict[str, Any] = {"name": "lines", "layer": layer, "heads": list(heads)}
    if query is not None:
        parameters["query"], where = query, f"{where}_query{query + 1}"
    return LinesFigure(
        panels=panels,
        query=query,
        query_title=view.query_title,
        key_title=view.key_title,
        scale_title=t("figures.scale"),
        line_note=t("figures.line_note"),
        title=view.title(title),
        caption=caption.text,
        alt=view_captions.lines_alt(view.maps, kind, layer, heads, caption, language=language, unit=unit),
        **view.shared(panels, where, parameters),
    )
