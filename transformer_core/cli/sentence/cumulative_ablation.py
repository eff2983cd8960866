r"""Switch heads off one after the other, and measure the log-probability of the translation at every step.

At twelve of the steps the sentence is translated anew. --order sets which head goes next:

  effect     the head whose removal alone costs least goes first
  gradient   by a first-order estimate of that, from one backward pass
  greedy     always the head whose removal costs least now; as many passes as heads
  random     drawn with --seed

For N heads the file contains

  heads (N,)          in the order in which they go, such as cross.5.2; layers and heads from 0
  log_p (N + 1,)      of the translation without the first 0, 1, ..., N heads, in nats
  counts, texts       (C,) how many heads are off, and what the model generates then
  random (R, C)       the log-probability at these counts in orders that are drawn
  provenance          JSON text: checkpoint and its hash, sentence, order

Example:
  python -m transformer_core cumulative-ablation --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --out cumulative-ablation.npz
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transformer_core.cli.arguments import Options, Parser
from transformer_core.cli.sentence.sentence_command import Measurement, SentenceCommand, sentence_facts

if TYPE_CHECKING:
    from transformer_core.translator import Translator

ORDERS = ("effect", "gradient", "greedy", "random")


def _add_options(parser: Parser) -> None:
    parser.add_choice("--order", ORDERS, "Order of the heads.", default="effect")
    parser.add_number("--random-orders", 0, "Random orders to compare with.", least=0, most=100)
    parser.add_number("--seed", 0, "Of what is drawn.", least=0)


def _measure(translator: Translator, options: Options) -> Measurement:
    """Return the log-probability at every step, and the translation at some."""
    from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation

    chosen = {"order": options.order, "seed": options.seed, "random_orders": options.random_orders}
    found = cumulative_ablation(translator, options.source, options.target, **chosen)
    log_p = found.log_p.tolist()
    counts, texts = zip(*found.texts, strict=True)
    rows = [[str(count), f"{log_p[count]:.2f}", text] for count, text in found.texts]
    return Measurement(
        arrays={
            "heads": [f"{kind}.{layer}.{head}" for kind, layer, head in found.heads],
            "log_p": found.log_p,
            "random": found.random,
            "counts": counts,
            "texts": texts,
        },
        facts=sentence_facts(options, found.run.text, **chosen),
        report=[f"{found.run.text}\n", [["heads off", "log-probability", "translation"], *rows]],
    )


COMMAND = SentenceCommand("cumulative-ablation", _measure, _add_options)
add_options, run = COMMAND.add_options, COMMAND.run
