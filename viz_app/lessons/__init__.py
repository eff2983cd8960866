"""The prose of the lessons: one Markdown file a lesson and language, and what reads them."""

from viz_app.lessons.reading import Choice, Lesson, Question, Scene, lesson
from viz_app.lessons.terms import Term, terms

__all__ = ["Choice", "Lesson", "Question", "Scene", "Term", "lesson", "terms"]
