"""Parallel text -> prepared shards -> length-bucketed batches of tokens (Section 5.1).

`text` reads what people have, `preparing` tokenises it once into shards, `corpus` maps those into memory, `plan`
decides which pairs share a batch, `batches` pads them.
"""

from transformer_core.data.batches import Batch, make_batch
from transformer_core.data.corpus import Corpus
from transformer_core.data.plan import PLAN_VERSION, bucket_widths, plan_epoch
from transformer_core.data.preparing import prepare
from transformer_core.data.text import (
    DataError,
    add_typos,
    is_treebank,
    read_columns,
    read_lines,
    read_pairs,
    read_treebank,
)

__all__ = [
    "PLAN_VERSION",
    "Batch",
    "Corpus",
    "DataError",
    "add_typos",
    "bucket_widths",
    "is_treebank",
    "make_batch",
    "plan_epoch",
    "prepare",
    "read_columns",
    "read_lines",
    "read_pairs",
    "read_treebank",
]
