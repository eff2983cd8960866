"""Glossary of the app: every term that explains itself, with its definition."""

from __future__ import annotations

import streamlit as st

from viz_app.components.address import publish
from viz_app.state import session
from viz_app.text.glossary import by_letter

_PAGE = "glossary"


def main() -> None:
    """Draw the terms in the alphabet of the language; the address may name one, such as #head."""
    t = session.labels()
    with st.container(horizontal=True, horizontal_alignment="distribute", key="glossary-title"):
        st.title(t("nav.glossary"), width="content")
        query = st.text_input(
            t("glossary.search"),
            placeholder=t("glossary.search"),
            key="glossary-query",
            live="250ms",
            width=320,
            icon=":material/search:",
            label_visibility="collapsed",
        )
    groups = by_letter(t.language, query)
    if not groups:
        st.caption(t("glossary.none"))
    with st.container(key="glossary-letters"):
        st.markdown(" ".join(f"[{letter}](#letter-{number})" for number, letter in enumerate(groups)))
    with st.container(key="glossary"):
        for number, (letter, group) in enumerate(groups.items()):
            st.header(letter, anchor=f"letter-{number}")
            for term in group:
                st.subheader(term.word(t.language, first=True), anchor=term.name)
                st.markdown(term.about[t.language])
    publish({"lang": t.language}, language=t.language, page=_PAGE)


if __name__ == "__main__":
    main()
