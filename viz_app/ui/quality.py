"""The sections of the page Model that tell what was measured: translations, heads that link words, probes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from viz_app.components.explorer import Selection
from viz_app.serving.metrics import AlignmentErrors, ModelCard, Score
from viz_app.state import session
from viz_app.text import Texts
from viz_app.ui.edit_links import open_in_translate
from viz_app.ui.escape_markdown import escape_markdown


def draw_scores(t: Texts, card: ModelCard) -> None:
    """BLEU and chrF of each set; those on which settings were chosen stand apart."""
    scores = card.scores
    if not scores:
        return
    st.header(t("model.scores"))
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
                title: [_set(t, score) for score in scores],
                "BLEU": [f"{score.bleu:.1f}" for score in scores],
                "chrF": ["–" if score.chrf is None else f"{score.chrf:.1f}" for score in scores],
            }
        )


def _set(t: Texts, score: Score) -> str:
    """What a set holds, and its name."""
    name = escape_markdown(score.name)
    if not score.content:
        return name
    holds = t(f"model.set_{score.content}")
    return f"{t('model.set_unseen', holds=holds) if score.is_unseen_only else holds} · {name}"


def draw_aligners(t: Texts, card: ModelCard) -> None:
    """The alignment error of each head of encoder-decoder attention, by both conventions, and the way to their maps."""
    tables = card.aligners
    if not tables:
        return
    st.header(t("model.aligners"))
    st.markdown(t("model.aligners_about"))
    with st.container(horizontal=True, key="aligners"):
        for convention, table in tables.items():
            layer, head = table.best
            values = {"head": f"{layer + 1}.{head + 1}", "rate": f"{100 * table.rates[layer][head]:.1f}"}
            st.html(_rates(t, t(f"model.aligners_{convention}", **values), table), width="content")
    first = next(iter(tables.values()))
    if first.sentences is not None:
        st.caption(t("model.aligners_sentences", sentences=f"{first.sentences:,}"))
    if "output" in tables:
        layer, head = tables["output"].best
        shown = Selection(kind="cross", layer=layer, head=head, zoom="heads", order="alignment")
        st.button(
            t("model.aligners_open"),
            key="open-aligners",
            icon=":material/translate:",
            on_click=session.enqueue_callback(open_in_translate, shown),
        )


def _rates(t: Texts, title: str, table: AlignmentErrors) -> str:
    """The rates as a table in percent, a row for each layer; the fewer errors, the fuller the colour."""
    rates = [rate for row in table.rates for rate in row]
    low, high = min(rates), max(rates)
    columns = "".join(f'<th scope="col">{head}</th>' for head in range(1, len(table.rates[0]) + 1))
    lines = [f'<tr><th scope="col">{t("model.aligners_layer")}</th>{columns}</tr>']
    for layer, row in enumerate(table.rates):
        cells = [f'<th scope="row">{layer + 1}</th>']
        for head, rate in enumerate(row):
            share = (high - rate) / (high - low) if high > low else 0.0
            best = ' class="best"' if (layer, head) == table.best else ""
            cells.append(f'<td{best} style="--share: {60 * share:.0f}%">{100 * rate:.0f}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table class="rates"><caption>{title}</caption>{"".join(lines)}</table>'


def draw_answers(t: Texts, card: ModelCard) -> None:
    """How often it finds the right one of two or three translations, by what they differ in."""
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
