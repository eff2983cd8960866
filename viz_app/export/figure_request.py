"""The sentence of a figure, the model run that answers it, and the figure of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import UsageError
from transformer_core.parsing.vocabulary import generates_trees
from transformer_core.storage.files import sha256
from viz_app.export.head_means import read_means
from viz_app.export.provenance import checkpoint_record, make_provenance
from viz_app.figures import Figure, FigureOptions, Flows, ParserOutput, Search, view_named
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
        prefix: Tokens that the translation begins with, a space between; empty for none.
        split: For a parser, whether the text is split into words first; False where blanks stand between them already.
    """

    checkpoint: str
    text: str
    target: str | None = None
    beam: int | None = None
    alpha: float | None = None
    prefix: str = ""
    split: bool = True


@dataclass(frozen=True)
class ForwardResult:
    """Attention of one forward pass, and where it comes from.

    Args:
        maps: Its attention.
        provenance: Checkpoint, sentence and search, for the record.
        search: The search that found the translation; None when it was given.
        parse: What a parser generated; None for other models.
        atlas: The head atlas of the model; None where it has none, or where no view of it is asked for.
        flows: Flows of the translation; None for maps without a model.
    """

    maps: AttentionMaps
    provenance: dict[str, Any]
    search: Search | None
    parse: ParserOutput | None = None
    atlas: Atlas | None = None
    flows: Flows | None = None


class ModelRunner:
    """Runs models on one CPU thread, so that the same command gives the same bytes; loads each model once.

    Args:
        names: What a record calls a folder or a table, where that is not its own name: it may have moved.
    """

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._translators: dict[str, Translator] = {}
        self.names = names or {}

    def translator(self, checkpoint: str) -> Translator:
        """Return the model in a folder. Raises CheckpointError for a folder without a complete one."""
        if checkpoint not in self._translators:
            import torch

            from transformer_core.translator import Translator

            torch.set_num_threads(1)
            self._translators[checkpoint] = Translator.load(Path(checkpoint), "cpu")
        return self._translators[checkpoint]

    def atlas(self, checkpoint: str) -> Atlas | None:
        """Return the head atlas of the model in a folder; None without one. Raises CheckpointError when damaged."""
        from transformer_core.atlas.storage import shipped_atlas

        return shipped_atlas(Path(checkpoint), self.translator(checkpoint).checkpoint_hash)

    def record(self, checkpoint: str) -> dict[str, str]:
        """Return name and hash of the model in a folder, for the record of a figure."""
        record = checkpoint_record(self.translator(checkpoint))
        return {**record, "checkpoint": self.names.get(checkpoint, record["checkpoint"])}

    def run(self, sentence: Sentence) -> ForwardResult:
        """Translate a sentence, or force its given translation. Raises SourceTooLong."""
        record, translator = self.record(sentence.checkpoint), self.translator(sentence.checkpoint)
        tokenizer, text = translator.tokenizer, model_input(translator, sentence)
        if sentence.target is not None:
            forced = translator.teacher_force(text, sentence.target)
            provenance = make_provenance(translator, forced, source=text)
            parse = ParserOutput.from_tokens(text, forced.tokens, forced.scores, tokenizer)
            flows = Flows.from_model(translator, text, sentence.target, forced.attention)
            return ForwardResult(forced.attention, provenance | record, None, parse, flows=flows)
        search_options: dict[str, Any] = {"beam": sentence.beam, "alpha": sentence.alpha}
        result = translator.translate(text, prefix=_prefix_ids(translator, sentence.prefix), **search_options)
        provenance = make_provenance(translator, result, **search_options, prefix=sentence.prefix)
        parse = ParserOutput.from_tokens(text, result.tokens, result.scores, tokenizer)
        flows = Flows.from_model(translator, text, result, result.attention)
        search = Search.from_translation(result, tokenizer)
        return ForwardResult(result.attention, provenance | record, search, parse, flows=flows)


