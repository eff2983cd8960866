"""Questions in the browser's form, in the language of the reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transformer_core.attention_maps import AttentionMaps
from transformer_core.head import Head
from viz_app.components.explorer.selection import Selection
from viz_app.figures.model.figure import display_label
from viz_app.lessons.catalogue import LESSONS
from viz_app.lessons.lesson_markdown import LessonError, Node, Scene, load_lesson
from viz_app.serving.classes.polls import AttentionQuestion, LessonQuestion, OwnQuestion, Question
from viz_app.text import Texts

_MAX_SIDE = 16  # tokens of a map that a finger can tap on a phone
_MAX_KEYS = 64  # tokens of a row
_TOKEN_WIDTH = 20
_RIGHT = "*"  # begins the right answer of a teacher's own question


def lesson_question(lesson: str, scene: Scene) -> LessonQuestion | None:
    """Return the question of a scene as one for the class; None without choices."""
    choices = () if scene.question is None else scene.question.choices
    if not choices:
        return None
    right = next(number for number, choice in enumerate(choices) if choice.right)
    return LessonQuestion(lesson=lesson, scene=scene.name, options=len(choices), right=right)


def lesson_questions(language: str) -> Iterator[tuple[LessonQuestion, str]]:
    """Yield every question of the lessons that has choices, in order, with its title."""
    for entry in LESSONS:
        try:
            words = load_lesson(entry.name, language)
        except LessonError:  # the index shows the problem
            continue
        for scene in words.scenes:
            question = lesson_question(entry.name, scene)
            if question is not None:
                yield question, f"{words.title}: {scene.title}"


def attention_question(maps: AttentionMaps, selection: Selection) -> AttentionQuestion | None:
    """Ask where the selected head looks: from the pinned query, or anywhere in its map.

    Args:
        maps: Maps of the translation that is shown.
        selection: Selection of the explorer.

    Returns:
        None where there are too many cells for a finger, and no query is pinned.
    """
    selection = selection.fitted(maps)  # of another model it may name heads that this one lacks
    if selection.unit == "words":
        maps = maps.merged_to_words()
    kind, layer, head = selection.kind, selection.layer, selection.head
    queries = [display_label(token, _TOKEN_WIDTH) for token in maps.queries(kind).tokens]
    keys = [display_label(token, _TOKEN_WIDTH) for token in maps.keys(kind).tokens]
    weights = maps.weights(kind)[layer, head]  # (queries, keys)
    if selection.pin is not None and selection.pin.startswith("q") and int(selection.pin[1:]) < len(queries):
        row = int(selection.pin[1:])
        queries, weights = [queries[row]], weights[row : row + 1]
    elif max(len(queries), len(keys)) > _MAX_SIDE:
        return None
    if len(keys) > _MAX_KEYS:
        return None
    return AttentionQuestion(
        head=str(Head(kind, layer, head)),
        queries=tuple(queries),
        keys=tuple(keys),
        weights=tuple(round(float(weight), 5) for weight in weights.flatten()),
    )


def own_question(text: str, lines: str) -> OwnQuestion | None:
    """Read a teacher's question, one answer per line; None without a text, or without 2 to 8 answers."""
    answers = [line.strip() for line in lines.splitlines() if line.strip().removeprefix(_RIGHT).strip()]
    choices = tuple(line.removeprefix(_RIGHT).strip()[:120] for line in answers)
    marked = [number for number, line in enumerate(answers) if line.startswith(_RIGHT)]
    if not text.strip() or not 2 <= len(choices) <= 8:
        return None
    return OwnQuestion(text=text.strip()[:300], choices=choices, right=marked[0] if len(marked) == 1 else None)


def question_view(question: Question, t: Texts, *, is_revealed: bool) -> dict[str, Any]:
    """Return a question as plain values for the browser.

    Args:
        question: The question.
        t: Labels in the reader's language.
        is_revealed: Whether it may hold the right answer and the head's weights.
    """
    if isinstance(question, AttentionQuestion):
        view: dict[str, Any] = {
            "kind": "map",
            "title": _head(question, t),
            "prose": [["p", {}, [_asked(question, t)]]],
            "queries": list(question.queries),
            "keys": list(question.keys),
            "weights": list(question.weights) if is_revealed else None,
        }
    elif isinstance(question, OwnQuestion):
        choices: list[list[Node]] = [[choice] for choice in question.choices]
        view = {"kind": "choices", "title": "", "prose": [["p", {}, [question.text]]], "choices": choices}
    else:
        scene = _scene(question, t.language)
        if scene is None or scene.question is None or len(scene.question.choices) != question.options:
            # The lesson was edited meanwhile, or the other front end has another version of it.
            lost = [["p", {}, [t("classroom.question_lost")]]]
            choices = [[str(number + 1)] for number in range(question.options)]
            return {"kind": "choices", "title": "", "prose": lost, "choices": choices, "right": None, "answer": []}
        choices = [choice.text for choice in scene.question.choices]
        view = {"kind": "choices", "title": scene.title, "prose": scene.prose, "choices": choices}
        if is_revealed:
            view["answer"] = scene.question.answer
    return {"answer": [], **view, "right": question.right if is_revealed else None}


def question_title(question: Question, t: Texts) -> str:
    """Return a question's title for lists and tables, one line."""
    if isinstance(question, OwnQuestion):
        return question.text
    if isinstance(question, AttentionQuestion):
        return f"{_head(question, t)}: {_asked(question, t)}"
    scene = _scene(question, t.language)
    title = load_lesson(question.lesson, t.language).title if scene else question.lesson
    return f"{title}: {scene.title if scene else question.scene}"


def option_titles(question: Question, t: Texts) -> list[str]:
    """Return every option as plain text."""
    if isinstance(question, OwnQuestion):
        return list(question.choices)
    if isinstance(question, AttentionQuestion):
        if len(question.queries) == 1:
            return list(question.keys)
        return [f"{query} → {key}" for query in question.queries for key in question.keys]
    scene = _scene(question, t.language)
    if scene is None or scene.question is None:
        return [str(number + 1) for number in range(question.options)]
    return ["".join(map(_plain, choice.text)) for choice in scene.question.choices]


def _head(question: AttentionQuestion, t: Texts) -> str:
    kind = question.head.partition(".")[0]
    return t("classroom.head", kind=t(f"explorer.kind_{kind}"), head=question.head)


def _asked(question: AttentionQuestion, t: Texts) -> str:
    return t("classroom.ask_row", token=question.queries[0]) if len(question.queries) == 1 else t("classroom.ask_map")


def _scene(question: LessonQuestion, language: str) -> Scene | None:
    try:
        words = load_lesson(question.lesson, language) if _exists(question.lesson) else None
    except LessonError:
        return None
    return next((scene for scene in words.scenes if scene.name == question.scene), None) if words else None


def _exists(lesson: str) -> bool:
    return any(entry.name == lesson for entry in LESSONS)


def _plain(node: Node) -> str:
    return node if isinstance(node, str) else "".join(map(_plain, node[2]))
