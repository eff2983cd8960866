"""One head at several steps of a decoding: side by side, or one after the other as an animation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformer_core.attention_maps import AttentionMaps, Kind
from viz_app.figures.build.heads import one_head
from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.slicing import Unit, slice_attention
from viz_app.figures.model.spec import Figure, HeatmapFigure
from viz_app.figures.text import view_captions

_COLUMNS = 4


@dataclass(frozen=True, kw_only=True)
class Animation(Figure):
    """Figures shown one after the other.

    Args:
        frames: The figures, all with room for the same labels, so that nothing moves but what changes.
        seconds: How long each is shown; the last one twice as long.
        still: What is written where nothing moves (PDF, SVG, PNG, data); None for an animation that has no such files.

    Raises:
        ValueError: There is no frame, or a time is not allowed.
    """

    frames: Sequence[Figure]
    seconds: float = 0.8
    still: Figure | None = None
    name: str = "headlight_decoding"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "frames", tuple(self.frames))
        if not self.frames:
            raise ValueError("an animation needs at least one frame")
        if not 0.05 <= self.seconds <= 20:
            raise ValueError(f"seconds is {self.seconds}, but must be between 0.05 and 20")
        if isinstance(self.still, Animation):
            raise ValueError("still is an animation, but must be a static figure")

    @property
    def still_frame(self) -> Figure:
        """What stands for it where nothing moves, with its words and origin: the still, or the last frame."""
        words = {name: getattr(self, name) for name in ("title", "caption", "alt", "language", "theme", "name")}
        return replace(self.still or self.frames[-1], **words, provenance=self.provenance)


def decoding_steps(
    maps: AttentionMaps,
    kind: Kind,
    layer: int,
    head: int,
    steps: Sequence[int] = (),
    *,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
    columns: int = _COLUMNS,
) -> HeatmapFigure:
    """The same head at chosen steps, side by side; arguments as for `one_head`.

    Args:
        maps: Maps of one sentence, by pieces.
        kind: Which attention.
        layer: Layer, from 0.
        head: Head, from 0.
        steps: Pieces written at each step shown, rising; empty for four steps that divide the decoding evenly.
        language: "en" or "ko".
        theme: "light" or "dark".
        provenance: Checkpoint, hash, sentence, command, ...; plain values, written into every file.
        unit: "pieces" or "words".
        columns: Steps beside each other.

    Raises:
        ValueError: A layer, head, unit or step does not exist, or the steps do not rise.
    """
    steps = tuple(steps) or even_steps(len(maps.outputs))
    if list(steps) != sorted(set(steps)):
        raise ValueError(f"steps are {list(steps)}, but must be increasing")
    views = [slice_attention(maps, kind, language, theme, provenance, unit, step) for step in steps]
    last, t = replace(views[-1], upto=None), views[-1].t
    panels = [
        view.panel(layer, head, t("figures.panel_step", step=step)) for view, step in zip(views, steps, strict=True)
    ]
    caption = view_captions.steps_caption(last.maps, kind, layer, head, steps, language=language)
    return last.figure(
        panels,
        title=t("figures.title_head", layer=layer + 1, head=head + 1, kind=last.kind_title),
        where=f"layer{layer + 1}_head{head + 1}_steps",
        view={"name": "steps", "layer": layer, "head": head, "steps": list(steps)},
        columns=columns,
        room_queries=panels[-1].query_labels,
        room_keys=panels[-1].key_labels,
        caption=caption.text,
        alt=f"{t('figures.alt_steps')} {caption.text}",
    )


def decoding(
    maps: AttentionMaps,
    kind: Kind,
    layer: int,
    head: int,
    *,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
    unit: Unit = "pieces",
) -> Animation:
    """One head while the translation is written, a frame for each piece; arguments as for `one_head`."""
    shared: dict[str, Any] = {"language": language, "theme": theme, "provenance": provenance, "unit": unit}
    whole = one_head(maps, kind, layer, head, **shared)
    room = {"room_queries": whole.panels[0].query_labels, "room_keys": whole.panels[0].key_labels}
    frames = [
        replace(one_head(maps, kind, layer, head, upto=step, **shared), **room)  # type: ignore[arg-type]
        for step in range(1, len(maps.outputs) + 1)
    ]
    view = {**whole.provenance["view"], "name": "decoding"}
    return Animation(
        frames=frames,
        title=whole.title,
        caption=whole.caption,
        alt=whole.alt,
        kind=whole.kind,
        language=language,
        theme=theme,
        name=f"{whole.name}_decoding",
        provenance={**whole.provenance, "view": view},
    )


def even_steps(count: int, steps: int = _COLUMNS) -> tuple[int, ...]:
    """Up to so many steps that divide `count` evenly, the last one included."""
    return tuple(sorted({max(1, round(count * i / steps)) for i in range(1, steps + 1)}))
