"""Format of the session file: all that is open, as one JSON file for this and other versions.

Everything is written, so that a default that changes later changes no file. The types are the format: each text, list
and number has its bound. Values mean what they mean in the session, so that layers, heads and tokens count from 0. A
name, such as a lesson's, may be one that only another version knows; it is looked up, never taken for a path.
`session_reader` reads and writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta, Struct

from viz_app.components.explorer.selection import Head, OtherView, Selection
from viz_app.figures.options import Index, Name, ViewOptions
from viz_app.serving.classes.classrooms import MAX_POLLS
from viz_app.serving.classes.polls import PollResult
from viz_app.serving.input_validation import MAX_CHARACTERS

FORMAT = "headlight-session"
VERSION = 2
FILE_NAME = "headlight_session.json"
MAX_BYTES = 512_000
MAX_FINDINGS = 4  # that a stage keeps beside each other
MAX_CHOSEN = 6  # heads of an atlas side by side
MAX_SAID = 4_000  # characters of the line below a finding

_MODEL = r"(?!\.)[^/\\:\x00-\x1f\x7f]{1,200}"  # a folder's name, never a path

ModelName = Annotated[str, Meta(pattern=rf"\A{_MODEL}\Z")]
SceneName = Annotated[str, Meta(pattern=r"\A([a-z][a-z0-9_]{0,39})?\Z")]
Sentence = Annotated[str, Meta(max_length=MAX_CHARACTERS)]
Hash = Annotated[str, Meta(pattern=r"\A([0-9a-f]{64})?\Z")]
AtlasHead = Annotated[str, Meta(pattern=r"\A(encoder|decoder|cross)\.(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,2})\Z")]
Number = Annotated[int, Meta(ge=-(10**9), le=10**9)] | Annotated[float, Meta(ge=-1e9, le=1e9)]
Setting = bool | Number | Annotated[str, Meta(max_length=200)]
Settings = Annotated[dict[Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]{0,15}\Z")], Setting], Meta(max_length=12)]


def is_model_name(name: str) -> bool:
    """Return whether a text may be the name of a model: one folder, no way to another."""
    return re.fullmatch(_MODEL, name) is not None


class SavedModel(Struct, frozen=True, kw_only=True):
    """A model by its name, and by the `weights_hash` that tells whether another one is called the same."""

    name: ModelName
    weights: Hash = ""


class SavedExplorer(Struct, frozen=True, kw_only=True):
    """State of the explorer of Translate.

    Args:
        selection: As the browser reports it.
        off: The head that is switched off; None for none.
        other: Which of the other views is open; None for none.
    """

    selection: Selection
    off: Head | None = None
    other: OtherView | None = None

    def __post_init__(self) -> None:
        _require_model(self.selection)


class SavedFinding(Struct, frozen=True, kw_only=True):
    """A finding that was pinned below a stage. Its picture is not kept.

    Args:
        scene: Of the stage.
        settings: Of its controls.
        title: Of the scene, in the language that was read.
        said: The line below the picture.
        text: The sentence.
        model: Name of the model; "" for the one that is served to all.
    """

    scene: SceneName = ""
    settings: Settings = {}
    title: Annotated[str, Meta(max_length=200)] = ""
    said: Annotated[str, Meta(max_length=MAX_SAID)] = ""
    text: Sentence = ""
    model: Annotated[str, Meta(pattern=rf"\A({_MODEL})?\Z")] = ""


class SavedLesson(Struct, frozen=True, kw_only=True):
    """Place in a lesson or in the Lab: see `viz_app.lessons.stage.LessonState`."""

    scene: SceneName = ""
    settings: Settings = {}
    findings: Annotated[tuple[SavedFinding, ...], Meta(max_length=MAX_FINDINGS)] = ()


class SavedScene(Struct, frozen=True, kw_only=True):
    """A lesson's picture on the page Figures."""

    lesson: Name
    scene: SceneName = ""
    settings: Settings = {}


