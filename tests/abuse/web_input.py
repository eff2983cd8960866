"""Input of a browser: headers, addresses, settings of a lesson, sentences, reports of components."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token

from tests.abuse.damage import NUMBERS, TEXTS, damaged_json, damages, edited, edits, leaves, values
from tests.abuse.samples import history, maps, present, tokenizer
from tests.abuse.target import Target
from tests.app.classroom.asgi import HOST, Browser
from tests.atlas_samples import drawn_atlas
from viz_app.classroom.results import results_table
from viz_app.components.explorer.selection import CHOICES, Selection
from viz_app.export import file_bytes
from viz_app.export.figure_request import ForwardResult
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.rendering import make_figure
from viz_app.figures import VIEWS, HeatmapFigure
from viz_app.figures.layout import MAX_LABEL
from viz_app.figures.model.figure import HeatmapPanel, display_label
from viz_app.lessons.catalogue import STAGES
from viz_app.lessons.stage.state import (
    MAX_LETTERS,
    MAX_SETTINGS,
    LessonState,
    settings_from_param,
    settings_to_param,
)
from viz_app.model_card.pruning_state import PruningState
from viz_app.serving.browser_cookie import COOKIE, SECRET_BYTES
from viz_app.serving.classes.classrooms import Classrooms
from viz_app.serving.classes.polls import OwnQuestion
from viz_app.serving.input_validation import MAX_CHARACTERS, MAX_TOKENS, validate_sentence
from viz_app.serving.opening.model_folders import allowed_root
from viz_app.serving.request_origin import has_passed_proxy, is_own_host, party, same_origin
from viz_app.state.query_params import other_view_from_params, selection_from_params, selection_to_params, text_to_param
from viz_app.state.share_link import share_link
from viz_app.text import texts
from viz_app.ui.model.growth import Seen

Params = dict[str, str]

# Addresses.

_ATLAS = drawn_atlas()
_LONG = st.builds(lambda text, times: text * times, st.text(max_size=3), st.sampled_from((1, 100, 100_000)))
_PAGES = ("http://[", "http://localhost:99999/lessons", "https://[::1]:8501/a", "http://h:x/")
_WORDS = ["on", "off", "q3", "k999", "cross.9.1", "shared", "0,1", "1e400,nan", "title,legend", "none", "at:5", "x:%FF"]
_CHOICES = tuple(choice for choices in CHOICES.values() for choice in choices)
_KNOWN = st.sampled_from((*_PAGES, *_WORDS, *_CHOICES, *STAGES, *VIEWS, *TEXTS, *map(str, NUMBERS)))
_OTHERS = ("other", "text", "seen", "threshold", "special", "pin", "order", "only", "grown_text", "grown_at")
_OF_ATLAS = ("by", "prune", "score", "by_order", "left")
_NAMES = st.sampled_from((*_OTHERS, *(f"atlas_{name}" for name in _OF_ATLAS), *CHOICES, *FigureSpec().to_query()))


def _check_address(params: Params) -> None:
    selection = selection_from_params(params, Selection())
    nobody = Selection(layer=12_345)
    assert Selection.from_state(selection.to_dict(), default=nobody) == selection, "a report may not hold it"
    written = selection_to_params(selection)
    assert selection_to_params(selection_from_params(present(written), Selection())) == written
    other_view_from_params(params)
    text_to_param(params.get("text", ""))
    spec = FigureSpec.from_query(params, FigureSpec())
    query = spec.to_query()
    assert FigureSpec.from_query(present(query), FigureSpec()).to_query() == query
    assert all(20 <= width <= 2000 for width in (spec.style.width_mm,) if width is not None)
    _check_figure(spec)
    seen = Seen.from_query(params, history())
    assert seen.sentence < len(history().sentences) and seen.snapshot < len(history().steps)
    again = seen.to_query(history())
    assert Seen.from_query(present(again), history()).to_query(history()) == again
    _check_atlas(params)
    share_link(params.get("seen", "http://localhost:8501/lessons"), "127.0.0.1", "lessons", written, "192.0.2.7")


def _check_atlas(params: Params) -> None:
    """An address asks for something that the atlas has, also when it is written and read again."""
    pruning = PruningState.from_query(params, _ATLAS)
    assert PruningState.from_query(present(pruning.to_query(_ATLAS)), _ATLAS) == pruning


def _check_figure(spec: FigureSpec) -> None:
    """A selection that fits the maps can be made into a figure, or is refused in words."""
    fitted = spec.fitted(maps())
    try:
        make_figure(fitted, "en", ForwardResult(maps(), {}, None, None, _ATLAS))
    except ValueError as error:
        assert str(error)


# Settings of a lesson.

_SETTING = st.builds("{}:{}".format, st.text("abz_09", max_size=5), st.text("ab1.-+~%Fe,:ü", max_size=12) | _KNOWN)


def _check_settings(text: str) -> None:
    settings = settings_from_param(text)
    assert len(settings) <= MAX_SETTINGS
    assert all(len(value) <= MAX_LETTERS for value in settings.values() if isinstance(value, str))
    assert all(math.isfinite(value) for value in settings.values() if not isinstance(value, str))
    address = settings_to_param(settings)
    assert settings_to_param(settings_from_param(address or "")) == address


# Sentences, and the labels of their figures.


def _check_text(text: str) -> None:
    try:
        sentence = validate_sentence(text, tokenizer())
    except ValueError:
        assert len(text) > MAX_CHARACTERS
        return
    assert len(text) <= MAX_CHARACTERS
    assert sentence.tokens <= MAX_TOKENS or sentence.status == "long"
    if sentence.status != "good":
        return
    encoding = tokenizer().encode(sentence.text)
    assert all(0 <= begin <= end <= len(sentence.text) for begin, end in encoding.spans)
    tokenizer().decode(encoding.ids)
    tokens = encoding.tokens[:6]
    assert all(len(display_label(token, MAX_LABEL)) <= MAX_LABEL for token in tokens)
    weights = np.full((len(tokens), len(tokens)), 1 / len(tokens), dtype=np.float32)
    panel = HeatmapPanel(weights=weights, query_labels=tokens, key_labels=tokens)
    figure = HeatmapFigure(panels=(panel,), query_title="Query", key_title="Key")
    assert b"\\write18" not in file_bytes(figure, "tex")
    for row in csv.DictReader(io.StringIO(file_bytes(figure, "csv").decode("utf-8"))):
        assert (row["query_label"] or "").lstrip("\ufeff \u200b")[:1] not in ("=", "+", "-", "@")
    if hashlib.sha256(text.encode(errors="replace")).digest()[0] < 4:  # drawing takes a second
        assert file_bytes(figure, "svg").startswith(b"<?xml")


# What components report.


def _check_report(case: dict[str, Any]) -> None:
    report = edited(Selection(against="cross.1.2", pin="q0", step=2).to_dict(), case["edits"])
    default = Selection(layer=1)
    selection = Selection.from_state(report, default=default)
    if isinstance(report, dict):
        given = [name for name, value in selection.to_dict().items() if value != getattr(default, name)]
        assert all(selection.to_dict()[name] == report[name] for name in given), "a value that nobody reported"
    else:
        assert selection is default
    fitted = selection.fitted(maps())
    assert fitted.layer < 2 and fitted.head < 2
    _check_figure(FigureSpec().follow_explorer(selection, maps().outputs.words))
    for value in (report, case["other"]):
        state = LessonState.from_report(value)
        assert state is None or len(state.settings) <= MAX_SETTINGS
        if state is not None:
            address = settings_to_param(state.settings)
            assert settings_to_param(settings_from_param(address or "")) == address
            state.number("at", 1.0, 0.0, 5.0)


_LESSON_REPORTS = st.fixed_dictionaries(
    {"scene": st.text("abz_0", max_size=4) | leaves, "settings": st.dictionaries(st.text("abz_0", max_size=4), values)}
)

# Headers, and the addresses of those who send them.

_HEADERS = st.sampled_from(("origin", "host", "accept-language", "x-forwarded-for", "via", "content-length", "referer"))
_SENT = st.text(st.characters(max_codepoint=255), max_size=40) | st.from_regex(r"(http://)?[\[\]:.@/%a-f0-9]{0,30}")
_ADDRESS = st.ip_addresses().map(str) | _SENT


def _check_headers(case: dict[str, Any]) -> None:
    headers, address = case["headers"], case["address"]
    assert party(party(address)) == party(address)
    if same_origin(headers):
        assert headers["origin"].partition("//")[2].partition("/")[0].startswith(headers["host"])
    assert not is_own_host(headers) or not has_passed_proxy(headers)
    assert allowed_root("127.0.0.1", headers) is None or is_own_host(headers)
    sent = {name.replace("-", "_"): value for name, value in headers.items()}
    assert Browser().post("/join/ABCDEF/answer", {"poll": 1, "option": 0}, **sent).status in (403, 404, 429)
    assert Browser().get("/join/ABCDEF", **{"host": HOST, **sent}).status == 200


# Cookies, and the file of the classes of the last run.

_COOKIE = st.lists(st.text(st.characters(max_codepoint=255), max_size=20) | st.just(f"{COOKIE}={'0' * 64}"), max_size=6)


def _check_cookies(header: str) -> None:
    """A page is a page with any header, no invented cookie names a browser; Streamlit's own parser raises nothing."""
    validate_xsrf_token(header, header)
    browser = Browser("")
    assert browser.get("/join/ABCDEF", accept="text/html", cookie=header).status == 200
    assert browser.get("/join/ABCDEF/state", cookie=header).json["refused"] in ("new", "busy")


