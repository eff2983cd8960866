"""Lesson "Results and variations" (Section 6): the paper's tables, and what our own code counts beside them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from msgspec import structs

from transformer_core.paper.flops import P100_FLOPS, PAPER_RUNS, Work, training_flops
from transformer_core.paper.presets import preset
from transformer_core.paper.table3 import Results
from viz_app.figures import CurvesFigure, Dots, DotsFigure, Series
from viz_app.figures.model.figure import Figure
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.results.attachment import find_parser, readings
from viz_app.lessons.results.paper_results import TABLE_2, TABLE_3, TABLE_4
from viz_app.lessons.results.reduced_figure import table_3
from viz_app.lessons.results.reduced_table import MEASURES, load_results, parameter_millions, reduced_result
from viz_app.serving.measurements.parsing_scores import ParsingScores, content_of
from viz_app.serving.models.loader import get_translation_service
from viz_app.text import Texts

_TOKENS = 25_000  # source tokens of a batch, and as many target tokens (Section 5.1)
_LENGTH = 30  # tokens of a sentence, an assumption: it changes the count by a few percent only


def _run(name: str) -> dict[str, Any]:
    """Cost of a training of the paper: its own estimate, and the matrix products that it needed."""
    chosen = preset(name)
    work = Work(sentences=_TOKENS / _LENGTH, source_length=_LENGTH, target_length=_LENGTH)
    run = PAPER_RUNS[name]
    return {
        "hours": run.hours,
        "gpus": run.gpus,
        "steps": chosen.training.steps,
        "paper": run.flops,
        "counted": training_flops(chosen.model, work) * chosen.training.steps,
    }


def _reduced(results: Results) -> dict[str, Any]:
    """What all models of Table 3 in small have in common, for the words around the picture."""
    base, training = results.about["base"], results.about["training"]
    return {"width": base["d_model"], "layers": base["num_layers"], "updates": training["steps"]}


def _small(results: Results | None, row: str) -> dict[str, Any] | None:
    """Our numbers of a row of Table 3; None where it was not trained."""
    runs = [run for run in results.runs if run.row == row] if results else []
    if not results or not runs:
        return None
    numbers: dict[str, Any] = {
        measure: dataclasses.asdict(found) for measure in MEASURES if (found := reduced_result(results, row, measure))
    }
    return {"parameters": runs[0].parameters, **numbers}


def data(context: LessonContext) -> StageData:
    """The three tables, with parameters counted by our own code, and Table 3 in small."""
    small = load_results()
    rows = [
        dataclasses.asdict(row) | {"counted": parameter_millions(row.preset), "ours": _small(small, row.preset)}
        for row in TABLE_3
    ]
    return StageData(
        values={
            "scores": [dataclasses.asdict(score) for score in TABLE_2],
            "variations": rows,
            "reduced": _reduced(small) if small else None,
            "parsers": [dataclasses.asdict(parser) for parser in TABLE_4],
            "ours": [{"name": name, **structs.asdict(scores)} for name, scores in _ours(context)],
            "sentences": _sentences(context),
            "runs": {name: _run(name) for name in PAPER_RUNS},
            "rate": P100_FLOPS,
        }
    )


def _ours(context: LessonContext) -> list[tuple[str, ParsingScores]]:
    """Scores of our parser, each test set and search with its label; none for scenes that do not show them."""
    name = find_parser() if context.state.scene == "parsing" else None
    if name is None:
        return []
    card = get_translation_service(name).card
    searches = (card.parsing, card.parsing_free)
    found = [(test, scores[test]) for test in card.parsing for scores in searches if test in scores]
    return [(_label(context.t, test, scores), scores) for test, scores in found]


def _label(t: Texts, test: str, scores: ParsingScores) -> str:
    """What a test set holds, and what the search may generate."""
    holds = t(f"lesson_results.set_{content_of(test) or 'any'}")
    return f"{holds} \u00b7 {t(f'model.parsing_{scores.allowed}')}"


def _sentences(context: LessonContext) -> dict[str, Any] | None:
    """What our parser makes of ambiguous sentences; None where there is none, and for scenes that do not show it."""
    name = find_parser() if context.state.scene == "attachment" else None
    if name is None:
        return None
    service = get_translation_service(name)
    found: dict[str, Any] = service.compute_once(
        context.session, ("results.attachment",), lambda _: readings(service.translator)
    )
    return found


def figure(scene: str, context: LessonContext) -> Figure | None:
    """Table 2 as curves of points; Table 3, Table 4 and the costs as rows of points."""
    if scene == "variations":
        return table_3(context, load_results())
    drawn = {"scores": _scores, "cost": _costs, "parsing": _parsers, "attachment": _attachment}.get(scene)
    return drawn(context) if drawn else None


def _costs(context: LessonContext) -> DotsFigure:
    """What the paper says that its trainings cost, and the matrix products that they needed."""
    t, runs = context.t, {name: _run(name) for name in PAPER_RUNS}
    every = [run[key] for run in runs.values() for key in ("paper", "counted")]
    columns = [
        Dots(
            values=[run[key] for run in runs.values()],
            title=t(f"lesson_results.{key}_cost"),
            axis=t("lesson_results.flops"),
            digits=None,
            log=True,
            holds=every,
        )
        for key in ("paper", "counted")
    ]
    return DotsFigure(row_labels=list(runs), columns=columns, row_title=t("lesson_results.model"), language=t.language)


def _parsers(context: LessonContext) -> DotsFigure:
    """The parsers of Table 4 that were trained on the text of the setting, the best one last; beside them, ours."""
    t, ours = context.t, _ours(context)
    setting = context.state.choice("setting", "wsj", ("wsj", "more"))
    parsers = sorted(
        (each for each in TABLE_4 if (each.setting == "wsj") == (setting == "wsj")), key=lambda each: each.f1
    )
    names = [
        f"{each.name} \u00b7 {t(f'lesson_results.setting_{each.setting}')}"
        if each.setting in ("multi", "generative")
        else each.name
        for each in parsers
    ]
    values = [each.f1 for each in parsers]
    nothing, no_paper = [math.nan] * len(parsers), [math.nan] * len(ours)
    columns = [Dots(values=[*values, *no_paper], title=t(f"lesson_results.setting_{setting}"), axis="F1", digits=1)]
    if ours:
        ends = [each.f1_95 or (math.nan, math.nan) for _, each in ours]
        columns.append(
            Dots(
                values=[*nothing, *(each.f1 for _, each in ours)],
                low=[*nothing, *(low for low, _ in ends)],
                high=[*nothing, *(high for _, high in ends)],
                title=t("lesson_results.parsing_ours"),
                axis="F1",
                digits=1,
                holds=(0.0, 100.0),
            )
        )
    labels = [*names, *(label for label, _ in ours)]
    return DotsFigure(row_labels=labels, columns=columns, row_title=t("lesson_results.parser"), language=t.language)


def _attachment(context: LessonContext) -> DotsFigure | None:
    """Of the two readings of each sentence, the share of the one that attaches to the verb."""
    found = _sentences(context)
    if found is None:
        return None
    shares = []
    for sentence in found.values():
        verb, noun = (sentence["readings"][reading]["log_probability"] for reading in ("verb", "noun"))
        shares.append(1 / (1 + math.exp(noun - verb)))
    t = context.t
    column = Dots(
        values=shares, title=t("lesson_results.share_verb"), axis=t("lesson_results.share"), digits=2, holds=(0.0, 1.0)
    )
    rows = [" ".join(sentence["words"]) for sentence in found.values()]
    return DotsFigure(row_labels=rows, columns=[column], row_title=t("lesson_results.sentence"), language=t.language)


def _scores(context: LessonContext) -> CurvesFigure:
    pair = context.state.choice("pair", "ende", ("ende", "enfr"))
    groups = ("single", "ensemble", "transformer")
    series = []
    for group in groups:
        rows = [row for row in TABLE_2 if row.group == group]
        points = sorted(
            (cost, bleu)
            for row in rows
            if (cost := getattr(row, f"{pair}_flops")) is not None and (bleu := getattr(row, pair)) is not None
        )
        label = context.t(f"lesson_results.group_{group}")
        series.append(
            Series(x=[x for x, _ in points], y=[y for _, y in points], label=label, dashed=group == "ensemble")
        )
    return CurvesFigure(
        series=tuple(series),
        x_title=context.t("lesson_results.flops"),
        y_title="BLEU",
        x_log=True,
        language=context.t.language,
    )
