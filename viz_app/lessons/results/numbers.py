"""Lesson "Results and variations" (Section 6): the paper's tables beside our own counts."""

from __future__ import annotations

import math
from typing import Any

from transformer_core.paper.flops import P100_FLOPS, PAPER_RUNS, Work, training_flops
from transformer_core.paper.presets import preset
from viz_app.figures import CurvesFigure, Dots, DotsFigure, Series
from viz_app.figures.colours.scales import format_number
from viz_app.figures.model.figure import Figure
from viz_app.lessons.chart_data import chart_data, chart_set
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.results.attachment import find_parser, readings
from viz_app.lessons.results.paper_results import TABLE_2, TABLE_4, Parser, Score, lines_by_heads
from viz_app.lessons.results.reduced_figure import table_3, variation_charts
from viz_app.lessons.results.reduced_table import load_results
from viz_app.serving.measurements.parsing_scores import ParsingScores, content_of
from viz_app.serving.models.loader import get_translation_service
from viz_app.text import Texts

_TOKENS = 25_000  # source tokens of a batch, and as many target tokens (Section 5.1)
_PAIRS = ("ende", "enfr")
_GROUPS = ("single", "ensemble", "transformer")
_SETTINGS = ("wsj", "more")
_LENGTH = 30  # tokens of a sentence, an assumption: it changes the count by a few percent only


def _run(name: str) -> dict[str, Any]:
    """Return the cost of a training of the paper: its own estimate, and the counted matrix products."""
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


def data(context: LessonContext) -> StageData:
    """Return the charts of Tables 2 to 4, the costs, and the readings of ambiguous sentences."""
    t = context.t
    return StageData(
        values={
            "charts": {
                "variations": variation_charts(t, load_results()),
                "parsing": _parsing_charts(context),
                "scores": _score_charts(t),
            },
            "heads": [
                {"heads": preset(row.preset).model.num_heads, "bleu": row.bleu, "perplexity": row.perplexity}
                for row in lines_by_heads()
            ],
            "sentences": _sentences(context),
            "runs": {name: _run(name) for name in PAPER_RUNS},
            "rate": P100_FLOPS,
        }
    )


def _ours(context: LessonContext) -> list[tuple[str, ParsingScores]]:
    """Return scores of our parser by test set and search; empty for scenes that do not show them."""
    name = find_parser() if context.state.scene == "parsing" else None
    if name is None:
        return []
    card = get_translation_service(name).card
    searches = (card.parsing, card.parsing_free)
    found = [(test, scores[test]) for test in card.parsing for scores in searches if test in scores]
    return [(_label(context.t, test, scores), scores) for test, scores in found]


def _label(t: Texts, test: str, scores: ParsingScores) -> str:
    """Name a test set and its search."""
    holds = t(f"lesson_results.set_{content_of(test) or 'any'}")
    return f"{holds} \u00b7 {t(f'model.parsing_{scores.allowed}')}"


def _sentences(context: LessonContext) -> dict[str, Any] | None:
    """Return our parser's readings of ambiguous sentences; None without a parser and for other scenes."""
    name = find_parser() if context.state.scene == "attachment" else None
    if name is None:
        return None
    service = get_translation_service(name)
    found: dict[str, Any] = service.compute_once(
        context.session, ("results.attachment",), lambda _: readings(service.translator)
    )
    return found


def figure(scene: str, context: LessonContext) -> Figure | None:
    """Return Table 2 as points; Table 3, Table 4 and the costs as rows of points."""
    if scene == "variations":
        return table_3(context, load_results())
    drawn = {"scores": _scores, "cost": _costs, "parsing": _parsers, "attachment": _attachment}.get(scene)
    return drawn(context) if drawn else None


def _costs(context: LessonContext) -> DotsFigure:
    """Plot the paper's estimates of its training costs beside the counted matrix products."""
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
    return DotsFigure(row_labels=list(runs), columns=columns, row_title=t("lesson_results.model"))


def _parsers(context: LessonContext) -> DotsFigure:
    """Return the parsers of Table 4 that were trained on the text of the setting, the best one last, and ours."""
    return _parser_figure(context.state.choice("setting", "wsj", _SETTINGS), _ours(context), context.t)


def _parser_figure(setting: str, ours: list[tuple[str, ParsingScores]], t: Texts) -> DotsFigure:
    parsers = _of_setting(setting)
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
    return DotsFigure(row_labels=labels, columns=columns, row_title=t("lesson_results.parser"))


def _of_setting(setting: str) -> list[Parser]:
    return sorted((each for each in TABLE_4 if (each.setting == "wsj") == (setting == "wsj")), key=lambda each: each.f1)


