"""staircase: one sentence in; what is left of its translation while heads are switched off one by one out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Parser, UsageError, load_translator, write_table
from transformer_core.cli.sentence_files import (
    add_sentence,
    check_lengths,
    provenance_of,
    sentence_options,
    write_npz,
)

if TYPE_CHECKING:
    from transformer_core.analysis.effects.cumulative_ablation import CumulativeAblation

_ORDERS = ("effect", "gradient", "greedy", "random")
_MAX_RANDOM = 100


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "staircase",
        usage=(
            "--checkpoint DIR --source TEXT [--target TEXT] [--order effect|gradient|greedy|random]\n"
            "[--random-orders N] --out FILE.npz [--force]"
        ),
        description=(
            "Switch heads off one after the other, and measure the log-probability of the translation at every step.\n"
            "At twelve of them the sentence is translated anew. With --order\n\n"
            "  effect     the head whose removal alone costs least goes first\n"
            "  gradient   by a first-order estimate of that, from one backward pass\n"
            "  greedy     always the head whose removal costs least now; as many passes as heads\n"
            "  random     drawn with --seed\n\n"
            "For N heads the file contains\n\n"
            "  heads (N,)          in the order in which they go, such as cross.5.2; layers and heads from 0\n"
            "  log_p (N + 1,)      of the translation without the first 0, 1, ..., N heads, in nats\n"
            "  counts, texts       (C,) how many heads are off, and what the model generates then\n"
            "  random (R, C)       the log-probability at these counts in orders that are drawn\n"
            "  provenance          JSON text: checkpoint and its hash, sentence, order"
        ),
        example=(
            "  python -m transformer_core cumulative_ablation --checkpoint checkpoints/en-de \\\n"
            '      --source "A man rides a bicycle." --out cumulative_ablation.npz'
        ),
    )
    result.add_checkpoint()
    add_sentence(result)
    result.add_argument("--order", type=str, default="effect", metavar="NAME", help="Which head goes next: effect.")
    result.add_number("--random-orders", 0, "Orders that are drawn, to compare with: 0.", least=0)
    result.add_number("--seed", 0, "Of what is drawn.", least=0)
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Switch all heads off."""
    options = parser().options(arguments)
    source, target, out = sentence_options(options)
    if options.order not in _ORDERS:
        raise UsageError(f"--order is {options.order!r}, but must be one of {', '.join(_ORDERS)}")
    if options.random_orders > _MAX_RANDOM:
        raise UsageError(f"--random-orders is {options.random_orders}, but must be {_MAX_RANDOM} or less")
    translator = load_translator(options)
    check_lengths(translator, source, target)

    from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation

    found = cumulative_ablation(translator, source, target, order=options.order, seed=options.seed,
                      random_orders=options.random_orders)  # fmt: skip
    facts = {
        "source": source,
        "target": found.run.text,
        "target_given": target is not None,
        "order": options.order,
        "seed": options.seed,
        "random_orders": options.random_orders,
    }
    write_npz(out, _arrays(found), provenance_of(translator, **facts))
    _write_summary(found)
    return 0


def _arrays(found: CumulativeAblation) -> dict[str, Any]:
    import numpy as np

    return {
        "heads": np.array([f"{kind}.{layer}.{head}" for kind, layer, head in found.heads], dtype=np.str_),
        "log_p": found.log_p.cpu().numpy(),
        "random": found.random.cpu().numpy(),
        "counts": np.array([count for count, _ in found.texts]),
        "texts": np.array([text for _, text in found.texts], dtype=np.str_),
    }


def _write_summary(found: CumulativeAblation) -> None:
    """The log-probability and the translation at some steps."""
    sys.stdout.write(f"{found.run.text}\n\n")
    log_p = found.log_p.tolist()
    write_table([["heads off", "log-probability", "translation"],
                 *([str(count), f"{log_p[count]:.2f}", text] for count, text in found.texts)])  # fmt: skip
