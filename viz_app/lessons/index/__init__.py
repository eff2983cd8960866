"""Index of the lessons: Figure 1 of the paper, whose stations open the lessons, and the route of a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from viz_app.components import events
from viz_app.components.registration import register
from viz_app.figures.colours.palette import THEMES, kind_color

FOLDER = Path(__file__).parent
_KEY = "index"
_mount = register("index", FOLDER)


@dataclass(frozen=True)
class Stop:
    """Stop of the route, or a lesson beside it.

    Args:
        name: What it opens: a lesson, "translate", or "" for nothing.
        title: As it is shown.
        about: One sentence.
        minutes: Planned for it; 0 when it is not on the route.
        stations: Boxes of Figure 1 that open it.
        opened: Whether this session has opened it.
    """

    name: str
    title: str
    about: str
    minutes: int = 0
    stations: tuple[str, ...] = ()
    opened: bool = False


def lesson_index(
    route: Sequence[Stop],
    others: Mapping[str, Sequence[Stop]],
    *,
    texts: Mapping[str, str],
    language: str,
    sentence: str,
    on_open: Callable[[str], None],
) -> bool:
    """Show the index.

    Args:
        route: The stops of a class, in order.
        others: The other lessons by the title of their chapter.
        texts: The table [index].
        language: Code of the reader's language.
        sentence: The visitor's sentence, which goes into the figure.
        on_open: Called with the name of the stop or of the route that was opened; at least once.

    Returns:
        Whether one was just opened.
    """
    data: dict[str, Any] = {
        "route": [asdict(stop) for stop in route],
        "others": [[chapter, [asdict(stop) for stop in stops]] for chapter, stops in others.items()],
        "texts": dict(texts),
        "language": language,
        "sentence": sentence,
        "kinds": {
            theme: {kind: kind_color(kind, theme) for kind in ("encoder", "decoder", "cross")} for theme in THEMES
        },
    }
    result: Any = _mount(key=_KEY, data=data, on_open_change=events.keep)
    opened = events.new_named_event(_KEY, result.get("open"))
    if opened is None:
        return False
    name, number = opened
    on_open(name)
    events.answered(_KEY, number)
    return True
