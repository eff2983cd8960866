"""Branch of a search that the explorer is to show.

A branch belongs to one sentence. The browser reports its selection a moment after it has drawn a new sentence, so for
that moment Python still knows the branch of the old one, and must not take it for a branch of the new one.
"""

from __future__ import annotations

import streamlit as st

_TEXT = "branch_text"
_STALE = "branch_stale"


def forget_branch() -> None:
    """Take over another session file: its branch belongs to its sentence."""
    st.session_state.pop(_TEXT, None)
    st.session_state.pop(_STALE, None)


def resolve_branch(text: str, reported: int) -> int:
    """Return the branch to show of a sentence; 0, the best one, when the branch reported belongs to another sentence.

    Args:
        text: The sentence.
        reported: What the browser, or for a new session the URL, says.
    """
    before = st.session_state.get(_TEXT, text)
    st.session_state[_TEXT] = text
    if before != text and reported:
        st.session_state[_STALE] = reported
    if st.session_state.get(_STALE) == reported:
        return 0
    st.session_state.pop(_STALE, None)
    return reported
