"""The small models that lessons compare, and the courses of their trainings: all that lies in checkpoints/small.

Each model but `base` differs from it in one thing. Readers of courses and scores do not import torch.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import streamlit as st

from transformer_core.derived import read_metrics
from transformer_core.files import CheckpointError
from transformer_core.shipped import SHIPPED
from viz_app.serving.loader import positive_setting

if TYPE_CHECKING:
    from transformer_core.translator import Translator

SmallName = Literal[
    "base",
    "no-mask",
    "no-positions",
    "learned-positions",
    "one-head",
    "unscaled",
    "no-residual",
    "smoothing-0",
    "no-warmup",
]
SMALL_NAMES: tuple[SmallName, ...] = get_args(SmallName)
SMALL = SHIPPED / "small"

_FORMAT_VERSION = 1  # of journals
_VALIDATION = "tatoeba-valid"
_COLUMNS = ("loss", "nll", "mean_nll", "learning_rate", "gradient_norm")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Validation:
    """Scores on a validation set while a model was trained.

    Args:
        step: Updates done by then.
        nll: Nats per piece of the given translations.
        bleu: BLEU of greedy translations of a few sentences; empty where nobody measured it.
    """

    step: IntArray
    nll: FloatArray
    bleu: FloatArray


@dataclass(frozen=True, eq=False)
class TrainingCurve:
    """The course of a training: updates that were recorded, and nothing in between. Arrays cannot be written to.

    Args:
        name: Of the model or run.
        model: Options of its model, by the names of ModelConfig.
        training: Options of its training, by the names of TrainingConfig.
        step: Updates that were recorded, counted from 1.
        loss: Training loss of each with label smoothing, nats per piece.
        nll: The same without label smoothing.
        mean_nll: Mean nll of all updates since the one recorded before: less noise.
        learning_rate: Of each.
        gradient_norm: Of each.
        validation: By the name of the set.
        failed_at: The update at which training stopped, since loss or gradient was no number; None if it did not.
    """

    name: str
    model: Mapping[str, Any]
    training: Mapping[str, Any]
    step: IntArray
    loss: FloatArray
    nll: FloatArray
    mean_nll: FloatArray
    learning_rate: FloatArray
    gradient_norm: FloatArray
    validation: Mapping[str, Validation]
    failed_at: int | None


@dataclass(frozen=True)
class SmallModelScores:
    """How well a small model does on sentences that it has not seen (tatoeba-valid).

    Args:
        bleu: Of beam search, 0 to 100.
        signature: sacreBLEU's.
        nll: Nats per piece of the given translations, read as in training: without a mask where it had none.
        nll_masked: The same with the decoder's mask; None where nobody measured it.
        nll_unmasked: The same without; None where nobody measured it.
        parameters: Numbers that training has set.
    """

    bleu: float
    signature: str
    nll: float
    nll_masked: float | None
    nll_unmasked: float | None
    parameters: int


def small_model(name: SmallName, *, causal: bool | None = None) -> Translator:
    """One of the small models, loaded on first use and shared by all sessions.

    Args:
        name: Which.
        causal: Whether its decoder reads given text with its mask; None means as it was trained.

    Raises:
        CheckpointError: There is no such model, or it is missing or damaged; tried again at the next call.
    """
    if name not in SMALL_NAMES:
        raise CheckpointError(SMALL / str(name), f"must be one of {', '.join(SMALL_NAMES)}")
    loaded: Translator = _load(str(SMALL / name), causal)
    return loaded


@st.cache_resource(show_spinner=False, max_entries=2 * len(SMALL_NAMES))
def _load(folder: str, causal: bool | None) -> Translator:
    import torch

    from transformer_core.translator import Translator

    torch.set_num_threads(positive_setting("HEADLIGHT_THREADS", 1))
    translator = Translator.load(folder, device="cpu")
    _log.info("loaded %s", folder)
    return translator if causal in (None, translator.config.causal) else translator.with_mask(bool(causal))


def training_curves() -> dict[str, TrainingCurve]:
    """The courses of all small models by name, in the order of SMALL_NAMES. Raises CheckpointError."""
    return {name: _course(str(SMALL / name / "journal.json"), name) for name in SMALL_NAMES}


def warmup_curves() -> tuple[TrainingCurve, ...]:
    """The courses of the runs with other warm-ups, the shortest warm-up first. Raises CheckpointError."""
    files = sorted((SMALL / "warmup").glob("*.json"))
    if not files:
        raise CheckpointError(SMALL / "warmup", "contains no runs")
    runs = [_course(str(file), file.stem) for file in files]
    return tuple(sorted(runs, key=lambda run: int(run.training["warmup_steps"])))


def small_model_scores() -> dict[str, SmallModelScores]:
    """What is measured of all small models by name, in the order of SMALL_NAMES. Raises CheckpointError."""
    return {name: _measured(SMALL / name) for name in SMALL_NAMES}


def _measured(folder: Path) -> SmallModelScores:
    metrics = read_metrics(folder)
    try:
        score, forced = metrics["scores"][_VALIDATION], metrics.get("forced", {}).get(_VALIDATION, {})
        return SmallModelScores(
            bleu=float(score["bleu"]),
            signature=str(score["signature"]),
            nll=float(score["nll"]),
            nll_masked=forced.get("masked"),
            nll_unmasked=forced.get("unmasked"),
            parameters=int(metrics["training"]["parameters"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(folder, f"is missing expected scores: {error!r}") from error


@st.cache_resource(show_spinner=False)
def _course(path: str, name: str) -> TrainingCurve:
    """Read what `python -m transformer_core journal` wrote."""
    file = Path(path)
    values = _read(file)
    if values.get("format_version") != _FORMAT_VERSION:
        raise CheckpointError(file, f"does not have format version {_FORMAT_VERSION}")
    try:
        updates, failed = values["updates"], values["failed"]
        step = _frozen(updates["step"], np.int64)
        columns = {column: _frozen(updates[column], np.float64) for column in _COLUMNS}
        if any(column.shape != step.shape for column in columns.values()):
            raise ValueError("columns of different lengths")
        return TrainingCurve(
            name=name,
            model=values["model"],
            training=values["training"],
            step=step,
            **columns,
            validation={
                key: Validation(
                    _frozen(scores["step"], np.int64),
                    _frozen(scores["nll"], np.float64),
                    _frozen(scores.get("bleu", []), np.float64),
                )
                for key, scores in values["validation"].items()
            },
            failed_at=None if failed is None else int(failed["step"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(file, f"is not a training journal: {error!r}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(path, "is missing") from error
    except (OSError, ValueError) as error:
        raise CheckpointError(path, f"cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise CheckpointError(path, "must contain a JSON object")
    return values


def _frozen(values: list[float], kind: type[np.generic]) -> npt.NDArray[Any]:
    array = np.array(values, dtype=kind)
    array.flags.writeable = False
    return array
