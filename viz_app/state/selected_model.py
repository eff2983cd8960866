"""The model that a session has selected, and its service."""

from __future__ import annotations

from transformer_core.storage.files import CheckpointError
from transformer_core.storage.manifest import Manifest
from viz_app.serving.models import loader
from viz_app.serving.models.registry import available_models, default_model
from viz_app.serving.models.translation_service import TranslationService
from viz_app.state import session


def selected_model() -> str:
    """Name of the selected model; of the one that is served to all when none is selected or it is missing."""
    available, wanted = available_models(), session.requested_model()
    return wanted if wanted in available else next(iter(available))


def model_query_param() -> str | None:
    """Return the selected model as an address names it; None for the one that is served to all."""
    name = selected_model()
    return None if name == default_model() else name


def weights_of(name: str) -> tuple[str, ...]:
    """Return all hashes that mean a model, today's first; none for one that is not here or cannot be read."""
    folder = available_models().get(name)
    try:
        found = Manifest.read(folder) if folder else None
        if found is not None and not found.weights_hash:  # format 1: known once it is loaded
            return (loader.get_translation_service(name).translator.checkpoint_hash,)
    except CheckpointError:
        return ()
    return (found.weights_hash,) if found else ()


def selected_service() -> TranslationService:
    """Return the service of the selected model.

    Work in another thread, such as a download, calls `loader.get_translation_service` with the model's name instead.

    Raises:
        CheckpointError: The checkpoint is missing or damaged; tried again at the next call.
        SettingError: An environment variable is unusable.
    """
    return loader.get_translation_service(selected_model())
