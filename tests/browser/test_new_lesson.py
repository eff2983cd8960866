"""A new lesson is one new folder: the smallest one of docs/teaching.md, put into a copy of the app, is there."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT as REPOSITORY
from tests.browser.conftest import OpenPage, Serve
from tests.browser.lesson_driver import Lesson
from transformer_core import Translator

TEXT = "The house was built a hundred years ago."
WORDS = {
    "en": ("How many words does a head look at?", "One number for each row of an attention map."),
    "ko": ("헤드는 단어를 몇 개나 볼까?", "어텐션 맵의 행마다 숫자 하나로 나타냅니다."),
}
SECONDS = 300


def lesson_of_the_docs() -> dict[str, str]:
    """The files of the lesson by their names, in the order in which the page names and shows them."""
    text = (REPOSITORY / "docs" / "teaching.md").read_text(encoding="utf-8")
    text = text[text.index("## Add a lesson") :]
    names = list(dict.fromkeys(re.findall(r"`reach/((?!labels)[\w./]+)`", text)))
    blocks = re.findall(r"^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return dict(zip(names, blocks, strict=True))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the app with one folder more; of its models it has none."""
    folder = tmp_path_factory.mktemp("copy")
    for package in ("viz_app", "transformer_core"):
        shutil.copytree(REPOSITORY / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "pyproject.toml", folder)  # with the version that files are marked with
    for name, text in lesson_of_the_docs().items():
        file = folder / "viz_app" / "lessons" / "reach" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def expected(random_checkpoint: Path) -> list[float]:
    """The number of each step, from the weights of the model, entry by entry."""
    maps = Translator.load(random_checkpoint).translate(TEXT).attention
    rows = maps.cross[maps.cross.shape[0] - 1, 0].tolist()
    return [math.exp(-math.fsum(weight * math.log(weight) for weight in row if weight > 0)) for row in rows]


# One process for all commands, since each would spend most of its time on importing torch.
COMMANDS = """
import json, sys
from transformer_core.cli import main
from viz_app.cli import PROGRAM
sys.exit(max(main(arguments, PROGRAM) for arguments in json.loads(sys.argv[1])))
"""


def run_commands(copy: Path, *commands: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def number(lesson: Lesson) -> str:
    """The number that the scene says now."""
    return lesson.said().rpartition("n = ")[2]


def play_through(lesson: Lesson, expected: list[float]) -> None:
    """The first step, the next one, and any that comes while the scene plays."""
    lesson.painted()
    assert number(lesson) == f"{expected[0]:.2f}"
    lesson.press("ArrowRight")
    assert number(lesson) == f"{expected[1]:.2f}"
    lesson.press("Space")
    lesson.wait("lesson.settings().t > 2")
    lesson.press("Space")
    step = math.floor(lesson.settings()["t"] + 0.5)
    assert step >= 2 and number(lesson) == f"{expected[step]:.2f}"


@pytest.mark.slow
def test_a_new_folder_is_a_lesson(
    copy: Path, expected: list[float], random_checkpoint: Path, serve: Serve, open_page: OpenPage
) -> None:
    assert len(expected) > 2 and len({f"{each:.2f}" for each in expected}) > 1
    url = serve(
        copy / "viz_app" / "main.py",
        HEADLIGHT_CHECKPOINT=str(random_checkpoint),
        PYTHONPATH=str(copy),
        PYTHONSAFEPATH="1",  # servers start in the repository, whose packages must not come first
    )
    for language, (title, summary) in WORDS.items():
        page = open_page(f"{url}/lessons?lang={language}&text={TEXT}")
        stop = page.locator(".index .others button.stop").filter(has_text=title)
        assert summary in stop.inner_text()
        stop.click()
        play_through(Lesson(page), expected)


def test_a_new_lesson_is_printed_in_both_languages(
    copy: Path, expected: list[float], random_checkpoint: Path, tmp_path: Path, open_page: OpenPage
) -> None:
    common = ["page", f"--checkpoint={random_checkpoint}", "--lesson=reach", f"--text={TEXT}"]
    run_commands(copy, *([*common, f"--language={each}", f"--out={tmp_path / each}.html"] for each in WORDS))
    for language, (title, summary) in WORDS.items():
        handout = (tmp_path / f"{language}.html").read_text(encoding="utf-8")
        assert f"<h1>{title}</h1>" in handout and summary in handout
        page = open_page((tmp_path / f"{language}.html").as_uri())
        page.locator("figure svg").wait_for(state="attached")
        last = page.locator("figure svg text").text_content() or ""
        assert last.endswith(f"n = {expected[-1]:.2f}"), "what plays is printed at its end"
