r"""Split the logit of each token over words, biases, and every edge of every head, exactly.

Attention weights, standard deviations of LayerNorm and gates of the feed-forward networks are frozen, which makes the
model affine. The logit is that of the token minus the mean over the vocabulary; with --at and --against, that of token
number N minus that of TOKEN. Parts say what a token is made of, not what would change without them.

For T tokens, S source tokens, L layers and H heads the file contains, in units of the logit

  source (T, S), inputs (T, T)              parts of the source tokens, and of the decoder's inputs
  biases (T,), logit (T,)                   parts of all biases; the sum of all three
  encoder, decoder, cross (T, L, H, Q, K)   parts of every edge: layer, head, query, key
  tokens, log_p, source_tokens (S,)         the tokens and their log-probability
  provenance                                JSON text: checkpoint and its hash, sentence, token

With --at there is one row. Then --out FILE.dot or FILE.json writes the graph of the largest edges, for Graphviz or
networkx; --share chooses how much of all flow they carry.

The table has a row for each token: position, token, word (of the source, with the largest part), part, share (of all
positive parts of words, those that the decoder reads included), biases, logit. Of --data it has them for each line.

Example:
  python -m transformer_core analyse flow --checkpoint checkpoints/en-de \
      --source "The dog is sleeping on the sofa." --out flow.npz
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured, run_arrays, run_report
from transformer_core.cli.analyse.tokens import from_0, token_ids
from transformer_core.cli.arguments import Options, Parser, UsageError

if TYPE_CHECKING:
    from transformer_core.analysis.flow import Flow
    from transformer_core.translator import Translator


def _options(parser: Parser) -> None:
    parser.add_argument("--at", type=int, metavar="N", help="Number of a token, from 1; all unless given.")
    parser.add_argument("--against", metavar="TOKEN", help="The token that it is compared with.")
    parser.add_argument("--share", type=float, default=0.8, metavar="X", help="Of all flow, in the graph (0.8).")


def _check(options: Options) -> None:
    if options.at is None and (options.against or options.out.suffix in _GRAPHS):
        raise UsageError("--against and a graph need --at")
    if options.data and options.at is not None:
        raise UsageError("--at and --data cannot be combined")
    if not 0 < options.share <= 1:
        raise UsageError(f"--share is {options.share:g}, but must be above 0, and at most 1")


def _choices(translator: Translator, options: Options) -> dict[str, Any]:
    against = token_ids(translator, [options.against] if options.against else None, "--against")
    return {"at": options.at, "against": against, "share": options.share}


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return the flow of every token, or of one."""
    import numpy as np

    from transformer_core.analysis.flow import POINTS, flows
    from transformer_core.analysis.teacher_forced_run import teacher_forced_run
    from transformer_core.attention_maps import KINDS

    run = teacher_forced_run(translator, *texts, points=POINTS)
    at = None if choices["at"] is None else [from_0("--at", choices["at"], len(run.tokens))]
    results = list(flows(translator, run, at, against=next(iter(choices["against"]), None)))
    names = ("source", "inputs", "biases", "logit")
    files = {}
    if at:
        graph = results[0].graph(choices["share"])
        files = {".dot": graph.dot, ".json": json.dumps(graph.to_dict(), ensure_ascii=False, indent=1)}
    return Measured(
        columns={
            "position": [each.position + 1 for each in results],
            "token": [each.token if each.against is None else f"{each.token}, not {each.against}" for each in results],
            **dict(zip(("word", "part", "share"), zip(*map(_largest, results), strict=True), strict=True)),
            **{name: np.array([getattr(each, name) for each in results]) for name in names[2:]},
        },
        arrays={
            **{name: np.stack([getattr(each, name) for each in results]) for name in names},
            **{kind: np.stack([each.maps[kind] for each in results]) for kind in KINDS},
            **run_arrays(run),
        },
        facts={"target": run.text},
        report=[run_report(run)],
        files=files,
    )


def _largest(flow: Flow) -> tuple[str, float, float]:
    """Return the source word with the largest part, the part, and its share of all positive parts of words."""
    import torch

    from transformer_core.analysis.attribution.methods import by_words, input_axis, source_axis

    axis = source_axis(flow.run)
    source = by_words(torch.from_numpy(flow.source)[None], axis)[0]
    inputs = by_words(torch.from_numpy(flow.inputs)[None], input_axis(flow.run))[0]
    first = int(source.argmax())
    part = float(source[first])
    positive = float(torch.cat([source, inputs]).clamp(min=0).sum())
    return axis.word_texts[first], part, max(part, 0.0) / positive if positive else 0.0


_GRAPHS = (".dot", ".json")
ANALYSIS = Analysis("flow", _measure, _options, _check, _choices, endings=_GRAPHS)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
