"""View of the explorer from a translation and a selection, and its files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from transformer_core.analysis.attention_sinks import SINK_SHARE, most_informative_head, sink_shares
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.text.tokenizer import EOS_TOKEN
from viz_app.components.explorer.payload import Step, pack
from viz_app.components.explorer.selection import Selection, View
from viz_app.explorer_view.sentence_bundle import sentence_bundle
from viz_app.export.bundle import Turn
from viz_app.export.figure_request import ForwardResult
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.rendering import ExportableFigure, make_figure
from viz_app.figures import Figure
from viz_app.serving.measurements.model_card import ModelCard
from viz_app.serving.models.comparison import Comparison, other_models
from viz_app.serving.models.parse_tree import parse_tree
from viz_app.serving.models.registry import display_names
from viz_app.serving.models.search_tree import search_tree
from viz_app.serving.models.translation_service import BEAM, TranslationResult, TranslationService
from viz_app.text import Texts

if TYPE_CHECKING:
    from transformer_core.translator import Translation


MAX_SIDE_BY_SIDE = 192  # heads of a kind; more tiles would be too small to read, or reach beyond the window


def opening_view(layers: int, heads: int) -> View:
    """Return the view beside a head: all heads of its kind, or the heads of its layer where all are too many."""
    return "heads" if layers * heads <= MAX_SIDE_BY_SIDE else "layer"


def best_head(card: ModelCard, maps: AttentionMaps) -> Selection:
    """Return the encoder-decoder head that aligns words best on the gold set, if it looks at words in these maps.

    Otherwise, or without a measurement, the head whose keys depend most on what is generated.
    """
    start = Selection(kind="cross", view=opening_view(*maps.cross.shape[:2]))
    if card.best_head is not None:
        aligner = replace(start, layer=card.best_head.layer, head=card.best_head.head).fitted(maps)
        if sink_shares(maps, "cross")[aligner.layer, aligner.head] <= SINK_SHARE:
            return aligner
    _, layer, head = most_informative_head(maps, "cross")
    return replace(start, layer=layer, head=head)


def alignment_rates(card: ModelCard, maps: AttentionMaps) -> dict[Kind, list[list[float]]]:
    """Return the alignment error rate of each encoder-decoder head, by generated tokens; empty when unmeasured."""
    table = card.aligners.get("output")
    layers, heads = maps.cross.shape[:2]
    if table is None or [len(row) for row in table.rates] != [heads] * layers:
        return {}
    return {"cross": [list(row) for row in table.rates]}


def payload(
    result: TranslationResult,
    t: Texts,
    best: Selection,
    card: ModelCard,
    *,
    beam: Mapping[str, Any] | None = None,
    tree: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the packed translation, the same bytes on every rerun.

    No session keeps it: of a long sentence it is many megabytes, and all but the labels are packed only once (Result).

    Args:
        result: The translation and its maps.
        t: Labels in the visitor's language.
        best: The encoder-decoder head from which the words under the translation are taken.
        card: Measurements of the checkpoint.
        beam: The search as a tree; see `viz_app.serving.models.search_tree.search_tree`.
        tree: Tree of a parser; see `viz_app.serving.models.parse_tree.parse_tree`.
        about: Sentence and checkpoints; see `viz_app.components.explorer.pack`.
    """
    spoken = card.languages
    return pack(
        result.maps,
        weights=result.packed,
        steps=_steps(result.translation),
        texts=t.table("explorer"),
        selection=best,
        gloss_head=(best.layer, best.head),
        alignment=alignment_rates(card, result.maps),
        beam=beam,
        tree=tree,
        about=about,
        source_language=spoken.source if spoken else "",
        target_language=spoken.target if spoken else "",
    )


