"""Titles of the figures of one head that several lessons draw."""

from __future__ import annotations

from typing import Any

from viz_app.text import Texts


def head_words(t: Texts, kind: str, layer: int, head: int) -> dict[str, Any]:
    """Return the title, the titles of both axes and of the scale, and the kind; layer and head count from 0."""
    return {
        "kind": kind,
        "language": t.language,
        "title": t("figures.title_head", layer=layer + 1, head=head + 1, kind=t(f"figures.kind_{kind}")),
        "query_title": t(f"figures.tokens_query_{kind}"),
        "key_title": t(f"figures.tokens_key_{kind}"),
        "scale_title": t("figures.scale"),
    }
