"""The paper's tables as the lesson shows them, and what is counted beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from transformer_core.paper.presets import PRESETS
from transformer_core.translator import Translator
from viz_app.figures import CurvesFigure, DotsFigure
from viz_app.lessons.context import LessonContext
from viz_app.lessons.results.numbers import data, figure
from viz_app.lessons.results.paper_results import TABLE_2, TABLE_3, TABLE_4
from viz_app.lessons.results.reduced_table import RESULTS
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService


def no_model() -> TranslationService:
    raise AssertionError("this lesson needs no model")


def context(**settings: str | float) -> LessonContext:
    return LessonContext("The dog.", LessonState("scores", settings), "en", no_model, "test")


def test_counted_parameters_round_to_the_printed_ones() -> None:
    """With the vocabulary and biases of the authors' code all rows but big do (see docs/fidelity.md)."""
    for row in data(context()).values["variations"]:
        assert row["preset"] in PRESETS
        if row["millions"] is not None and row["row"] != "big":
            assert round(row["counted"][1]) == row["millions"], row["change"]
    base = data(context()).values["variations"][0]
    assert base["counted"][0] == pytest.approx(63.045632)


def test_ours_stand_beside_the_papers_as_the_file_has_them() -> None:
    """Means and spreads computed anew from the JSON that ships."""
    content = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = {row["preset"]: row["ours"] for row in data(context()).values["variations"]}
    for preset, found in rows.items():
        runs = [run for run in content["runs"] if run["row"] == preset]
        assert runs, preset
        assert found["parameters"] == runs[0]["parameters"]
        for measure in ("bleu", "perplexity"):
            values = [run[measure] for run in runs]
            assert found[measure]["seeds"] == tuple(values)
            assert found[measure]["mean"] == pytest.approx(float(np.mean(values)))
            if len(values) > 1:
                assert found[measure]["deviation"] == pytest.approx(float(np.std(values, ddof=1)))
            assert (found[measure]["verdict"] is None) == (preset == "base")
    reduced = data(context()).values["reduced"]
    assert (reduced["width"], reduced["layers"]) == (512 // 8, 6 // 2)
    assert reduced["updates"] == content["training"]["steps"]


def test_without_our_numbers_the_papers_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz_app.lessons.results.numbers.load_results", lambda: None)
    values = data(context()).values
    assert values["reduced"] is None
    assert {row["ours"] for row in values["variations"]} == {None}
    assert len(values["variations"]) == len(TABLE_3)


def test_costs_are_time_by_machines_by_rate() -> None:
    runs = data(context()).values["runs"]
    assert runs["base"]["paper"] == pytest.approx(12 * 3600 * 8 * 9.5e12)
    assert runs["big"]["paper"] == pytest.approx(3.5 * 24 * 3600 * 8 * 9.5e12)
    # Six operations a parameter and token, with source and target tokens apart half of them each: within a quarter.
    assert runs["base"]["counted"] == pytest.approx(9.5e17, rel=0.25)
    assert runs["big"]["counted"] == pytest.approx(9.6e18, rel=0.35)


def test_the_tables_are_those_of_the_paper() -> None:
    """Differences that Section 6.2 tells in words."""
    bleu = {row.preset: row.bleu for row in TABLE_3}
    assert bleu["base"] - bleu["table3-a-h1"] == pytest.approx(0.9)
    best = max(score.ende or 0 for score in TABLE_2)
    others = max(score.ende or 0 for score in TABLE_2 if score.group != "transformer")
    assert best == 28.4 and best - others >= 2.0


def test_the_figure_holds_every_point_with_a_cost() -> None:
    for pair in ("ende", "enfr"):
        drawn = figure("scores", context(pair=pair))
        assert isinstance(drawn, CurvesFigure)
        count = sum(getattr(score, f"{pair}_flops") is not None for score in TABLE_2)
        assert sum(len(series.xs) for series in drawn.series) == count
    assert figure("quiz", context()) is None, "the answer is not given away"


def test_the_figure_of_the_costs_holds_the_papers_and_ours_on_one_axis() -> None:
    drawn = figure("cost", context())
    assert isinstance(drawn, DotsFigure)
    runs = data(context()).values["runs"]
    paper, counted = drawn.columns
    assert list(paper.places) == [run["paper"] for run in runs.values()]
    assert list(counted.places) == [run["counted"] for run in runs.values()]
    assert paper.ends() == counted.ends()


@pytest.mark.parametrize("setting", ["wsj", "more"])
def test_the_figure_of_table_4_holds_each_parser_once(setting: str) -> None:
    drawn = figure("parsing", context(setting=setting))
    assert isinstance(drawn, DotsFigure)
    wanted = sorted(parser.f1 for parser in TABLE_4 if (parser.setting == "wsj") == (setting == "wsj"))
    assert list(drawn.columns[0].places) == wanted
    assert any(label.startswith("Transformer") for label in drawn.row_labels)


def test_our_parser_stands_below_the_papers(parser_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a column and on an axis of its own, since its test sets are others."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(parser_checkpoint))
    measured = Translator.load(parser_checkpoint).metrics["scores"]
    tests = [each for each in measured.values() if each["part"] == "test"]
    tested = [each[search] for each in tests for search in ("bracketing", "free") if search in each]
    shown = replace(context(setting="wsj"), state=LessonState("parsing", {"setting": "wsj"}))
    assert [each["f1"] for each in data(shown).values["ours"]] == [each["f1"] for each in tested]
    drawn = figure("parsing", shown)
    assert isinstance(drawn, DotsFigure)
    paper, ours = (np.asarray(column.values) for column in drawn.columns)
    assert list(ours[np.isfinite(ours)]) == [each["f1"] for each in tested]
    assert not np.any(np.isfinite(paper) & np.isfinite(ours))
    assert len(drawn.row_labels) == len(paper) == len(ours)
    assert len(set(drawn.row_labels)) == len(drawn.row_labels)


@pytest.mark.parametrize("measure", ["bleu", "perplexity", "parameters"])
def test_the_figure_of_table_3_holds_the_papers_numbers_and_ours(measure: str) -> None:
    rows = {row["preset"]: row for row in data(context()).values["variations"]}
    drawn = figure("variations", context(row="all", measure=measure))
    assert isinstance(drawn, DotsFigure)
    paper, small = drawn.columns
    for index, (preset, row) in enumerate(rows.items()):
        if measure == "parameters":
            assert (paper.places[index], small.places[index]) == (row["counted"][1], row["ours"]["parameters"] / 1e6)
        else:
            assert (paper.places[index], small.places[index]) == (row[measure], row["ours"][measure]["mean"])
            assert small.empty[index] == (row["ours"][measure]["verdict"] == "noise"), preset
    some = figure("variations", context(row="D", measure=measure))
    assert isinstance(some, DotsFigure)
    assert [label for label in some.row_labels] == ["base", "P_drop = 0.0", "P_drop = 0.2", "ε_ls = 0.0", "ε_ls = 0.2"]


def test_the_figure_of_table_3_without_our_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz_app.lessons.results.numbers.load_results", lambda: None)
    for measure in ("bleu", "parameters"):
        drawn = figure("variations", context(measure=measure))
        assert isinstance(drawn, DotsFigure)
        assert [column.title for column in drawn.columns] == ["Paper"]
