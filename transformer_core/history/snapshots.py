"""Training history: the attention of a few sentences at several snapshots of a training, small enough to ship.

    history.json            sentences, steps of the snapshots, and their measurements
    attention.safetensors   a weight w as the byte round(255 w), within 1/510 of the true one

It has its own folder, or `derived/history/` in a checkpoint, keyed by the model's `weights_hash`. Older checkpoints
have it in `history/`. Nothing is ever unpickled.

Shape legend: M snapshots, L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, get_args

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors.numpy
from msgspec import Meta, Struct
from safetensors import SafetensorError

from transformer_core.attention_maps import KINDS, AttentionMaps, Axis, Kind
from transformer_core.storage.files import CheckpointError, atomic_directory, problem_of, read_regular
from transformer_core.storage.manifest import MANIFEST_FILE, read_object
from transformer_core.storage.measurements import FOLDER as DERIVED_FOLDER
from transformer_core.storage.measurements import derived_file

FOLDER = "history"  # within the derived files of a checkpoint
FORMAT_VERSION = 1
MAX_BYTES = 3_000_000  # of both files, which a class's browsers load
STEPS = 255  # the byte of a weight of 1

_FACTS, _WEIGHTS = "history.json", "attention.safetensors"
_Side = Literal["source", "inputs", "outputs"]
_AXES: tuple[_Side, ...] = get_args(_Side)
_AXES_OF: dict[Kind, tuple[_Side, _Side]] = {
    "encoder": ("source", "source"),
    "decoder": ("inputs", "inputs"),
    "cross": ("outputs", "source"),
}

Bytes = npt.NDArray[np.uint8]
Count = Annotated[int, Meta(ge=0)]
Table = list[list[list[float]]]


class Role(TypedDict):
    """Measurements of a role: counted positions, weight of uniform attention, and (M, L, H) shares of the positions."""

    places: Count
    chance: float
    shares: Table


class Validation(TypedDict):
    """BLEU of greedy translations and nll at each snapshot, on a validation set."""

    name: str
    sentences: Count
    signature: str
    bleu: list[float]
    nll: list[float]


class Alignment(TypedDict):
    """Alignment error rate of every encoder-decoder head at each snapshot, (M, L, H)."""

    name: str
    sentences: Count
    aer: Table


@dataclass(frozen=True, eq=False)
class SentenceHistory:
    """Attention over one sentence pair at every snapshot.

    Args:
        source: The text.
        target: The translation that every snapshot reads.
        axes: `source`, `inputs` and `outputs`, as in AttentionMaps.
        weights: Kind -> (M, L, H, Q, K), round(255 w).
    """

    source: str
    target: str
    axes: Mapping[str, Axis]
    weights: Mapping[Kind, Bytes]

    def queries(self, kind: Kind) -> Axis:
        """Return the labels of the rows."""
        return self.axes[_AXES_OF[kind][0]]

    def keys(self, kind: Kind) -> Axis:
        """Return the labels of the columns."""
        return self.axes[_AXES_OF[kind][1]]

    def decoded(self, kind: Kind, snapshot: int) -> npt.NDArray[np.float32]:
        """Return (L, H, Q, K) weights at a snapshot, each within 1/510 of the true one."""
        weights: npt.NDArray[np.float32] = self.weights[kind][snapshot] / np.float32(STEPS)
        return weights

    def maps(self, snapshot: int) -> AttentionMaps:
        """Return all maps at a snapshot, with rows normalised to sum 1."""
        stored = [self.decoded(kind, snapshot) for kind in KINDS]
        weights = [each / each.sum(axis=-1, keepdims=True) for each in stored]
        return AttentionMaps(*weights, *(self.axes[name] for name in _AXES))


@dataclass(frozen=True, eq=False)
class History:
    """Attention heads of a model at M snapshots of its training.

    Args:
        model: Facts for the reader: `parameters`, `layers`, `heads`, `preset`, `files`.
        steps: Step of each snapshot, rising.
        sentences: The sentences that each snapshot reads.
        roles: Kind -> role -> its measurements; see analysis/roles.py.
        training: Columns of M numbers, None where nothing was recorded: `nll` in nats per token of the batch of that
            step, `mean_nll` since the previous line of the journal, `learning_rate`.
        course: Thinned columns of the whole journal: `step`, `mean_nll`, `learning_rate`.
        validation: Scores on a validation set, if there is one.
        alignment: Alignment errors on gold links, if there are any.
    """

    model: Mapping[str, Any]
    steps: tuple[int, ...]
    sentences: tuple[SentenceHistory, ...]
    roles: Mapping[Kind, Mapping[str, Role]]
    training: Mapping[str, list[float | None]]
    course: Mapping[str, list[float]]
    validation: Validation | None = None
    alignment: Alignment | None = None

    @property
    def continues(self) -> bool:
        """Whether the training continued another one: its model translated before the first step."""
        return self.steps[0] == 0 and self.validation is not None and self.validation["bleu"][0] >= 1

    def derived_files(self) -> dict[str, bytes]:
        """Return the files by their names in a checkpoint's `derived/`."""
        return {f"{FOLDER}/{name}": data for name, data in self.files().items()}

    def files(self) -> dict[str, bytes]:
        """Return the files of the folder by name. Raises ValueError if they are larger than MAX_BYTES."""
        weights = safetensors.numpy.save(
            {
                f"{number}.{kind}": np.ascontiguousarray(sentence.weights[kind])
                for number, sentence in enumerate(self.sentences)
                for kind in KINDS
            }
        )
        facts = {
            "format_version": FORMAT_VERSION,
            "model": dict(self.model),
            "steps": list(self.steps),
            "sentences": [
                {"source": each.source, "target": each.target, "axes": msgspec.to_builtins(each.axes)}
                for each in self.sentences
            ],
            "roles": self.roles,
            "training": dict(self.training),
            "course": dict(self.course),
            "validation": self.validation,
            "alignment": self.alignment,
            "attention_sha256": hashlib.sha256(weights).hexdigest(),
        }
        lines = ",\n".join(
            f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}" for k, v in facts.items()
        )
        files = {_FACTS: f"{{\n{lines}\n}}\n".encode(), _WEIGHTS: weights}
        if (size := sum(map(len, files.values()))) > MAX_BYTES:
            raise ValueError(
                f"the history has {size:,} bytes, but at most {MAX_BYTES:,} are allowed; "
                "take fewer, or shorter, sentences"
            )
        return files

    def save(self, folder: Path) -> None:
        """Write the folder atomically; replace an existing one."""
        files = self.files()
        with atomic_directory(folder) as partial:
            for name, data in files.items():
                (partial / name).write_bytes(data)

    @classmethod
    def load(cls, folder: Path) -> History:
        """Read and check a folder.

        Raises:
            CheckpointError: A file is missing, damaged, inconsistent, or of another model; the message names it.
        """
        if folder.parent.name == DERIVED_FOLDER and (folder.parent.parent / MANIFEST_FILE).exists():
            for name in (_FACTS, _WEIGHTS):
                derived_file(folder.parent.parent, f"{folder.name}/{name}")
        size = 0
        for name in (_FACTS, _WEIGHTS):
            if not (folder / name).is_file():
                raise CheckpointError(folder / name, "is missing")
            size += (folder / name).stat().st_size
        if size > MAX_BYTES:
            raise CheckpointError(folder, f"has {size:,} bytes, but a history has at most {MAX_BYTES:,}")
        facts = _read(folder / _FACTS)
        weights = _weights(folder / _WEIGHTS, str(facts.get("attention_sha256")))
        try:
            return _history(facts, weights)
        except (KeyError, ValueError, msgspec.MsgspecError) as error:
            raise CheckpointError(folder / _FACTS, f"is not a valid history: {error}") from error


