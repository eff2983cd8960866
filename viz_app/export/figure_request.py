"""A complete request for a figure: sentence, checkpoint and view; and the model run that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import UsageError
from transformer_core.parsing.vocabulary import generates_trees
from viz_app.export.provenance import checkpoint_record, make_provenance
from viz_app.figures import Figure, ParserOutput, Search, view_named
from viz_app.serving.input_validation import visible_words

if TYPE_CHECKING:
    from transformer_core.atlas.record import Atlas
    from transformer_core.attention_maps import AttentionMaps
    from transformer_core.translator import Translator


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence and the model that reads it.

    Args:
        checkpoint: Folder of the model.
        text: The sentence.
        target: The translation to read; None to search for one.
        beam: Width of the search; None for the checkpoint's.
        alpha: Length penalty of the search; None for the checkpoint's.
        split: For a parser, whether the text is split into words first; False where blanks stand between them already.
    """

    checkpoint: str
    text: str
    target: str | None = None
    beam: int | None = None
    alpha: float | None = None
    split: bool = True


@dataclass(frozen=True, kw_only=True)
class FigureRequest:
    """One figure.

    Args:
        sentence: The sentence.
        view: Name of the view.
        parameters: Its parameters, layers, heads and queries counted from 0, as `viz_app.figures.Request` has them.
        other: Sentence of B of a comparison; None for the same.
        language: "en" or "ko".
    """

    sentence: Sentence
    view: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    other: Sentence | None = None
    language: str = "en"


@dataclass(frozen=True)
class ForwardResult:
    """Attention of one forward pass, and where it comes from.

    Args:
        maps: Its attention.
        provenance: Checkpoint, sentence and search, for the record.
        search: The search that found the translation; None when it was given.
        parse: What a parser generated; None for other models.
        atlas: The head atlas of the model; None where it has none, or where no view of it is asked for.
    """

    maps: AttentionMaps
    provenance: dict[str, Any]
    search: Search | None
    parse: ParserOutput | None = None
    atlas: Atlas | None = None


class ModelRunner:
    """Runs models on one CPU thread, so that the same command gives the same bytes; loads each model once."""

    def __init__(self) -> None:
        self._translators: dict[str, Translator] = {}

    def translator(self, checkpoint: str) -> Translator:
        """The model in a folder. Raises CheckpointError for a folder without a complete one."""
        if checkpoint not in self._translators:
            import torch

            from transformer_core.translator import Translator

            torch.set_num_threads(1)
            self._translators[checkpoint] = Translator.load(Path(checkpoint), "cpu")
        return self._translators[checkpoint]

    def atlas(self, checkpoint: str) -> Atlas | None:
        """The head atlas of the model in a folder; None where there is none. Raises CheckpointError when damaged."""
        from transformer_core.atlas.storage import shipped_atlas

        return shipped_atlas(Path(checkpoint), self.translator(checkpoint).checkpoint_hash)

    def run(self, sentence: Sentence) -> ForwardResult:
        """Translate a sentence, or force its given translation. Raises SourceTooLong."""
        translator = self.translator(sentence.checkpoint)
        tokenizer, text = translator.tokenizer, model_input(translator, sentence)
        if sentence.target is not None:
            forced = translator.teacher_force(text, sentence.target)
            provenance = make_provenance(translator, forced, source=text)
            parse = ParserOutput.from_tokens(text, forced.tokens, forced.scores, tokenizer)
            return ForwardResult(forced.attention, provenance, None, parse)
        found = translator.translate(text, beam=sentence.beam, alpha=sentence.alpha)
        provenance = make_provenance(translator, found, beam=sentence.beam, alpha=sentence.alpha)
        parse = ParserOutput.from_tokens(text, found.tokens, found.scores, tokenizer)
        return ForwardResult(found.attention, provenance, Search.from_translation(found, tokenizer), parse)


def model_input(translator: Translator, sentence: Sentence) -> str:
    """What a model reads of a sentence: a parser its words, split as the treebank does, with blanks between."""
    if not generates_trees(translator.tokenizer):
        return sentence.text
    return " ".join(visible_words(sentence.text) if sentence.split else sentence.text.split())


def figure_for_request(request: FigureRequest, runner: ModelRunner) -> Figure:
    """Run the model and make the figure. Raises UsageError for a layer, head, query or step that does not exist."""
    if view_named(request.view).of_atlas:
        return atlas_figure(request, runner)
    return render(request, runner.run(request.sentence), runner.run(request.other) if request.other else None)


def atlas_figure(request: FigureRequest, runner: ModelRunner) -> Figure:
    """The figure of a view of the head atlas, for which no sentence is read.

    Raises:
        UsageError: The checkpoint has no atlas, or not what is asked for.
        CheckpointError: The atlas is damaged.
    """
    checkpoint = request.sentence.checkpoint
    atlas, record = runner.atlas(checkpoint), checkpoint_record(runner.translator(checkpoint))
    about = {"language": request.language, "provenance": record}
    try:
        return view_named(request.view).figure(**request.parameters, atlas=atlas, **about)
    except ValueError as error:
        raise UsageError(f"--view {request.view}: {error}") from error


def render(request: FigureRequest, result: ForwardResult, other: ForwardResult | None = None) -> Figure:
    """Make the figure from forward passes that are done."""
    parameters = dict(request.parameters)
    check_indices(parameters, result.maps, other.maps if other else result.maps)
    provenance = dict(result.provenance)
    if other:
        provenance["other"] = other.provenance
        parameters["other"] = other.maps
    material: dict[str, Any] = {
        "maps": result.maps,
        "search": result.search if request.view == "beam" else None,
        "parse": result.parse,
    }
    material["atlas"] = result.atlas
    try:
        figure = view_named(request.view).figure(
            **parameters, **material, language=request.language, provenance=provenance
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    if any(parameters.get("names", ())):
        view = {**figure.provenance["view"], "names": list(parameters["names"])}
        figure = replace(figure, provenance={**figure.provenance, "view": view})
    return figure


def check_indices(parameters: Mapping[str, Any], maps: AttentionMaps, other: AttentionMaps) -> None:
    """Raise UsageError for a layer, head or query that the maps do not have; messages count from 1."""
    kind = parameters.get("kind", "cross")
    for name, value, its_maps, its_kind in (
        ("layer", parameters.get("layer"), maps, kind),
        ("head", parameters.get("head"), maps, kind),
        *(("head", head, maps, kind) for head in parameters.get("heads", ())),
        ("other-layer", parameters.get("other_layer"), other, parameters.get("other_kind", kind)),
        ("other-head", parameters.get("other_head"), other, parameters.get("other_kind", kind)),
    ):
        count = its_maps.layers(its_kind) if name.endswith("layer") else its_maps.heads(its_kind)
        if value is not None and not 0 <= value < count:
            raise UsageError(f"--{name} is {value + 1}, but must be between 1 and {count}")
    query = parameters.get("query")
    if query is not None:
        axis = maps.queries(kind)
        rows = len(axis.merged()) if parameters.get("unit") == "words" else len(axis)
        if kind != "encoder" and parameters.get("step"):
            rows = min(rows, parameters["step"])
        if not 0 <= query < rows:
            raise UsageError(f"--query is {query + 1}, but must be between 1 and {rows}")
