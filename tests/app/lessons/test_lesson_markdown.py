"""The prose of the lessons: alike in both languages, short, and made of nothing but words and formulas."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from viz_app.lessons import Lesson, load_lesson, terms
from viz_app.lessons.catalogue import CHAPTERS, LESSONS, STAGES
from viz_app.lessons.labels import labels
from viz_app.lessons.lesson_markdown import FOLDER, LessonError, Node, parse
from viz_app.text import LANGUAGES, glossary

MAX_WORDS = 60
APP = FOLDER.parent


def classes(node: Any) -> set[str]:
    """The terms of an equation that a picture can light up."""
    if isinstance(node, str):
        return set()
    return set(filter(None, [node[1].get("class")])).union(*(classes(child) for child in node[2]))


def written(node: Any) -> str:
    """The words of a paragraph, as they are read."""
    return node if isinstance(node, str) else "".join(map(written, node[2]))


def shape(words: Lesson) -> list[Any]:
    """Parts that must be the same in every language."""
    return [
        (
            scene.name,
            re.findall(r"\d[\d.]*", scene.section),  # 3.1, Figure 1: 3.1절, 그림 1
            scene.math,
            scene.question and [choice.right for choice in scene.question.choices],
        )
        for scene in words.scenes
    ]


@pytest.mark.parametrize("name", STAGES)
def test_all_languages_have_the_same_scenes(name: str) -> None:
    english, *others = (shape(load_lesson(name, language)) for language in LANGUAGES)
    assert all(other == english for other in others)


def test_a_tab_has_a_short_name_where_the_title_is_long() -> None:
    scene = "## {}\nsection: 1\n\nWords.\n\n"
    text = "# L\nAbout.\n\n" + scene.format("a: A title that is long\ntab: Short") + scene.format("b: Brief")
    assert [scene.tab for scene in parse(text, "l", "en").scenes] == ["Short", "Brief"]
    for lesson in (load_lesson(name, language) for name in STAGES for language in LANGUAGES):
        assert all(len(scene.tab) <= len(scene.title) for scene in lesson.scenes)


@pytest.mark.parametrize("name", STAGES)
def test_a_scene_has_few_words_and_names_its_section(name: str, language: str) -> None:
    words = load_lesson(name, language)
    assert words.title and words.summary
    for scene in words.scenes:
        assert scene.prose and scene.section, scene.name
        count = len(" ".join(map(written, scene.prose)).split())
        assert count <= MAX_WORDS, f"{scene.name} has {count} words"


@pytest.mark.parametrize("name", STAGES)
def test_korean_is_polite_and_korean(name: str) -> None:
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in (FOLDER / name).rglob("ko.md"))
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.startswith("#") or ":" in paragraph.split(" ")[0]:
            continue
        assert re.search("[가-힣]", paragraph), paragraph
        ends = re.search(r"(?:니다|까|요)[.?!]?(?:\*\*)?\)?(?:\]\])?$", paragraph.strip())
        assert ends or "- [" in paragraph, paragraph


def test_on_paper_no_words_grow_together(language: str) -> None:
    """[[A hint for the screen]] goes with one blank before it, so another one or a mark must follow."""
    for path in FOLDER.rglob(f"{language}.md"):
        for before, hint, after in re.findall(r"(.?)(\[\[.+?\]\])(.?)", path.read_text(encoding="utf-8"), re.DOTALL):
            assert before in "\n" or after in " \n,.", (path, hint)
            assert not (before.isspace() and after in ",."), (path, hint)


def test_files_and_catalogue_agree() -> None:
    for language in LANGUAGES:
        assert sorted(STAGES) == sorted(path.parent.name for path in FOLDER.glob(f"*/{language}.md"))
        with_labels = {path.parent.name for path in FOLDER.glob(f"*/labels.{language}.toml")}
        assert with_labels == {name for name in STAGES if labels("en").table(f"lesson_{name}")}
    assert {entry.chapter for entry in LESSONS} <= set(CHAPTERS)


def test_every_term_has_all_languages_and_a_reason() -> None:
    for term in terms().values():
        assert set(term.about) in (set(), set(LANGUAGES)), term.name
        english, korean = term.words["en"], term.words["ko"]
        name = english in ("BLEU", "chrF", "nat") and korean == english
        assert (name or re.search("[가-힣]", korean)) and not re.search("[가-힣]", english)
        assert term.why
    for language in LANGUAGES[1:]:
        assert len({term.words[language] for term in terms().values()}) == len(terms()), "one term, one word"


def test_a_term_without_a_language_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossary, "LANGUAGES", (*LANGUAGES, "de"))
    table = {"en": "head", "ko": "헤드", "de": "Kopf", "why": "Usual.", "about_en": "One.", "about_ko": "하나."}
    with pytest.raises(KeyError, match=r"no text 'about_de' in \[head\] of text/terms.toml"):
        glossary._term("head", table)
    assert glossary._term("head", table | {"about_de": "Einer."}).word("de", first=True) == "Kopf(head)"


def test_what_explains_a_term_is_shown_in_a_lesson_or_on_a_page(language: str) -> None:
    """Every explanation can be met, and every term in the prose has one."""
    nodes = [node for name in STAGES for node in prose_of(name, language)]
    shown = {child[1]["title"] for node in nodes for child in within(node) if child[0] == "dfn"}
    pages = [*APP.glob("components/explorer/js/**/*.js"), *APP.glob("ui/**/*.py"), *APP.glob("app_pages/*.py")]
    named = {name for path in pages for name in re.findall(r'"([a-z_]+)"', path.read_text(encoding="utf-8"))}
    about = {name: term.about[language] for name, term in terms().items() if term.about}
    assert shown <= set(about.values())
    assert {name for name, text in about.items() if text not in shown} <= named


def prose_of(name: str, language: str) -> list[Node]:
    scenes = load_lesson(name, language).scenes
    return [node for each in scenes for node in [*each.prose, *(each.question.answer if each.question else [])]]


def within(node: Node) -> list[Node]:
    """The node and all nodes in it, without its text."""
    return [] if isinstance(node, str) else [node, *(inner for child in node[2] for inner in within(child))]


def test_a_term_is_introduced_once_and_explained_once_a_scene() -> None:
    words = parse("# T\nS.\n\n## a: A\nsection: 1\n\n{head}, {head}.\n\n## b: B\nsection: 1\n\n{head}.", "x", "ko")
    about = {"title": terms()["head"].about["ko"], "data-term": "head"}
    assert [scene.prose[0][2] for scene in words.scenes] == [
        [["dfn", about, ["헤드(head)"]], ", ", "헤드", "."],
        [["dfn", about, ["헤드"]], "."],
    ]


def test_a_choice_is_a_button_and_holds_no_explanation() -> None:
    text = "# T\nS.\n\n## a: A\nsection: 1\n\n- [x] {head} of $\\sqrt{d_k}$\n- [ ] b\n\n### answer\n{head}"
    question = parse(text, "x", "en").scenes[0].question
    assert question is not None
    assert question.choices[0].text[0] == "head" and question.choices[0].text[2][0] == "math"
    assert question.answer[0][2][0][0] == "dfn"


def test_markup_stays_text_and_formulas_are_trees() -> None:
    text = "# T\nS.\n\n## a: A\nsection: 1\nmath: \\class{hot}{x}+1\n\n<b>no</b> [a](javascript:b) **yes** $x^{2}$"
    scene = parse(text, "x", "en").scenes[0]
    assert classes(scene.math[0]) == {"hot"}
    tags = [node[0] for node in scene.prose[0][2] if not isinstance(node, str)]
    assert tags == ["strong", "math"]
    assert "<b>no</b> [a](javascript:b) " in json.dumps(scene.prose)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## a: A\n\nWords.", "needs a title"),
        ("# T\nS.", "needs a title"),
        ("# T\nS.\n\n## A scene\n\nWords.", "must be of the form"),
        ("# T\nS.\n\n## a: A\n\n{nonsense}", "not in terms.toml"),
        ("# T\nS.\n\n## a: A\n\nQ?\n\n- [x] one\n- [x] two\n\n### answer\nYes.", "exactly one right answer"),
        ("# T\nS.\n\n## a: A\n\nQ?\n\n- [x] one\n- [ ] two", "needs its '### answer'"),
        ("# T\nS.\n\n## a: A\n\nWords.\n\n## a: A\n\nWords.", "same name"),
        ("# T\nS.\n\n## a: A\nmath: \\nonsense{x}\n\nWords.", "is unknown"),
        ("# T\nS.\n\n## a: A\nmath: x^\n\nWords.", "cannot be read"),
    ],
)
def test_a_file_of_another_form_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse(text, "x", "en")


def test_a_missing_lesson_is_named(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match="'nothing' has no text in 'en'"):
        load_lesson("nothing", "en")