def history_folder(checkpoint: Path) -> Path | None:
    """Return the folder of a checkpoint's history, also in the older place; None if it has none."""
    places = (checkpoint / DERIVED_FOLDER / FOLDER, checkpoint / FOLDER)
    return next((place for place in places if (place / _FACTS).is_file()), None)


def to_bytes(weights: npt.NDArray[np.float32]) -> Bytes:
    """Encode weights as round(255 w). Raises ValueError for numbers outside 0 to 1."""
    # Rounding in float32 may leave a weight slightly above 1. NaN fails both comparisons.
    if weights.size and not (weights.min() >= 0.0 and weights.max() <= 1.0 + 1e-4):
        raise ValueError("attention weights must be numbers from 0 to 1")
    rounded: Bytes = np.rint(np.minimum(weights.astype(np.float64), 1.0) * STEPS).astype(np.uint8)
    return rounded


def _read(path: Path) -> dict[str, Any]:
    facts = read_object(path, MAX_BYTES)
    if facts.get("format_version") != FORMAT_VERSION:
        raise CheckpointError(path, f"has format {facts.get('format_version')!r}, this program reads {FORMAT_VERSION}")
    return facts


def _weights(path: Path, expected: str) -> dict[str, npt.NDArray[Any]]:
    data = read_regular(path, MAX_BYTES)
    if hashlib.sha256(data).hexdigest() != expected:
        raise CheckpointError(path, f"is damaged: its sha256 is not the one in {_FACTS}")
    try:
        return dict(safetensors.numpy.load(data))
    except (SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(path, f"cannot be read: {problem_of(error)}") from error


class _Sentence(Struct):
    source: str
    target: str
    axes: dict[_Side, Axis]


class _Shape(Struct):
    layers: Count
    heads: Count


class _Course(TypedDict):
    step: list[float]
    mean_nll: list[float]
    learning_rate: list[float]


class _Training(TypedDict):
    nll: list[float | None]
    mean_nll: list[float | None]
    learning_rate: list[float | None]


class _Facts(Struct):
    model: dict[str, Any]
    steps: Annotated[tuple[Count, ...], Meta(min_length=1)]
    sentences: Annotated[tuple[_Sentence, ...], Meta(min_length=1)]
    roles: dict[Kind, dict[str, Role]]
    training: _Training
    course: _Course
    validation: Validation | None
    alignment: Alignment | None


def _history(facts: dict[str, Any], weights: dict[str, npt.NDArray[Any]]) -> History:
    history = msgspec.convert(facts, _Facts)
    model = msgspec.convert(history.model, _Shape)
    if any(after <= before for before, after in zip(history.steps, history.steps[1:], strict=False)):
        raise ValueError("the steps of the snapshots must rise")
    shape = (len(history.steps), model.layers, model.heads)
    sentences = tuple(_sentence(each, weights, number, shape) for number, each in enumerate(history.sentences))
    if len(weights) != len(KINDS) * len(sentences):
        raise ValueError(f"{len(weights)} maps for {len(sentences)} sentences")
    validation, alignment = history.validation, history.alignment
    tables = [role["shares"] for kind in KINDS for role in history.roles[kind].values()]
    columns: list[list[Any]] = [
        history.training["nll"],
        history.training["mean_nll"],
        history.training["learning_rate"],
    ]
    if validation is not None:
        columns += [validation["bleu"], validation["nll"]]
    if alignment is not None:
        tables.append(alignment["aer"])
    course = history.course
    if any(np.shape(table) != shape for table in tables):
        raise ValueError(f"a table must have shape {shape}")
    lines = {len(course["step"]), len(course["mean_nll"]), len(course["learning_rate"])}
    if any(len(column) != shape[0] for column in columns) or len(lines) > 1:
        raise ValueError("a column has the wrong number of values")
    training, thinned = dict[str, Any](history.training), dict[str, Any](course)
    return History(history.model, history.steps, sentences, history.roles, training, thinned, validation, alignment)


def _sentence(
    facts: _Sentence, weights: dict[str, npt.NDArray[Any]], number: int, shape: tuple[int, int, int]
) -> SentenceHistory:
    axes: dict[str, Axis] = {name: facts.axes[name] for name in _AXES}
    maps: dict[Kind, Bytes] = {}
    for kind in KINDS:
        array = weights[f"{number}.{kind}"]
        queries, keys = _AXES_OF[kind]
        expected = (*shape, len(axes[queries]), len(axes[keys]))
        if array.dtype != np.uint8 or array.shape != expected:
            raise ValueError(f"map {number}.{kind} is {array.dtype} {array.shape}, but its labels require {expected}")
        array.flags.writeable = False
        maps[kind] = array
    return SentenceHistory(facts.source, facts.target, axes, maps)
