"""A training history for the browser, as one byte buffer.

A header and the weights, see `viz_app.components.buffer`. A weight w is the byte round(255 w), so within 1/510 of the
true one. The header gives for each sentence and kind where the weights start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

from msgspec import Meta

from transformer_core.attention_maps import KINDS, Kind
from viz_app.components.buffer import PackedMaps, Part, PlainAxis, join_buffer, pack_maps, plain_axis
from viz_app.components.palette import palettes

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History  # with torch, which takes seconds to import


class HistorySentence(TypedDict):
    """One sentence pair with its axes (`source`, `inputs`, `outputs`) and maps."""

    source: str
    target: str
    axes: dict[str, PlainAxis]
    maps: dict[Kind, PackedMaps]


class RoleShares(TypedDict):
    """Fit of a role to each head.

    Args:
        places: Positions that were counted.
        chance: Share that uniform attention explains.
        shares: By snapshot, layer and head.
    """

    places: int
    chance: float
    shares: list[list[list[float]]]


class Alignment(TypedDict):
    """Alignment error rates by snapshot, layer and head."""

    aer: list[list[list[float]]]
    sentences: int


class Validation(TypedDict):
    """Loss and BLEU of each snapshot on a validation set."""

    name: str
    sentences: int
    nll: list[float]
    bleu: list[float]


class SnapshotTraining(TypedDict):
    """Training loss and learning rate of each snapshot."""

    mean_nll: list[float | None]
    learning_rate: list[float | None]


class Course(TypedDict):
    """Loss of the whole training, at steps of its own."""

    step: list[int]
    mean_nll: list[float]


class HistoryStart(TypedDict):
    """State of a fresh component; `moment` is the number of the snapshot."""

    sentence: int
    kind: Kind
    moment: int
    layer: int
    head: int


class GrowthHeader(TypedDict):
    """Header of the buffer; `steps` has the step of each snapshot."""

    language: str
    texts: Annotated[dict[str, str], Meta(title="GrowthTexts")]
    start: HistoryStart
    steps: list[int]
    layers: int
    heads: int
    causal: bool
    sentences: list[HistorySentence]
    roles: dict[Kind, dict[str, RoleShares]]
    training: SnapshotTraining
    course: Course
    validation: Validation | None
    alignment: Alignment | None
    colours: Annotated[dict[str, Any], Meta(title="Palettes")]


def pack(history: History, *, texts: Mapping[str, str], language: str, start: Mapping[str, Any]) -> bytes:
    """Pack a training history.

    Args:
        history: With M snapshots, L layers, H heads.
        texts: The table [growth] in the reader's language.
        language: Its code.
        start: What a fresh component shows.
    """
    parts: list[Part] = []
    sentences: list[HistorySentence] = [
        {
            "source": sentence.source,
            "target": sentence.target,
            "axes": {name: plain_axis(axis) for name, axis in sentence.axes.items()},
            "maps": pack_maps({kind: sentence.weights[kind] for kind in KINDS}, parts),
        }
        for sentence in history.sentences
    ]
    header: GrowthHeader = {
        "language": language,
        "texts": dict(texts),
        "start": cast(HistoryStart, dict(start)),
        "steps": list(history.steps),
        "layers": history.model["layers"],
        "heads": history.model["heads"],
        "causal": bool(history.model.get("causal", True)),
        "sentences": sentences,
        "roles": cast(Any, history.roles),
        "training": cast(Any, history.training),
        "course": cast(Any, history.course),
        "validation": cast(Any, history.validation),
        "alignment": cast(Any, history.alignment),
        "colours": palettes(),
    }
    return join_buffer(header, *parts)