def _check_classes(case: dict[str, Any]) -> None:
    store = Classrooms()
    code = store.open("teacher")
    store.ask(code, "teacher", OwnQuestion(text="Which?", choices=("a", "b"), right=1))
    store.answer(code, "student", 1, 1)
    document = json.loads(store._changed() or b"")
    restored = Classrooms()
    restored._restore(damaged_json(document, case))
    assert len(restored.cookie_secret()) == SECRET_BYTES
    for result, each in restored._classes.items():
        restored.look(result, each.owner)
        restored.ask(result, each.owner, OwnQuestion(text="And?", choices=("a", "b")))
        restored.answer(result, "student", each.number, 0)
        results_table(restored.results(result, each.owner), texts("en"))


TARGETS = (
    Target(
        "headers",
        st.fixed_dictionaries({"headers": st.dictionaries(_HEADERS, _SENT), "address": _ADDRESS}),
        _check_headers,
    ),
    Target("cookies", _COOKIE.map(";".join), _check_cookies),
    Target("classes", damages, _check_classes),
    Target("addresses", st.dictionaries(_NAMES, _KNOWN | _LONG, max_size=8), _check_address),
    Target("settings", st.lists(_SETTING, max_size=14).map(",".join) | _LONG, _check_settings),
    Target("texts", st.text(max_size=60) | _LONG | _KNOWN, _check_text),
    Target("reports", st.fixed_dictionaries({"edits": edits, "other": _LESSON_REPORTS | values}), _check_report),
)