def _parsing_charts(context: LessonContext) -> dict[str, Any]:
    """Return Table 4 for the stage: the paper's parsers, and ours below them with right-branching trees as marks."""
    t, ours = context.t, _ours(context)
    scores = ", ".join(f"{name} {each.f1:.1f}" for name, each in ours)
    columns = [t("lesson_results.parser"), t("lesson_results.setting"), "F1"]
    own = [[t("lesson_results.parsing_ours"), name, _with_interval(each)] for name, each in ours]
    trivial = [[] if each.right_branching_f1 is None else [each.right_branching_f1] for _, each in ours]

    def draw(setting: str) -> tuple[dict[str, Any], str]:
        parsers = _of_setting(setting)
        place = next(place for place, each in enumerate(parsers) if each.name.startswith("Transformer"))
        drawn = chart_data(_parser_figure(setting, ours, t)) | {"below": True, "strong": [place]}
        drawn["table"] = {"columns": columns, "rows": [*(_parser_row(each, t) for each in parsers), *own]}
        for column in drawn["columns"][1:]:
            column["marks"] = [*([] for _ in parsers), *trivial]
        said = t("lesson_results.parsing_say", place=len(parsers) - place, count=len(parsers))
        return drawn, f"{said} {t('lesson_results.parsing_ours_say', scores=scores)}" if ours else said

    settings = {setting: t(f"lesson_results.setting_{setting}") for setting in _SETTINGS}
    return chart_set([("setting", t("lesson_results.setting"), settings)], draw)


def _parser_row(parser: Parser, t: Texts) -> list[str]:
    return [parser.name, t(f"lesson_results.setting_{parser.setting}"), f"{parser.f1:.1f}"]


def _with_interval(scores: ParsingScores) -> str:
    ends = f" ({scores.f1_95[0]:.1f}\u2013{scores.f1_95[1]:.1f})" if scores.f1_95 else ""
    return f"{scores.f1:.1f}{ends}"


def _attachment(context: LessonContext) -> DotsFigure | None:
    """Plot the probability of the verb reading of each sentence, relative to both readings."""
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
    return DotsFigure(row_labels=rows, columns=[column], row_title=t("lesson_results.sentence"))


def _scores(context: LessonContext) -> CurvesFigure:
    """Return Table 2 as points: BLEU over the cost of training, a series for each kind of system."""
    return _score_figure(context.state.choice("pair", "ende", _PAIRS), context.t)


def _score_figure(pair: str, t: Texts) -> CurvesFigure:
    return CurvesFigure(
        series=tuple(
            Series(
                x=[_cost(row, pair) for row in rows],
                y=[getattr(row, pair) for row in rows],
                label=t(f"lesson_results.group_{group}"),
                dashed=group == "ensemble",
            )
            for group, rows in _systems(pair).items()
        ),
        x_title=t("lesson_results.flops"),
        y_title="BLEU",
        x_log=True,
    )


def _systems(pair: str) -> dict[str, list[Score]]:
    """Return the systems that have both numbers, by kind, the cheapest first."""
    shown = [row for row in TABLE_2 if getattr(row, pair) is not None and _cost(row, pair) is not None]
    shown.sort(key=lambda row: (_cost(row, pair), getattr(row, pair)))
    return {group: [row for row in shown if row.group == group] for group in _GROUPS}


def _cost(row: Score, pair: str) -> float:
    cost: float = getattr(row, f"{pair}_flops")
    return cost


def _score_charts(t: Texts) -> dict[str, Any]:
    """Return Table 2 for the stage, each point with its name; a table of all systems, also without a cost."""

    def draw(pair: str) -> tuple[dict[str, Any], str]:
        drawn = chart_data(_score_figure(pair, t))
        for series, systems in zip(drawn["series"], _systems(pair).values(), strict=True):
            series["names"] = [f"{row.name}  {getattr(row, pair):g}" for row in systems]
        rows = [
            [row.name, t(f"lesson_results.group_{row.group}"), f"{bleu:g}", format_number(cost) if cost else "\u2013"]
            for row in TABLE_2
            if (bleu := getattr(row, pair)) is not None
            for cost in [_cost(row, pair)]
        ]
        columns = [t("lesson_results.system"), t("lesson_results.group"), "BLEU", t("lesson_results.flops")]
        return drawn | {"table": {"columns": columns, "rows": rows}}, ""

    pairs = {pair: t(f"lesson_results.{pair}") for pair in _PAIRS}
    return chart_set([("pair", t("lesson_results.pair"), pairs)], draw)
