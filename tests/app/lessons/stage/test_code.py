"""The code of the lessons: JavaScript that a browser can read, with a scene for each scene of the prose."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from viz_app.components.modules import join_modules
from viz_app.lessons import load_lesson
from viz_app.lessons import stage as component
from viz_app.lessons.catalogue import LESSONS, ROUTE, lesson_module, next_stop

FOLDER = Path(component.__file__).parents[1]
NAMES = [entry.name for entry in LESSONS]


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_can_read_the_code_of_a_lesson(name: str, node: str, tmp_path: Path) -> None:
    joined = tmp_path / "joined.mjs"
    joined.write_text("const STYLE = '';\n" + join_modules(FOLDER / name / "js" / "main.js"), encoding="utf-8")
    answer = subprocess.run([node, "--check", joined], capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_of_the_prose_has_its_picture(name: str) -> None:
    code = (FOLDER / name / "js" / "main.js").read_text(encoding="utf-8")
    (provided,) = re.findall(r"(?:provide|registerScenes)\(\"\w+\", \{([^}]*)\}\)", code)
    assert set(re.findall(r"(\w+):", provided)) == {scene.name for scene in load_lesson(name, "en").scenes}


@pytest.mark.parametrize("name", NAMES)
def test_every_lesson_has_its_numbers(name: str) -> None:
    module = lesson_module(name)
    assert callable(module.data) and callable(module.figure)


def test_the_route_takes_fifty_minutes_and_leads_on() -> None:
    assert sum(ROUTE.values()) == 50
    first = next_stop("translate", on_route=True)
    assert first in NAMES
    assert next_stop(NAMES[-1], on_route=False) is None
    with pytest.raises(KeyError):
        lesson_module("nothing")
