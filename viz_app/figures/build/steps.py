"""One head at several steps of a decoding: side by side, or one after the other as an animation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from viz_app.figures.build.heads import one_head
from viz_app.figures.build.request import Request
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.text import view_captions
from viz_app.figures.text.captions import head_name

_COLUMNS = 4


@dataclass(frozen=True, kw_only=True)
class Animation(Figure):
    """Figures shown one after the other.

    Args:
        frames: The figures, all with room for the same labels, so that nothing moves but what changes.
        seconds: How long each is shown.
        hold: How long the last one is; None for twice as long as the others.

    Raises:
        ValueError: There is no frame, or a time is not allowed.
    """

    frames: Sequence[Figure]
    seconds: float = 0.8
    hold: float | None = None
    name: str = "headlight_decoding"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "frames", tuple(self.frames))
        if not self.frames:
            raise ValueError("an animation needs at least one frame")
        if not 0.05 <= self.seconds <= 20:
            raise ValueError(f"seconds is {self.seconds}, but must be between 0.05 and 20")

    @property
    def still_frame(self) -> Figure:
        """Last frame, with words and origin of the animation, where nothing moves."""
        words = {name: getattr(self, name) for name in ("title", "caption", "alt", "language", "theme", "name")}
        return replace(self.frames[-1], **words, provenance=self.provenance)


def decoding_steps(r: Request) -> HeatmapFigure:
    """Draw one head at chosen steps, side by side; without steps, at four that divide the decoding evenly.

    Raises:
        ValueError: A layer, head, unit or step does not exist, or the steps do not rise.
    """
    kind, layer, head, steps = r.kind, r.layer, r.head, r.steps or even_steps(len(r.require_decoding.outputs))
    if list(steps) != sorted(set(steps)):
        raise ValueError(f"steps are {list(steps)}, but must be increasing")
    views = [replace(r, step=step).attention for step in steps]
    last, t = replace(views[-1], upto=None), views[-1].t
    panels = [
        view.panel(layer, head, t("figures.panel_step", step=step)) for view, step in zip(views, steps, strict=True)
    ]
    caption = view_captions.steps_caption(last.maps, kind, layer, head, steps, language=r.language)
    return last.figure(
        panels,
        title=t("figures.title_head", head=head_name(kind, layer, head), kind=last.kind_title),
        where=f"{last.place(layer, head)}_steps",
        view={"name": "steps", "layer": layer, "head": head, "steps": list(steps)},
        columns=_COLUMNS,
        room_queries=panels[-1].query_labels,
        room_keys=panels[-1].key_labels,
        caption=caption.text,
        alt=f"{t('figures.alt_steps')} {caption.text}",
    )


def decoding(r: Request) -> Animation:
    """Return one head while the translation is written, a frame for each token."""
    steps = range(1, len(r.require_decoding.outputs) + 1)
    whole = one_head(replace(r, step=None))
    room = {"room_queries": whole.panels[0].query_labels, "room_keys": whole.panels[0].key_labels}
    frames = [replace(one_head(replace(r, step=step)), **room) for step in steps]  # type: ignore[arg-type]
    view = {**whole.provenance["view"], "name": "decoding"}
    return Animation(
        frames=frames,
        title=whole.title,
        caption=whole.caption,
        alt=whole.alt,
        kind=whole.kind,
        language=whole.language,
        theme=whole.theme,
        name=f"{whole.name}_decoding",
        provenance={**whole.provenance, "view": view},
    )


def even_steps(count: int, steps: int = _COLUMNS) -> tuple[int, ...]:
    """Return up to `steps` steps that divide `count` evenly, the last one included."""
    return tuple(sorted({max(1, round(count * i / steps)) for i in range(1, steps + 1)}))
