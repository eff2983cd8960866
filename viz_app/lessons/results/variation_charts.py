"""Table 3 as rows of points: the paper's models and ours of the same rows, with seed-to-seed variation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformer_core.paper.table3 import Results
from viz_app.lessons.chart_data import chart_set, dots_chart
from viz_app.lessons.dots import MISSING, Dots
from viz_app.lessons.results.paper_results import TABLE_3, Variation
from viz_app.lessons.results.reduced_table import MEASURES, Measure, ReducedResult, parameter_millions, reduced_result
from viz_app.text import Texts

_ROWS = ("A", "B", "C", "D", "E", "big", "all")
_WHOSE = ("paper", "ours", "both")
_UNITS = {"bleu": "BLEU", "perplexity": "PPL"}
_DIGITS = {"bleu": 1, "perplexity": 2}
_MISSING = "\u2013"


def _chart(row: str, measure: str, whose: str, results: Results | None, t: Texts) -> dict[str, Any]:
    lines, results = _lines(row), None if whose == "paper" else results
    if measure == "parameters":
        columns = _parameters(lines, results, t)
    else:
        columns = _columns(lines, results, "bleu" if measure == "bleu" else "perplexity", t)
    visible = columns[1:] if results and whose == "ours" else columns
    return dots_chart([_name(line, t) for line in lines], visible, t("lesson_results.change"))


def variation_charts(t: Texts, results: Results | None) -> dict[str, Any]:
    """Return Table 3 for the stage: every choice of rows and measure, with our seeds and verdicts."""
    ours = {measure: {line.preset: _reduced(results, line, measure) for line in TABLE_3} for measure in MEASURES}
    tables = {row: _table(_lines(row), ours, results, t) for row in _ROWS}
    rows = {row: t("lesson_results.all_rows") if row == "all" else row for row in _ROWS}
    measures = {name: t(f"lesson_results.measure_{name}") for name in (*MEASURES, "parameters")}

    def draw(row: str, measure: str, whose: str) -> tuple[dict[str, Any], str]:
        lines = _lines(row)
        drawn = _chart(row, measure, whose, results, t) | {"table": tables[row]}
        drawn["strong"] = [place for place, line in enumerate(lines) if line.preset == "base"]
        drawn["first"] = int(bool(results) and whose == "ours")
        paper, small = drawn["columns"][: 1 - drawn["first"]], drawn["columns"][1 - drawn["first"] :]
        if not results and whose != "paper":
            drawn["columns"].append({"title": t("lesson_results.of_ours"), "none": t("lesson_results.none_of_ours")})
        for column in small:
            column["short"] = t("lesson_results.of_ours")
        if measure == "parameters":
            return drawn, t("lesson_results.parameters_say")
        score: Measure = "bleu" if measure == "bleu" else "perplexity"
        for column in paper:
            column["asides"] = _differences(column["values"], _DIGITS[score])
        for column in small:
            scores = [ours[score][line.preset] for line in lines]
            verdicts = [_verdict(each, t) for each in scores]
            changes = _differences(column["values"], _DIGITS[score])
            column["asides"] = [f"{change} {text}".strip() for change, text in zip(changes, verdicts, strict=True)]
            column["marks"] = [list(each.seeds) if each and len(each.seeds) > 1 else [] for each in scores]
        sentences = [_said(row, score, t), _agreement(lines, ours[score], results, t)]
        return drawn, " ".join(sentences[whose == "ours" : 1 + (whose != "paper")])

    models = {whose: t(f"lesson_results.of_{whose}") for whose in _WHOSE}
    controls = {"row": rows, "measure": measures, "whose": models}
    return chart_set([(name, t(f"lesson_results.{name}"), options) for name, options in controls.items()], draw)


def _lines(row: str) -> list[Variation]:
    return [line for line in TABLE_3 if row == "all" or line.row in ("base", row)]


def _reduced(results: Results | None, line: Variation, measure: Measure) -> ReducedResult | None:
    return reduced_result(results, line.preset, measure) if results else None


def _verdict(result: ReducedResult | None, t: Texts) -> str:
    return t(f"lesson_results.verdict_{result.verdict}") if result and result.verdict else ""


def _differences(values: Sequence[float | None], digits: int) -> list[str]:
    """Return how far each value lies from the first, that of base."""
    base = values[0]
    if base is None:
        return [""] * len(values)
    return ["", *("" if value is None else _signed(value - base, digits) for value in values[1:])]


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "\u2212")


def _said(row: str, measure: Measure, t: Texts) -> str:
    """Name the best and the worst model of the paper."""
    ranked = sorted(_lines(row), key=lambda line: float(getattr(line, measure)), reverse=measure == "bleu")
    best, worst = ranked[0], ranked[-1]
    return t(
        "lesson_results.variations_say",
        row=t("lesson_results.every_row") if row == "all" else t("lesson_results.this_row", row=row),
        measure=_UNITS[measure],
        best=_name(best, t),
        high=f"{getattr(best, measure):.{_DIGITS[measure]}f}",
        worst=_name(worst, t),
        low=f"{getattr(worst, measure):.{_DIGITS[measure]}f}",
    )


def _agreement(
    lines: Sequence[Variation], ours: dict[str, ReducedResult | None], results: Results | None, t: Texts
) -> str:
    """Say how many of our differences go the paper's way."""
    if not results:
        return t("lesson_results.reduced_missing")
    verdicts = [each.verdict for line in lines if (each := ours[line.preset]) and each.verdict]
    if not verdicts:
        return t("lesson_results.reduced_single")
    counts = {name: verdicts.count(name) for name in ("same", "other", "noise")}
    return t("lesson_results.reduced_say", count=len(verdicts), **counts)


