"""The code of the lessons: JavaScript that a browser can read, with a scene for each scene of the prose."""

from __future__ import annotations

import re

import pytest

from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS, STAGES, next_stop
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import join_code


@pytest.mark.parametrize("name", STAGES)
def test_every_scene_of_the_prose_has_its_picture(name: str) -> None:
    code = join_code(name)
    (provided,) = re.findall(r"registerScenes\(\"\w+\", \{([^}]*)\}\)", code)
    assert set(re.findall(r"(\w+):", provided)) == {scene.name for scene in load_lesson(name, "en").scenes}


def test_the_last_lesson_leads_nowhere() -> None:
    assert next_stop(LESSONS[-1].name) is None
    with pytest.raises(KeyError):
        lesson_module("nothing")
