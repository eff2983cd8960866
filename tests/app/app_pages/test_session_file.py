"""The session file through Streamlit's own test runner: what is saved after opening is what was opened."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import address, headers, visible
from transformer_core import __version__
from transformer_core.storage.manifest import Manifest
from viz_app.components.explorer.selection import Selection
from viz_app.model_card.histories import available_histories
from viz_app.serving.classes.polls import OwnQuestion, PollResult
from viz_app.state import session_file as sf
from viz_app.state.session import _PENDING_CALLBACKS_KEY
from viz_app.state.session_reader import ReadSession, read_session, write_session
from viz_app.text import texts
from viz_app.ui.session_file import dialog

TEXT = "The dog sleeps."
PAGES = ("translate", "lab", "lessons", "figures", "model")
T = texts("ko")


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[sf.SessionFile]:
    """What the dialog has offered to save, the newest last."""
    found: list[sf.SessionFile] = []

    def record(session: sf.SessionFile) -> bytes:
        found.append(session)
        return write_session(session)

    monkeypatch.setattr(dialog, "write_session", record)
    return found


@pytest.fixture
def session(random_checkpoint: Path) -> sf.SessionFile:
    """A session in which nothing is as at the start."""
    model = sf.SavedModel(name=random_checkpoint.name, weights=Manifest.read(random_checkpoint).weights_hash)
    seen = Selection(kind="encoder", layer=1, head=3, zoom="head", pin="k1", against="decoder.0.1", vs="A man.")
    placed = Selection(kind="decoder", layer=1, head=0, unit="words")  # as the page has it: the first of "heads"
    finding = sf.SavedFinding(scene="off", settings={"chosen": "cross.1.0"}, said="−1", text=TEXT, model=model.name)
    style: dict[str, Any] = {"preset": "acl-column", "rotation": 45, "value_range": [0.0, 0.5], "caption": True}
    scene = sf.SavedScene(lesson="masks", scene="rows")
    return sf.SessionFile(
        headlight=__version__,
        language="ko",
        page="lab",
        text=TEXT,
        model=model,
        route=True,
        short_route=True,
        explorer=sf.SavedExplorer(selection=seen, off="encoder.1.3", other="plotly"),
        lesson="masks",
        lessons={
            "masks": sf.SavedLesson(scene="rows", settings={"at": 2.0}),
            "lab": sf.SavedLesson(scene="off", settings={"chosen": "cross.1.1"}, findings=(finding,)),
        },
        figures=sf.SavedFigures(
            spec=sf.SavedSpec(view="lines", selection=placed, heads=(0, 2), query=1, style=style, dpi=600),
            zoom="fit",
            formats=("pdf", "csv"),
            collection=(
                sf.SavedFigure(spec=sf.SavedSpec(selection=placed), text=TEXT, model=model, language="en"),
                sf.SavedFigure(spec=sf.SavedSpec(scene=scene), text=TEXT, model=model, language="ko"),
            ),
        ),
        growth=sf.SavedGrowth(of=available_histories(None)[-1].name, kind="decoder", moment=1, layer=0, head=1),
        atlas=sf.SavedAtlas(by="entropy", view="list", rising=True, kind="cross", role="none", chosen=("cross.1.3",)),
        pruning=sf.SavedPruning(group="cross", score="chrf", order="random", left=5),
        polls=(PollResult(question=OwnQuestion(text="Which?", choices=("a", "b"), right=0), counts={1: 3}),),
    )


def open_file(app: AppTest, read: ReadSession) -> AppTest:
    """The run after the dialog has read a file; the browser alone can give it one."""
    app.session_state[_PENDING_CALLBACKS_KEY] = deque([partial(dialog.open_read, read, PAGES)])
    return app.run()


def save(app: AppTest, saved: list[sf.SessionFile]) -> sf.SessionFile:
    app.button(key="open-session").click().run()
    assert not app.error
    return saved[-1]


def test_what_is_saved_after_opening_is_what_was_opened(
    app: AppTest, saved: list[sf.SessionFile], session: sf.SessionFile
) -> None:
    app.run()
    open_file(app, ReadSession(session))
    counts = [T("session.count_lessons", count=1), T("session.count_findings", count=1)]
    counts += [T("session.count_figures", count=2), T("session.count_polls", count=1)]
    assert T("session.opened_with", parts=", ".join(counts)) in visible(app)
    assert address(app)["scene"] == "off"  # it is on the page that was open
    assert save(app, saved) == session


def test_all_pages_show_what_was_opened_and_change_nothing_of_it(
    app: AppTest, saved: list[sf.SessionFile], session: sf.SessionFile
) -> None:
    app.run()
    open_file(app, ReadSession(session))
    for page in PAGES:
        app.switch_page(f"app_pages/{page}.py").run()
        assert not app.error, page
        shown = address(app)
        assert (shown["lang"], shown["text"], shown["route"]) == ("ko", TEXT, "short"), page
        if page == "translate":
            wanted = {"kind": "encoder", "layer": "2", "head": "4", "pin": "k2", "against": "decoder.1.2"}
            assert wanted.items() <= shown.items() and shown["other"] == "plotly"
            assert headers(app)[0]["off"] == "encoder.1.3"
        elif page == "lessons":
            assert (shown["lesson"], shown["scene"], shown["with"]) == ("masks", "rows", "at:2")
        elif page == "figures":
            wanted = {"figure": "lines", "heads": "1,3", "query": "2", "size": "acl-column", "range": "0,0.5"}
            assert wanted.items() <= shown.items() and shown["dpi"] == "600"
            assert app.segmented_control(key="figures-ko-zoom-opened1").value == "fit"
            assert [key for key in (f"figures-remove-{number}" for number in (1, 2, 3)) if has_button(app, key)] == [
                "figures-remove-1",
                "figures-remove-2",
            ]
        elif page == "model":
            assert session.growth and shown["grown_of"] == session.growth.of and shown["grown_head"] == "decoder.1.2"
    assert save(app, saved) == msgspec.structs.replace(session, page="model")


def has_button(app: AppTest, key: str) -> bool:
    return any(button.key == key for button in app.button)


def test_opening_replaces_what_is_open_on_the_same_page(
    app: AppTest, saved: list[sf.SessionFile], session: sf.SessionFile
) -> None:
    """Widgets that the browser knows already take the values of the file."""
    app.run()
    app.switch_page("app_pages/figures.py").run()
    app.selectbox(key="figures-en-size").set_value("a4").run()
    open_file(app, ReadSession(msgspec.structs.replace(session, page="figures")))
    assert address(app)["size"] == "acl-column"
    assert app.selectbox(key="figures-ko-size-opened1").value == "acl-column"
    empty = sf.SessionFile(language="en", page="figures", text=TEXT)
    open_file(app, ReadSession(empty))
    found = save(app, saved)
    assert not found.lessons and not found.figures.collection and not found.route
    assert found.figures.spec is not None and found.figures.spec.style == {}


def test_a_model_that_is_missing_is_told_and_the_rest_opens(
    app: AppTest, saved: list[sf.SessionFile], session: sf.SessionFile
) -> None:
    app.run()
    missing = sf.SavedModel(name="own-model", weights="0" * 64)
    collected = tuple(msgspec.structs.replace(each, model=missing) for each in session.figures.collection)
    figures = msgspec.structs.replace(session.figures, collection=collected)
    open_file(app, ReadSession(msgspec.structs.replace(session, model=missing, figures=figures)))
    assert T("session.note_figures", count=2) in visible(app)
    assert "own-model" in visible(app)
    found = save(app, saved)
    assert found.explorer == session.explorer and found.lessons == session.lessons
    assert found.figures.collection == () and found.model == session.model


def test_a_model_with_other_weights_is_told(app: AppTest, session: sf.SessionFile) -> None:
    app.run()
    assert session.model is not None
    other = sf.SavedModel(name=session.model.name, weights="0" * 64)
    open_file(app, ReadSession(msgspec.structs.replace(session, model=other)))
    assert T("session.note_weights", model=other.name) in visible(app)
    app.button(key="session-read").click().run()
    assert T("session.note_weights", model=other.name) not in visible(app)


def test_names_of_a_newer_version_are_left_out_and_told(
    app: AppTest, saved: list[sf.SessionFile], session: sf.SessionFile
) -> None:
    app.run()
    assert session.figures.spec is not None
    spec = replace(session.figures.spec, view="hologram")
    newer = msgspec.structs.replace(
        session,
        page="planetarium",
        lessons={**session.lessons, "quantum": sf.SavedLesson()},
        figures=msgspec.structs.replace(session.figures, spec=spec),
    )
    open_file(app, ReadSession(newer))
    assert T("session.note_left_out") in visible(app)
    found = save(app, saved)
    assert found.page == "translate" and found.lessons == session.lessons and found.figures.spec is None


def test_a_figure_that_cannot_be_made_again_is_told(app: AppTest, session: sf.SessionFile) -> None:
    app.run()
    first, second = session.figures.collection
    korean = msgspec.structs.replace(first, text="나")  # no model here reads it
    figures = msgspec.structs.replace(session.figures, collection=(korean, second))
    open_file(app, ReadSession(msgspec.structs.replace(session, page="figures", figures=figures)))
    assert T("session.figures_lost", count=1) in visible(app)
    assert has_button(app, "figures-remove-1") and not has_button(app, "figures-remove-2")


def test_version_1_opens_in_the_app(app: AppTest) -> None:
    app.run()
    file = Path(__file__).parents[1] / "state" / "session_version1.json"
    open_file(app, read_session(file.read_bytes()))
    assert not app.error
    assert address(app)["text"] == json.loads(file.read_text(encoding="utf-8"))["text"]
