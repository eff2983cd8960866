"""Lesson "Positional encoding" (Section 3.5): the numbers behind its pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.storage.files import CheckpointError
from viz_app.figures import Animation, CurvesFigure, MatrixFigure, Series
from viz_app.figures.model.figure import Figure
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.small_models import small_model
from viz_app.lessons.stage.state import Setting
from viz_app.lessons.word_order import (
    FloatArray,
    default_swap,
    measure_change,
    swapped_order,
    token_order,
    translate_rows,
    words_of,
)
from viz_app.serving.models.translation_service import BEAM
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.model.transformer import Transformer
    from transformer_core.translator import Translator

MIN_POSITIONS = 16  # shown at least, also of a short sentence
ROWS = 48  # of the table for print
STEPS = 12  # of k, at most
POINTS = 6  # of a printed wave, from one position to the next
MAX_FRAMES = 48  # of the moving waves, where a sentence allows it; each takes a tenth of a second to draw
SECONDS = 0.36  # in which the cut goes from one position to the next
MAX_SWAPPED = 16  # words whose pairs a page without Python holds
LEARNED_SHOWN = 64  # positions of the learned table and of the sinusoids beside it


def data(context: LessonContext) -> StageData:
    """Return the width, the tokens, and the effect of two swapped words; the stage computes the waves itself."""
    tokens = context.tokens
    values = {
        "d_model": context.service.translator.config.d_model,
        "positions": max(MIN_POSITIONS, len(tokens)),
        "tokens": list(tokens),
        "backwards": _backwards(context) if context.state.scene == "predict" else None,
    }
    swap, table = _swap(context), _learned()
    return StageData(
        values=values | dict(swap.values) | {"learned": table and {"positions": table.shown, "trained": table.trained}},
        arrays=dict(swap.arrays) | ({"alike": table.alike} if table else {}),
        answers=swap.answers,
    )


def _swap(context: LessonContext) -> StageData:
    """Measure the effect of two swapped words on the encoder."""
    words = words_of(context.tokens[:-1])
    plain = [place for place, word in enumerate(words) if word.plain]
    if len(plain) < 2:
        return StageData(values={"words": []})
    start = default_swap([words[place] for place in plain])
    first, second = (
        round(context.state.number(name, default, 0, len(plain) - 1))
        for name, default in zip(("first", "second"), start, strict=True)
    )
    order = swapped_order(len(words), plain[first], plain[second])
    changes = context.compute_once(
        ("positions.swap", context.source, first, second),
        lambda _: _changes(context.source, context.service.translator, order),
    )
    values = {
        "words": [word.text for word in words],
        "plain": plain,
        "start": list(start),
        "order": order,
        "groups": list(changes),
    }
    answers = {"first": first, "second": second}
    return StageData(values=values, arrays={"changes": np.stack(list(changes.values()))}, answers=answers)


def prepared(scene: str, context: LessonContext) -> Iterator[Mapping[str, Setting]]:
    """List the pairs of words that can be swapped, of a sentence that has not too many."""
    places = range(sum(word.plain for word in words_of(context.tokens[:-1])))
    if scene == "swap" and len(places) <= MAX_SWAPPED:
        yield from ({"first": first, "second": second} for first in places for second in places)


def _changes(text: str, translator: Translator, order: Sequence[int]) -> dict[str, FloatArray]:
    """Measure (2, words) for each way of reading: with positions, without them, and trained without them."""
    found = {}
    for name, model, positions in (("with", translator, True), ("off", translator, False), ("trained", _small(), True)):
        if model is None:
            continue
        encoding = model.tokenizer.source.encode(text)
        words = words_of(encoding.tokens)
        if len(words) == len(order):  # another vocabulary may cut punctuation off elsewhere
            moved = measure_change(model, encoding.ids, token_order(words, order), positions=positions)
            found[name] = moved.by_word(words)
    return found


@dataclass(frozen=True)
class PositionTables:
    """Position tables of the small models.

    Args:
        alike: (3, P, P) cosine of any two positions: sinusoids, learned table of the source, of the target.
        trained: Positions that training has seen; the rows after them are what chance drew.
    """

    alike: FloatArray
    trained: int

    @property
    def shown(self) -> int:
        """P, the number of positions shown."""
        return int(self.alike.shape[1])


def _learned() -> PositionTables | None:
    """Compare a learned table with sinusoids of its width; None while the small model is missing."""
    try:
        translator = small_model("learned-positions")
    except CheckpointError:
        return None
    trained = int(translator.metrics["training"]["max_tokens"]) + 1  # and </s>, or <s>
    return compare_position_tables(translator.model, trained)


def compare_position_tables(model: Transformer, trained: int) -> PositionTables:
    """Compare the learned positions of a model with sinusoids of its width.

    Args:
        model: The model.
        trained: Positions that its training has seen.
    """
    from transformer_core.model.positions import LearnedPositions, sinusoidal_positions

    tables = [
        table.weight for table in (model.source_positions, model.positions) if isinstance(table, LearnedPositions)
    ]
    shown = min(LEARNED_SHOWN, *(len(table) for table in tables))
    sines = sinusoidal_positions(shown, model.config.d_model)
    rows = [table[:shown].detach().double().numpy() for table in (sines, *tables)]
    units = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in rows]
    alike = np.stack([unit @ unit.T for unit in units]).astype(np.float32)
    return PositionTables(alike, trained)


def _small() -> Translator | None:
    """Load the small model trained without positions; None while it is missing."""
    try:
        return small_model("no-positions")
    except CheckpointError:
        return None


def _backwards(context: LessonContext) -> dict[str, Any]:
    """Translate the sentence and its tokens in reverse order, with positions in the encoder and without."""
    translator = context.service.translator

    def compute(stop: ShouldStop) -> dict[str, Any]:
        ids = translator.tokenizer.source.encode(context.source).ids
        rows = [list(ids), list(ids[::-1])]
        return {
            "with": translate_rows(translator, rows, BEAM, positions=True, should_stop=stop),
            "off": translate_rows(translator, rows, BEAM, positions=False, should_stop=stop),
        }

    return context.compute_once(("positions.backwards", context.source), compute)


def figure(scene: str, context: LessonContext) -> Figure | None:
    """Return waves and changes as curves, the map M_k and tables of positions as matrices."""
    from transformer_core.model.positions import sinusoidal_positions

    d_model, state = context.service.translator.config.d_model, context.state
    if scene == "waves":
        return _figure_of_waves(context, d_model)
    if scene == "clocks":
        matrix = shift_matrix(round(state.number("k", 2, 1, STEPS)), d_model)
        return _matrix_figure(context, matrix, "column", "column", "M")
    if scene == "heatmap":
        table = sinusoidal_positions(max(ROWS, len(context.tokens)), d_model).double().numpy()  # (n, d)
        return _matrix_figure(context, table, "position", "column", "PE")
    if scene == "swap":
        return _figure_of_swap(context)
    if scene == "learned" and (learned := _learned()):
        alike = learned.alike[1 if state.choice("side", "source", ("source", "target")) == "source" else 2]
        return _matrix_figure(context, alike, "position", "position", context.t("lesson_positions.cosine"))
    return None


def _matrix_figure(
    context: LessonContext, values: npt.NDArray[np.floating[Any]], row: str, column: str, scale: str
) -> MatrixFigure:
    """Build a matrix figure of signed values; the labels `row` and `column` name its axes."""
    t = context.t
    return MatrixFigure(
        values=values,
        row_title=t(f"lesson_positions.{row}"),
        column_title=t(f"lesson_positions.{column}"),
        scale_title=scale,
        diverging=True,
    )


def _figure_of_waves(context: LessonContext, d_model: int) -> Animation:
    """Plot six waves with a cut: still at the chosen position, gliding in a GIF."""
    state, last = context.state, max(MIN_POSITIONS, len(context.tokens)) - 1
    odd = state.choice("part", "sin", ("sin", "cos")) == "cos"
    at = state.number("at", 0, 0, last)
    x = np.union1d(np.arange(last * POINTS + 1) / POINTS, [at])  # through every position, and where it is read
    series = tuple(
        Series(x=x, y=wave(x, 2 * pair + odd, d_model), label=f"PE(pos, {2 * pair + odd})")
        for pair in shown_pairs(d_model)
    )
    y_title, language = "cos" if odd else "sin", context.t.language
    still = CurvesFigure(series=series, x_title="pos", y_title=y_title, cut=at, language=language)
    # A whole number of steps from one position to the next, and not many more pictures for a long sentence.
    steps = next(each for each in (3, 2, 1) if last * each <= MAX_FRAMES or each == 1)
    frames = [dataclasses.replace(still, cut=step / steps) for step in range(last * steps + 1)]
    return Animation(frames=frames, still=still, seconds=SECONDS / steps, language=language)


def wave(x: npt.NDArray[np.float64], column: int, d_model: int) -> npt.NDArray[np.float64]:
    """Compute one column of the encoding at places x, also between two positions (Section 3.5)."""
    angle: npt.NDArray[np.float64] = x * 10_000.0 ** (-(column - column % 2) / d_model)
    found: npt.NDArray[np.float64] = np.cos(angle) if column % 2 else np.sin(angle)
    return found


def _figure_of_swap(context: LessonContext) -> Figure | None:
    numbers = data(context)
    if "changes" not in numbers.arrays:
        return None
    changes = numbers.arrays["changes"]
    x = np.arange(changes.shape[2])
    t = context.t
    series = tuple(
        Series(x=x, y=100 * changes[group, 0], label=t(f"lesson_positions.group_{name}"))
        for group, name in enumerate(numbers.values["groups"])
    )
    title = t("lesson_positions.outputs")
    return CurvesFigure(series=series, x_title=t("lesson_positions.position"), y_title=title)


def shown_pairs(d_model: int) -> tuple[int, ...]:
    """Return the six pairs of columns that the scenes show, the fastest first; as in encoding.js."""
    shares = (0, 0.095, 0.19, 0.3, 0.45, 1)
    return tuple(dict.fromkeys(int(share * (d_model / 2 - 1) + 0.5) for share in shares))


def shift_matrix(k: int, d_model: int) -> npt.NDArray[np.float64]:
    """Return (d, d) M_k with M_k PE(p) = PE(p + k): each pair rotated by k times its frequency."""
    matrix = np.zeros((d_model, d_model))
    turned = k * 10_000.0 ** (-np.arange(0, d_model, 2) / d_model)
    even, odd = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(turned)
    matrix[even, odd] = np.sin(turned)
    matrix[odd, even] = -np.sin(turned)
    return matrix
