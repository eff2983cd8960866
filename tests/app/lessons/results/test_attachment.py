"""Sentences with two readings: the trees are what they claim to be, and the numbers are the parser's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.lessons.conftest import no_model
from transformer_core.parsing.sequences import to_symbols
from transformer_core.parsing.trees import constituent_spans
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lesson_markdown import load_lesson
from viz_app.lessons.results.attachment import SENTENCES, readings
from viz_app.lessons.results.numbers import data
from viz_app.lessons.stage import LessonState
from viz_app.text import LANGUAGES


@pytest.fixture(scope="module")
def parser(parser_checkpoint: Path) -> Translator:
    return Translator.load(parser_checkpoint)


@pytest.mark.parametrize("name", SENTENCES)
def test_the_phrase_attaches_to_verb_or_noun(name: str) -> None:
    trees = SENTENCES[name].trees
    assert trees["verb"].words == trees["noun"].words
    for reading, parent in (("verb", "VP"), ("noun", "NP")):
        result = constituent_spans(trees[reading])
        ((_, _, _, above),) = (node for node in result if node[0] == "PP")
        assert result[above][0] == parent


def test_log_probabilities_are_those_of_a_forced_pass(parser: Translator) -> None:
    for name, result in readings(parser).items():
        for reading, tree in SENTENCES[name].trees.items():
            forced = parser.teacher_force(" ".join(result["words"]), " ".join(to_symbols(tree)))
            assert result["readings"][reading]["log_probability"] == pytest.approx(sum(forced.scores), abs=1e-4)


def test_what_the_beam_search_finds_is_the_tree_that_it_generates(parser: Translator) -> None:
    for name, result in readings(parser).items():
        text = parser.translate(SENTENCES[name].text, beam=4).text
        symbols = {reading: " ".join(to_symbols(tree)) for reading, tree in SENTENCES[name].trees.items()}
        assert text == symbols[result["best"]] if result["best"] else text not in symbols.values()


def test_without_a_parser_there_is_nothing_to_compare(random_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(random_checkpoint))
    context = LessonContext("The dog.", LessonState("attachment", {}), "en", no_model, "test")
    assert data(context).values["sentences"] is None


def test_a_label_is_placed_above_its_words(parser: Translator) -> None:
    """Between its first and its last word, and below the constituent that it belongs to."""
    for sentence in readings(parser).values():
        for reading in sentence["readings"].values():
            places = reading["places"]
            words = [x for x, _ in places["words"]]
            assert words == sorted(words) and len(words) == len(sentence["words"])
            for (_, begin, end, parent), (x, y) in zip(reading["nodes"], places["nodes"], strict=True):
                assert words[begin] <= x <= words[end - 1] and y < places["height"]
                assert parent < 0 or y > places["nodes"][parent][1]


def test_the_answer_that_is_marked_is_the_parsers() -> None:
    """Read the first choice as the verb, the second as the noun, the third as neither."""
    shipped = Path(__file__).resolve().parents[4] / "checkpoints" / "en-tree"
    result = readings(Translator.load(shipped), ["telescope"])["telescope"]["readings"]
    difference = result["verb"]["log_probability"] - result["noun"]["log_probability"]
    for language in LANGUAGES:
        (scene,) = (each for each in load_lesson("results", language).scenes if each.name == "attachment")
        assert scene.question is not None
        (right,) = (number for number, choice in enumerate(scene.question.choices) if choice.right)
        assert right == (0 if difference > 0.2 else 1 if difference < -0.2 else 2)
