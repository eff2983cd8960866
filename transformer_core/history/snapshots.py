"""The history of a training: the attention of a few sentences at several snapshots, small enough to ship.

    history.json            sentences, steps of the snapshots, and what was measured at each of them
    attention.safetensors   a weight w as the byte round(255 w), so within 1/510 of the true one

A folder of its own, or `derived/history/` in a checkpoint, known by the model's `weights_hash`; older checkpoints have
it in `history/`. Nothing is ever unpickled.

Shape legend: M snapshots, L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from transformer_core.attention_maps import KINDS, AttentionMaps, Axis, Kind
from transformer_core.storage.files import CheckpointError, atomic_directory, problem_of, read_regular
from transformer_core.storage.manifest import MANIFEST_FILE, read_object
from transformer_core.storage.measurements import FOLDER as DERIVED_FOLDER
from transformer_core.storage.measurements import derived_file

FOLDER = "history"  # within the derived files of a checkpoint
FORMAT_VERSION = 1
MAX_BYTES = 3_000_000  # of both files: the numbers of a class's browser, not a data set
STEPS = 255  # the byte that stands for a weight of 1

_FACTS, _WEIGHTS = "history.json", "attention.safetensors"
_AXES = ("source", "inputs", "outputs")
_AXES_OF: dict[Kind, tuple[str, str]] = {
    "encoder": ("source", "source"),
    "decoder": ("inputs", "inputs"),
    "cross": ("outputs", "source"),
}

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class SentenceHistory:
    """One sentence pair, the same at every snapshot.

    Args:
        source: The text.
        target: The translation that every snapshot reads.
        axes: `source`, `inputs` and `outputs`, as AttentionMaps has them.
        weights: For each kind (M, L, H, Q, K): round(255 w).
    """

    source: str
    target: str
    axes: Mapping[str, Axis]
    weights: Mapping[Kind, Bytes]

    def queries(self, kind: Kind) -> Axis:
        """What labels the rows."""
        return self.axes[_AXES_OF[kind][0]]

    def keys(self, kind: Kind) -> Axis:
        """What labels the columns."""
        return self.axes[_AXES_OF[kind][1]]

    def decoded(self, kind: Kind, snapshot: int) -> npt.NDArray[np.float32]:
        """(L, H, Q, K) weights at a snapshot, each within 1/510 of the true one."""
        weights: npt.NDArray[np.float32] = self.weights[kind][snapshot] / np.float32(STEPS)
        return weights

    def maps(self, snapshot: int) -> AttentionMaps:
        """All maps at a snapshot, their rows made to sum to 1 again."""
        kept = [self.decoded(kind, snapshot) for kind in KINDS]
        weights = [each / each.sum(axis=-1, keepdims=True) for each in kept]
        return AttentionMaps(*weights, *(self.axes[name] for name in _AXES))


@dataclass(frozen=True, eq=False)
class History:
    """The attention heads of a model at M snapshots of its training.

    Args:
        model: Facts for the reader: `parameters`, `layers`, `heads`, `preset`, `files`.
        steps: Step of each snapshot; rising.
        sentences: What each of them reads.
        roles: For each kind, by role: `places`, positions that were counted; `chance`, the weight that uniform
            attention gives the role; `shares` of the positions, (M, L, H) as nested lists: analysis/roles.py.
        training: Columns of M numbers, None where nothing was recorded: `nll` in nats per token of the batch of that
            step, `mean_nll` since the line before it in the journal, `learning_rate`.
        course: Columns of the whole journal, thinned out: `step`, `mean_nll`, `learning_rate`.
        validation: None, or `name`, `sentences`, `signature`, and columns `bleu` of greedy translations, `nll`.
        alignment: None, or `name`, `sentences`, and `aer`, (M, L, H) as nested lists.
    """

    model: Mapping[str, Any]
    steps: tuple[int, ...]
    sentences: tuple[SentenceHistory, ...]
    roles: Mapping[Kind, Mapping[str, Mapping[str, Any]]]
    training: Mapping[str, list[float | None]]
    course: Mapping[str, list[float]]
    validation: Mapping[str, Any] | None = None
    alignment: Mapping[str, Any] | None = None

    def derived_files(self) -> dict[str, bytes]:
        """The same files by their names within what is derived from a checkpoint."""
        return {f"{FOLDER}/{name}": data for name, data in self.files().items()}

    def files(self) -> dict[str, bytes]:
        """The files of the folder by name. Raises ValueError when they are larger than MAX_BYTES."""
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
            "sentences": [_sentence_facts(sentence) for sentence in self.sentences],
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
        """Write the folder, whole or not at all; replaces one that is there."""
        files = self.files()
        with atomic_directory(folder) as partial:
            for name, data in files.items():
                (partial / name).write_bytes(data)

    @classmethod
    def load(cls, folder: Path) -> History:
        """Read and check a folder: its sizes, names and shapes.

        Raises:
            CheckpointError: Names the file that is missing, damaged, or does not fit, or is of another model.
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
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise CheckpointError(folder / _FACTS, f"is not a valid history: {error!r}") from error


