"""What is known of the model that the app serves, from the files of its checkpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from viz_app.serving.metrics import Fact, ModelCard

if TYPE_CHECKING:
    from transformer_core.translator import Translator

# Below this BLEU a translation of everyday sentences often does not read as German.
WEAK_BLEU = 20.0
_IMAGE = re.compile(r"!(?=\[)")
_TITLE = re.compile(r"\A\s*#\s[^\n]*\n")


@dataclass(frozen=True)
class Size:
    """How large the model is.

    Args:
        parameters: Numbers that training has set.
        megabytes: The checkpoint's files together, in MB of a million bytes.
    """

    parameters: int
    megabytes: float


def training_facts(card: ModelCard) -> dict[str, str]:
    """How it was trained, by name, as it is written on the page."""
    return {name: _plain(value) for name, value in card.training.items()}


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


def _plain(value: Fact) -> str:
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.6g}"
