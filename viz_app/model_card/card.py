"""Card of the served model, from the files of its checkpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.storage.files import CheckpointError, read_regular
from transformer_core.storage.manifest import MANIFEST_FILE, Manifest
from viz_app.serving.measurements.model_card import Fact, ModelCard

if TYPE_CHECKING:
    from transformer_core.translator import Translator

# Below this BLEU a translation of everyday sentences often does not read as German.
WEAK_BLEU = 20.0
_FILE = "README.md"
_MAX_BYTES = 100_000  # the card of a shipped model has a twentieth of it
# To Markdown a character reference is a letter and never a mark, whatever stands before it.
_IMAGE = re.compile(r"!(?=\[)")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_TITLE = re.compile(r"\A\s*#\s[^\n]*\n")


@dataclass(frozen=True)
class Size:
    """Size of the model.

    Args:
        parameters: Numbers that training has set.
        megabytes: The checkpoint's files together, in MB of a million bytes.
    """

    parameters: int
    megabytes: float


def training_facts(card: ModelCard) -> dict[str, str]:
    """Return the training options by name, as text for the page."""
    return {name: _plain(value) for name, value in card.training.items()}


def size(translator: Translator) -> Size:
    """Parameters of the model and size of its files."""
    from transformer_core.checkpoint import checkpoint_bytes  # with torch, which takes seconds to import

    parameters = sum(parameter.numel() for parameter in translator.model.parameters())
    folder = translator.checkpoint.folder if translator.checkpoint else None
    return Size(parameters, checkpoint_bytes(folder) / 1e6 if folder else 0.0)


def prose(folder: Path) -> str:
    """Return the model card as Markdown without its title; empty when there is none.

    An image would be fetched from wherever the card says, so only its text is left.

    Raises:
        CheckpointError: The card is not listed in the manifest, damaged, too large, or not UTF-8.
    """
    path = folder / _FILE
    if not (path.exists() or path.is_symlink()):
        return ""
    if _FILE not in (manifest := Manifest.read(folder)).files:
        raise CheckpointError(path, f"is not listed in {MANIFEST_FILE}")
    data = read_regular(path, _MAX_BYTES)
    manifest.check(folder, _FILE)
    try:
        card = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointError(path, f"is not UTF-8: {error}") from error
    card = _FRONT_MATTER.sub("", card.replace("\r\n", "\n"))
    return _IMAGE.sub("&#33;", _TITLE.sub("", card)).strip()


def _plain(value: Fact) -> str:
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.6g}"