def _table(
    lines: Sequence[Variation],
    ours: dict[Measure, dict[str, ReducedResult | None]],
    results: Results | None,
    t: Texts,
) -> dict[str, Any]:
    """Return all numbers of some rows, of both measures."""
    sizes = {run.row: f"{run.parameters / 1e6:.3f}" for run in results.runs} if results else {}
    rows = []
    for line in lines:
        reduced = [ours[measure][line.preset] for measure in MEASURES]
        cells = [cell for each, measure in zip(reduced, MEASURES, strict=True) for cell in _cells(each, measure, t)]
        counted = [f"{millions:.1f}" for millions in parameter_millions(line.preset)]
        seeds = str(len(reduced[0].seeds)) if reduced[0] else _MISSING
        printed = _MISSING if line.millions is None else f"{line.millions:g}"
        scores = [f"{line.bleu:.1f}", f"{line.perplexity:.2f}"]
        rows.append([_name(line, t), *scores, *cells, seeds, printed, *counted, sizes.get(line.preset, _MISSING)])
    paper, ours_label, verdict = (t(f"lesson_results.{name}") for name in ("of_paper", "of_ours", "verdict"))
    columns = [t("lesson_results.change"), f"{paper}: BLEU", f"{paper}: PPL"]
    columns += [f"{ours_label}: {each}" for each in ("BLEU", verdict, "PPL", verdict)]
    columns += [t(f"lesson_results.{name}") for name in ("seeds", "printed")]
    columns += [f"{t('lesson_results.counted')} ({size})" for size in ("37,000", "40,960")]
    return {"columns": [*columns, t("lesson_results.counted_ours")], "rows": rows}


def _cells(result: ReducedResult | None, measure: Measure, t: Texts) -> tuple[str, str]:
    """Return our value with its standard deviation, and how it compares."""
    if result is None:
        return _MISSING, _MISSING
    around = "" if result.deviation is None else f" \u00b1 {result.deviation:.{_DIGITS[measure]}f}"
    return f"{result.mean:.{_DIGITS[measure]}f}{around}", _verdict(result, t) or _MISSING


def _name(line: Variation, t: Texts) -> str:
    if line.preset == "table3-e-learned":
        return t("lesson_results.learned_positions")
    return line.change or line.row


def _columns(lines: list[Variation], results: Results | None, measure: Measure, t: Texts) -> list[Dots]:
    look: dict[str, Any] = {
        "axis": f"{_UNITS[measure]} ({t('lesson_results.better')} \u2192)",
        "digits": _DIGITS[measure],
        "log": measure == "perplexity",
        "falling": measure == "perplexity",
    }
    values = [float(getattr(line, measure)) for line in lines]
    paper = Dots(values=values, title=t("lesson_results.of_paper"), base=values[0], **look)
    if not results:
        return [paper]
    scores = [reduced_result(results, line.preset, measure) for line in lines]
    small = Dots(
        values=[each.mean if each else MISSING[0] for each in scores],
        title=_title(results, t),
        base=scores[0].mean if scores[0] else None,
        bands=[each.band if each and each.band else MISSING for each in scores],
        hollow=[bool(each and each.verdict == "noise") for each in scores],
        **look,
    )
    return [paper, small]


def _parameters(lines: list[Variation], results: Results | None, t: Texts) -> list[Dots]:
    values = [parameter_millions(line.preset)[1] for line in lines]
    axis = t("lesson_results.millions")
    paper = Dots(values=values, title=t("lesson_results.of_paper"), axis=axis, base=values[0], digits=1, log=True)
    if not results:
        return [paper]
    sizes = {run.row: run.parameters / 1e6 for run in results.runs}
    small = Dots(
        values=[sizes.get(line.preset, MISSING[0]) for line in lines],
        title=_title(results, t),
        axis=axis,
        base=sizes["base"],
        digits=3,
        log=True,
    )
    return [paper, small]


def _title(results: Results, t: Texts) -> str:
    base, updates = results.about["base"], results.about["training"]["steps"]
    values = {"width": base["d_model"], "layers": base["num_layers"], "updates": f"{updates:,}"}
    return t("lesson_results.of_ours_small", **values)
