"""Lesson "Results and variations" (Section 6): the paper's tables beside our own counts."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from transformer_core.paper.flops import P100_FLOPS, PAPER_RUNS, Work, training_flops
from transformer_core.paper.presets import preset
from viz_app.figures.colours.scales import format_number
from viz_app.lessons.chart_data import ChartSet, chart_set, curve, curves_chart, dots_chart
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.dots import MISSING, Dots
from viz_app.lessons.results.attachment import find_parser, readings
from viz_app.lessons.results.paper_results import TABLE_2, TABLE_4, Parser, Score, lines_by_heads
from viz_app.lessons.results.reduced_table import load_results
from viz_app.lessons.results.variation_charts import variation_charts
from viz_app.serving.measurements.parsing_scores import ParsingScores, content_of
from viz_app.serving.models.loader import get_translation_service
from viz_app.text import Texts

_TOKENS = 25_000  # source tokens of a batch, and as many target tokens (Section 5.1)
_PAIRS = ("ende", "enfr")
_GROUPS = ("single", "ensemble", "transformer")
_SETTINGS = ("wsj", "more")
_LENGTH = 30  # tokens of a sentence, an assumption: it changes the count by a few percent only


Point = tuple[float, float]  # x, y


class Places(TypedDict):
    """Drawing of a tree, in font sizes; the lines to constituents first, then those to words."""

    width: float
    height: float
    nodes: list[Point]
    words: list[Point]
    edges: list[list[Point]]


class Reading(TypedDict):
    """Tree: of each constituent label, first word, end and the index of its parent or -1."""

    nodes: list[tuple[str, int, int, int]]
    log_probability: float
    places: Places


class Sentence(TypedDict):
    """Ambiguous sentence; `found` is the reading that the parser generates, None for another tree."""

    words: list[str]
    best: Literal["verb", "noun"] | None
    readings: dict[Literal["verb", "noun"], Reading]


class Heads(TypedDict):
    """Score by number of heads, of Table 3."""

    heads: int
    bleu: float
    perplexity: float


class Values(TypedDict):
    """Numbers for the browser; no sentences without a parser and for other scenes.

    `gpus`, `rate`: machines of the paper's training, and what one computes in a second.
    """

    charts: dict[Literal["scores", "variations", "parsing"], ChartSet]
    heads: list[Heads]
    sentences: dict[str, Sentence] | None
    gpus: int
    rate: float


def _counted(name: str) -> float:
    """Return the floating-point operations in the matrix products of a training of the paper."""
    config = preset(name)
    work = Work(sentences=_TOKENS / _LENGTH, source_length=_LENGTH, target_length=_LENGTH)
    return training_flops(config.model, work) * config.training.steps


def data(context: LessonContext) -> StageData:
    """Return the charts of Tables 2 to 4, and the readings of ambiguous sentences."""
    t = context.t
    values: Values = {
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
        "gpus": PAPER_RUNS["base"].gpus,
        "rate": P100_FLOPS,
    }
    return StageData(values=values)


def _ours(context: LessonContext) -> list[tuple[str, ParsingScores]]:
    """Return scores of our parser by test set and search; empty for scenes that do not show them."""
    name = find_parser() if context.state.scene == "parsing" else None
    if name is None:
        return []
    card = get_translation_service(name).card
    searches = (card.parsing, card.parsing_free)
    tests = [(test, scores[test]) for test in card.parsing for scores in searches if test in scores]
    return [(_label(context.t, test, scores), scores) for test, scores in tests]


def _label(t: Texts, test: str, scores: ParsingScores) -> str:
    """Name a test set and its search."""
    holds = t(f"lesson_results.set_{content_of(test) or 'any'}")
    return f"{holds} \u00b7 {t(f'model.parsing_{scores.allowed}')}"


def _sentences(context: LessonContext) -> dict[str, Sentence] | None:
    """Return our parser's readings of ambiguous sentences; None without a parser and for other scenes."""
    name = find_parser() if context.state.scene == "attachment" else None
    if name is None:
        return None
    service = get_translation_service(name)
    sentences: dict[str, Sentence] = service.compute_once(
        context.session, ("results.attachment",), lambda _: readings(service.translator)
    )
    return sentences


def _parser_chart(setting: str, ours: list[tuple[str, ParsingScores]], t: Texts) -> dict[str, Any]:
    parsers = _of_setting(setting)
    names = [
        f"{each.name} \u00b7 {t(f'lesson_results.setting_{each.setting}')}"
        if each.setting in ("multi", "generative")
        else each.name
        for each in parsers
    ]
    values = [each.f1 for each in parsers]
    nothing, no_paper = [MISSING[0]] * len(parsers), [MISSING[0]] * len(ours)
    columns = [Dots(values=[*values, *no_paper], title=t(f"lesson_results.setting_{setting}"), axis="F1", digits=1)]
    if ours:
        columns.append(
            Dots(
                values=[*nothing, *(each.f1 for _, each in ours)],
                bands=[*(MISSING for _ in parsers), *(each.f1_95 or MISSING for _, each in ours)],
                title=t("lesson_results.parsing_ours"),
                axis="F1",
                digits=1,
                holds=(0.0, 100.0),
            )
        )
    labels = [*names, *(label for label, _ in ours)]
    return dots_chart(labels, columns, t("lesson_results.parser"))


