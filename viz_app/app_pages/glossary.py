"""Glossary of the app: every term that explains itself, with its definition."""

from __future__ import annotations

import streamlit as st

from viz_app.components.address import publish
from viz_app.state import session
from viz_app.text.glossary import terms

_PAGE = "glossary"


def main() -> None:
    """Draw the terms in the alphabet of the language; the address may name one, such as #head."""
    t = session.labels()
    st.title(t("nav.glossary"))
    entries = [term for term in terms().values() if term.about]
    for term in sorted(entries, key=lambda term: term.word(t.language).casefold()):
        st.subheader(term.word(t.language, first=True), anchor=term.name)
        st.markdown(term.about[t.language])
    publish({"lang": t.language}, language=t.language, page=_PAGE)


if __name__ == "__main__":
    main()
