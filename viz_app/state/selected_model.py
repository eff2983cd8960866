"""The model that a session has selected, and its service."""

from __future__ import annotations

from viz_app.serving.models import loader
from viz_app.serving.models.registry import available_models, default_model
from viz_app.serving.models.translation_service import TranslationService
from viz_app.state import session


def selected_model() -> str:
    """Name of the selected model; of the one that is served to all when none is selected or it is missing."""
    available, requested = available_models(), session.requested_model()
    return requested if requested in available else next(iter(available))


def model_query_param() -> str | None:
    """Return the selected model as an address names it; None for the one that is served to all."""
    name = selected_model()
    return None if name == default_model() else name


def selected_service() -> TranslationService:
    """Return the service of the selected model.

    Work in another thread, such as a download, calls `loader.get_translation_service` with the model's name instead.

    Raises:
        CheckpointError: The checkpoint is missing or damaged; tried again at the next call.
        SettingError: An environment variable is unusable.
    """
    return loader.get_translation_service(selected_model())
