r"""Find what heads give directly to one another and to the logits, of the difference between two sentences.

Both sentences are translated up to the first token that differs; see `analyse patch`. The effects of all edges are
estimated (attribution patching), and the largest measured (path patching). The result is the graph of edges from
which others lead to the logits. --out FILE.dot writes it for Graphviz.

The table has a row for each of E edges; the .npz has its columns as arrays (E,), too:

  sender, receiver, input   such as cross.6.8; the largest estimate first
  estimate, exact           effects on the difference in nats; NaN where it was not measured

The .npz also contains

  metric_clean, metric_corrupted   logit of the one answer minus that of the other, of the two runs as they are
  answers, prefix                  the two tokens, the tokens before
  provenance                       JSON text: checkpoint and its hash, sentences, direction

Example:
  python -m transformer_core analyse edges --checkpoint checkpoints/en-de \\
      --clean "The child plays." --corrupted "The children play." --out edges.csv
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured, picked
from transformer_core.cli.analyse.patch import PAIR, add_direction, divergence, pair_of
from transformer_core.cli.arguments import Options, Parser, UsageError

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def _options(parser: Parser) -> None:
    add_direction(parser)
    parser.add_argument("--least", type=float, default=0.01, metavar="X", help="The least share of the difference.")
    parser.add_number("--exact", 20, "How many edges to measure.", least=0, most=1_000)


def _check(options: Options) -> None:
    if not 0 < options.least <= 1:
        raise UsageError(f"--least is {options.least:g}, but must be above 0, and at most 1")


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return the graph of edges."""
    import numpy as np

    from transformer_core.analysis.effects.head_paths import attribution_patching, path_patching
    from transformer_core.analysis.minimal_pairs import read_pair

    pair = read_pair(translator, **pair_of(texts), direction=choices["direction"])
    effects = attribution_patching(translator, pair)
    graph = effects.graph(choices["least"] * abs(pair.difference))
    exact = path_patching(translator, pair, list(graph)[: choices["exact"]])
    names = np.array([edge.names for edge in graph], dtype=np.str_).reshape(-1, 3)
    columns = {
        **dict(zip(("sender", "receiver", "input"), names.T, strict=True)),
        "estimate": np.array(list(graph.values()), dtype=np.float64),
        "exact": np.array([exact.get(edge, np.nan) for edge in graph], dtype=np.float64),
    }
    answers, prefix = (
        translator.tokenizer.tokens(list(ids)) for ids in (pair.divergence.answers, pair.divergence.prefix)
    )
    arrays, question = divergence(answers, prefix, pair.metrics)
    return Measured(
        columns=columns,
        arrays={**columns, **arrays},
        report=[question, f"{len(effects):,} edges, {len(graph)} in the graph, the largest, in nats"],
        files={".dot": graph.dot()},
    )


ANALYSIS = Analysis(
    "edges",
    _measure,
    _options,
    _check,
    choices=picked("direction", "least", "exact"),
    texts=PAIR,
    data=False,
    endings=(".dot",),
    ranked=True,
)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
