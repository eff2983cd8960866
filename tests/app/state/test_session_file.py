"""The session file: what is written is read, in every version; what a stranger wrote is read whole or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec.inspect as types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from viz_app.components.explorer.selection import Selection
from viz_app.figure_editor.collection import MAX_FIGURES
from viz_app.serving.classes.polls import AttentionQuestion, OwnQuestion, PollResult
from viz_app.state import session_reader
from viz_app.state.session_file import (
    MAX_BYTES,
    MAX_CHOSEN,
    VERSION,
    SavedFigure,
    SavedFigures,
    SavedFinding,
    SavedGrowth,
    SavedLesson,
    SavedModel,
    SavedScene,
    SavedSpec,
    SessionFile,
)
from viz_app.state.session_reader import ReadSession, SessionFileError, read_session, write_session

VERSION_1 = Path(__file__).with_name("session_version1.json")
HEAD = '{"format": "headlight-session", "version": 1'

# Values that the types of the format allow, except those that a `__post_init__` checks.
model_name = st.from_regex(r"\A[a-zA-Z가-힣][a-zA-Z가-힣 ()._-]{0,8}\Z")
answer = st.text(st.characters(codec="utf-8"), min_size=1, max_size=9)
questions = st.builds(OwnQuestion, text=answer, choices=st.lists(answer, min_size=2, max_size=8).map(tuple)) | st.just(
    AttentionQuestion(head="cross 1.2", queries=("a",), keys=("b", "</s>"), weights=(0.25, 0.75))
)
polls = st.builds(
    PollResult, question=questions, counts=st.dictionaries(st.integers(0, 7), st.integers(1, 30), max_size=4)
)
CHECKED = {
    (SavedModel, "name"): model_name,
    (SavedFinding, "model"): st.just("") | model_name,
    (SavedGrowth, "of"): model_name,
    (Selection, "vsmodel"): st.none() | model_name,
}


def values(of: types.Type) -> st.SearchStrategy[Any]:
    """What a type of the format allows."""
    match of:
        case types.Metadata():
            return values(of.type)
        case types.NoneType():
            return st.none()
        case types.BoolType():
            return st.booleans()
        case types.IntType():
            return st.integers(of.ge, of.le)
        case types.FloatType():
            return st.floats(of.ge, of.le)
        case types.StrType(pattern=None):
            return st.text(
                st.characters(codec="utf-8"), min_size=of.min_length or 0, max_size=min(of.max_length or 30, 30)
            )
        case types.StrType():
            return st.from_regex(str(of.pattern))
        case types.LiteralType():
            return st.sampled_from(of.values)
        case types.UnionType():
            return st.one_of(*map(values, of.types))
        case types.DictType():
            return st.dictionaries(values(of.key_type), values(of.value_type), max_size=2)
        case types.ListType():
            return st.lists(values(of.item_type), max_size=2)
        case types.VarTupleType():
            return st.lists(values(of.item_type), max_size=2).map(tuple)
        case types.StructType() | types.DataclassType():
            if of.cls is PollResult:
                return polls
            fields = {each.name: values(each.type) for each in of.fields}
            checked = {name: found for (cls, name), found in CHECKED.items() if cls is of.cls}
            return st.builds(of.cls, **fields | checked)
    raise AssertionError(of)


sessions = values(types.type_info(SessionFile))


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(sessions)
def test_what_is_written_is_read_and_written_again_alike(session: SessionFile) -> None:
    written = write_session(session)
    read = read_session(written)
    assert read == ReadSession(session)
    assert write_session(read.session) == written


@given(st.text() | st.text().map(lambda rest: HEAD + rest) | st.binary())
def test_garbage_raises_nothing_but_the_one_error(garbage: str | bytes) -> None:
    with pytest.raises(SessionFileError):
        read_session(garbage)


def nested(depth: int) -> str:
    return f'{HEAD}, "lessons": {"[" * depth}{"]" * depth}}}'


def with_(**fields: Any) -> str:
    return json.dumps({"format": "headlight-session", "version": 1, **fields})


HOSTILE = [
    ("", "json", ""),
    ("[]", "format", ""),
    ("null", "format", ""),
    ('{"format": "headlight-session"}', "invalid", "$.version"),
    ('{"format": "bookmarks", "version": 1}', "format", ""),
    ('{"format": "headlight-session", "version": "1"}', "invalid", "$.version"),
    ('{"format": "headlight-session", "version": true}', "invalid", "$.version"),
    ('{"format": "headlight-session", "version": 0}', "invalid", "$.version"),
    ('{"format": "headlight-session", "version": 1e999}', "json", ""),
    (nested(20), "json", ""),
    (nested(200_000), "json", ""),
    (" " * (MAX_BYTES + 1), "size", ""),
    (f'{HEAD}, "text": NaN}}', "json", ""),
    (f'{HEAD}, "lessons": {{"masks": {{"settings": {{"at": Infinity}}}}}}}}', "json", ""),
    (f'{HEAD}, "text": "\\ud800"}}', "json", ""),
    ("\ud800", "json", ""),
    (with_(text=5), "invalid", "$.text"),
    (with_(text="a" * 4_001), "invalid", "$.text"),
    (with_(language="<script>alert(1)</script>"), "invalid", "$.language"),
    (with_(page="../../etc/passwd"), "invalid", "$.page"),
    (with_(lesson="</script>"), "invalid", "$.lesson"),
    (with_(lessons={"</script>": {}}), "invalid", "key"),
    (with_(lessons={"masks": {"settings": {"at": 1e12}}}), "invalid", "$.lessons[...]"),
    (with_(lessons={"masks": {"settings": {"at": [1]}}}), "invalid", "$.lessons[...]"),
    (with_(lessons={"masks": {"findings": [{}] * 5}}), "invalid", "$.lessons[...].findings"),
    (with_(figures={"collection": [{}] * 25}), "invalid", "$.figures.collection"),
    (with_(figures={"spec": {"heads": [0] * 65}}), "invalid", "$.figures.spec.heads"),
    (with_(figures={"spec": {"selection": {"vsmodel": "/etc/passwd"}}}), "invalid", "$.figures.spec"),
    (with_(explorer={"selection": {"layer": -1}}), "invalid", "$.explorer.selection.layer"),
    (with_(explorer={"selection": {"layer": 10**30}}), "invalid", "$.explorer.selection.layer"),
    (with_(explorer={"selection": {"kind": "<b>"}}), "invalid", "$.explorer.selection.kind"),
    (with_(growth={"of": "a/b"}), "invalid", "$.growth"),
    (with_(atlas={"by": "a" * 41}), "invalid", "$.atlas.by"),
    (with_(atlas={"view": "<b>"}), "invalid", "$.atlas.view"),
    (with_(atlas={"role": "a" * 61}), "invalid", "$.atlas.role"),
    (with_(atlas={"chosen": ["cross.0.0"] * (MAX_CHOSEN + 1)}), "invalid", "$.atlas.chosen"),
    (with_(atlas={"chosen": ["cross.0.1000"]}), "invalid", "$.atlas.chosen"),
    (with_(pruning={"group": "all", "score": "bleu", "order": "effect", "left": 10_000}), "invalid", "$.pruning.left"),
    (with_(pruning={"group": "</script>", "score": "bleu", "order": "effect", "left": 1}), "invalid", "$.pruning"),
    *[
        (with_(model={"name": path}), "invalid", "$.model")
        for path in ("", "..", ".git", "../x", "/etc/passwd", "a/b", "a\\b", "C:x", "a\x00b", "a" * 201)
    ],
    (with_(model={"name": "en-de", "weights": "0" * 63}), "invalid", "$.model.weights"),
    (json.dumps({"format": "headlight-session", "version": VERSION + 1, "text": []}), "newer", "$.text"),
]


@pytest.mark.parametrize(("content", "problem", "place"), HOSTILE)
def test_a_hostile_file_is_refused_with_its_problem_and_its_place(content: str, problem: str, place: str) -> None:
    with pytest.raises(SessionFileError) as told:
        read_session(content)
    assert told.value.problem == problem
    assert told.value.place.startswith(place) if place.startswith("$") else place in told.value.place
    assert "passwd" not in told.value.place and "script" not in told.value.place, "a text of the file"


def test_version_1_still_opens() -> None:
    read = read_session(VERSION_1.read_bytes())
    session = read.session
    assert not read.is_newer and not read.left_out
    assert (session.language, session.page, session.text, session.route) == ("ko", "lab", "The dog sleeps.", True)
    assert session.model is not None and session.model.name == "en-de"
    assert session.explorer is not None and session.explorer.off == "encoder.4.7"
    assert session.explorer.selection == Selection(
        kind="encoder",
        layer=4,
        head=7,
        zoom="token",
        pin="k2",
        against="cross.5.0",
        vs="The cat sleeps.",
        vsmodel="en-fr",
        vsbranch=1,
    )
    assert session.lessons["masks"] == SavedLesson(scene="rows", settings={"at": 4, "mask": True, "word": "dog"})
    assert session.lessons["lab"].findings[0].said == "−3.90 nats"
    spec, (collected,) = session.figures.spec, session.figures.collection
    assert spec is not None and spec.style["value_range"] == [0.0, 0.5] and spec.heads == (0, 3)
    assert collected.spec.scene == SavedScene(lesson="masks", scene="rows", settings={"at": 4})
    assert session.growth == SavedGrowth(of="en-de", sentence=1, kind="decoder", moment=3, layer=2, head=1)


def test_a_version_2_reads_version_1_through_its_migration(monkeypatch: pytest.MonkeyPatch) -> None:
    def renamed(values: dict[str, Any]) -> dict[str, Any]:
        return {**values, "text": values["sentence"]}

    monkeypatch.setattr(session_reader, "VERSION", 2)
    monkeypatch.setitem(session_reader.MIGRATIONS, 1, renamed)
    assert read_session(with_(sentence="The dog sleeps.")).session.text == "The dog sleeps."
    assert b'"version": 2' in write_session(SessionFile())


def test_every_older_version_has_its_migration() -> None:
    assert session_reader.MIGRATIONS.keys() == set(range(1, VERSION))


@pytest.mark.parametrize(
    "extra",
    [
        {"weather": 1},
        {"explorer": {"selection": {"tint": "red"}}},
        {"figures": {"collection": [{"spec": {"depth": 3}, "text": "", "model": {"name": "m"}}]}},
        {"lessons": {"masks": {"notes": []}}},
        {"polls": [{"question": {"type": "own", "text": "a", "choices": ["a", "b"], "hint": "c"}, "counts": {"0": 1}}]},
    ],
)
@pytest.mark.parametrize("version", range(1, VERSION + 2))
def test_what_a_newer_version_adds_is_left_out_and_told(extra: dict[str, Any], version: int) -> None:
    read = read_session(json.dumps({"format": "headlight-session", "version": version, "text": "Hi.", **extra}))
    assert read.left_out and read.is_newer == (version > VERSION)
    assert read.session.text == "Hi."


def test_a_mark_at_the_start_of_the_file_is_no_problem() -> None:
    assert read_session("\ufeff" + write_session(SessionFile()).decode()) == ReadSession(SessionFile())


def test_half_a_surrogate_pair_of_a_browser_is_written_as_a_question_mark() -> None:
    lesson = SavedLesson(settings={"word": "\ud800"})
    assert read_session(write_session(SessionFile(lessons={"masks": lesson}))).session.lessons["masks"].settings == {
        "word": "?"
    }


def test_a_session_too_large_for_a_file_is_not_written() -> None:
    long: dict[str, Any] = {f"s{number}": "\U0001f600" * 200 for number in range(12)}
    with pytest.raises(SessionFileError, match="full"):
        write_session(SessionFile(lessons={f"l{number}": SavedLesson(settings=long) for number in range(60)}))


def test_the_file_holds_as_many_figures_as_a_collection() -> None:
    figure = SavedFigure(spec=SavedSpec(), text="Hi.", model=SavedModel(name="m"))
    session = SessionFile(figures=SavedFigures(collection=(figure,) * MAX_FIGURES))
    assert read_session(write_session(session)).session == session
