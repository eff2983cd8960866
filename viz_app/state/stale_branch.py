"""Branch of a search that the explorer is to show, and the forced beginning of that search.

Both belong to one sentence. The browser reports its selection a moment after it has drawn a new sentence. Until then
Python still knows the branch of the old one, and must not take it for a branch of the new one.
"""

from __future__ import annotations

import dataclasses

import streamlit as st

from viz_app.components.explorer.selection import Selection

_TEXT = "branch_text"
_STALE = "branch_stale"


def resolve_branch(text: str, reported: Selection) -> Selection:
    """Return the selection with the branch and forced beginning of a sentence: none where they belong to another one.

    Args:
        text: The sentence.
        reported: What the browser, or for a new session the URL, says.
    """
    search, none = (reported.branch, reported.force), (0, None)
    before = st.session_state.get(_TEXT, text)
    st.session_state[_TEXT] = text
    if before != text and search != none:
        st.session_state[_STALE] = search
    if st.session_state.get(_STALE) == search:
        return dataclasses.replace(reported, branch=0, force=None)
    st.session_state.pop(_STALE, None)
    return reported
