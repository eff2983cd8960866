"""The paper's tables as the lesson shows them, and what is counted beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.lessons.conftest import no_model
from transformer_core.paper.presets import PRESETS
from transformer_core.translator import Translator
from viz_app.figures.colours.scales import format_number
from viz_app.lessons.context import LessonContext
from viz_app.lessons.labels import labels
from viz_app.lessons.results.numbers import data
from viz_app.lessons.results.paper_results import TABLE_2, TABLE_3, TABLE_4
from viz_app.lessons.results.reduced_table import RESULTS, parameter_millions
from viz_app.lessons.stage import LessonState

SYSTEMS = {score.name for score in TABLE_2}


def context(**settings: str | float) -> LessonContext:
    return LessonContext("The dog.", LessonState("scores", settings), "en", no_model, "test")


def variations(row: str = "all", measure: str = "bleu", whose: str = "both") -> dict[str, Any]:
    """Table 3 as the stage gets it."""
    chart: dict[str, Any] = data(context()).values["charts"]["variations"]["charts"][f"{row} {measure} {whose}"]
    return chart


def test_counted_parameters_round_to_the_printed_ones() -> None:
    """With the vocabulary and biases of the authors' code all rows but big do (see docs/fidelity.md)."""
    for row in TABLE_3:
        assert row.preset in PRESETS
        if row.millions is not None and row.row != "big":
            assert round(parameter_millions(row.preset)[1]) == row.millions, row.change
    assert parameter_millions("base")[0] == pytest.approx(63.045632)
    assert variations()["table"]["rows"][0][-3:-1] == ["63.0", "65.1"]


def test_ours_stand_beside_the_papers_as_the_file_has_them() -> None:
    """Means and spreads computed anew from the JSON that ships."""
    content = json.loads(RESULTS.read_text(encoding="utf-8"))
    words = {"same direction", "opposite", "n.s."}
    for measure, digits in (("bleu", 1), ("perplexity", 2)):
        chart = variations(measure=measure)
        paper, ours = chart["columns"]
        for index, row in enumerate(TABLE_3):
            values = [run[measure] for run in content["runs"] if run["row"] == row.preset]
            assert paper["values"][index] == getattr(row, measure)
            assert ours["values"][index] == pytest.approx(float(np.mean(values)), rel=1e-6)
            assert ours["marks"][index] == (values if len(values) > 1 else [])
            cells = chart["table"]["rows"][index]
            if len(values) > 1:
                assert f"{np.mean(values):.{digits}f} \u00b1 {np.std(values, ddof=1):.{digits}f}" in cells
            said = any(ours["asides"][index].endswith(word) for word in words)
            assert said == (row.preset != "base")
            assert ours["hollow"][index] == ours["asides"][index].endswith("n.s.")
    title = variations()["columns"][1]["title"]
    assert title == f"Ours: width {512 // 8}, {6 // 2} + {6 // 2} layers, {content['training']['steps']:,} steps"


def test_the_line_below_table_3_counts_what_is_drawn() -> None:
    t = labels("en")
    said = data(context()).values["charts"]["variations"]["said"]
    assert "best is d_ff = 4096 with 26.2, worst N = 2 with 23.7" in said["C bleu paper"]
    assert "best is big with 4.33, worst N = 2 with 6.11" in said["all perplexity both"]
    for row, measure in product(("A", "C", "all"), ("bleu", "perplexity")):
        asides = variations(row, measure)["columns"][1]["asides"]
        same, other, noise = (
            sum(each.endswith(word) for each in asides) for word in ("same direction", "opposite", "n.s.")
        )
        told = t("lesson_results.reduced_say", count=len(asides) - 1, same=same, other=other, noise=noise)
        assert said[f"{row} {measure} ours"] == told
        assert said[f"{row} {measure} both"] == f"{said[f'{row} {measure} paper']} {told}"


def test_the_paper_comes_first_and_ours_on_demand() -> None:
    both = variations()["columns"]
    for whose, columns in (("paper", both[:1]), ("ours", both[1:])):
        chart = variations(whose=whose)
        assert chart["columns"] == columns and chart["table"] == variations()["table"]
    first = data(context()).values["charts"]["variations"]["controls"][-1][2]
    assert next(iter(first)) == "paper"


def test_without_our_numbers_the_papers_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz_app.lessons.results.numbers.load_results", lambda: None)
    result = data(context()).values["charts"]["variations"]
    for key, chart in result["charts"].items():
        _, measure, whose = key.split()
        paper, *ours = chart["columns"]
        nothing = [] if whose == "paper" else [{"title": "Ours", "none": "no numbers"}]
        assert paper["title"] == "Paper" and ours == nothing
        if measure != "parameters" and whose != "paper":
            assert result["said"][key].endswith(labels("en")("lesson_results.reduced_missing"))
    assert len(result["charts"]["all bleu paper"]["rows"]) == len(TABLE_3)