def history_folder(checkpoint: Path) -> Path | None:
    """Where the history of a checkpoint lies, also of an older one; None when it has none."""
    places = (checkpoint / DERIVED_FOLDER / FOLDER, checkpoint / FOLDER)
    return next((place for place in places if (place / _FACTS).is_file()), None)


def to_bytes(weights: npt.NDArray[np.float32]) -> Bytes:
    """Weights as round(255 w). Raises ValueError for what is not a number from 0 to 1."""
    # Rounding in float32 may leave a weight a hair above 1. Not-a-numbers fail both comparisons.
    if weights.size and not (weights.min() >= 0.0 and weights.max() <= 1.0 + 1e-4):
        raise ValueError("attention weights must be numbers from 0 to 1")
    rounded: Bytes = np.rint(np.minimum(weights.astype(np.float64), 1.0) * STEPS).astype(np.uint8)
    return rounded


def _sentence_facts(sentence: SentenceHistory) -> dict[str, Any]:
    axes = {
        name: {"tokens": list(axis.tokens), "words": list(axis.words), "special": list(axis.special)}
        for name, axis in sentence.axes.items()
    }
    return {"source": sentence.source, "target": sentence.target, "axes": axes}


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


def _history(facts: dict[str, Any], weights: dict[str, npt.NDArray[Any]]) -> History:
    steps = tuple(_whole(step) for step in facts["steps"])
    if not steps or any(after <= before for before, after in zip((-1, *steps), steps, strict=False)):
        raise ValueError("the steps of the snapshots must rise")
    model = facts["model"]
    layers, heads = _whole(model["layers"]), _whole(model["heads"])
    shape = (len(steps), layers, heads)
    sentences = tuple(_sentence(each, weights, number, shape) for number, each in enumerate(facts["sentences"]))
    if not sentences or len(weights) != len(KINDS) * len(sentences):
        raise ValueError(f"{len(weights)} maps for {len(sentences)} sentences")
    roles: dict[Kind, dict[str, dict[str, Any]]] = {}
    for kind in KINDS:
        roles[kind] = {
            str(role): {
                "places": _whole(found["places"]),
                "chance": _numbers([found["chance"]], 1)[0],
                "shares": _table(found["shares"], shape),
            }
            for role, found in facts["roles"][kind].items()
        }
    training = {
        name: [None if value is None else float(value) for value in _column(facts["training"][name], len(steps))]
        for name in ("nll", "mean_nll", "learning_rate")
    }
    course = facts["course"]
    columns = {name: _numbers(course[name], len(course["step"])) for name in ("step", "mean_nll", "learning_rate")}
    validation, alignment = facts["validation"], facts["alignment"]
    if validation is not None:
        validation = {
            "name": str(validation["name"]),
            "sentences": _whole(validation["sentences"]),
            "signature": str(validation["signature"]),
            **{name: _numbers(validation[name], len(steps)) for name in ("bleu", "nll")},
        }
    if alignment is not None:
        alignment = {
            "name": str(alignment["name"]),
            "sentences": _whole(alignment["sentences"]),
            "aer": _table(alignment["aer"], shape),
        }
    return History(model, steps, sentences, roles, training, columns, validation, alignment)


def _sentence(
    facts: dict[str, Any], weights: dict[str, npt.NDArray[Any]], number: int, shape: tuple[int, int, int]
) -> SentenceHistory:
    axes = {
        name: Axis(
            tuple(str(token) for token in facts["axes"][name]["tokens"]),
            tuple(_whole(word) for word in facts["axes"][name]["words"]),
            tuple(bool(mark) for mark in facts["axes"][name]["special"]),
        )
        for name in _AXES
    }
    maps: dict[Kind, Bytes] = {}
    for kind in KINDS:
        array = weights[f"{number}.{kind}"]
        queries, keys = _AXES_OF[kind]
        expected = (*shape, len(axes[queries]), len(axes[keys]))
        if array.dtype != np.uint8 or array.shape != expected:
            raise ValueError(f"map {number}.{kind} is {array.dtype} {array.shape}, but its labels require {expected}")
        array.flags.writeable = False
        maps[kind] = array
    return SentenceHistory(_text(facts["source"]), _text(facts["target"]), axes, maps)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a string, got {value!r}")
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"expected a whole number, got {value!r}")
    return value


def _column(values: Any, length: int) -> list[Any]:
    if not isinstance(values, list) or len(values) != length:
        raise ValueError(f"a column must have {length} values")
    return values


def _numbers(values: Any, length: int) -> list[float]:
    numbers = np.array(_column(values, length), dtype=np.float64)
    if numbers.shape != (length,) or not bool(np.isfinite(numbers).all()):
        raise ValueError("a column must hold finite numbers")
    return cast("list[float]", numbers.tolist())


def _table(values: Any, shape: tuple[int, ...]) -> list[Any]:
    table = np.array(values, dtype=np.float64)
    if table.shape != shape or not bool(np.isfinite(table).all()):
        raise ValueError(f"a table must have shape {shape}")
    return cast("list[Any]", table.tolist())
