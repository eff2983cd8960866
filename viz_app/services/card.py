"""What is known of the model that the app serves, from the files of its checkpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_core.translator import Translator

# Below this BLEU a translation of everyday sentences often does not read as German.
WEAK_BLEU = 20.0
_EVERYDAY = "tatoeba"
# What a test set holds, by how its name begins: a label of the table [model].
_HOLDS = {
    "tatoeba": "everyday",
    "multi30k": "captions",
    "chat": "chat",
    "ntrex": "news",
    "newstest": "news",
    "flores": "encyclopedia",
    "generaltest": "mixed",
}
# Keys that only group other keys and say nothing to a reader.
_GROUPS = frozenset({"bleu", "evaluation", "metrics", "results", "scores", "test", "tests"})
_IMAGE = re.compile(r"!(?=\[)")
_TITLE = re.compile(r"\A\s*#\s[^\n]*\n")


@dataclass(frozen=True)
class Score:
    """The quality measured on one test set.

    Args:
        name: The test set.
        bleu: 0 to 100.
        chrf: 0 to 100, or None.
        signature: sacreBLEU's, which makes the numbers comparable; empty when unknown.
        development: Whether settings were chosen on it, so that it says less than a test set.
    """

    name: str
    bleu: float
    chrf: float | None
    signature: str
    development: bool = False

    @property
    def holds(self) -> str | None:
        """Key of the label that says what its sentences are; None when this app does not know the set."""
        return next((label for start, label in _HOLDS.items() if self.name.lower().startswith(start)), None)

    @property
    def unseen(self) -> bool:
        """Whether only those of its sentences count whose reference does not occur in the training text."""
        return self.name.endswith("-unseen")


@dataclass(frozen=True)
class Size:
    """How large the model is.

    Args:
        parameters: Numbers that training has set.
        megabytes: The checkpoint's files together, in MB of a million bytes.
    """

    parameters: int
    megabytes: float


def scores(metrics: Mapping[str, Any]) -> tuple[Score, ...]:
    """Every measurement that has a BLEU, wherever it stands in `metrics.json`, in the order of the file."""
    return tuple(_scores(metrics, ()))


def everyday_bleu(metrics: Mapping[str, Any]) -> float | None:
    """BLEU on everyday sentences; None when nobody has measured it."""
    return next((score.bleu for score in scores(metrics) if _EVERYDAY in score.name.lower()), None)


def training_facts(metrics: Mapping[str, Any]) -> dict[str, str]:
    """How it was trained, as `metrics.json` tells it: plain values by name."""
    training = metrics.get("training")
    if not isinstance(training, Mapping):
        return {}
    return {name: _plain(value) for name, value in training.items() if isinstance(value, (str, int, float))}


def trained_pieces(metrics: Mapping[str, Any]) -> int | None:
    """Pieces of the longest sentence that training let pass; None when neither `metrics.json` nor a preset tells."""
    from transformer_core.presets import PRESETS

    training = metrics.get("training")
    if not isinstance(training, Mapping):
        return None
    pieces = _number(training.get("max_pieces"))
    if pieces is not None:
        return int(pieces)
    preset = PRESETS.get(str(training.get("preset")))
    return preset.training.max_pieces if preset else None


def size(translator: Translator) -> Size:
    """Parameters of the model and size of its files."""
    from transformer_core.checkpoint import checkpoint_bytes  # with torch, which takes seconds to import

    parameters = sum(parameter.numel() for parameter in translator.model.parameters())
    folder = translator.checkpoint.folder if translator.checkpoint else None
    return Size(parameters, checkpoint_bytes(folder) / 1e6 if folder else 0.0)


def prose(folder: Path) -> str:
    """The model card as Markdown without its title; empty when there is none.

    An image would be fetched from wherever the card says, so only its text is left.
    """
    try:
        card = (folder / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    card = re.sub(r"\A---\n.*?\n---\n", "", card, flags=re.DOTALL)
    return _IMAGE.sub("", _TITLE.sub("", card)).strip()


def _scores(value: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Score]:
    bleu = _number(value.get("bleu"))
    if bleu is not None:
        own = value["bleu"] if isinstance(value["bleu"], Mapping) else value
        signature = own.get("signature") or value.get("bleu_signature") or ""
        chrf, development = _number(value.get("chrf")), value.get("part") == "validation"
        yield Score(" ".join(path) or "test", bleu, chrf, str(signature), development)
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _scores(inner, path if name in _GROUPS else (*path, name))


def _number(value: object) -> float | None:
    if isinstance(value, Mapping):
        value = value.get("value", value.get("score"))
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _plain(value: str | int | float) -> str:
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.6g}"
