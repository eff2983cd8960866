"""The code of the lessons: JavaScript that a browser can read, with a scene for each scene of the prose."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS, STAGES, next_stop
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import join_code


@pytest.mark.parametrize("name", STAGES)
def test_a_browser_can_read_the_code_of_a_lesson(name: str, node: str, tmp_path: Path) -> None:
    joined = tmp_path / "joined.mjs"
    joined.write_text("const STYLE = '';\n" + join_code(name), encoding="utf-8")
    answer = subprocess.run([node, "--check", joined], capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("name", STAGES)
def test_every_scene_of_the_prose_has_its_picture(name: str) -> None:
    code = join_code(name)
    (provided,) = re.findall(r"registerScenes\(\"\w+\", \{([^}]*)\}\)", code)
    assert set(re.findall(r"(\w+):", provided)) == {scene.name for scene in load_lesson(name, "en").scenes}


@pytest.mark.parametrize("name", STAGES)
def test_every_lesson_has_its_numbers(name: str) -> None:
    module = lesson_module(name)
    assert callable(module.data)


def test_the_last_lesson_leads_nowhere() -> None:
    assert next_stop(LESSONS[-1].name) is None
    with pytest.raises(KeyError):
        lesson_module("nothing")
