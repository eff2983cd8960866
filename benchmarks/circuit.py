"""Measure circuits: seconds of each method over all edges, and how near its largest edges are to exact patching.

    python -m benchmarks.circuit [--task number.en-de] [--checkpoint checkpoints/en-de] [--pairs 100] [--quick]

`seconds` is one run over the pairs, the null included; `curve` is what the strongest and as many random edges keep, at
nine sizes. `r` is the correlation of the 50 largest edges of a method with each of them patched alone, over a sixth of
the pairs; `random` is that of 50 drawn edges.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import torch

from benchmarks.machine import interleaved, read_options, report
from transformer_core.analysis.circuit import Circuit, MinimalPair, circuit, exact_edges, read_task
from transformer_core.analysis.circuit.result import Method
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translator

LARGEST = 50
GRADIENTS: tuple[Method, ...] = tuple(each for each in get_args(Method) if each not in ("patching", "random"))


def correlation(found: Circuit, edges: torch.Tensor) -> float:
    """Correlation of the scores of some edges with exact patching."""
    exact = exact_edges(found, [found.edge_names[at] for at in edges.tolist()]).mean(dim=0)
    return float(torch.corrcoef(torch.stack([exact, found.edges.mean(dim=0)[edges]]))[0, 1])


def measure(translator: Translator, pairs: list[MinimalPair], rounds: int, options: Any) -> dict[str, Any]:
    """Seconds, and agreement with exact patching, of each method."""
    runs: dict[str, Callable[[], object]] = {
        method: partial(circuit, translator, pairs, method=method) for method in GRADIENTS
    }
    found = circuit(translator, pairs)
    runs["curve"] = partial(found.faithfulness, random_orders=1)
    seconds = interleaved(runs, rounds=rounds, options=options)
    answer: dict[str, Any] = {name: {"seconds": value} for name, value in seconds.items()}
    drawn = torch.randperm(found.edges.shape[1], generator=torch.Generator().manual_seed(1))[:LARGEST]
    for method in GRADIENTS:
        some = circuit(translator, pairs[::6], method=method)
        answer[method] |= {"r": correlation(some, some.strongest(LARGEST)), "random": correlation(some, drawn)}
    return answer


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(
        __doc__,
        ("--task", {"default": "number.en-de", "metavar": "NAME", "help": "Pairs that ship."}),
        ("--checkpoint", {"default": "checkpoints/en-de", "metavar": "DIR", "help": "The model."}),
        ("--pairs", {"type": int, "default": 100, "metavar": "N", "help": "The first of them. (default: 100)"}),
    )
    translator = Translator.load(find_checkpoint(options.checkpoint), device=options.device)
    pairs = read_task(options.task)[: 12 if options.quick else options.pairs]
    answer = measure(translator, pairs, options.rounds or (1 if options.quick else 3), options)
    rows = [[name, each["seconds"], each.get("r", "-"), each.get("random", "-")] for name, each in answer.items()]
    report(f"{options.task}, {len(pairs)} pairs", ["", "seconds", "r", "random"], rows, {"circuit": answer}, options)


if __name__ == "__main__":
    main()
