"""The catalogue: lessons are found by their folders, and what is wrong with one is said with the file's name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from viz_app.lessons import index, load_lesson
from viz_app.lessons.catalogue import (
    FILES,
    INVALID_LESSONS,
    LESSON_AT,
    LESSONS,
    QUESTIONS,
    ROUTES,
    SESSION,
    SHORT,
    STAGES,
    STATIONS,
    Entry,
    core_scenes,
    find_lessons,
    next_stop,
)
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import join_code

FULL = (
    'chapter = "model"\norder = 15\nminutes = 7\ncore = ["ffn"]\nshort_minutes = 2\n'
    'stations = ["linear", "softmax"]\nneeds_small_models = true\n'
)


def add(folder: Path, name: str, toml: str = FULL) -> Path:
    """A lesson whose files are all there; only its `lesson.toml` is read."""
    for file in FILES:
        (folder / name / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / file).write_text(toml if file == "lesson.toml" else "", encoding="utf-8")
    return folder / name


def only_error(folder: Path) -> str:
    (error,) = find_lessons(folder)[1]
    return str(error)


def test_no_shipped_lesson_is_left_out() -> None:
    assert INVALID_LESSONS == () and len(LESSONS) >= 12


def test_a_lesson_is_read_from_its_folder(tmp_path: Path) -> None:
    add(tmp_path, "mine")
    (tmp_path / "shared" / "js").mkdir(parents=True)
    (tmp_path / "shared" / "js" / "main.js").touch()  # as the index has, which is no lesson
    read = Entry(
        name="mine",
        chapter="model",
        order=15,
        minutes=7,
        core=("ffn",),
        short_minutes=2,
        stations=("linear", "softmax"),
        needs_small_models=True,
    )
    assert find_lessons(tmp_path) == ((read,), ())


def test_lessons_stand_by_chapter_and_order(tmp_path: Path) -> None:
    for name, chapter, order in (("a", "decoding", 1), ("b", "model", 20), ("c", "model", 3), ("d", "attention", 9)):
        add(tmp_path, name, f'chapter = "{chapter}"\norder = {order}')
    assert [entry.name for entry in find_lessons(tmp_path)[0]] == ["d", "c", "b", "a"]


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    (add(tmp_path, "mine") / file).unlink()
    add(tmp_path, "other")
    assert re.search(re.escape(f"mine/{file}"), only_error(tmp_path))
    assert [entry.name for entry in find_lessons(tmp_path)[0]] == ["other"], "the others stay"


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (FULL + "minute = 3", "unknown key 'minute'; known are chapter, core"),
        ("order = 1", "chapter is missing"),
        ('chapter = "model"', "order is missing"),
        ('chapter = "history"\norder = 1', "chapter is 'history', but must be one of attention"),
        ('chapter = ["model"]\norder = 1', "chapter is .'model'., but must be one of"),
        ('chapter = "model"\norder = 0', "order is 0, but must be a positive"),
        ('chapter = "model"\norder = true', "order is True"),
        (FULL.replace("7", "0"), "minutes is 0, but must be a whole number from 1"),
        (FULL.replace("7", "900"), "minutes is 900"),
        (FULL.replace('["ffn"]', '"ffn"'), "core is 'ffn', but must be a list of scenes"),
        (FULL + "short_core = [1]", "short_core is .1,., but must be a list of scenes"),
        (FULL.replace('"linear"', '"lineal"'), "stations is 'lineal', but must be of embedding_in"),
        (FULL.replace('["linear", "softmax"]', '"linear"'), "stations is 'linear', but must be a list"),
        (FULL.replace("true", '"yes"'), "needs_small_models is 'yes'"),
        ("chapter =", "mine/lesson.toml"),
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_the_file(tmp_path: Path, toml: str, said: str) -> None:
    add(tmp_path, "mine", toml)
    error = only_error(tmp_path)
    assert error.startswith("mine/lesson.toml: ") and re.search(said, error)


def test_the_name_of_a_folder_is_checked(tmp_path: Path) -> None:
    add(tmp_path, "Mine!")
    assert "the folder's name is 'Mine!'" in only_error(tmp_path)


def test_two_lessons_do_not_claim_one_place(tmp_path: Path) -> None:
    add(tmp_path, "first")
    second = add(tmp_path, "second")
    assert "second/lesson.toml: order 15 in model belongs to the lesson first" in only_error(tmp_path)
    (second / "lesson.toml").write_text(FULL.replace("15", "16"), encoding="utf-8")
    assert "second/lesson.toml: the station linear belongs to the lesson first" in only_error(tmp_path)
    assert [entry.name for entry in find_lessons(tmp_path)[0]] == ["first"]


def test_every_box_of_figure_1_opens_a_lesson_that_exists() -> None:
    diagram = (Path(index.__file__).parent / "js" / "diagram.js").read_text(encoding="utf-8")
    boxes = set(re.findall(r'\["(?:en|de)coder", \d+, \d+, "(\w+)"', diagram)) | {"positions"}
    assert boxes == set(STATIONS) == set(LESSON_AT)
    assert set(LESSON_AT.values()) <= {entry.name for entry in LESSONS}


@pytest.mark.parametrize(("route", "minutes"), [(SESSION, 50), (SHORT, 15)])
def test_a_route_leads_from_stop_to_stop_in_its_time(route: str, minutes: int) -> None:
    """In the order of the catalogue, from the page Translate to the questions."""
    walked, here = ["translate"], next_stop("translate", route)
    while here is not None:
        walked.append(here)
        here = next_stop(here, route)
    assert walked == list(ROUTES[route]) and walked[-1] == QUESTIONS
    assert sum(ROUTES[route].values()) == minutes
    assert [name for name in ROUTES[SESSION] if name in walked] == walked, "the short one leaves stops out"


@pytest.mark.parametrize("route", ROUTES)
def test_every_stop_has_core_scenes_that_exist_and_time_for_them(route: str) -> None:
    for name in ROUTES[route].keys() - {"translate", QUESTIONS}:
        core = core_scenes(name, route)
        scenes = [scene.name for scene in load_lesson(name, "en").scenes]
        assert core and [scene for scene in scenes if scene in core] == list(core), "in the order of the lesson"
        assert len(core) <= ROUTES[route][name] + 1, name
    assert core_scenes("broken", route) == core_scenes(QUESTIONS, route) == ()


@pytest.mark.parametrize("name", STAGES)
def test_every_scene_of_the_prose_has_its_picture(name: str) -> None:
    code = join_code(name)
    (provided,) = re.findall(r"registerScenes\(\"\w+\", \{([^}]*)\}\)", code)
    assert set(re.findall(r"(\w+):", provided)) == {scene.name for scene in load_lesson(name, "en").scenes}


def test_the_last_lesson_leads_nowhere() -> None:
    assert next_stop(LESSONS[-1].name) is None
    with pytest.raises(KeyError):
        lesson_module("nothing")