def branch_payload(
    t: Texts,
    served: TranslationService,
    search: tuple[str, int],
    result: TranslationResult,
    shown: TranslationResult,
    own: TranslationService | None = None,
    answers: Mapping[str, Any] | None = None,
    force: str | None = None,
) -> bytes:
    """Return a packed branch of a search.

    Args:
        t: Labels in the visitor's language.
        served: The model.
        search: The sentence as typed, and the number of the branch.
        result: The best translation of the search.
        shown: The branch.
        own: Service of the model that the page shows, if it is another one.
        answers: What a page without Python can show, `Answers` of types.d.ts; None where Python answers.
        force: The tokens that the search was forced to begin with; None for none.
    """
    text, branch = search
    translator, name = served.translator, (own or served).name
    tree = search_tree(result.translation, translator.tokenizer, translator.decoding.replace(beam=BEAM), branch)
    about = {
        "text": text,
        "source": result.translation.source,
        "model": served.name,
        "own": name,
        "models": other_models(name),
        "titles": display_names(t),
    }
    if force:
        about["force"] = force
    if answers is not None:
        about |= {"models": [], "titles": {}, "answers": answers}
    parsed = parse_tree(result.translation, branch, shown.translation, translator)
    best = best_head(served.card, result.maps)
    if answers is not None and "flow" in answers:
        best = replace(best, form="flow")
    return payload(shown, t, best, served.card, beam=tree, tree=parsed, about=about)


def _steps(translation: Translation) -> tuple[Step, ...]:
    """Return the probability of each token, and the runners-up."""
    written = (*translation.tokens, EOS_TOKEN)
    steps = zip(written, translation.scores, translation.alternatives, strict=False)
    return tuple(
        Step(math.exp(score), tuple((other, math.exp(log_p)) for other, log_p in others if other != token))
        for token, score, others in steps
    )


@dataclass(frozen=True)
class ExplorerSnapshot:
    """Figure on the screen now, with its files; nothing is drawn before it is needed.

    Args:
        seen: The translation that is shown, as `viz_app.figure_editor.rendering.forward_result` knows it.
        selection: The visible part of its maps.
        language: Code of the language of its titles.
        other: Comparison of the selected head, if it is not in these maps.
    """

    seen: ForwardResult
    selection: Selection
    language: str
    other: Comparison | None = None

    @cached_property
    def _spec(self) -> FigureSpec:
        spec = FigureSpec().follow_explorer(self.selection, self.seen.maps.outputs.words)
        return spec.fitted(self.seen.maps)

    def _exportable(self, spec: FigureSpec) -> ExportableFigure:
        return ExportableFigure(make_figure(spec, self.language, self.seen, self.other), spec.style)

    @cached_property
    def still(self) -> ExportableFigure:
        """Figure on the screen, with the weights of its own heads and no others."""
        return self._exportable(self._spec)

    @property
    def figure(self) -> Figure:
        """The head as map or lines, the flow, two heads compared, or all heads side by side."""
        return self.still.figure

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that it has, those for print first; a head that follows the decoding has it as an animation."""
        still, spec = self.still.formats, self._spec
        if spec.view != "head" or spec.selection.kind == "encoder":
            return still
        return tuple(each for name in still for each in (("gif", name) if name == "csv" else (name,)))

    def file(self, format: str) -> bytes:
        """Return the figure as a file with its command in it; see `viz_app.figures.export` for the formats."""
        follows = format == "gif" and self._spec.view == "head"
        exportable = self._exportable(replace(self._spec, view="decoding")) if follows else self.still
        return exportable.file(format)

    def everything(self, turn: Turn = nullcontext) -> bytes:
        """Return a zip of everything of the sentence; see `sentence_bundle`."""
        return sentence_bundle(self.seen, self.selection, self.language, turn)

    @property
    def command(self) -> str:
        """The command that makes the figure again; empty for a branch that no text leads to."""
        return self.still.command("pdf")

    def file_name(self, format: str) -> str:
        """Return a file name with the heads, counted from 1."""
        name = self.still.file_name(format)
        if format != "gif" or self._spec.view != "head":
            return name
        stem = re.sub(r"_step\d+$", "", name.removesuffix(".gif"))  # an animation has all steps
        return f"{stem}_decoding.gif"
