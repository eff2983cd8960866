"""Lessons, a folder each, and the Lab. No other file names a lesson.

The words of a lesson are in `en.md` and `ko.md` (see `lesson_markdown.py`), its numbers in `numbers.py` (`module.py`
has the contract), its scenes in `js/main.js`; labels, if it has any, in `labels.en.toml` and `labels.ko.toml`.
`lesson.toml` says where it stands (see `catalogue.py`). `numbers.py` takes the sentence, its translation and the
settings of the scene from a `LessonContext`, and computes with the model and the formulas of `transformer_core`.

The Lab stands on the same stage, with a page of its own; its benches are found in `lab/benches`.

Shared are `stage/` (the browser component), `index/` (the clickable Figure 1) and `jobs/` (work that goes on while a
scene is open).
"""

from viz_app.lessons.lesson_markdown import Choice, Lesson, Question, Scene, load_lesson
from viz_app.text.glossary import Term, terms

__all__ = ["Choice", "Lesson", "Question", "Scene", "Term", "load_lesson", "terms"]
