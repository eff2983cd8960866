"""Small models that lessons compare, and their training curves: the contents of checkpoints/small.

Each model but `base` differs from it in one thing. Readers of courses and scores do not import torch.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import streamlit as st
from msgspec import Struct, field

from transformer_core.storage.bundled_models import SHIPPED
from transformer_core.storage.files import CheckpointError
from transformer_core.storage.manifest import read_object
from transformer_core.storage.measurements import MAX_METRIC_BYTES, read_metrics
from viz_app.serving.checked_json import Count, FloatArray, IntArray, Nats, Parts, Percent, checked
from viz_app.serving.settings import positive_setting

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
HISTORIES = SMALL / "history"
AT_REST = "heads-at-rest"  # history of a larger model, whose heads came to rest
KEPT_HISTORIES = (AT_REST, "parser")  # of models whose weights do not ship

_VALIDATION = "tatoeba-valid"

_log = logging.getLogger(__name__)


class TrainingCurve(Struct, frozen=True, eq=False):
    """Recorded training curve. Its arrays are read-only.

    Args:
        training: Options of its training, by the names of TrainingConfig.
        step: Updates that were recorded, counted from 1.
        mean_nll: Mean nll of all updates since the one recorded before, in nats per token.
        format_version: Of the journal, which `python -m transformer_core journal` writes.
        probe: What its snapshots did, as `transformer_core.history.probe` measures it, where that was measured.
    """

    training: dict[str, Any]
    step: IntArray
    mean_nll: FloatArray
    format_version: Literal[1]
    probe: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if len(self.step) != len(self.mean_nll):
            raise ValueError("columns of different lengths")


class SmallModelScores(Struct, frozen=True):
    """Scores of a small model on unseen sentences (tatoeba-valid).

    Args:
        bleu: Of beam search, 0 to 100.
        signature: sacreBLEU's.
        nll: Nats per token of the given translations, read as in training: without a mask where it had none.
        nll_masked: The same with the decoder's mask; None where it was not measured.
        nll_unmasked: The same without; None where it was not measured.
        parameters: Numbers that training has set.
    """

    bleu: Percent
    signature: str
    nll: Nats
    parameters: Count
    nll_masked: Nats | None = field(default=None, name="masked")
    nll_unmasked: Nats | None = field(default=None, name="unmasked")


def small_model(name: SmallName, *, causal: bool | None = None) -> Translator:
    """Load a small model on first use, shared by all sessions.

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
    """Load the training curves of all small models by name, in the order of SMALL_NAMES. Raises CheckpointError."""
    return {name: _course(str(SMALL / name / "journal.json")) for name in SMALL_NAMES}


def warmup_curves() -> tuple[TrainingCurve, ...]:
    """Load the training curves of the runs with other warm-ups, the shortest first. Raises CheckpointError.

    Runs of equal warm-ups are sorted by their peak, then by their seed.
    """
    files = sorted((SMALL / "warmup").glob("*.json"))
    if not files:
        raise CheckpointError(SMALL / "warmup", "contains no runs")
    runs = [_course(str(file)) for file in files]
    options = ("warmup_steps", "learning_rate_factor", "seed")
    return tuple(sorted(runs, key=lambda run: [run.training[option] for option in options]))


def small_model_scores() -> dict[str, SmallModelScores]:
    """Load the scores of all small models by name, in the order of SMALL_NAMES. Raises CheckpointError."""
    return {name: _measured(SMALL / name) for name in SMALL_NAMES}


def _measured(folder: Path) -> SmallModelScores:
    parts = Parts(read_metrics(folder))
    paths = ("training",), ("forced", _VALIDATION), ("scores", _VALIDATION)
    return checked(folder, SmallModelScores, *(parts.get(dict[str, Any], *path) for path in paths))


@st.cache_resource(show_spinner=False)
def _course(path: str) -> TrainingCurve:
    journal = read_object(Path(path), MAX_METRIC_BYTES)
    updates = Parts(journal).get(dict[str, Any], "updates")
    return checked(Path(path), TrainingCurve, journal, updates)
