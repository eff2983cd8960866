"""The lessons, each in a folder of its own.

Its words are in `en.md` and `ko.md`, its numbers in `numbers.py`, its scenes in `js/`; labels, if it has any, in
`labels.en.toml` and `labels.ko.toml`. `lesson.toml` says where it stands (see `catalogue.py`). Nothing else names it.

`numbers.py` computes with the model and the formulas of `transformer_core`. It has

    def data(context: LessonContext) -> StageData                     what the stage draws
    def figure(scene: str, context: LessonContext) -> Figure | None   the same for print; None for what cannot be one

and, where a scene shows one head of the model,

    def selection(scene: str, context: LessonContext) -> Selection | None     that head, for the page Translate

and asks the context for the sentence, its translation and the settings of the scene. Where something goes on at the
server while a scene is open, it also has

    LIVE_SCENES                                              the names of these scenes
    def live_data(context: LessonContext) -> StageData            asked about once a second
    def on_button(context: LessonContext, button: str) -> None     a button of the scene

and, where a figure for print needs what such a button starts,

    def prepare(scene: str, context: LessonContext) -> None        does it and waits: for the command line

It may also name

    EVIDENCE                                                 scenes with a question whose figure tells no answer
    SHOWS_SMALL_TRANSLATIONS                                 True where small models translate, which the page says

Lessons share `catalogue.py`, `context.py`, `parser.py`, `stage/` (the browser component that plays a
lesson), `index/` (the clickable Figure 1) and `jobs/` (work that goes on while a scene is open).
"""

from viz_app.lessons.lesson_markdown import Choice, Lesson, Question, Scene, load_lesson
from viz_app.text.glossary import Term, terms

__all__ = ["Choice", "Lesson", "Question", "Scene", "Term", "load_lesson", "terms"]
