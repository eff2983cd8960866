"""Parallel text -> prepared shards -> length-bucketed batches of tokens (Section 5.1).

`text` reads what people have, `preparing` tokenises it once into shards, `corpus` maps those into memory, `plan`
decides which pairs share a batch, `batches` pads them.
"""

from transformer_core.data.batches import Batch as Batch
from transformer_core.data.batches import make_batch as make_batch
from transformer_core.data.corpus import Corpus as Corpus
from transformer_core.data.plan import PLAN_VERSION as PLAN_VERSION
from transformer_core.data.plan import bucket_widths as bucket_widths
from transformer_core.data.plan import plan_epoch as plan_epoch
from transformer_core.data.preparing import prepare as prepare
from transformer_core.data.text import DataError as DataError
from transformer_core.data.text import add_typos as add_typos
from transformer_core.data.text import is_treebank as is_treebank
from transformer_core.data.text import read_columns as read_columns
from transformer_core.data.text import read_lines as read_lines
from transformer_core.data.text import read_pairs as read_pairs
from transformer_core.data.text import read_treebank as read_treebank
