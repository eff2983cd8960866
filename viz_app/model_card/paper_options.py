"""In which options a model differs from the paper's base model, with what docs/fidelity.md says of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from transformer_core.config import ModelConfig

FIDELITY = Path(__file__).resolve().parents[2] / "docs" / "fidelity.md"
# Everything but sizes, which Table 3 varies itself, and dropout, which only training uses.
COMPARED = (
    "norm",
    "activation",
    "positions",
    "first_position",
    "tie",
    "source_vocab_size",
    "scaled_embeddings",
    "embedding_norm",
    "attention",
    "scaled",
    "causal",
    "residual",
    "window",
    "attention_biases",
    "output_bias",
    "layer_norm_epsilon",
)


@dataclass(frozen=True)
class OtherOption:
    """An option that is not the paper's.

    Args:
        name: Of the option.
        value: Of this model.
        paper: Of the paper's base model.
        said: What docs/fidelity.md says of it, in Markdown; empty where the documentation is not installed.
    """

    name: str
    value: str
    paper: str
    said: str


def options_beyond_paper(options: Mapping[str, Any]) -> tuple[OtherOption, ...]:
    """Return the options of a model that differ from the paper's; `options` are read from its `config.json`."""
    base = ModelConfig().to_dict()
    return tuple(
        OtherOption(name, _written(options[name]), _written(base[name]), fidelity_line(name, options[name]))
        for name in COMPARED
        if name in options and options[name] != base[name]
    )


def fidelity_line(name: str, value: object) -> str:
    """Return the line of docs/fidelity.md on an option: on its value if there is one, else on the option."""
    of_option = [cell for cell in _cells() if re.search(rf"`{name}(?: = [^`]*)?`", cell)]
    of_value = [cell for cell in of_option if f'"{value}"`' in cell]
    return next(iter(of_value or of_option), "")


@cache
def _cells() -> tuple[str, ...]:
    """Return the second column of every table: the choice made here."""
    try:
        lines = FIDELITY.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    rows = (line.strip().strip("|").split(" | ") for line in lines if line.startswith("|"))
    return tuple(row[1].strip() for row in rows if len(row) >= 3)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
