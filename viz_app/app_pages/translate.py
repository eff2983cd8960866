"""Page Translate, the home: type a sentence, see its translation and every head at work.

A full rerun, not a fragment, answers every edit: Streamlit runs the edits of a fragment one after the other, while a
full rerun starts at once, so that the queue can stop the translation of the older text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer_core.head import Head
from viz_app.classroom.questions import attention_question
from viz_app.components.address import publish
from viz_app.components.explorer.mount import (
    asked_sentence,
    asked_tool,
    asks_needed_head,
    explorer,
    head_off,
    last_head_off,
    last_report,
    send_draft,
    send_finding,
    sentence_shown,
)
from viz_app.components.explorer.selection import Selection
from viz_app.components.explorer.weights import packed_size
from viz_app.explorer_view import findings
from viz_app.explorer_view.flow import contrast, flow
from viz_app.explorer_view.sentence_bundle import FILE_NAME
from viz_app.explorer_view.snapshot import ExplorerSnapshot, best_head, branch_payload
from viz_app.export.bundle import Turn
from viz_app.figure_editor.rendering import forward_result
from viz_app.model_card.card import WEAK_BLEU
from viz_app.serving.input_validation import Sentence
from viz_app.serving.measurements.parsing_scores import WEAK_F1, content_of
from viz_app.serving.models import loader
from viz_app.serving.models.comparison import Comparison, NotComparable, compare_with_selection
from viz_app.serving.models.registry import is_parser, source_language
from viz_app.serving.models.selected_translation import selected_translation
from viz_app.serving.models.translation_service import BEAM, TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import Superseded
from viz_app.standalone.document import MAX_BYTES
from viz_app.standalone.sentences import BRANCHES, map_bytes, render_sentences
from viz_app.state import query_params, session
from viz_app.state.selected_model import model_query_param, selected_model
from viz_app.state.stale_branch import resolve_branch
from viz_app.text import Texts
from viz_app.text.examples import examples_of
from viz_app.ui.classroom.class_frame import draw_ask
from viz_app.ui.definitions import define
from viz_app.ui.downloads import draw_download, in_turns
from viz_app.ui.edit_links import draw_edit_button, edit_in_figures, open_in_lab
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.lesson_route import draw_route, followed_route, route_params
from viz_app.ui.model.quality import describe_set
from viz_app.ui.model_picker import draw_waiting, load_service
from viz_app.ui.sentence_field import sentence_field
from viz_app.ui.share_menu import draw_link
from viz_app.ui.translate.external_views import close_view, draw_external_views, open_view
from viz_app.ui.translate.try_this import draw_try_this

if TYPE_CHECKING:
    from viz_app.serving.decoding.decoded_batch import DraftBytes

_EXPLORER = session.EXPLORER
_SELECTION = session.SELECTION_KEY
_UNFOLDED = "unfolded"  # the translation whose flow was unfolded last: its ways stay in the browser
_TOOL = "tool"  # of the menu: the one that is open
_Tool = tuple[str, Literal["small", "medium", "large"], Callable[[], None]]  # title and width of its dialog
_MAX_EXAMPLES = 3  # beside each other, so that they stay one quiet line
# Bench of the Lab by a head's role in the atlas.
_EXPERIMENTS = {"aligner": "redirect", "offset-1": "why", "offset+1": "why", "separator": "off", "end": "off"}
_MAX_UNKNOWN = 20  # characters that are listed
_READS_KOREAN = """git clone https://huggingface.co/Helsinki-NLP/opus-mt-ko-en
python -m transformer_core convert opus-mt-ko-en --out checkpoints/ko-en"""  # as in docs/models.md


def main() -> None:
    """Draw the page."""
    t = session.labels()
    example = asked_sentence(_EXPLORER)
    if example is not None:
        st.session_state[session.TEXT_KEY] = example[0]  # before the field is drawn
    draw_route(t, "translate")
    if followed_route():
        st.markdown(t("translate.stop"))
    typed = sentence_field(t, streams=True)
    _draw_examples(t, typed)
    status, drafts = st.empty(), st.empty()
    if _SELECTION not in st.session_state:
        with status.container(key="coming"):
            st.skeleton(height=560)
    served = load_service(t, status)
    sentence = served.validate(typed)
    if sentence.status == "good":
        _draw_unknown(t, sentence)
        _draw_weakness(t, served, sentence)
        try:
            ask, draft = partial(draw_waiting, t, status), _draw_drafts(drafts, served, sentence)
            result = served.translate(session.session_id(), sentence.source, on_position=ask, on_draft=draft)
        except Superseded:
            st.stop()
        except Exception:
            status.empty()  # show only the message
            raise
        selection, branch, other = _draw_result(t, served, sentence, result, status)
        drafts.empty()
        seen = forward_result(served, branch, result, selection.branch)
        with st.container(horizontal=True, key="onward"):
            _draw_lab(t, served, selection)
            draw_ask(t, attention_question(branch.maps, selection))
        identity = (served.translator.checkpoint_hash, sentence.text, str(selection.branch))
        draw_try_this(t)
        picture = ExplorerSnapshot(seen, selection, t.language, other)
        views = (branch.maps, selection, identity, seen.provenance)
        tools: dict[str, _Tool] = {
            "download": (t("explorer.download"), "medium", partial(_draw_downloads, t, picture, served.name)),
            "share": (t("explorer.share"), "small", partial(draw_link, t, "", _params(t, sentence))),
            "views": (t("explorer.views"), "large", partial(draw_external_views, t, *views)),
        }
        _draw_tool(tools)
    else:
        with status.container():
            _draw_refusal(t, sentence)
    publish(_params(t, sentence), language=t.language, page="translate")
    if example is not None:
        sentence_shown(_EXPLORER, example[1])
    if sentence.status == "good":
        _send_findings(t, served, result, branch, selection)


def _draw_examples(t: Texts, typed: str) -> None:
    """Draw the examples that come after the one in the field; all of them under an empty field."""
    examples = _examples()
    if not examples:
        return
    names, sentences = list(examples), list(examples.values())
    after = sentences.index(typed) + 1 if typed in sentences else 0
    following = [*names[after:], *names[:after]][: _MAX_EXAMPLES if typed.strip() else None]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="examples"):
        st.caption(t("translate.examples"), width="content")
        for name in following:
            take, text = session.enqueue_callback(_take, examples[name]), escape_markdown(examples[name])
            st.button(text, key=f"take-{name}", type="tertiary", on_click=take)


def _examples() -> dict[str, str]:
    """Return the example sentences for the selected model, without loading it."""
    name = selected_model()
    return examples_of(source_language(name), parses=is_parser(name))


def _draw_refusal(t: Texts, sentence: Sentence) -> None:
    """Draw why nothing is translated."""
    if sentence.status == "long":
        limit = sentence.limit
        message = t("translate.long", tokens=sentence.tokens, limit=limit, over=sentence.tokens - limit)
        st.warning(message, icon=":material/straighten:")
        return
    invitation = t("translate.empty" if _examples() else "translate.empty_alone")
    korean = sentence.status == "korean"
    st.info(f"{t('translate.korean')} {invitation}" if korean else invitation, icon=":material/keyboard:")
    if korean:
        st.code(_READS_KOREAN, language="bash")


def _take(text: str) -> None:
    st.session_state[session.TEXT_KEY] = text


def _draw_unknown(t: Texts, sentence: Sentence) -> None:
    if sentence.unknown:
        # As character references these are letters to Markdown, whatever they are.
        characters = " ".join(f"&#{ord(character)};" for character in sentence.unknown[:_MAX_UNKNOWN])
        more = " …" if len(sentence.unknown) > _MAX_UNKNOWN else ""
        st.caption(f":material/help: {t('translate.unknown')} **{characters}**{more}")


def _draw_weakness(t: Texts, served: TranslationService, sentence: Sentence) -> None:
    """Warn when the translations are not reliable."""
    score = served.card.main_score
    if served.card.parsing:
        name, scores = next(iter(served.card.parsing.items()))
        holds = t(f"model.trees_{content_of(name) or 'any'}")
        values = {"score": f"{scores.f1:.0f}", "count": f"{scores.sentences:,}", "holds": holds}
        weak = f":material/warning: {t('translate.parses_badly', **values)}"
        good = t("translate.parses", **values, beam=scores.beam or t("model.unknown"), here=BEAM)
        only_trees = t("translate.only_trees") if served.translator.decoding.constrained else ""
        st.caption(f"{weak if scores.f1 < WEAK_F1 else good} {only_trees}")
    elif score is None:
        if not served.card.answers:
            st.caption(f":material/warning: {t('translate.unmeasured')}")
    elif score.bleu < WEAK_BLEU or not score.is_everyday:
        values = {"bleu": f"{score.bleu:.1f}", "set": describe_set(t, score)}
        weak = f":material/warning: {t('translate.weak', **values)}"
        good = t("translate.evaluated", **values)
        st.caption(weak if score.bleu < WEAK_BLEU else good, help=define(t, "bleu"))
    trained = served.card.trained_tokens
    if trained is not None and sentence.tokens > trained:
        st.caption(f":material/straighten: {t('translate.untrained', tokens=sentence.tokens, trained=trained)}")


def _draw_drafts(
    place: DeltaGenerator, served: TranslationService, sentence: Sentence
) -> Callable[[DraftBytes], None] | None:
    """Return what shows a translation while it is generated; a parser's trees come whole."""
    if served.parses:
        return None
    encoding, numbers = served.translator.encode(sentence.source), count()

    def draw(draft: DraftBytes) -> None:
        from transformer_core.translator import TeacherForcedInput  # with torch, which takes seconds to import

        axes = served.translator.axes(TeacherForcedInput(encoding, draft.ids, draft.finished))
        with place:
            names = ("source", "inputs", "outputs")
            send_draft(_EXPLORER, dict(zip(names, axes, strict=True)), draft.rows, next(numbers))

    return draw