def _of_setting(setting: str) -> list[Parser]:
    return sorted((each for each in TABLE_4 if (each.setting == "wsj") == (setting == "wsj")), key=lambda each: each.f1)


def _parsing_charts(context: LessonContext) -> dict[str, Any]:
    """Return Table 4 for the stage: the paper's parsers, and ours below them with right-branching trees as marks."""
    t, ours = context.t, _ours(context)
    scores = ", ".join(f"{name} {each.f1:.1f}" for name, each in ours)
    columns = [t("lesson_results.parser"), t("lesson_results.setting"), "F1"]
    our_rows = [[t("lesson_results.parsing_ours"), name, _with_interval(each)] for name, each in ours]
    trivial = [[] if each.right_branching_f1 is None else [each.right_branching_f1] for _, each in ours]

    def draw(setting: str) -> tuple[dict[str, Any], str]:
        parsers = _of_setting(setting)
        place = next(place for place, each in enumerate(parsers) if each.name.startswith("Transformer"))
        drawn = _parser_chart(setting, ours, t) | {"below": True, "strong": [place]}
        drawn["table"] = {"columns": columns, "rows": [*(_parser_row(each, t) for each in parsers), *our_rows]}
        for column in drawn["columns"][1:]:
            column["marks"] = [*([] for _ in parsers), *trivial]
        summary = t("lesson_results.parsing_say", place=len(parsers) - place, count=len(parsers))
        return drawn, f"{summary} {t('lesson_results.parsing_ours_say', scores=scores)}" if ours else summary

    settings = {setting: t(f"lesson_results.setting_{setting}") for setting in _SETTINGS}
    return chart_set([("setting", t("lesson_results.setting"), settings)], draw)


def _parser_row(parser: Parser, t: Texts) -> list[str]:
    return [parser.name, t(f"lesson_results.setting_{parser.setting}"), f"{parser.f1:.1f}"]


def _with_interval(scores: ParsingScores) -> str:
    ends = f" ({scores.f1_95[0]:.1f}\u2013{scores.f1_95[1]:.1f})" if scores.f1_95 else ""
    return f"{scores.f1:.1f}{ends}"


def _score_chart(pair: str, counted: dict[str, float], t: Texts) -> dict[str, Any]:
    systems = _systems(pair)
    curves = [
        curve(
            [_cost(row, pair) for row in rows],
            [getattr(row, pair) for row in rows],
            t(f"lesson_results.group_{group}"),
            dashed=group == "ensemble",
        )
        for group, rows in systems.items()
    ]
    ours = [row for row in systems["transformer"] if row.name in counted]
    bleu = [getattr(row, pair) for row in ours]
    curves.append(curve([counted[row.name] for row in ours], bleu, t("lesson_results.counted_cost")))
    return curves_chart(curves, t("lesson_results.flops"), "BLEU", x_log=True)


def _systems(pair: str) -> dict[str, list[Score]]:
    """Return the systems that have both numbers, by kind, the cheapest first."""
    rows = [row for row in TABLE_2 if getattr(row, pair) is not None and _cost(row, pair) is not None]
    rows.sort(key=lambda row: (_cost(row, pair), getattr(row, pair)))
    return {group: [row for row in rows if row.group == group] for group in _GROUPS}


def _cost(row: Score, pair: str) -> float:
    cost: float = getattr(row, f"{pair}_flops")
    return cost


def _number(cost: float | None) -> str:
    return format_number(cost) if cost else "\u2013"


def _score_charts(t: Texts) -> dict[str, Any]:
    """Return Table 2 for the stage, each point with its name; a table of all systems, also without a cost.

    The last curve has the counted costs of the Transformers.
    """
    counted = {f"Transformer ({name})": _counted(name) for name in PAPER_RUNS}

    def draw(pair: str) -> tuple[dict[str, Any], str]:
        drawn = _score_chart(pair, counted, t)
        for series, systems in zip(drawn["series"][:-1], _systems(pair).values(), strict=True):
            series["names"] = [f"{row.name}  {getattr(row, pair):g}" for row in systems]
        rows = [
            [row.name, t(f"lesson_results.group_{row.group}"), f"{bleu:g}", *map(_number, costs)]
            for row in TABLE_2
            if (bleu := getattr(row, pair)) is not None
            for costs in [(_cost(row, pair), counted.get(row.name))]
        ]
        titles = ("flops", "counted_cost")
        columns = [t("lesson_results.system"), t("lesson_results.group"), "BLEU"]
        columns += [t(f"lesson_results.{title}") for title in titles]
        return drawn | {"table": {"columns": columns, "rows": rows}}, ""

    pairs = {pair: t(f"lesson_results.{pair}") for pair in _PAIRS}
    return chart_set([("pair", t("lesson_results.pair"), pairs)], draw)
