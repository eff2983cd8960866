"""Lines between tokens, for one head or several heads of a layer."""

from __future__ import annotations

from typing import Any

from viz_app.figures.build.request import Request
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.slicing import check_index
from viz_app.figures.text import view_captions
from viz_app.figures.text.captions import head_name


def head_lines(r: Request) -> LinesFigure:
    """Draw lines from queries to the keys that they attend to, as in Figures 3 to 5 of the paper.

    Raises:
        ValueError: A layer, head, query, unit or step does not exist, or a head is named twice.
    """
    kind, layer, heads, query = r.kind, r.layer, r.heads or (r.head,), r.query
    if len(set(heads)) < len(heads):
        raise ValueError(f"heads are {list(heads)}, but must be one or more different heads")
    view = r.attention
    if view.signed is not None:
        raise ValueError("lines stand for attention weights; draw other numbers as head, layer, heads or compare")
    t = view.t
    panels = [view.panel(layer, head, t("figures.panel_head", head=head + 1)) for head in heads]
    if query is not None:
        check_index("query", query, len(panels[0].query_labels))
    numbers = ", ".join(str(head + 1) for head in heads)
    if len(heads) == 1:
        title = t("figures.title_head", head=head_name(kind, layer, heads[0]), kind=view.kind_title)
    else:
        title = t("figures.title_lines", layer=layer + 1, heads=numbers, kind=view.kind_title)
    where = f"{view.place(layer, *heads)}_lines"
    caption = view_captions.lines_caption(view.maps, kind, layer, heads, query, language=r.language)
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
        alt=view_captions.lines_alt(view, layer, heads, caption),
        **view.shared(panels, where, parameters),
    )
