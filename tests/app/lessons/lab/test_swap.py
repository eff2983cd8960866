"""The bench "Swap": its numbers against patching, its translation against the patched search."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.app.lessons.conftest import place_of
from tests.app.lessons.lab.conftest import at
from transformer_core.analysis import minimal_pairs as core_pairs
from transformer_core.analysis.minimal_pairs import read_pair
from transformer_core.analysis.patching import translate_patched
from transformer_core.parsing.vocabulary import generates_trees
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.swap.minimal_pairs import PARSED_PAIRS, TRANSLATED_PAIRS, minimal_pairs
from viz_app.serving.input_validation import visible_words
from viz_app.serving.models.registry import checkpoint_folder

TEXT = "The dog is fast."
OTHER = "The dog is red."


@pytest.fixture(autouse=True)
def any_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random weights tell sentences apart only a little."""
    monkeypatch.setattr(core_pairs, "MIN_DIFFERENCE", 0.0)


def test_the_translation_is_that_with_the_value_put_in(context: LessonContext, translator: Translator) -> None:
    result = lab.data(at(context, pair="own", other=OTHER))
    values, recovered = result.values["swap"], result.arrays["recovered"]
    cell = tuple(values["cell"])
    assert recovered[cell] == recovered.max() and (values["clean"], values["corrupted"]) == (TEXT, OTHER)
    text = translate_patched(translator, TEXT, OTHER, cell, beam=4).text
    assert " ".join(word for word, _ in values["patched"]["words"]) == " ".join(text.split())
    pressed = at(context, pair="own", other=OTHER, cell="cross.2.2")
    assert lab.data(pressed).values["swap"]["cell"] == [2, 1, 1]
    assert place_of(lab.selection("swap", pressed)) == ("cross", 1, 1)


@pytest.mark.parametrize("settings", [{"pair": "own"}, {"pair": "own", "other": TEXT}, {"pair": "own", "other": "  "}])
def test_what_cannot_be_compared_says_so(context: LessonContext, settings: dict[str, Any]) -> None:
    there = at(context, **settings)
    problem = lab.data(there).values["swap"]["problem"]
    assert problem == ("same" if settings.get("other") == TEXT else "empty")
    assert lab.selection("swap", there) is None
    assert (lab.recipe("swap", there) is None) == (problem == "empty")


def test_the_visitors_sentence_chooses_the_pair_or_the_bench_says_that_it_has_its_own(context: LessonContext) -> None:
    def shown(text: str, **settings: str) -> dict[str, Any]:
        return dict(lab.data(dataclasses.replace(at(context, **settings), text=text)).values["swap"])

    clean, corrupted = TRANSLATED_PAIRS["verb"]
    for text in (clean, corrupted):
        result = shown(text)
        assert (result["pair"], result["clean"], result["foreign"]) == ("verb", clean, False)
    assert shown(TEXT)["foreign"] and shown(clean, pair="tense")["foreign"]
    assert not shown(TEXT, pair="own", other=OTHER)["foreign"]
    offered = lab.data(dataclasses.replace(at(context), text=clean)).values["pairs"]
    assert offered[0] == "verb" and sorted(offered) == sorted([*TRANSLATED_PAIRS, "own"])


def test_settings_that_make_no_sense(context: LessonContext) -> None:
    result = lab.data(at(context, pair="x", site="<b>", direction="up", cell="9.9.9"))
    answers = result.answers
    assert (answers["pair"], answers["site"], answers["direction"]) == ("number", "heads", "denoise")


@pytest.mark.parametrize("name", ["en-de", "en-fr", "en-fr-small", "en-tree"])
def test_the_pairs_part_in_the_shipped_models(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    translator = Translator.load(checkpoint_folder().with_name(name))
    parses = generates_trees(translator.tokenizer)
    assert minimal_pairs(parses) is (PARSED_PAIRS if name == "en-tree" else TRANSLATED_PAIRS)
    for pair in minimal_pairs(parses).values():
        clean, corrupted = (" ".join(visible_words(text)) if parses else text for text in pair)
        read_pair(translator, clean, corrupted)  # as for the residual stream: else an error
