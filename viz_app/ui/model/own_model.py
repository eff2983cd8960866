"""Commands for one's own text and model."""

from __future__ import annotations

import streamlit as st

from viz_app.text import Texts

TRAIN = """python -m transformer_core prepare --train pairs.tsv --vocab-size 8000 --out data
python -m transformer_core train --preset en-de --data data --valid valid.tsv --out run
python -m transformer_core average run --last 5 --out my-model
python -m transformer_core evaluate --checkpoint my-model --test test.tsv"""
OPEN = "python -m viz_app app --checkpoint my-model"
EXPORT = 'python -m viz_app export --checkpoint my-model --set sentence --text "The bus is late." --out bus.zip'


def draw_own_model(t: Texts) -> None:
    """Draw commands that train a model, open it in the app, and export its figures."""
    st.header(t("own.title"))
    for name, command in (("train", TRAIN), ("open", OPEN), ("export", EXPORT)):
        st.markdown(t(f"own.{name}"))
        st.code(command, language=None)
    st.caption(t("own.more"))
