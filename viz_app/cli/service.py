"""Model of a command that writes pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viz_app.serving.models.translation_service import TranslationService


def load_service(checkpoint: str) -> TranslationService:
    """Load a model on one thread, so that the same command gives the same bytes."""
    import torch

    from transformer_core.translator import Translator
    from viz_app.serving.models.translation_service import TranslationService
    from viz_app.serving.scheduling.request_queue import RequestQueue

    torch.set_num_threads(1)
    name = Path(checkpoint).resolve().name
    return TranslationService(Translator.load(checkpoint, device="cpu"), RequestQueue(1), name=name)
