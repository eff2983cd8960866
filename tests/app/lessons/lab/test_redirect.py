"""The bench "Redirect": what it shows is what edits of the weights give; settings are checked."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from tests.app.lessons.conftest import Visit
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.attention_maps import AttentionMaps
from transformer_core.hooks.points import edit
from transformer_core.translator import Translator
from viz_app.figures import MatrixFigure
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.redirect.row_edits import MAX_EDITS, changed_rows, read_edits, unchanged_row
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState
from viz_app.text.examples import EXAMPLES

TEXT = "The dog is fast."
EXAMPLE_TEXTS = tuple(EXAMPLES.values())


@pytest.fixture(scope="module")
def context(visit: Visit) -> LessonContext:
    return visit("redirect", TEXT)


def at(context: LessonContext, **settings: float | str | bool) -> LessonContext:
    return dataclasses.replace(context, state=LessonState("redirect", settings))


def no_example(number: int) -> AttentionMaps:
    raise AssertionError(f"nobody asked for sentence {number}")


def test_a_row_comes_from_an_example_sentence(context: LessonContext, translator: Translator) -> None:
    """Key by key from the start, end of sentence to end of sentence; what is left sums to 1."""
    other = translator.translate(EXAMPLE_TEXTS[3], beam=4).attention
    for kind in ("encoder", "decoder", "cross"):
        there = at(context, chosen=f"{kind}.1.0", query=2.0, edits=f"{kind[0]}1.0.2s3")
        found = lab.data(there)
        after = found.arrays["row_after"]
        row = other.weights(kind)[1, 0, 2]
        expected = np.zeros(len(after))
        if kind == "decoder":
            expected[:] = row[:3]
        else:
            inner = min(len(after), len(row)) - 1
            expected[:inner], expected[-1] = row[:inner], row[-1]
        np.testing.assert_allclose(after, expected / expected.sum(), atol=1e-4)
        assert found.values["redirect"]["edits"][0]["sentence"] == EXAMPLE_TEXTS[3]
    assert read_edits(f"c0.0.1s{len(EXAMPLE_TEXTS)}", context.result.maps, len(EXAMPLE_TEXTS)) == []


def test_nothing_is_changed_at_first(context: LessonContext) -> None:
    found = lab.data(context)
    np.testing.assert_array_equal(found.arrays["row_before"], found.arrays["row_after"])
    np.testing.assert_allclose(found.arrays["changes"], 0, atol=1e-6)
    assert found.values["redirect"]["edits"] == [] and found.values["redirect"]["written"] is None


@pytest.mark.parametrize(
    ("kind", "query", "action", "expected"),
    [
        ("cross", 1, "o2", lambda row: np.eye(len(row))[2]),
        ("encoder", 2, "x0", lambda row: np.where(np.arange(len(row)) == 0, 0, row) / (1 - row[0])),
        ("decoder", 2, "a", lambda row: np.full(len(row), 1 / len(row))),
        ("cross", 0, "w1.40", lambda row: np.where(np.arange(len(row)) == 1, 0.4, row * 0.6 / (1 - row[1]))),
    ],
)
def test_a_changed_row_is_an_edit_of_the_weights(
    context: LessonContext, translator: Translator, kind: Any, query: int, action: str, expected: Any
) -> None:
    there = at(context, chosen=f"{kind}.1.0", query=float(query), edits=f"{kind[0]}1.0.{query}{action}", write=True)
    found = lab.data(there)
    maps = there.result.maps
    row = maps.weights(kind)[1, 0, query]
    row = row[: query + 1] if kind == "decoder" else row
    np.testing.assert_allclose(found.arrays["row_before"], row, atol=1e-4)
    np.testing.assert_allclose(found.arrays["row_after"], expected(row), atol=1e-4)
    run = teacher_forced_run(translator, TEXT, there.result.translation)

    def put(weights: torch.Tensor, _site: Any) -> torch.Tensor:
        changed = weights.clone()
        changed[0, 0, query] = 0
        changed[0, 0, query, : len(row)] = torch.tensor(expected(row))
        return changed

    with torch.no_grad(), edit(translator.model, hook_point_name(kind, 1, "weights"), put):
        logits = translator.model(run.source, run.inputs, run.source_mask)[0].log_softmax(dim=1)
    log_p = logits.gather(1, run.outputs[:, None])[:, 0]
    np.testing.assert_allclose(found.arrays["changes"], (log_p - run.log_p).numpy(), atol=2e-4)
    values = found.values["redirect"]
    step = values["step"]
    tokens = translator.tokenizer.tokens(logits[step].topk(5).indices.tolist())
    assert [token for token, _, _ in values["top"]][:5] == list(tokens)
    assert values["written"] is not None
    shown = lesson_module("lab").selection("redirect", there)
    assert shown is not None and (shown.kind, shown.layer, shown.head) == (kind, 1, 0)
    drawn = lab.figure("redirect", there)
    assert isinstance(drawn, MatrixFigure)
    np.testing.assert_allclose(drawn.matrix[1], expected(row), atol=1e-4)


def test_changes_follow_each_other_and_another_head_s_row_is_copied(context: LessonContext) -> None:
    maps = context.result.maps
    edits = read_edits("c0.0.1h1_c0.0.1x0_c1.0.0a", maps, 0)
    rows = changed_rows(edits, maps, no_example)
    assert set(rows) == {("cross", 0, 0, 1), ("cross", 1, 0, 0)}
    copied = np.array(unchanged_row(maps, ("cross", 0, 1, 1)))
    copied[0] = 0
    np.testing.assert_allclose(rows["cross", 0, 0, 1], copied / copied.sum(), atol=1e-6)


@pytest.mark.parametrize(
    "text",
    ["", "c", "c9.0.0a", "c0.0.0o99", "d0.0.1x2", "z0.0.0a", "c0.0.0w1.101", "<script>", "c0.0.0h9", "c0.0.999a"],
)
def test_what_makes_no_sense_is_left_out(context: LessonContext, text: str) -> None:
    assert read_edits(text, context.result.maps, len(EXAMPLE_TEXTS)) == []
    assert lab.data(at(context, edits=text)).answers["edits"] == text


def test_there_are_so_many_changes_at_most(context: LessonContext) -> None:
    assert len(read_edits("_".join(["c0.0.0a"] * 40), context.result.maps, 0)) == MAX_EDITS


def test_the_recipe_gives_the_same_numbers(
    context: LessonContext, random_checkpoint: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    there = at(context, edits="c1.0.1o2_e0.1.0a")
    made, changes = lab.recipe("redirect", there), lab.data(there).arrays["changes"]
    assert made is not None and made.command == ""
    shutil.copytree(random_checkpoint, tmp_path / random_checkpoint.name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(made.python, names)
    found = names["found"]
    np.testing.assert_allclose((found.log_p - found.run.log_p).numpy(), changes, atol=1e-3)
