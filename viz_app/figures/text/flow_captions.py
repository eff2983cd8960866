"""Title, caption and alternative text of a flow, as in `captions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from viz_app.figures.model.figure import display_label
from viz_app.figures.model.flow import FlowFigure, MadeToken, Part, number
from viz_app.figures.text.captions import MAX_LABEL, Caption, Segment, percent, say

_LISTED = 4  # parts that a caption names


def with_words(figure: FlowFigure) -> FlowFigure:
    """Return the figure with its words."""
    chosen, graph, language = figure.chosen, figure.graph, figure.language
    if chosen is None:
        caption, title = _all_caption(figure), say(language, "title_flow")
        return replace(figure, title=title.text, caption=caption.text, alt=f"{_alt(figure)} {caption.text}")
    names = {"word": _label(figure.outputs[chosen.position])}
    if chosen.against is not None:
        names["against"] = _label(chosen.against)
    contrast = "" if chosen.against is None else "_against"
    title = say(language, f"title_flow{contrast or '_word'}", names)
    caption = _word_caption(figure, chosen, names, contrast)
    if graph is not None:
        values = {"count": f"{len(graph.ways):,}", "all": f"{graph.count:,}", "percent": percent(graph.share)}
        caption += say(language, "caption_flow_graph", **values)
    return replace(figure, title=title.text, caption=caption.text, alt=f"{_alt(figure)} {caption.text}")


def largest_parts(token: MadeToken, count: int = _LISTED) -> Sequence[Part]:
    """Return the largest parts of a token but for its biases."""
    return sorted(token.parts[:-1], key=lambda part: -abs(part.value))[:count]


def _word_caption(figure: FlowFigure, chosen: MadeToken, names: dict[str, str], contrast: str) -> Caption:
    listed = largest_parts(chosen)
    parts: list[Segment] = []
    for part in listed:
        comma = Segment(", " if parts else "")
        parts += [comma, Segment(_label(figure.label(part)), token=True), Segment(f" {number(part.value)}")]
    others = chosen.logit - chosen.biases - sum(part.value for part in listed)
    values = {
        name: number(value) for name, value in (("others", others), ("biases", chosen.biases), ("logit", chosen.logit))
    }
    before, after = (
        say(figure.language, f"caption_flow{contrast}_{part}", names, **values) for part in ("begins", "ends")
    )
    return Caption((*before.segments, *parts, *after.segments))


def _all_caption(figure: FlowFigure) -> Caption:
    biases = [token.biases for token in figure.tokens]
    values = {"count": len(figure.tokens), "low": number(min(biases)), "high": number(max(biases))}
    return say(figure.language, "caption_flow", **values)


def _alt(figure: FlowFigure) -> str:
    return say(figure.language, "alt_flow" if figure.graph is None else "alt_flow_graph").text


def _label(label: str) -> str:
    return display_label(label, MAX_LABEL)
