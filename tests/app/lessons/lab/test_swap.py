"""The bench "Swap": its numbers are those of patching, its translation that of the patched search."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.lessons.conftest import Visit
from transformer_core.analysis import patching as core_patching
from transformer_core.analysis.minimal_pairs import PatchingError
from transformer_core.analysis.patching import patching, translate_patched
from transformer_core.attention_maps import KINDS
from transformer_core.cli import main as core
from transformer_core.parsing.vocabulary import generates_trees
from transformer_core.translator import Translator
from viz_app.figures import MatrixFigure
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.swap.minimal_pairs import PARSED_PAIRS, TRANSLATED_PAIRS, minimal_pairs
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState
from viz_app.serving.input_validation import visible_words
from viz_app.serving.models.registry import checkpoint_folder

TEXT = "The dog is fast."
OTHER = "The dog is red."


@pytest.fixture(scope="module")
def context(visit: Visit) -> LessonContext:
    return visit("swap", TEXT)


@pytest.fixture(autouse=True)
def any_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random weights tell sentences apart only a little."""
    monkeypatch.setattr(core_patching, "MIN_DIFFERENCE", 0.0)


def at(context: LessonContext, **settings: float | str | bool) -> LessonContext:
    return dataclasses.replace(context, state=LessonState("swap", settings))


def compared(context: LessonContext, translator: Translator) -> list[LessonContext]:
    """Settings with pairs that this model translates differently."""
    found = []
    for pair, sentences in {**TRANSLATED_PAIRS, "own": (TEXT, OTHER)}.items():
        try:
            patching(translator, *sentences)
        except PatchingError:
            continue
        found.append(at(context, pair=pair, **({"other": OTHER} if pair == "own" else {})))
    return found


def test_the_numbers_are_those_of_patching(context: LessonContext, translator: Translator) -> None:
    there = compared(context, translator)
    assert there, "the random model translates all pairs alike; the test needs others"
    for one in there[:2]:
        values = lab.data(one).values["swap"]
        expected = patching(translator, values["clean"], values["corrupted"])
        np.testing.assert_allclose(lab.data(one).arrays["recovered"], expected.recovered.numpy(), atol=1e-4)
        cell = tuple(values["cell"])
        assert float(expected.recovered[cell]) == pytest.approx(float(expected.recovered.max()))
        text = translate_patched(translator, values["clean"], values["corrupted"], cell, beam=4).text
        assert " ".join(word for word, _ in values["patched"]["words"]) == " ".join(text.split())
        pressed = at(one, **one.state.settings, cell="2.1.1")
        assert lab.data(pressed).values["swap"]["cell"] == [2, 1, 1]
        shown = lesson_module("lab").selection("swap", pressed)
        assert shown is not None and (shown.kind, shown.layer, shown.head) == ("cross", 1, 1)
        drawn = lab.figure("swap", one)
        assert isinstance(drawn, MatrixFigure)
        np.testing.assert_allclose(drawn.matrix.ravel(), expected.recovered.numpy().ravel(), atol=1e-4)
        assert len(drawn.row_labels) == len(KINDS) * translator.config.num_layers


@pytest.mark.parametrize("settings", [{"pair": "own"}, {"pair": "own", "other": TEXT}, {"pair": "own", "other": "  "}])
def test_what_cannot_be_compared_says_so(context: LessonContext, settings: dict[str, Any]) -> None:
    there = at(context, **settings)
    problem = lab.data(there).values["swap"]["problem"]
    assert problem == ("same" if settings.get("other") == TEXT else "empty")
    assert lab.figure("swap", there) is None and lesson_module("lab").selection("swap", there) is None
    assert (lab.recipe("swap", there) is None) == (problem == "empty")


def test_settings_that_make_no_sense(context: LessonContext) -> None:
    found = lab.data(at(context, pair="x", site="<b>", direction="up", cell="9.9.9"))
    answers = found.answers
    assert (answers["pair"], answers["site"], answers["direction"]) == ("number", "heads", "denoise")


def test_the_recipes_give_the_same_numbers(
    context: LessonContext, translator: Translator, random_checkpoint: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    there = compared(context, translator)[0]
    made, found = lab.recipe("swap", there), lab.data(there).arrays["recovered"]
    assert made is not None
    shutil.copytree(random_checkpoint, tmp_path / random_checkpoint.name)
    monkeypatch.chdir(tmp_path)
    assert core(shlex.split(made.command)[3:]) == 0
    with np.load("swap.npz") as written:
        np.testing.assert_allclose(written["recovered"], found, atol=1e-4)
    names: dict[str, object] = {}
    exec(made.python, names)
    np.testing.assert_allclose(names["found"].recovered, found, atol=1e-4)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["en-de", "en-fr", "en-tree"])
def test_the_pairs_part_in_the_shipped_models(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    translator = Translator.load(checkpoint_folder().with_name(name))
    parses = generates_trees(translator.tokenizer)
    assert minimal_pairs(parses) is (PARSED_PAIRS if name == "en-tree" else TRANSLATED_PAIRS)
    for pair in minimal_pairs(parses).values():
        clean, corrupted = (" ".join(visible_words(text)) if parses else text for text in pair)
        patching(translator, clean, corrupted, site="residual")
