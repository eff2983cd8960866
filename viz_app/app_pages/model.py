"""Page Model: size, scores, training and weaknesses of the chosen model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from transformer_core.storage.files import CheckpointError
from viz_app.components.address import publish
from viz_app.components.in_sight import once_in_sight
from viz_app.export.bundle import Turn
from viz_app.model_card import card
from viz_app.serving.measurements.model_card import ModelCard
from viz_app.serving.measurements.parsing_scores import WEAK_F1, content_of
from viz_app.serving.models.loader import get_translation_service
from viz_app.serving.models.registry import unreadable_models
from viz_app.state import session
from viz_app.state.selected_model import model_query_param
from viz_app.text import Texts
from viz_app.ui.definitions import define
from viz_app.ui.downloads import in_turns
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.lesson_route import route_params
from viz_app.ui.menu import expander
from viz_app.ui.model.atlas import draw_atlas
from viz_app.ui.model.growth import draw_growth
from viz_app.ui.model.open_model import draw_open_model
from viz_app.ui.model.own_model import draw_own_model
from viz_app.ui.model.parsing_quality import draw_parsing
from viz_app.ui.model.pruning import draw_pruning
from viz_app.ui.model.quality import describe_set, draw_aligners, draw_answers, draw_heads, draw_scores
from viz_app.ui.model_picker import draw_models, load_service
from viz_app.ui.shared_row import shared_row

if TYPE_CHECKING:
    from transformer_core.translator import Translator
    from viz_app.serving.models.translation_service import TranslationService

_MAX_NAMED = 8  # parts of metrics.json that could not be read
_WIDTH = 900  # pixels of what is read, not looked at


def main() -> None:
    """Draw the page."""
    t = session.labels()
    with shared_row(horizontal_alignment="distribute", key="card-title"):
        st.title(t("model.title"), width="content")
        draw_models(t)
    for name, problem in unreadable_models().items():
        message = t("models.unreadable", name=escape_markdown(name), problem=escape_markdown(problem))
        st.warning(message, icon=":material/warning:")
    served = load_service(t)
    translator, model_card = served.translator, served.card
    with st.container(key="card"):
        _draw_summary(t, served)
        _draw_page(t, served)
        _draw_unreadable(t, model_card, translator)
        params = {"lang": t.language, "text": st.session_state[session.TEXT_KEY], "model": model_query_param()}
        params |= route_params()
        params = draw_growth(t, translator.checkpoint.folder if translator.checkpoint else None, params)
        params = draw_atlas(t, served, params)
        params, translate_pruned = draw_pruning(t, served, params)
        with expander(t("model.numbers"), key="model-numbers", icon=":material/table:") as is_open:
            if is_open:
                _draw_numbers(t, served)
        _draw_card(t, translator)
        with st.container(width=_WIDTH):
            draw_open_model(t)
            once_in_sight("own-model", partial(draw_own_model, t))
    publish(params, language=t.language, page="model")
    translate_pruned()  # last of all, so that nothing waits for it


def _draw_summary(t: Texts, served: TranslationService) -> None:
    size, score = card.size(served.translator), served.card.main_score
    with st.container(horizontal=True, key="model-size"):
        st.metric(t("model.parameters"), t("model.millions", count=f"{size.parameters / 1e6:.1f}"), border=True)
        st.metric(t("model.size"), t("site.megabytes", size=round(size.megabytes)), border=True)
        if served.parses:
            name, scores = next(iter(served.card.parsing.items()), ("", None))
            f1 = t("model.unknown") if scores is None else f"{scores.f1:.1f}"
            st.metric(t("model.parsing_f1", holds=t(f"model.trees_{content_of(name) or 'any'}")), f1, border=True)
        else:
            label, value = t("model.everyday"), t("model.unknown") if score is None else f"{score.bleu:.1f}"
            if score is not None and not score.is_everyday:
                label = t("model.bleu_of", set=describe_set(t, score))
            st.metric(label, value, border=True, help=define(t, "bleu"))
    if served.parses and served.card.parsing:
        if scores is not None and scores.f1 < WEAK_F1:
            st.warning(t("model.parses_badly"), icon=":material/warning:")
    elif score is None:
        if not served.card.answers:
            st.warning(t("model.unmeasured"), icon=":material/warning:")
    elif score.bleu < card.WEAK_BLEU:
        st.warning(t("model.weak", bleu=f"{score.bleu:.1f}", set=describe_set(t, score)), icon=":material/warning:")


def _draw_page(t: Texts, served: TranslationService) -> None:
    """Draw the download of the model as a web page, if a browser can run it."""
    # With torch, which takes seconds to import.
    from transformer_core.model_export.refusals import ExportError
    from viz_app.explorer_view.live_model import check_live

    try:
        check_live(served.translator)
    except ExportError:
        return
    st.download_button(
        t("model.page"),
        data=in_turns(partial(_page, served.name, t.language)),
        file_name=f"headlight_{served.name}.html",
        mime="text/html",
        key="model-page",
        on_click="ignore",
        icon=":material/web:",
        help=t("try_this.about_file"),
    )


def _page(name: str, language: str, _turn: Turn) -> bytes:
    from viz_app.standalone.live import live_document

    return live_document(get_translation_service(name), language)


def _draw_unreadable(t: Texts, model_card: ModelCard, translator: Translator) -> None:
    if translator.checkpoint and (problem := translator.checkpoint.problem):
        st.warning(t("model.not_derived", problem=escape_markdown(problem)), icon=":material/warning:")
    if model_card.unreadable:
        more = " …" if len(model_card.unreadable) > _MAX_NAMED else ""
        parts = ", ".join(escape_markdown(part) for part in model_card.unreadable[:_MAX_NAMED])
        st.warning(t("model.unreadable", parts=f"{parts}{more}"), icon=":material/warning:")


def _draw_numbers(t: Texts, served: TranslationService) -> None:
    model_card = served.card
    with st.container(width=_WIDTH):
        draw_scores(t, model_card)
        draw_parsing(t, model_card.parsing, model_card.parsing_free)
        draw_heads(t, model_card)
        if served.head_penalty:
            st.caption(t("roles.penalty"))
        draw_aligners(t, model_card)
        draw_answers(t, model_card)
        _draw_shape(t, served.translator)
        _draw_training(t, model_card)


def _draw_shape(t: Texts, translator: Translator) -> None:
    config = translator.config
    st.header(t("model.shape"))
    rows = {
        t("model.layers"): f"{config.num_layers} + {config.num_layers}",
        t("model.heads"): str(config.num_heads),
        "d_model": str(config.d_model),
        "d_ff": str(config.d_ff),
        "d_k, d_v": f"{config.d_k}, {config.d_v}",
        t("model.vocabulary"): f"{config.vocab_size:,}",
        t("model.hash"): translator.checkpoint_hash[:12],
    }
    _draw_pairs(t, rows)


def _draw_training(t: Texts, model_card: ModelCard) -> None:
    facts = card.training_facts(model_card)
    if facts:
        st.header(t("model.training"))
        known = t.table("model")
        _draw_pairs(
            t,
            {
                known.get(f"fact_{name}") or escape_markdown(name): escape_markdown(value)
                for name, value in facts.items()
            },
        )


def _draw_pairs(t: Texts, rows: dict[str, str]) -> None:
    st.table({t("model.property"): list(rows), t("model.value"): list(rows.values())})


def _draw_card(t: Texts, translator: Translator) -> None:
    folder = translator.checkpoint.folder if translator.checkpoint else None
    try:
        prose = card.prose(folder) if folder else ""
    except CheckpointError as error:
        st.warning(t("model.no_card", problem=escape_markdown(error.in_folder)), icon=":material/warning:")
        return
    if prose:
        with expander(t("model.card"), key="model-card", icon=":material/description:") as is_open:
            if not is_open:
                return
            if t.language != "en":
                st.caption(t("model.card_language"))
            st.markdown(prose, width=_WIDTH)


if __name__ == "__main__":
    main()
