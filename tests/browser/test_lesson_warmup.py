"""The lesson on warm-up in a real browser."""

from __future__ import annotations

from tests.browser.conftest import APP, OpenLesson, Serve
from tests.browser.lesson_driver import Lesson
from viz_app.lessons import load_lesson
from viz_app.lessons.labels import labels

T = labels("en")
LIVE = "lesson.scenes.live.live"
LOOKS = f"({LIVE}?.attention?.shape[0] ?? 0) > 1"


def train(lesson: Lesson) -> None:
    """Start the run and wait for two looks at it; it ends where a machine is too busy for anybody to ask."""
    for _ in range(5):
        lesson.click(T("lesson_warmup.train_now"))
        lesson.wait(f"{LIVE}?.state === 'running' || {LOOKS}")
        lesson.wait(f"{LOOKS} || {LIVE}?.state === 'stopped'")
        if lesson.get(LOOKS):
            return
    raise AssertionError("the run ended five times without a watcher")


def test_from_the_formula_to_a_live_run(open_lesson: OpenLesson, serve: Serve) -> None:
    # A server of its own: the run gives way to all that others want.
    url = serve(APP, HEADLIGHT_SLOTS="1")
    lesson = open_lesson("warmup", "curve", settings="step:2000", url=url, still=False)
    _, _, _, _, live, predict = load_lesson("warmup", "en").scenes
    lesson.painted(0.005)
    assert lesson.said().startswith("Step 2,000")
    assert "3.49" in lesson.said()  # 512^-0.5 * 2000 * 4000^-1.5 = 3.494e-4
    lesson.press("ArrowRight")
    assert lesson.settings()["step"] == 2001  # steps of 100 from the first update on

    lesson.press("PageDown")  # shape: the peak is dragged, curves are pinned
    lesson.canvas.click()
    first = lesson.settings()["warmup"]
    assert 8_000 < first < 11_000
    lesson.click(T("lesson_warmup.pin"))
    lesson.choose("1024")
    lesson.click(T("lesson_warmup.pin"))
    assert lesson.settings()["pins"] == f"512-{first // 100}_1024-{first // 100}"
    lesson.page.get_by_role("button", name=T("lesson_warmup.unpin")).first.click()
    assert lesson.settings()["pins"] == f"1024-{first // 100}"

    for _ in ("runs", "adam"):
        lesson.press("PageDown")
        lesson.painted()

    lesson.tab(live.title)
    lesson.press("Space")
    lesson.wait("lesson.stage.playing && lesson.settings().at > 0")
    train(lesson)  # while the recorded run plays
    assert not lesson.get("lesson.stage.playing")
    assert lesson.settings()["source"] == "live"
    assert lesson.get(f"{LIVE}.word") == "thelittle"  # of the sentence that stands there at first

    lesson.tab(predict.title)
    assert "4.94" not in lesson.said()
    lesson.press("Enter")
    assert "4.94" in lesson.said()
