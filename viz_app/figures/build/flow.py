"""The flow of a translation: what each token is made of, or the whole way of one; and how it grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import KINDS, AttentionMaps
from transformer_core.text.tokenizer import BOS_TOKEN
from viz_app.figures.build.steps import Animation
from viz_app.figures.model.figure import Figure, display_label
from viz_app.figures.model.flow import STACKS, FlowFigure, MadeToken, Way, WayGraph
from viz_app.figures.text import flow_captions
from viz_app.text import texts

if TYPE_CHECKING:
    from transformer_core.analysis.flow import Flow
    from transformer_core.translator import Translation, Translator
    from viz_app.figures.build.request import Request

_FRAMES, _SECONDS, _HOLD = 20, 0.1, 1.6  # of a figure that grows: two seconds, then it stays
_TITLES = ("source", "inputs", "biases", "residual", "left", "right", "negative")
_LISTED = 12  # tokens that an error names


@dataclass(frozen=True)
class Flows:
    """Flows of a translation, computed when they are drawn.

    Args:
        source: Tokens of the sentence.
        outputs: Tokens of the translation.
        compute: From positions, a token that each is compared with or None, and the percentage of all flow in its graph
            or None for no graph, to the tokens with what they are made of.
    """

    source: Sequence[str]
    outputs: Sequence[str]
    compute: Callable[[Sequence[int], str | None, int | None], Sequence[MadeToken]]

    @classmethod
    def from_model(cls, translator: Translator, source: str, target: str | Translation, maps: AttentionMaps) -> Flows:
        """Return the flows of a sentence and its translation, which has these maps."""

        def compute(positions: Sequence[int], against: str | None, share: int | None) -> list[MadeToken]:
            from transformer_core.analysis.flow import POINTS, flows
            from transformer_core.analysis.teacher_forced_run import teacher_forced_run

            run = teacher_forced_run(translator, source, target, points=POINTS)
            return [_made(each, share) for each in flows(translator, run, positions, against=against)]

        return cls(maps.source.tokens, maps.outputs.tokens, compute)

    @classmethod
    def from_flow(cls, flow: Flow) -> Flows:
        """Return the flows of a translation of which one is known."""
        return cls(flow.run.source_tokens, flow.run.tokens, lambda positions, against, share: [_made(flow, share)])


def flow(r: Request) -> FlowFigure:
    """Draw what the tokens of a translation are made of: all alike, one in full, or the whole way of that one.

    Raises:
        ValueError: There are no flows, no such token, or no token where one is needed.
    """
    if r.flows is None:
        raise ValueError("flows are missing: the view flow draws a model's run")
    outputs = r.flows.outputs
    word = None if r.word is None else _position(r.word, outputs)
    if word is None and (r.unfold or r.against is not None):
        raise ValueError("word is missing: unfold and against are about one token")
    everything = () if r.unfold else r.flows.compute(range(len(outputs)), None, None)
    tokens = {each.position: each for each in everything}
    if word is not None and (r.unfold or r.against is not None):
        tokens[word] = r.flows.compute([word], r.against, r.share if r.unfold else None)[0]
    t = texts(r.language)
    titles = {name: t(f"figures.flow_{name}") for name in _TITLES}
    titles |= {kind: t(f"figures_page.kind_{kind}") for kind in KINDS}
    view: dict[str, Any] = {"name": "flow"} if word is None else {"name": "flow", "word": word}
    figure = FlowFigure(
        source=r.flows.source,
        outputs=outputs,
        tokens=[tokens[position] for position in sorted(tokens)],
        titles=titles,
        start=BOS_TOKEN,
        word=word,
        note=t(f"figures.flow_note_{'graph' if r.unfold else 'all' if word is None else 'word'}"),
        language=r.language,
        theme=r.theme,
        name="headlight_flow" + ("" if word is None else f"_word{word + 1}") + "_unfolded" * r.unfold,
        provenance={**r.provenance, "view": view | ({"language": r.language} if r.language != "en" else {})},
    )
    return flow_captions.with_words(figure)


def animated(figure: Figure) -> Animation | None:
    """Return the animation of a figure that moves or grows; None for another one.

    An unfolded flow grows from the foot upwards, the ribbons of a chosen token reach out to its parts; without a chosen
    token one after the other is.
    """
    if not isinstance(figure, FlowFigure):
        return figure if isinstance(figure, Animation) else None
    if figure.word is None:
        frames = [replace(figure, word=token.position) for token in figure.tokens]
    else:
        frames = [replace(figure, reached=step / _FRAMES) for step in range(1, _FRAMES + 1)]
    words = {each.name: getattr(figure, each.name) for each in fields(Figure)}
    seconds = Animation.seconds if figure.word is None else _SECONDS
    return Animation(frames=frames, seconds=seconds, hold=_HOLD, **words)


def _position(word: int | str, outputs: Sequence[str]) -> int:
    """Return the position of a token, given by its position or its text."""
    labels = [display_label(token) for token in outputs]
    if isinstance(word, str) and word in labels:
        return labels.index(word)
    if not isinstance(word, int) or not 0 <= word < len(outputs):
        named = ", ".join(labels[:_LISTED]) + ", ..." * (len(labels) > _LISTED)
        text = repr(word) if isinstance(word, str) else word + 1
        raise ValueError(f"word is {text}, but must be from 1 to {len(labels)}, or one of {named}")
    return word


def _made(each: Flow, share: int | None) -> MadeToken:
    return MadeToken(
        position=each.position,
        logit=each.logit,
        source=each.source,
        inputs=each.inputs[: each.position + 1],
        biases=each.biases,
        against=each.against,
        graph=None if share is None else _graph(each, share),
    )


def _graph(each: Flow, share: int) -> WayGraph:
    graph, read = each.graph(share / 100), {"encoder": None, "decoder": each.position + 1}
    ways = graph.ways
    rows = zip(*(column.tolist() for column in (ways.kind, ways.layer, ways.query, ways.key, ways.value)), strict=True)
    return WayGraph(
        ways=[Way(KINDS[kind], *row) for kind, *row in rows],
        share=1 - graph.omitted / graph.total if graph.total else 0.0,
        count=graph.count,
        states={stack: graph.states[stack][:, : read[stack]] for stack in STACKS},
        residuals={stack: graph.residuals[stack][:, : read[stack]] for stack in STACKS},
    )