def _draw_result(
    t: Texts, served: TranslationService, sentence: Sentence, result: TranslationResult, status: DeltaGenerator
) -> tuple[Selection, TranslationResult, Comparison | None]:
    """Draw the explorer; return its selection, the translation that it shows, and the comparison."""
    best, params = best_head(served.card, result.maps), st.query_params.to_dict()
    if not (served.parses or "head" in params):
        best = dataclasses.replace(best, form="flow")
    start: Selection = st.session_state.get(_SELECTION) or query_params.selection_from_params(params, best)
    start = last_report(_EXPLORER) or start
    start = resolve_branch(f"{served.name}\n{sentence.text}", start)
    ask = partial(draw_waiting, t, status)
    other, comparable = None, True
    try:
        searched, displayed, start = selected_translation(served, session.session_id(), result, start, ask)
        start = start.fitted(displayed.maps)
        other = compare_with_selection(served, session.session_id(), sentence.text, start, ask)
    except Superseded:
        st.stop()
    except NotComparable:
        st.caption(f":material/warning: {t('translate.not_comparable')}")
        comparable = False
    status.empty()
    search = (sentence.text, start.branch)
    packed = branch_payload(t, served, search, searched, displayed, force=start.force)
    second = None
    if other is not None:
        search = (other.text, other.branch)
        second = branch_payload(t, other.service, search, other.best, other.result, served)
    off = st.session_state.setdefault(session.HEAD_OFF_KEY, query_params.head_off_from_params(params))
    selection = explorer(packed, key=_EXPLORER, selection=start, other=second, off=off)
    # The browser's may not be computed yet.
    selection = dataclasses.replace(selection, branch=start.branch, force=start.force)
    st.session_state[_SELECTION] = selection
    return selection if comparable else dataclasses.replace(selection, against=None), displayed, other