@dataclass(frozen=True, kw_only=True)
class SavedSpec(ViewOptions):
    """A `viz_app.figure_editor.figure_spec.FigureSpec`.

    Args:
        style: As `Style.as_dict` writes it; a style of another version may have more.
    """

    view: Name = "head"
    selection: Selection = field(default_factory=Selection)
    language: Name | None = None
    style: Annotated[dict[Name, Setting | Annotated[list[Number], Meta(max_length=2)] | None], Meta(max_length=32)] = (
        field(default_factory=dict)
    )
    dpi: Annotated[int, Meta(ge=1, le=10_000)] = 300
    scene: SavedScene | None = None

    def __post_init__(self) -> None:
        _require_model(self.selection)


class SavedFigure(Struct, frozen=True, kw_only=True):
    """A figure of the collection: what it was made of, so that it can be made again."""

    spec: SavedSpec
    text: Sentence
    model: SavedModel
    language: Name = "en"


class SavedFigures(Struct, frozen=True, kw_only=True):
    """The page Figures.

    Args:
        spec: Its figure; None before it was opened.
        zoom: How large it shows that.
        formats: Of the collection's zip; None for those at the start.
        collection: What was put aside.
    """

    spec: SavedSpec | None = None
    zoom: Literal["print", "fit"] = "print"
    formats: Annotated[tuple[Name, ...], Meta(max_length=16)] | None = None
    collection: Annotated[tuple[SavedFigure, ...], Meta(max_length=24)] = ()


class SavedGrowth(Struct, frozen=True, kw_only=True):
    """View of a history on the page Model: its model, and a `model_card.head_snapshot.HeadSnapshot`."""

    of: ModelName
    sentence: Index = 0
    kind: Literal["encoder", "decoder", "cross"] = "cross"
    moment: Index = 0
    layer: Index = 0
    head: Index = 0


class SavedAtlas(Struct, frozen=True, kw_only=True):
    """View of the head atlas.

    Args:
        by: Name of the measure; empty for the first.
        view: All heads as a grid, or as a ranked list.
        rising: Whether the list begins with the smallest value.
        kind: Only heads of this kind; empty for all.
        role: Only heads with this role; `none` for heads without any, empty for all.
        significant: Only heads whose effect survives the control.
        chosen: Compared heads, such as `cross.5.5`, from 0.
    """

    by: Annotated[str, Meta(max_length=40)] = ""
    view: Literal["grid", "list"] = "grid"
    rising: bool = False
    kind: Literal["", "encoder", "decoder", "cross"] = ""
    role: Annotated[str, Meta(max_length=60)] = ""
    significant: bool = False
    chosen: Annotated[tuple[AtlasHead, ...], Meta(max_length=MAX_CHOSEN)] = ()


class SavedPruning(Struct, frozen=True, kw_only=True):
    """View of the atlas's curves; at first all heads are left.

    Args:
        group: Which heads go.
        score: Which score is drawn.
        order: Which go first, in the sentence.
        left: How many are left there.
    """

    group: Name = "all"
    score: Name = "bleu"
    order: Name = "effect"
    left: Index = 9_999


class SessionFile(Struct, frozen=True, kw_only=True):
    """All that is open.

    Args:
        headlight: Version of the program that wrote it.
        language: Of the page.
        page: The page that is open.
        text: The sentence.
        model: That reads it.
        route: Whether the session follows a route.
        short_route: Whether that is the route of 15 minutes.
        explorer: The page Translate; None before it was opened.
        lesson: The lesson that is open; None for the index.
        lessons: Every lesson that was opened, and the Lab.
        figures: The page Figures.
        growth: Of the page Model, the history; None before anything was chosen there.
        atlas: The atlas of the model; None before it was opened.
        pruning: Its curves; None before they were opened.
        polls: What classes have answered.
    """

    headlight: Annotated[str, Meta(max_length=40)] = ""
    language: Name = "en"
    page: Name = "translate"
    text: Sentence = ""
    model: SavedModel | None = None
    route: bool = False
    short_route: bool = False
    explorer: SavedExplorer | None = None
    lesson: Name | None = None
    lessons: Annotated[dict[Name, SavedLesson], Meta(max_length=64)] = {}
    figures: SavedFigures = SavedFigures()
    growth: SavedGrowth | None = None
    atlas: SavedAtlas | None = None
    pruning: SavedPruning | None = None
    polls: Annotated[tuple[PollResult, ...], Meta(max_length=MAX_POLLS)] = ()


def _require_model(selection: Selection) -> None:
    if selection.vsmodel is not None and not is_model_name(selection.vsmodel):
        raise ValueError("not the name of a model")
