"""Captions and alt texts made from the data, in English and Korean. Pure functions on AttentionMaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import Axis
from transformer_core.head import Head
from viz_app.figures.model.arrays import OWN, Maps
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.slicing import AttentionSlice
from viz_app.figures.options import AnyKind
from viz_app.text import texts

# A special or punctuation key is an attention sink with this share of a head, on average over its rows.
SINK_SHARE = 0.5
# The same in the explorer's sentences.js:
_NEARLY = 0.1  # weights that differ by less are about as telling
_SHORT = 3  # letters at most of a word that rarely carries meaning
MAX_LABEL = 24


@dataclass(frozen=True)
class Segment:
    """A stretch of a caption; `token` marks one that comes from the sentence."""

    text: str
    token: bool = False


@dataclass(frozen=True)
class Caption:
    """A caption as words and tokens."""

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """Plain text, tokens in quotation marks."""
        return "".join(f"\u201c{s.text}\u201d" if s.token else s.text for s in self.segments)

    def __add__(self, other: Caption) -> Caption:
        """Both captions, a space between."""
        return Caption((*self.segments, Segment(" "), *other.segments))


@dataclass(frozen=True)
class Link:
    """One strong cell of a map: `query` gave `weight` to `key`; `row` and `column` count from 0."""

    row: int
    column: int
    query: str
    key: str
    weight: float


def strongest_links(
    maps: Maps, kind: AnyKind, layer: int, head: int, count: int = 3, *, itself: bool = True
) -> tuple[Link, ...]:
    """Return the strongest cells between content tokens, at most one for each row, strongest first.

    Content tokens are those with a letter or a digit. When the map has none, its strongest cells of any kind.

    Args:
        maps: Maps of one sentence, of tokens or of words.
        kind: Which attention.
        layer: Layer, from 0.
        head: Head, from 0.
        count: Links at most.
        itself: Whether a token of self-attention may be linked to itself.
    """
    weights = maps.weights(kind)[layer, head]  # (Q, K)
    queries, keys = maps.queries(kind), maps.keys(kind)
    content = np.outer(_content(queries), _content(keys))
    if not itself and _same_tokens(maps, kind):
        content &= ~np.eye(len(queries), dtype=bool)
    if not content.any():
        content = np.ones_like(content)
    masked = np.where(content, np.nan_to_num(weights), -np.inf)  # no number where a layer lacks the head
    columns = masked.argmax(axis=1)
    best = masked[np.arange(len(columns)), columns]
    rows = [int(row) for row in np.argsort(-best, kind="stable")[:count] if best[row] > -np.inf]
    return tuple(
        Link(
            row,
            int(columns[row]),
            display_label(queries.tokens[row], MAX_LABEL),
            display_label(keys.tokens[columns[row]], MAX_LABEL),
            float(weights[row, columns[row]]),
        )
        for row in rows
    )


def head_caption(maps: Maps, kind: AnyKind, layer: int, head: int, *, language: str = "en") -> Caption:
    """Describe one head in this sentence: its most telling link, and its attention sink, if it has one.

    The most telling link of encoder-decoder attention is that of a whole word of some length that is not copied, if
    there is any. Of those that are nearly the strongest, it is the one of the longest query.

    Args:
        maps: Maps of one sentence, of tokens or of words.
        kind: Which attention.
        layer: Layer, from 0.
        head: Head, from 0.
        language: "en" or "ko".
    """
    links = strongest_links(maps, kind, layer, head, count=len(maps.queries(kind)))
    if kind == "cross":
        fresh = tuple(link for link in links if link.query.lower() != link.key.lower())
        links = tuple(link for link in fresh if _is_telling(maps, layer, head, link)) or fresh or links
    near = [link for link in links if link.weight > links[0].weight - _NEARLY]
    # In the order of the sentence, so that equally long queries give the first one.
    link = max(sorted(near, key=lambda link: link.row), key=lambda link: len(link.query))
    values = {"head": head_name(kind, layer, head), "percent": percent(link.weight)}
    tokens = {"query": link.query, "key": link.key}
    template = f"caption_{kind}"
    if kind == "decoder":
        if link.row < len(maps.outputs):
            tokens["written"] = display_label(maps.outputs.tokens[link.row], MAX_LABEL)
        else:  # words of a translation that was cut off: the last input has no output
            template = "caption_encoder"
    if link.row == link.column and _same_tokens(maps, kind):
        values["key"] = texts(language)("figures.itself")
        del tokens["key"]
    caption = say(language, template, tokens, **values)
    rest = _attention_sink(maps, kind, layer, head)
    if rest is None:
        return caption
    key, share = rest
    return caption + say(language, "caption_rest", {"key": key}, percent=percent(share))


def layer_caption(maps: Maps, kind: AnyKind, layer: int, *, language: str = "en") -> Caption:
    """Caption the heads of one layer; it names the head with the strongest link between content tokens."""
    head = int(np.argmax([_peak(maps, kind, layer, h) for h in range(maps.heads(kind))]))
    count = _count(maps.weights(kind)[layer])
    start = say(language, "caption_layer", layer=layer + 1, count=count, kind=kind_name(language, kind))
    return start + strongest_link_caption(maps, kind, layer, head, language)


def all_caption(maps: Maps, kind: AnyKind, *, language: str = "en") -> Caption:
    """Caption all heads of one kind; it names the head with the strongest link between content tokens."""
    layers, heads = maps.layers(kind), maps.heads(kind)
    peaks = [[_peak(maps, kind, layer, head) for head in range(heads)] for layer in range(layers)]
    layer, head = divmod(int(np.argmax(peaks)), heads)
    start = say(
        language, "caption_all", layers=layers, count=_count(maps.weights(kind)), kind=kind_name(language, kind)
    )
    return start + strongest_link_caption(maps, kind, layer, head, language)


def head_alt(view: AttentionSlice, layer: int, head: int) -> str:
    """Describe the map of one head in words: what it is, its axes, its three strongest links."""
    language = view.t.language
    place = {"kind": view.kind_title, "head": head_name(view.kind, layer, head)}
    links = [
        say(language, "alt_link", {"query": link.query, "key": link.key}, percent=percent(link.weight)).text
        for link in strongest_links(view.maps, view.kind, layer, head)
    ]
    start = say(language, "alt_head", **place, **axis_words(view)).text
    return f"{start} {view.t('figures.alt_links')} {', '.join(links)}."


def grid_alt(view: AttentionSlice, caption: Caption) -> str:
    """Describe the maps of several heads in words: the axes that they share, then their caption."""
    return f"{say(view.t.language, 'alt_grid', **axis_words(view)).text} {caption.text}"


def axis_words(view: AttentionSlice) -> dict[str, object]:
    """Return numbers and titles of the rows and columns of a map."""
    rows, columns = view.maps.weights(view.kind).shape[2:]
    return {"rows": rows, "columns": columns, "query_title": view.query_title, "key_title": view.key_title}


def percent(weight: float) -> str:
    """Write a weight as a whole percentage; never 100 for a weight below 0.995, never 0 for one that is not zero."""
    value = weight * 100
    return "< 1" if 0 < value < 0.5 else f"{value:.0f}"


def strongest_link_caption(
    maps: Maps, kind: AnyKind, layer: int, head: int, language: str, *, template: str = "caption_strongest"
) -> Caption:
    """Caption the strongest link of a head between two different content tokens; the template may name its kind."""
    link = strongest_links(maps, kind, layer, head, count=1, itself=False)[0]
    values = {"kind": kind_name(language, kind), "head": head_name(kind, layer, head), "percent": percent(link.weight)}
    return say(language, template, {"query": link.query, "key": link.key}, **values)


def kind_name(language: str, kind: AnyKind) -> str:
    """Return the name of a kind of attention."""
    return texts(language)(f"figures.kind_{kind}")


def head_name(kind: AnyKind, layer: int, head: int) -> str:
    """Return the name of a head, such as cross.4.6; 4.6 in own arrays."""
    return f"{layer + 1}.{head + 1}" if kind == OWN else str(Head(kind, layer, head))


def _count(weights: npt.NDArray[np.float32]) -> int:
    """Count the heads that are there; layers of other programs' models may lack some."""
    return int((~np.isnan(weights[..., 0, 0])).sum())