def _send_findings(
    t: Texts, served: TranslationService, result: TranslationResult, branch: TranslationResult, selection: Selection
) -> None:
    """Send the flow, the card, the head that is off, the roles and the free search, after the rest of the page."""
    session_id, key = session.session_id(), _EXPLORER
    st.session_state[session.HEAD_OFF_KEY] = last_head_off(key)
    search = (served.name, *branch.translation.tokens)
    if selection.unfold:
        st.session_state[_UNFOLDED] = search
    try:
        if selection.form == "flow" or served.parses:  # which has none, and says so
            ways = st.session_state.get(_UNFOLDED) == search
            send_finding(key, flow(served, session_id, branch, selection, ways=ways))
        send_finding(key, contrast(served, session_id, branch, selection))
        if served.head_atlas.atlas is not None:  # also while it is closed, so that it opens at once
            send_finding(key, findings.card(served, t, Head(selection.kind, selection.layer, selection.head)))
        send_finding(key, findings.without_head(served, session_id, result, head_off(key)))
        if asks_needed_head(key):
            send_finding(key, findings.needed_head(served, session_id, result))
        send_finding(key, findings.roles(served, session_id, t))
        if served.parses and served.translator.decoding.constrained:
            send_finding(key, findings.free_search(served, session_id, result))
    except Superseded:
        st.stop()


def _draw_lab(t: Texts, served: TranslationService, selection: Selection) -> None:
    """Draw the button that opens the Lab at this head, with the experiment that its role suggests."""
    head = Head(selection.kind, selection.layer, selection.head)
    roles = served.head_atlas.roles.get(head, ())
    bench = _EXPERIMENTS.get(roles[0].name) if roles else None
    kind, number = t(f"explorer.kind_{selection.kind}"), f"{selection.layer + 1}.{selection.head + 1}"
    label = t(f"translate.lab_{bench}", head=str(head)) if bench else t("translate.lab", kind=kind, head=number)
    go = session.enqueue_callback(open_in_lab, selection, bench or "off")
    st.button(label, key="open-in-lab", icon=":material/science:", type="tertiary", on_click=go)


