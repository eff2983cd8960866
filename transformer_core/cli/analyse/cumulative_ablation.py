r"""Switch heads off one after the other, and measure the log-probability of the translation at every step.

At twelve of the steps the sentence is translated anew. --order sets which head goes next:

  effect     the head whose removal alone costs least goes first
  gradient   by a first-order estimate of that, from one backward pass
  greedy     always the head whose removal costs least now; as many passes as heads
  random     drawn with --seed

For N heads the file contains

  heads (N,)          in the order in which they go, such as cross.5.2
  log_p (N + 1,)      of the translation without the first 0, 1, ..., N heads, in nats
  counts, texts       (C,) how many heads are off, and what the model generates then
  random (R, C)       the log-probability at these counts in orders that are drawn
  provenance          JSON text: checkpoint and its hash, sentence, order

The table has a row for each of counts: off, head (the last that went), log_p, text.

Example:
  python -m transformer_core analyse cumulative-ablation --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --out cumulative-ablation.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured, picked, run_report
from transformer_core.cli.arguments import Parser

if TYPE_CHECKING:
    from transformer_core.translator import Translator

ORDERS = ("effect", "gradient", "greedy", "random")


def _options(parser: Parser) -> None:
    parser.add_choice("--order", ORDERS, "Order of the heads.", default="effect")
    parser.add_number("--random-orders", 0, "Random orders to compare with.", least=0, most=100)
    parser.add_number("--seed", 0, "Of what is drawn.", least=0)


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return the log-probability at every step, and the translation at some."""
    from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation

    ablation = cumulative_ablation(translator, *texts, **choices)
    heads = [f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in ablation.heads]
    counts, translations = zip(*ablation.texts, strict=True)
    last = ["", *heads]
    return Measured(
        columns={
            "off": counts,
            "head": [last[count] for count in counts],
            "log_p": ablation.log_p.cpu()[list(counts)],
            "text": translations,
        },
        arrays={
            "heads": heads,
            "log_p": ablation.log_p,
            "random": ablation.random,
            "counts": counts,
            "texts": translations,
        },
        facts={"target": ablation.run.text},
        report=[run_report(ablation.run)],
    )


_CHOICES = picked("order", "random_orders", "seed")
ANALYSIS = Analysis("cumulative-ablation", _measure, _options, choices=_CHOICES, data=False)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
