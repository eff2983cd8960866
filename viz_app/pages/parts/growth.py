"""The section of the page Model that shows how heads found their jobs."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from viz_app.components.growth import growth, pack
from viz_app.pages.parts.plain import plain
from viz_app.services import growth as histories
from viz_app.text import Texts


def draw_growth(t: Texts, checkpoint: Path | None) -> None:
    """Draw it, if any model has a history; it says which model it shows.

    Args:
        t: Labels.
        checkpoint: Folder of the visitor's model.
    """
    models = histories.grown(checkpoint)
    if not models:
        return
    st.header(t("growth.title"), anchor="growth")
    st.markdown(t("growth.about"))
    chosen = models[0]
    if len(models) > 1:
        chosen = st.selectbox(
            t("growth.model"),
            models,
            format_func=lambda model: t("growth.served", name=model.name) if model.served else _small(t, model.name),
            key=f"growth-model-{models[0].name}",  # another model has another list
        )
    try:
        history = histories.history(chosen)
    except histories.GrowthUnavailable as error:
        st.error(t("growth.damaged", path=plain(error.path.name), reason=plain(error.reason)))
        return
    facts = {
        "name": plain(chosen.name),
        "layers": f"{history.model['layers']} + {history.model['layers']}",
        "heads": history.model["heads"],
        "steps": f"{history.steps[-1]:,}",
    }
    st.info(t("growth.of_served" if chosen.served else "growth.of_small", **facts), icon=":material/info:")
    # A key of its own for each model: another one has other sentences, heads and moments.
    growth(pack(history, texts=t.table("growth"), language=t.language), key=f"growth-{chosen.name}-{chosen.served}")


def _small(t: Texts, name: str) -> str:
    """The name of a small model, and what makes it differ."""
    key = f"about_{name.replace('-', '_')}"
    about = t(f"growth.{key}") if key in t.table("growth") else t("growth.about_small")
    return t("growth.small", name=name, about=about)
