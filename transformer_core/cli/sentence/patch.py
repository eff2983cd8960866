r"""Find the heads, or layers and positions, that carry the difference between two sentences.

Both sentences are translated up to the first token that differs. Then one value of one run is put into the other.
The difference is the logit of the clean sentence's next token minus the logit of the corrupted one's. 0: none of it
comes with the value; 1: all.

--site sets the values that are moved:

  heads      the output of one head, at all positions
  residual   the residual stream after a layer, at one position
  ffn        the output of a feed-forward network, at one position
  edges      what a head gives directly to one input of another head, or to the logits

--direction denoise moves values of the clean run into the corrupted one (what suffices?), noise moves
values of the corrupted run into the clean one (what is needed?).

For L layers, H heads and P positions the file contains

  recovered, metrics    (3, L, H) of heads: encoder, decoder, encoder-decoder; else (2, L, P): encoder,
                        decoder; NaN where a stack has no such position
  metric_clean, metric_corrupted   of the two runs as they are
  answers, prefix, source          the two tokens, the tokens before, the patched sentence
  provenance            JSON text: checkpoint and its hash, sentences, site, direction

Layers, heads and positions count from 0 in the file, from 1 on the screen. For sentences with different
numbers of tokens only heads can be patched.

Of edges, the effects of all are estimated (attribution patching), and the largest measured (path
patching). The result is the graph of edges from which others lead to the logits. --graph also writes it
as a table (.csv) or for Graphviz (.dot). Instead of recovered, metrics and source, the file contains

  sender, receiver, input (E,)   such as cross.6.8, layer and head from 1; the largest estimate first
  estimate, exact (E,)           effects on the difference in nats; NaN where it was not measured

The table of --data has a row for each head of each line: line, kind, layer, head, recovered, metric.
FILE.means.csv has the means of every head over the lines, with their 95 % intervals. Lines whose two
translations are equal or hardly differ are skipped.

Example:
  python -m transformer_core patch --checkpoint checkpoints/en-de \
      --clean "The child plays." --corrupted "The children play." --out patch.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Options, Parser, UsageError, check_new_file, output_path
from transformer_core.cli.sentence.data_set import Columns, DataSet, head_columns
from transformer_core.cli.sentence.sentence_command import Measurement, SentenceCommand, TextOption
from transformer_core.storage.files import atomic_write_text

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_core.analysis.minimal_pairs import Pair
    from transformer_core.translator import Translator

SITES = ("heads", "residual", "ffn", "edges")
DIRECTIONS = ("denoise", "noise")
_MAX_ROWS = 8  # of the table: the cells that carry most


def _add_options(parser: Parser) -> None:
    parser.add_choice("--site", SITES, "The values that are moved.", default="heads")
    parser.add_choice("--direction", DIRECTIONS, "Into the corrupted run, or into the clean one.", default="denoise")
    parser.add_argument("--least", type=float, default=0.01, metavar="X", help="Of edges: the least share.")
    parser.add_number("--exact", 20, "Of edges: how many to measure.", least=0, most=1_000)
    parser.add_argument("--graph", type=output_path, metavar="FILE", help="Of edges: a file for the graph.")


def _check(options: Options) -> None:
    if options.data and options.site != "heads":
        raise UsageError("--site: --data can only be combined with heads, since positions differ from line to line")
    if not 0 < options.least <= 1:
        raise UsageError(f"--least is {options.least:g}, but must be above 0, and at most 1")
    if options.graph is not None:
        if options.site != "edges" or options.graph.suffix not in (".csv", ".dot"):
            raise UsageError("--graph needs --site edges, and must end with .csv or .dot")
        check_new_file("--graph", options.graph, options.force)


def _columns(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Columns:
    from transformer_core.analysis.patching import patching

    found = patching(translator, *texts[:2], answers=(texts[2], texts[3]), **choices)
    return head_columns(recovered=found.recovered, metric=found.metrics)


def _measure(translator: Translator, options: Options) -> Measurement:
    """Return what each cell or edge carries of the difference, and a table of the largest."""
    import numpy as np

    from transformer_core.analysis.minimal_pairs import PatchingError, read_pair
    from transformer_core.analysis.patching import patching

    answers = tuple(options.answers) if options.answers else None
    chosen = {"answers": answers, "direction": options.direction}
    try:
        if options.site == "edges":
            pair = read_pair(translator, options.clean, options.corrupted, **chosen)
            metrics, (arrays, tables), place = pair.metrics, _edges(translator, pair, options), pair.divergence
            names, prefix = (translator.tokenizer.tokens(list(ids)) for ids in (place.answers, place.prefix))
        else:
            found = patching(translator, options.clean, options.corrupted, site=options.site, **chosen)
            names, prefix, metrics = found.answers, found.prefix, (found.metric_clean, found.metric_corrupted)
            arrays = {"recovered": found.recovered, "metrics": found.metrics, "source": found.source}
            tables = [_largest(found.recovered, options.site)]
    except PatchingError as error:
        raise UsageError(str(error)) from error
    first, second = names
    return Measurement(
        arrays={
            **arrays,
            "metric_clean": np.float32(metrics[0]),
            "metric_corrupted": np.float32(metrics[1]),
            "answers": names,
            "prefix": np.array(prefix, dtype=np.str_),
        },
        facts={
            "clean": options.clean,
            "corrupted": options.corrupted,
            "answers_given": answers is not None,
            "site": options.site,
            "direction": options.direction,
            **({"least": options.least, "exact": options.exact} if options.site == "edges" else {}),
        },
        report=[
            f"{'After ' + ' '.join(prefix) if prefix else 'First token'}: {first} or {second}?",
            f"logit({first}) - logit({second}): {metrics[0]:.2f} clean, {metrics[1]:.2f} corrupted\n",
            *tables,
        ],
    )


def _edges(translator: Translator, pair: Pair, options: Options) -> tuple[dict[str, Any], list[Any]]:
    """Return the graph as arrays and as a table of its largest edges; write it for --graph."""
    import numpy as np

    from transformer_core.analysis.effects.head_paths import attribution_patching, path_patching

    effects = attribution_patching(translator, pair)
    graph = effects.graph(options.least * abs(pair.difference))
    exact = path_patching(translator, pair, list(graph)[: options.exact])
    numbers = np.array([(effect, exact.get(edge, np.nan)) for edge, effect in graph.items()]).reshape(-1, 2)
    names = np.array([edge.names for edge in graph], dtype=np.str_).reshape(-1, 3)
    table = [["sender", "receiver", "input", "estimate", "exact"]]
    for edge, effect in graph.items():
        table.append([*edge.names, f"{effect:+.4f}", f"{exact[edge]:+.4f}" if edge in exact else ""])
    if options.graph is not None:
        lines = "".join(",".join(row) + "\n" for row in table)
        atomic_write_text(options.graph, graph.dot() if options.graph.suffix == ".dot" else lines)
    arrays = dict(zip(table[0], [*names.T, *numbers.T], strict=True))
    shown = table[: _MAX_ROWS + 1]
    return arrays, [f"{len(effects):,} edges, {len(graph)} in the graph, {len(shown) - 1} shown, in nats", shown]


def _largest(recovered: Tensor, site: str) -> list[list[str]]:
    """Return the rows of the cells that carry most; layers, heads and positions from 1, as on the screen."""
    flat = recovered.nan_to_num(-float("inf")).flatten()
    _, layers, columns = recovered.shape
    heads = site == "heads"
    rows = [[site, "layer.head" if heads else "layer.position", "recovered"]]
    for number in flat.topk(min(_MAX_ROWS, len(flat))).indices.tolist():
        place, layer, column = number // (layers * columns), number // columns % layers, number % columns
        name = ("encoder", "decoder", "encoder-decoder")[place]
        rows.append([name, f"{layer + 1}.{column + 1}", f"{flat[number]:.3f}"])
    return rows


COMMAND = SentenceCommand(
    "patch",
    _measure,
    _add_options,
    _check,
    (
        TextOption("clean", "The sentence.", required=True),
        TextOption("corrupted", "One that differs in little.", required=True),
        TextOption("answers", "Their translations, if not those of the model.", translation=True, count=2),
    ),
    data_set=DataSet(_columns, lambda translator, options: {"direction": options.direction}),
)
add_options, run = COMMAND.add_options, COMMAND.run
