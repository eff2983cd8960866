"""Sections of the page Model with its measurements: translations, heads that look or align, probes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from transformer_core.attention_maps import Kind
from viz_app.components.explorer.selection import Selection
from viz_app.figures.colours.palette import kind_color
from viz_app.serving.measurements.model_card import ModelCard, Score
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.definitions import define
from viz_app.ui.edit_links import open_in_translate
from viz_app.ui.escape_markdown import escape_markdown


def draw_scores(t: Texts, card: ModelCard) -> None:
    """Draw BLEU and chrF of each set; development sets apart."""
    scores = card.scores
    if not scores:
        return
    st.header(t("model.scores"), help=define(t, "bleu", "chrf"))
    _draw_sets(t, t("model.test_set"), [score for score in scores if not score.development])
    _draw_sets(t, t("model.development_set"), [score for score in scores if score.development])
    signatures = sorted({score.signature for score in scores if score.signature})
    if signatures:
        st.caption(t("model.signature"))
        st.code("\n".join(signatures), language=None, wrap_lines=True)


def _draw_sets(t: Texts, title: str, scores: Sequence[Score]) -> None:
    if scores:
        st.table(
            {
                title: [describe_set(t, score) for score in scores],
                "BLEU": [f"{score.bleu:.1f}" for score in scores],
                "chrF": ["–" if score.chrf is None else f"{score.chrf:.1f}" for score in scores],
            }
        )


def describe_set(t: Texts, score: Score) -> str:
    """Return the content of a set, and its name."""
    name = escape_markdown(score.name)
    if not score.content:
        return name
    holds = t(f"model.set_{score.content}")
    return f"{t('model.set_unseen', holds=holds) if score.is_unseen_only else holds} · {name}"


def draw_heads(t: Texts, card: ModelCard) -> None:
    """Draw the counts of heads that look, rest or have a fixed offset, and each head's information."""
    if not card.heads:
        return
    st.header(t("model.look"), help=define(t, "head", "query", "key"))
    st.markdown(t("model.look_about"))
    counts = card.heads.values()
    st.table(
        {
            t("model.look_kind"): [t(f"explorer.kind_{kind}") for kind in card.heads],
            t("model.look_heads"): [str(one.heads) for one in counts],
            t("model.look_looking"): [str(one.looking) for one in counts],
            t("model.look_resting"): [str(one.resting) for one in counts],
            t("model.look_fixed"): [str(one.fixed_offset) for one in counts],
        }
    )
    st.markdown(t("model.look_information"))
    most = max(value for one in counts for row in one.information for value in row)
    with st.container(horizontal=True, key="information"):
        for kind, one in card.heads.items():
            shares = [[value / most if most > 0 else 0.0 for value in row] for row in one.information]
            st.html(_by_head(t, t(f"explorer.kind_{kind}"), one.information, shares, kind=kind), width="content")
    if card.head_sentences is not None:
        st.caption(t("model.look_sentences", count=card.head_sentences))


def draw_aligners(t: Texts, card: ModelCard) -> None:
    """Draw the alignment error of each encoder-decoder head, by both conventions, with a link to their maps."""
    tables = card.aligners
    if not tables:
        return
    st.header(t("model.aligners"), help=define(t, "alignment_error_rate"))
    st.markdown(t("model.aligners_about"))
    with st.container(horizontal=True, key="aligners"):
        for convention, table in tables.items():
            best = table.best
            values = {"head": str(best), "rate": f"{100 * table.rates[best.layer][best.head]:.1f}"}
            title = t(f"model.aligners_{convention}", **values)
            rates = [rate for row in table.rates for rate in row]
            low, high = min(rates), max(rates)
            shares = [[(high - rate) / (high - low) if high > low else 0.0 for rate in row] for row in table.rates]
            st.html(_by_head(t, title, table.rates, shares, kind="cross", best=best[1:]), width="content")
    first = next(iter(tables.values()))
    if first.sentences is not None:
        st.caption(t("model.aligners_sentences", sentences=f"{first.sentences:,}"))
    if "output" in tables:
        _, layer, head = tables["output"].best
        selection = Selection(kind="cross", layer=layer, head=head, zoom="heads", order="alignment")
        st.button(
            t("model.aligners_open"),
            key="open-aligners",
            icon=":material/translate:",
            on_click=session.enqueue_callback(open_in_translate, selection),
        )


def _by_head(
    t: Texts,
    title: str,
    values: Sequence[Sequence[float]],
    shares: Sequence[Sequence[float]],
    *,
    kind: Kind,
    best: tuple[int, int] | None = None,
) -> str:
    """Return a table of percents, a row for each layer; a share from 0 to 1 fills each cell."""
    columns = "".join(f'<th scope="col">{head}</th>' for head in range(1, len(values[0]) + 1))
    lines = [f'<tr><th scope="col">{t("model.aligners_layer")}</th>{columns}</tr>']
    for layer, row in enumerate(values):
        cells = [f'<th scope="row">{layer + 1}</th>']
        for head, value in enumerate(row):
            mark = ' class="best"' if (layer, head) == best else ""
            cells.append(f'<td{mark} style="--share: {60 * max(0.0, shares[layer][head]):.0f}%">{100 * value:.0f}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    color = kind_color(kind, "light")
    return f'<table class="rates" style="--kind: {color}"><caption>{title}</caption>{"".join(lines)}</table>'


def draw_answers(t: Texts, card: ModelCard) -> None:
    """Draw the share of right choices among two or three translations, by their difference."""
    rows = card.answers
    if not rows:
        return
    known = t.table("model")
    st.header(t("model.probes"))
    st.markdown(t("model.probes_about"))
    st.table(
        {
            t("model.probe"): [known.get(f"probe_{row.about}") or escape_markdown(row.about) for row in rows],
            t("model.probe_right"): [f"{100 * row.right:.1f}" for row in rows],
            t("model.probe_chance"): [f"{100 * row.chance:.1f}" for row in rows],
            t("model.probe_asked"): [f"{row.asked:,}" for row in rows],
        }
    )