def test_costs_are_time_by_machines_by_rate() -> None:
    values = data(context()).values
    seconds = {"Transformer (base)": 12 * 3600, "Transformer (big)": 3.5 * 24 * 3600}
    for score in TABLE_2[-2:]:
        cost = seconds[score.name] * values["gpus"] * values["rate"]
        assert score.ende_flops == score.enfr_flops == pytest.approx(cost, rel=0.01)
    # Six operations a parameter and token, with source and target tokens apart half of them each: within a quarter.
    for pair in ("ende", "enfr"):
        chart = values["charts"]["scores"]["charts"][pair]
        base, big = chart["series"][-1]["x"]
        assert base == pytest.approx(9.5e17, rel=0.25) and big == pytest.approx(9.6e18, rel=0.35)
        assert chart["series"][-1]["y"] == chart["series"][-2]["y"] == [getattr(each, pair) for each in TABLE_2[-2:]]
        assert [row[-1] for row in chart["table"]["rows"][-2:]] == [format_number(base), format_number(big)]


def test_the_browser_turns_operations_into_time_on_other_machines(javascript: Callable[[str], Any]) -> None:
    values = {key: data(context()).values[key] for key in ("gpus", "rate", "charts")}
    texts = {"days": "{n} d", "hour": "{n} h", "minute": "{n} min", "scores_say": "{cost}; {time}"}
    says = javascript(
        'import { Scores } from "./lessons/results/js/scores.js";'
        f"const scene = new Scores({{ values: {json.dumps(values)} }}, {json.dumps(texts)});"
        'const say = (upto, rate) => scene.say({ pair: "ende", upto, rate });'
        "console.log(JSON.stringify([say(1, 9.5), say(1, 400), say(4, 9.5), say(9, 4)]));"
    )
    seconds = [3.3e18 / (8 * 9.5e12), 3.3e18 / (8 * 400e12), 2.3e19 / (8 * 9.5e12), 1.8e20 / (8 * 4e12)]
    times = [
        f"{seconds[0] / 3600:.0f} h",
        f"{seconds[1] / 60:.0f} min",
        f"{seconds[2] / 86400:.1f} d",
        f"{seconds[3] / 86400:.0f} d",
    ]
    assert [each.split("; ")[1] for each in says] == times


def test_the_tables_are_those_of_the_paper() -> None:
    """Differences that Section 6.2 tells in words."""
    bleu = {row.preset: row.bleu for row in TABLE_3}
    assert bleu["base"] - bleu["table3-a-h1"] == pytest.approx(0.9)
    best = max(score.ende or 0 for score in TABLE_2)
    others = max(score.ende or 0 for score in TABLE_2 if score.group != "transformer")
    assert best == 28.4 and best - others >= 2.0


def test_the_chart_holds_every_point_with_a_cost() -> None:
    for pair in ("ende", "enfr"):
        count = sum(getattr(score, f"{pair}_flops") is not None for score in TABLE_2)
        shown = data(context()).values["charts"]["scores"]["charts"][pair]
        names = [name for series in shown["series"][:-1] for name in series["names"]]
        assert len(set(names)) == count and all(name.split("  ")[0] in SYSTEMS for name in names)
        assert len(shown["table"]["rows"]) == sum(getattr(score, pair) is not None for score in TABLE_2)


@pytest.mark.parametrize("setting", ["wsj", "more"])
def test_the_chart_of_table_4_holds_each_parser_once(setting: str) -> None:
    chart = data(context()).values["charts"]["parsing"]["charts"][setting]
    scores = sorted(parser.f1 for parser in TABLE_4 if (parser.setting == "wsj") == (setting == "wsj"))
    assert chart["columns"][0]["values"] == scores
    assert any(label.startswith("Transformer") for label in chart["rows"])


def test_our_parser_stands_below_the_papers(parser_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a column and on an axis of its own, since its test sets are others."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(parser_checkpoint))
    measured = Translator.load(parser_checkpoint).metrics["scores"]
    tests = [each for each in measured.values() if each["part"] == "test"]
    tested = [each[search] for each in tests for search in ("bracketing", "free") if search in each]
    shown = replace(context(setting="wsj"), state=LessonState("parsing", {"setting": "wsj"}))
    chart = data(shown).values["charts"]["parsing"]["charts"]["wsj"]
    stage = chart["columns"]
    trained = [row[1] for row in chart["table"]["rows"] if row[0] != labels("en")("lesson_results.parsing_ours")]
    assert set(trained) == {labels("en")("lesson_results.setting_wsj")}
    assert len(chart["table"]["rows"]) == len(trained) + len(tested)
    assert [f1 for f1 in stage[1]["values"] if f1] == [pytest.approx(each["f1"], rel=1e-6) for each in tested]
    paper, ours = (column["values"] for column in stage)
    assert all(one is None or other is None for one, other in zip(paper, ours, strict=True))
    assert len(chart["rows"]) == len(paper) == len({*chart["rows"]})


def test_table_3_has_its_rows_and_counted_parameters() -> None:
    sizes = {run["row"]: run["parameters"] for run in json.loads(RESULTS.read_text(encoding="utf-8"))["runs"]}
    chart = variations(measure="parameters")
    for index, row in enumerate(TABLE_3):
        millions = [column["values"][index] for column in chart["columns"]]
        assert millions == pytest.approx([parameter_millions(row.preset)[1], sizes[row.preset] / 1e6], rel=1e-6)
    assert variations("D")["rows"] == ["base", "P_drop = 0.0", "P_drop = 0.2", "ε_ls = 0.0", "ε_ls = 0.2"]
