"""Section of the page Model with the quality of a parser's trees."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from viz_app.lessons.results.paper_results import TABLE_4
from viz_app.serving.measurements.parsing_scores import ParsingScores, content_of
from viz_app.text import Texts
from viz_app.ui.escape_markdown import escape_markdown

_UNKNOWN = "–"


def draw_parsing(t: Texts, sets: Mapping[str, ParsingScores], free: Mapping[str, ParsingScores]) -> None:
    """Draw F1 and related scores, a row for each test set, beside trivial trees and the paper.

    Args:
        t: Texts.
        sets: Scores by test set.
        free: The same of the paper's search, where the model's own allows only trees.
    """
    if not sets:
        return
    st.header(t("model.parsing"))
    named = [(name, each[name]) for name in sets for each in (sets, free) if name in each]
    rows = [row for _, row in named]
    st.table(
        {
            t("model.test_set"): [_set(t, name) for name, _ in named],
            t("model.parsing_allowed"): [t(f"model.parsing_{row.allowed}") for row in rows],
            t("model.parsing_sentences"): [f"{row.sentences:,}" for row in rows],
            "F1": [_f1(row) for row in rows],
            t("model.parsing_precision"): [_percent(row.precision) for row in rows],
            t("model.parsing_recall"): [_percent(row.recall) for row in rows],
            t("model.parsing_exact"): [_percent(row.exact_match) for row in rows],
            t("model.parsing_well_formed"): [_percent(row.well_formed) for row in rows],
            t("model.parsing_baseline"): [_percent(row.right_branching_f1) for row in rows],
        }
    )
    st.caption(t("model.parsing_about"))
    for search in dict.fromkeys(filter(None, (_search(t, row) for row in rows))):
        st.caption(search)
    paper = {each.setting: f"{each.f1:.1f}" for each in TABLE_4 if each.name.startswith("Transformer")}
    st.markdown(t("model.parsing_paper", **paper))


def _set(t: Texts, name: str) -> str:
    """Return the content of a set, and its name."""
    holds = content_of(name)
    return f"{t(f'model.trees_{holds}')} · {escape_markdown(name)}" if holds else escape_markdown(name)


def _f1(row: ParsingScores) -> str:
    """Return F1, with its 95 % interval if known."""
    return f"{row.f1:.1f}" + (f" ({row.f1_95[0]:.1f}–{row.f1_95[1]:.1f})" if row.f1_95 else "")


def _percent(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.1f}"


def _search(t: Texts, row: ParsingScores) -> str:
    """Return the settings of the search; empty if unknown."""
    if row.beam is None or row.alpha is None:
        return ""
    return t("model.parsing_search", beam=row.beam, alpha=f"{row.alpha:g}")