def _peak(maps: Maps, kind: AnyKind, layer: int, head: int) -> float:
    return strongest_links(maps, kind, layer, head, count=1, itself=False)[0].weight


def _is_telling(maps: Maps, layer: int, head: int, link: Link) -> bool:
    """Return whether a link is of a whole word of some length, and its key the one that the word attends to most."""
    queries, weights = maps.queries("cross"), maps.weights("cross")[layer, head, link.row]
    parts = _content(queries)[np.array(queries.words) == queries.words[link.row]]
    return len(link.query) > _SHORT and parts.sum() == 1 and link.column == weights.argmax()


def _same_tokens(maps: Maps, kind: AnyKind) -> bool:
    """Return whether rows and columns are the same tokens: self-attention."""
    return kind != "cross" and maps.queries(kind) == maps.keys(kind)


def _content(axis: Axis) -> npt.NDArray[np.bool_]:
    """Return whether each position is a token with a letter or digit, and not a special one."""
    return np.array(
        [any(c.isalnum() for c in t) and not s for t, s in zip(axis.tokens, axis.special, strict=True)], dtype=bool
    )


def _attention_sink(maps: Maps, kind: AnyKind, layer: int, head: int) -> tuple[str, float] | None:
    """Return the key without content that gets at least SINK_SHARE on average, and its share."""
    keys = maps.keys(kind)
    shares = np.where(_content(keys), 0.0, maps.weights(kind)[layer, head].mean(axis=0))
    column = int(shares.argmax())
    if shares[column] < SINK_SHARE:
        return None
    return display_label(keys.tokens[column], MAX_LABEL), float(shares[column])


def say(language: str, key: str, tokens: Mapping[str, str] | None = None, /, **values: object) -> Caption:
    """Fill a template of the section [figures] with values and tokens; a token is never read as a format string.

    As in `viz_app.text.fill`, `{steps|token|tokens}` is the first word where the value is 1, else the second.
    """
    segments: list[Segment] = []
    for literal, field, _, _ in Formatter().parse(texts(language).table("figures")[key]):
        if literal:
            segments.append(Segment(literal))
        if field is None:
            continue
        name, *forms = field.split("|")
        if forms:
            segments.append(Segment(forms[str(values[name]) != "1"]))
        else:
            token = (tokens or {}).get(name)
            segments.append(Segment(str(values[name])) if token is None else Segment(token, token=True))
    return Caption(tuple(segments))
