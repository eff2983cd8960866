r"""Find the circuit of a behaviour: the heads, feed-forward networks and edges that carry it in minimal pairs.

Of each pair the model reads both sentences up to the first token at which their translations differ. A score is what
the metric, the logit of the clean sentence's next token minus that of the corrupted one's, loses in nats when one node
or edge takes its value from the corrupted run. An edge leads along residual connections from the embedded source, a
head or a network to the queries, keys or values of a head, to a network, or to the logits.

--task names a set of pairs that ships; --pairs is a file of your own: clean and corrupted sentence, their translations
and a group, with tabs between. Only sentences with as many tokens can be compared; the others are counted.

--method sets how scores are computed:

  eap-ig    change of the sender times the gradient at the receiver, at --steps points between the two sentences
  eap       the same at the clean sentence alone
  flow      the same with attention weights, standard deviations and gates held constant
  patching  exact: a run for each node and each edge; slow
  random    a control

--curve runs the model with the strongest edges alone: the share of the metric that is kept, beside random edges.

The table has a row for each node: node, score, its 95 % interval (low, high) over groups of pairs, share of the
difference, and null: the highest score of such a node when the donor is another sentence of the same class. The .npz
has the table's columns and

  sender, receiver, edge_score   (E,) all edges, the largest first
  metrics                        (P, 2) of the clean and the corrupted run of each pair
  shares, kept, random           (K,), (K,), (O, K): the curve, with --curve
  provenance                     JSON text: checkpoint and its hash, pairs, choices

--out FILE.dot writes the --edges strongest edges for Graphviz.

Example:
  python -m transformer_core analyse circuit --checkpoint checkpoints/en-de --task number.en-de --out number.csv
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured
from transformer_core.cli.analyse.patch import PAIR
from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.files import sha256

if TYPE_CHECKING:
    from transformer_core.translator import Translator

METHODS = ("eap-ig", "eap", "flow", "patching", "random")


def _options(parser: Parser) -> None:
    parser.add_argument("--task", metavar="NAME", help="Pairs that ship, such as number.en-de.")
    parser.add_path("--pairs", "A table of pairs.")
    parser.add_choice("--method", METHODS, "How nodes and edges are scored.", default="eap-ig")
    parser.add_number("--steps", 5, "Points of eap-ig.", most=256)
    parser.add_number("--edges", 50, "Edges of the graph.", most=100_000)
    parser.add_argument("--curve", action="store_true", help="Measure how much the strongest edges keep.")


def _check(options: Options) -> None:
    sources = [name for name in ("task", "pairs", "clean") if getattr(options, name)]
    if len(sources) != 1:
        raise UsageError("give one of --task, --pairs, and --clean with --corrupted")
    if bool(options.clean) != bool(options.corrupted):
        raise UsageError("--clean and --corrupted belong together")
    if options.task:
        from transformer_core.analysis.circuit.task import shipped_tasks

        if options.task not in shipped_tasks():
            raise UsageError(f"--task: there are {', '.join(shipped_tasks())}")


def _choices(translator: Translator, options: Options) -> dict[str, Any]:
    names = ("task", "method", "steps", "edges", "curve")
    chosen = {name: getattr(options, name) for name in names}
    pairs = options.pairs and {"pairs": str(options.pairs), "pairs_sha256": sha256(Path(options.pairs))}
    return chosen | (pairs or {})


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return nodes, edges and the curve."""
    import numpy as np

    from transformer_core.analysis.circuit import MinimalPair, circuit, read_pairs_file, read_task

    if choices["task"]:
        pairs = read_task(choices["task"])
    elif "pairs" in choices:
        pairs = read_pairs_file(Path(choices["pairs"]))
    else:
        clean, corrupted, *answers = texts
        pairs = [MinimalPair(clean, corrupted, tuple(answers) if all(answers) else None)]
    result = circuit(translator, pairs, method=choices["method"], steps=choices["steps"])
    graph, columns = result.graph(choices["edges"]), result.columns()
    order = result.strongest(len(result.edge_names)).tolist()
    arrays = {
        **columns,
        "sender": [result.edge_names[at][0] for at in order],
        "receiver": [result.edge_names[at][1] for at in order],
        "edge_score": result.edges.mean(dim=0)[order],
        "metrics": result.metrics,
    }
    clean, corrupted = result.metrics.mean(dim=0).tolist()
    skipped = "".join(f", {count} left out ({reason})" for reason, count in result.skipped.items())
    right = float(((result.metrics[:, 0] > 0) & (result.metrics[:, 1] < 0)).float().mean())
    report = [
        f"{len(result.pairs)} pairs{skipped}; the model prefers both answers in {right:.0%}",
        f"metric: {clean:.2f} clean, {corrupted:.2f} corrupted, in nats",
        f"{len(graph)} of the {choices['edges']} strongest edges lead from the source to the logits, the largest:",
        *(f"  {sender} -> {receiver}  {score:+.3f}" for (sender, receiver), score in list(graph.items())[:12]),
    ]
    if choices["curve"]:
        curve = result.faithfulness()
        arrays |= {"shares": np.array(curve.shares), "kept": curve.kept, "random": curve.random}
        report += ["", "edges  kept  random"]
        rows = zip(curve.edges, curve.kept.tolist(), curve.random.mean(dim=0).tolist(), strict=True)
        report += [f"{edges:>6,}  {kept:5.2f}  {random:5.2f}" for edges, kept, random in rows]
        report += [f"CPR {curve.cpr:.3f}, CMD {curve.cmd:.3f}"]
    return Measured(columns=columns, arrays=arrays, report=[*report, ""], files={".dot": _dot(graph)})


def _dot(graph: Mapping[tuple[str, str], float]) -> str:
    """Return the edges in the language of Graphviz; several inputs of a head are several edges."""
    from transformer_core.analysis.circuit.result import node_of

    lines = [
        f'"{sender}" -> "{node_of(receiver)}" [label="{receiver.rpartition(".")[2]} {score:+.2f}"]'
        for (sender, receiver), score in graph.items()
    ]
    return "\n".join(["digraph circuit {", "rankdir=BT", *lines, "}\n"])


ANALYSIS = Analysis(
    "circuit",
    _measure,
    _options,
    _check,
    choices=_choices,
    texts=tuple(replace(each, required=False) for each in PAIR),
    data=False,
    endings=(".dot",),
    ranked=True,
)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