def _prefix_ids(translator: Translator, prefix: str) -> tuple[int, ...] | None:
    """Return the ids of the tokens of a prefix; None for none. Raises UsageError for another text."""
    tokenizer = translator.tokenizer
    known = {tokenizer.token(number): number for number in range(len(tokenizer))} if prefix else {}
    if unknown := [token for token in prefix.split() if token not in known]:
        raise UsageError(
            f"--prefix: {unknown[0][:50]!r} is no token of this model; one that begins a word begins with ▁"
        )
    return tuple(known[token] for token in prefix.split()) or None


def model_input(translator: Translator, sentence: Sentence) -> str:
    """Return the input of a model: the sentence, or for a parser its words with blanks between."""
    if not generates_trees(translator.tokenizer):
        return sentence.text
    return " ".join(visible_words(sentence.text) if sentence.split else sentence.text.split())


def run_figure(
    options: FigureOptions, sentence: Sentence, runner: ModelRunner, *, other: Sentence | None = None
) -> Figure:
    """Run the model and draw the figure.

    Args:
        options: What the figure shows.
        sentence: The sentence; of a view of the head atlas only its checkpoint plays a part.
        runner: Runs the models.
        other: Sentence of B of a comparison; None for the same.

    Raises:
        UsageError: A layer, head, query, step or atlas does not exist.
        SourceTooLong: The model cannot read the sentence.
        CheckpointError: The atlas is damaged.
    """
    if view_named(options.view).of_atlas:
        return _atlas_figure(options, sentence.checkpoint, runner)
    return render(options, runner.run(sentence), runner.run(other) if other else None)


def table_figure(options: FigureOptions, table: Path, checkpoint: str, runner: ModelRunner) -> Figure:
    """Draw all heads by their means over a data set. Raises UsageError for another table, or another model's."""
    translator = runner.translator(checkpoint)
    means = read_means(table, translator.checkpoint_hash)
    name = runner.names.get(str(table), table.name)
    record = {**runner.record(checkpoint), "table": {"name": name, "sha256": sha256(table)}}
    return view_named("grid").draw(**vars(options), means=means, provenance=record)


def _atlas_figure(options: FigureOptions, checkpoint: str, runner: ModelRunner) -> Figure:
    atlas, record = runner.atlas(checkpoint), runner.record(checkpoint)
    try:
        return view_named(options.view).draw(**vars(options), atlas=atlas, provenance=record)
    except ValueError as error:
        raise UsageError(f"--view {options.view}: {error}") from error


def render(options: FigureOptions, result: ForwardResult, other: ForwardResult | None = None) -> Figure:
    """Draw the figure of forward passes that are done. Raises UsageError for a place that does not exist."""
    check_indices(options, result.maps, other.maps if other else result.maps)
    material = {name: getattr(result, name) for name in ("maps", "search", "parse", "flows", "atlas")}
    provenance = result.provenance | ({"other": other.provenance} if other else {})
    try:
        return view_named(options.view).draw(
            **vars(options), **material, other=other.maps if other else None, provenance=provenance
        )
    except ValueError as error:
        raise UsageError(str(error)) from error


def check_indices(options: FigureOptions, maps: AttentionMaps, other: AttentionMaps) -> None:
    """Raise UsageError for a layer, head or query that the maps do not have; messages count from 1."""
    kind: Any = options.kind
    kind_b: Any = options.other_kind or kind
    for name, index, count in (
        ("layer", options.layer, maps.layers(kind)),
        ("head", options.head, maps.heads(kind)),
        *(("head", head, maps.heads(kind)) for head in options.heads),
        ("other-layer", options.other_layer, other.layers(kind_b)),
        ("other-head", options.other_head, other.heads(kind_b)),
        ("query", options.query, _rows(options, maps)),
        ("word", options.word if isinstance(options.word, int) else None, len(maps.outputs)),
    ):
        if index is not None and not 0 <= index < count:
            raise UsageError(f"--{name} is {index + 1}, but must be between 1 and {count}")


def _rows(options: FigureOptions, maps: AttentionMaps) -> int:
    """Return the number of queries that are drawn."""
    kind: Any = options.kind
    axis = maps.queries(kind)
    rows = len(axis.merged()) if options.unit == "words" else len(axis)
    return rows if kind == "encoder" or not options.step else min(rows, options.step)
