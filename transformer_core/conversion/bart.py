"""BART: one language, byte-level tokens, LayerNorm on embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformer_core.conversion import bart_layout as layout
from transformer_core.conversion.foreign_config import Options
from transformer_core.conversion.foreign_folder import ForeignFolder
from transformer_core.conversion.plan import Plan
from transformer_core.conversion.token_lists import START, UNKNOWN, id_of, listed, tokenizer
from transformer_core.text.byte_level import ByteLevelSegmenter
from transformer_core.text.segmenters import SegmenterError

FAMILY = "BART"
_VOCABULARY, _MERGES = "vocab.json", "merges.txt"


def plan(folder: ForeignFolder, config: Mapping[str, Any]) -> Plan:
    """Plan BART from its `config.json`. Raises ConversionError for unsupported options or inconsistent files."""
    options = Options(FAMILY, config, folder.json_if_there("generation_config.json"))
    options.check(normalize_before=False, normalize_embedding=True, add_final_layer_norm=False)
    ids = folder.json(_VOCABULARY)
    special = layout.special_ids(options, id_of(options, _VOCABULARY, ids, UNKNOWN))
    start, first = id_of(options, _VOCABULARY, ids, START), options.search.get("forced_bos_token_id")
    if first not in (None, start):
        raise options.fail(f"forced_bos_token_id is {str(first)[:40]}, but must be that of {START}, {start}")
    model, origins = layout.with_learned_positions(folder, options, "post")
    try:
        merges = ByteLevelSegmenter(folder.contents(_MERGES))
    except SegmenterError as error:
        raise options.fail(f"{_MERGES}: {error}") from error
    vocabulary = {
        "tokens": listed(options, _VOCABULARY, ids, model.vocab_size),
        "special": special,
        "scheme": "byte-level",
        "source_prefix": START,
        "target_prefix": "" if first is None else START,
    }
    return layout.planned(folder, options, model, tokenizer(options, vocabulary, merges, merges), origins)