def _draw_tool(tools: Mapping[str, _Tool]) -> None:
    """Open what was chosen in the menu of the explorer in a dialog, which stays open until it is closed."""
    if open_view() is not None:
        st.session_state.setdefault(_TOOL, "views")  # so says the address
    if (asked := asked_tool(_EXPLORER)) in tools:
        st.session_state[_TOOL] = asked
    if chosen := tools.get(st.session_state.get(_TOOL) or ""):
        title, width, draw = chosen
        st.dialog(title, width=width, on_dismiss=session.enqueue_callback(_close_tool))(draw)()


def _close_tool() -> None:
    st.session_state[_TOOL] = None
    close_view()


def _draw_downloads(t: Texts, picture: ExplorerSnapshot, model: str) -> None:
    """Draw the downloads. A session keeps their functions until the next run, so they must not hold the maps."""
    text = str(picture.seen.provenance["source"])
    arguments = model, session.session_id(), text, picture.selection, t.language
    animation = partial(_animation, *arguments)
    place = picture.selection
    st.caption(t("translate.download_note", head=str(Head(place.kind, place.layer, place.head))))
    with st.container(horizontal=True):
        for name in picture.formats:
            make = animation if name == "gif" else picture.still.file
            draw_download(name, make, picture.file_name(name), "download")
    if packed_size(picture.seen.maps) <= MAX_BYTES:
        st.download_button(
            t("translate.page"),
            data=in_turns(partial(_page, model, session.session_id(), text, t.language)),
            file_name="headlight_page.html",
            mime="text/html",
            key="download-page",
            on_click="ignore",
            icon=":material/web:",
            help=t("translate.page_help"),
        )
    st.download_button(
        t("translate.everything"),
        data=in_turns(partial(_everything, *arguments)),
        file_name=FILE_NAME,
        mime="application/zip",
        key="download-everything",
        on_click="ignore",
        icon=":material/folder_zip:",
        help=t("translate.everything_help"),
    )
    draw_edit_button(t, "edit-in-figures", _edit_in_figures, picture.selection, picture.seen.maps.outputs.words)
    if picture.command:
        st.code(picture.command, language=None, wrap_lines=True)
    else:
        st.caption(t("figures_page.no_command"))


def _edit_in_figures(*arguments: Any) -> None:
    _close_tool()
    edit_in_figures(*arguments)


def _animation(model: str, who: str, text: str, selection: Selection, language: str, format: str) -> bytes:
    """Draw the head through all steps."""
    return _snapshot(model, f"{who}:animation", text, selection, language).file(format)


def _everything(model: str, who: str, text: str, selection: Selection, language: str, turn: Turn) -> bytes:
    """Write a zip of everything about the sentence."""
    return _snapshot(model, f"{who}:everything", text, selection, language).everything(turn)


def _page(model: str, who: str, text: str, language: str, turn: Turn) -> bytes:
    """Write the explorer as a page, with as many branches as fit."""
    served, session_id = loader.get_translation_service(model), f"{who}:page"
    sentence = served.validate(text)
    size = map_bytes(served, [sentence], 1, session_id)
    branches = max(1, min(BRANCHES, MAX_BYTES // (2 * size)))  # a branch may be longer than the best one
    with turn():
        return render_sentences(served, [sentence], language, session=session_id, branches=branches)


def _snapshot(model: str, who: str, text: str, selection: Selection, language: str) -> ExplorerSnapshot:
    """Return the content of the page, with maps mostly from the cache; `who` is a session apart from the page's."""
    served = loader.get_translation_service(model)
    result = served.translate(who, text)
    _, branch, selection = selected_translation(served, who, result, selection)
    return ExplorerSnapshot(forward_result(served, branch, result, selection.branch), selection, language)


def _params(t: Texts, sentence: Sentence) -> dict[str, str | None]:
    """Return the parameters of the page's address."""
    selection: Selection | None = st.session_state.get(_SELECTION)
    params: dict[str, str | None] = {
        "lang": t.language,
        "text": query_params.text_to_param(sentence.text),
        "model": model_query_param(),
        "other": open_view(),
        "off": last_head_off(_EXPLORER),
        **route_params(),
    }
    if selection is not None:
        params |= query_params.selection_to_params(selection)
        params["view"] = selection.view  # which one opens depends on the model
        params["form"] = selection.form
        if selection.vs == sentence.text:
            params["vs"] = None  # it is the sentence of the page
    return params


if __name__ == "__main__":
    main()
