"""Flow of a translation as plain values for the browser: the parts of each word, through every head.

The browser's own model makes the same values: `components/live/js/flow.js`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

if TYPE_CHECKING:
    from transformer_core.analysis.flow import Flow
    from transformer_core.attention_maps import FloatArray
    from transformer_core.translator import Translation, Translator
    from viz_app.components.explorer.selection import Selection
    from viz_app.serving.models.translation_service import TranslationResult, TranslationService
    from viz_app.serving.scheduling.single_flight_cache import ShouldStop

SENT_SHARE = 0.98  # of all flow that the ways of a word carry
MAX_WAYS = 1_500  # of a word
FILE_WAYS = 400  # of a word, in the file of a page
MAX_WORDS = 48  # of a longer translation the words around the chosen one
MAX_HEADS = 3  # of a way
MAX_NEURONS = 60  # of a word
_TOGETHER = 24  # words between two checks whether to stop
_PATIENCE = 0.2  # seconds: who types on has no use for it, and the next translation would wait for the cores
STACKS = ("encoder", "decoder")


class Stacks(TypedDict):
    """Numbers of both stacks, by layer and position."""

    encoder: list[list[float]]
    decoder: list[list[float]]


class FlowWord(TypedDict, total=False):
    """Parts of one generated token, in units of its logit. Without ways only the first four.

    `logit` is the sum of `source` (S,), of `inputs` (T,) and of `biases`. A way is an attention edge, summed over the
    heads of its layer: four numbers of `ways` (kind, layer, query, key), one of `flows`, and in `heads` pairs of a head
    and its part. `total` is the sum of all absolute flows, `count` how many are not 0. `neurons` has five numbers each:
    stack, layer, position, neuron, part.
    """

    logit: float
    source: list[float]
    inputs: list[float]
    biases: float
    total: float
    count: int
    ways: list[int]
    flows: list[float]
    heads: list[list[float]]
    states: Stacks
    residuals: Stacks
    neurons: list[float]


class FlowData(TypedDict):
    """Flow of every generated token, or of one against another token.

    `model`, `source` and `tokens` name the translation. `against` and `at`: the token of a contrast, and the position
    that it stands for; None for the mean of the vocabulary at every position. `lens`: tokens that the logit lens reads,
    (L + 1, T), where ways are shown.
    """

    model: str
    source: str
    tokens: list[str]
    against: str | None
    at: int | None
    words: list[FlowWord | None]
    lens: list[list[str]]


def flow(
    service: TranslationService, session: str, result: TranslationResult, selection: Selection, *, ways: bool = True
) -> dict[str, Any]:
    """Return the finding `flow` of a translation, a hundredth of it without ways; None for a parser.

    Raises:
        Superseded: When a newer request of the session took over.
    """
    length, chosen = len(result.maps.outputs), selection.chosen_token(result.maps.outputs.words)
    first = max(0, min(length - MAX_WORDS, (0 if chosen is None else chosen) - MAX_WORDS // 2))
    at = range(first, min(length, first + MAX_WORDS))
    return {"flow": _computed(service, session, result, at, None, _PATIENCE, ways)}


def contrast(
    service: TranslationService, session: str, result: TranslationResult, selection: Selection
) -> dict[str, Any]:
    """Return the finding `contrast` of the chosen token against another one; None for no comparison.

    Raises:
        Superseded: When a newer request of the session took over.
    """
    at, other = selection.chosen_token(result.maps.outputs.words), selection.versus
    if other is None or at is None or at >= len(result.maps.outputs):
        return {"contrast": None}
    if other not in _vocabulary(service.translator):  # of an address
        return {"contrast": None}
    return {"contrast": _computed(service, session, result, range(at, at + 1), other, 0.0)}


def shortened(data: FlowData | None) -> FlowData | None:
    """Return a flow with the largest ways of each word only, for the file of a page."""
    if data is None:
        return None
    count = FILE_WAYS
    words: list[FlowWord | None] = [
        word
        and {**word, "ways": word["ways"][: 4 * count], "flows": word["flows"][:count], "heads": word["heads"][:count]}
        for word in data["words"]
    ]
    return {**data, "words": words}


def _computed(
    service: TranslationService,
    session: str,
    result: TranslationResult,
    at: range,
    against: str | None,
    patience: float,
    ways: bool = True,
) -> FlowData | None:
    if service.parses:
        return None
    translator, translation = service.translator, result.translation
    key = ("flow", translation.source, tuple(translation.hypotheses[0].ids), translation.finished, at, against, ways)
    return service.compute_once(
        session,
        key,
        lambda stop: flow_data(translator, translation, service.name, at, against, stop, ways),
        patience=patience,
    )


def flow_data(
    translator: Translator,
    translation: Translation,
    model: str,
    positions: range | None = None,
    against: str | None = None,
    should_stop: ShouldStop | None = None,
    ways: bool = True,
) -> FlowData:
    """Compute the flow of a translation.

    Args:
        translator: The model.
        translation: Its translation.
        model: Name of the checkpoint.
        positions: Of the explained tokens; None for all.
        against: A token that they are compared with, as the vocabulary writes it.
        should_stop: Returns whether to stop.
        ways: Whether the words have their ways.

    Raises:
        ValueError: The vocabulary lacks the token `against`.
        DecodingStopped: `should_stop` returned True.
    """
    from transformer_core.analysis.flow import POINTS, flows
    from transformer_core.analysis.lens import logit_lens
    from transformer_core.analysis.teacher_forced_run import stop_check, teacher_forced_run

    check = stop_check(should_stop)
    run = teacher_forced_run(translator, translation.source, translation, points=POINTS)
    words: list[FlowWord | None] = [None] * len(run.tokens)
    other = None if against is None else _vocabulary(translator).index(against)
    at = range(len(run.tokens)) if positions is None else positions
    for start in range(0, len(at), _TOGETHER):
        for each in flows(translator, run, at[start : start + _TOGETHER], against=other, neurons=ways):
            check()
            words[each.position] = _word(each, ways)
    lens: list[list[str]] = []
    if against is None and ways:
        found = logit_lens(translator, translation.source, translation, listed=1, should_stop=should_stop)
        lens = [[first for (first,) in layer] for layer in found.top_tokens]
    return FlowData(
        model=model,
        source=translation.source,
        tokens=list(run.tokens),
        against=against,
        at=None if against is None or positions is None else positions[0],
        words=words,
        lens=lens,
    )


def _vocabulary(translator: Translator) -> tuple[str, ...]:
    return translator.tokenizer.tokens(range(len(translator.tokenizer)))


def _word(flow: Flow, with_ways: bool) -> FlowWord:
    word = FlowWord(
        logit=_short(flow.logit), source=_list(flow.source), inputs=_list(flow.inputs), biases=_short(flow.biases)
    )
    if not with_ways:
        return word
    ways = flow.graph(SENT_SHARE).ways.first(MAX_WAYS)
    places = np.stack([ways.kind, ways.layer, ways.query, ways.key], axis=1)
    stacks = [
        Stacks(encoder=_rows(values["encoder"]), decoder=_rows(values["decoder"]))
        for values in (flow.states, flow.residuals)
    ]
    neurons = flow.top_neurons[:MAX_NEURONS]
    parts = _list(np.array([part for *_, part in neurons]))
    return word | FlowWord(
        total=_short(flow.total),
        count=len(flow.ways),
        ways=places.ravel().tolist(),
        flows=_list(ways.value),
        heads=_largest(ways.heads),
        states=stacks[0],
        residuals=stacks[1],
        neurons=[
            number
            for (stack, layer, position, neuron, _), part in zip(neurons, parts, strict=True)
            for number in (STACKS.index(stack), layer, position, neuron, part)
        ],
    )


def _largest(parts: FloatArray) -> list[list[float]]:
    """Return pairs of a head and its part, the largest first, for each row of parts (ways, H)."""
    heads = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :MAX_HEADS]
    rows = zip(heads.tolist(), _rows(np.take_along_axis(parts, heads, axis=1)), strict=True)
    return [[number for pair in zip(*row, strict=True) if pair[1] for number in pair] for row in rows]


def _short(number: float) -> float:
    return _list(np.array([number]))[0]


def _list(numbers: FloatArray) -> list[float]:
    """Return numbers with four significant digits."""
    return _rows(numbers[None])[0]


def _rows(numbers: FloatArray) -> list[list[float]]:
    exact = numbers.astype(np.float64)
    sizes = np.abs(exact, where=exact != 0, out=np.ones_like(exact))
    digits = np.clip(3 - np.floor(np.log10(sizes)), -22, 22)  # 10 to the power of more is not exact
    up, down = 10.0 ** np.maximum(digits, 0), 10.0 ** np.maximum(-digits, 0)
    rounded: list[list[float]] = (np.rint(exact * up / down) / up * down).tolist()
    return rounded
