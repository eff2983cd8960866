"""A page with the explorer of any model's attention."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from transformer_core.attention_maps import AttentionMaps
from transformer_core.cli.arguments import counted
from viz_app.components.explorer.weights import packed_size
from viz_app.components.html_document import PageTheme
from viz_app.explorer_view.foreign_maps import foreign_payload
from viz_app.standalone.document import PageSentence, check_size, explorer_page
from viz_app.standalone.origin import Origin
from viz_app.standalone.sentences import MAX_SENTENCES

log = logging.getLogger(__name__)


def render_maps(
    maps: Mapping[str, AttentionMaps], *, model: str = "", language: str = "en", theme: PageTheme = "auto"
) -> bytes:
    """Return a page with the explorer of maps by the name of their sentence; the same arguments give the same bytes.

    The size is logged first, as an estimate.

    Args:
        maps: From `AttentionMaps.from_transformers` or `from_arrays`; they can be compared with one another.
        model: Name of the model.
        language: "en" or "ko".
        theme: As for `explorer_page`.

    Raises:
        PageTooLarge: The maps have more than MAX_BYTES.
        ValueError: There are no maps, or more than MAX_SENTENCES.
    """
    if not 1 <= len(maps) <= MAX_SENTENCES:
        raise ValueError(f"there are {len(maps)} maps, but a page holds 1 to {MAX_SENTENCES}")
    size = sum(map(packed_size, maps.values()))
    log.info("%s, about %.1f MB", counted(len(maps), "sentence"), 0.4 + 0.7e-6 * size)
    check_size(size)
    documents = [
        PageSentence(text=text, branches=[foreign_payload(each, text=text, model=model, language=language)])
        for text, each in maps.items()
    ]
    origin = Origin(record={"checkpoint": model} if model else {})
    return explorer_page(documents, language=language, origin=origin, theme=theme)
