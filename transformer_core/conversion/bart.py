"""BART: one language, byte-level tokens, LayerNorm on embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformer_core.conversion.bart_layout import (
    OUTPUT_BIAS,
    bias_origin,
    decoding_config,
    layer_origins,
    learned_positions,
    model_config,
    norm_origins,
    special_ids,
    tables,
    tie_of,
)
from transformer_core.conversion.foreign_config import Options
from transformer_core.conversion.foreign_folder import ForeignFolder
from transformer_core.conversion.plan import Plan
from transformer_core.conversion.token_lists import START, UNKNOWN, id_of, listed, tokenizer
from transformer_core.text.byte_level import ByteLevelSegmenter
from transformer_core.text.segmenters import SegmenterError

FAMILY = "BART"
_VOCABULARY, _MERGES = "vocab.json", "merges.txt"
_POSITIONS_BEFORE = 2  # rows of the table that nothing reads


def plan(folder: ForeignFolder, config: Mapping[str, Any]) -> Plan:
    """What is to become of BART.

    Args:
        folder: The foreign folder.
        config: Its `config.json`.

    Raises:
        ConversionError: It has options that are not supported, or its files do not fit together.
    """
    options = Options(FAMILY, config, folder.json_if_there("generation_config.json"))
    options.check(normalize_before=False, normalize_embedding=True, add_final_layer_norm=False)
    ids = folder.json(_VOCABULARY)
    special = special_ids(options, id_of(options, _VOCABULARY, ids, UNKNOWN))
    start, first = id_of(options, _VOCABULARY, ids, START), options.search.get("forced_bos_token_id")
    if first not in (None, start):
        raise options.fail(f"forced_bos_token_id is {str(first)[:40]}, but must be that of {START}, {start}")
    bias, tie = bias_origin(folder), tie_of(options, shared=True)
    model = model_config(
        options,
        vocab_size=options.number("vocab_size"),
        tie=tie,
        positions="learned",
        scaled_embeddings=options.flag("scale_embedding", False),
        embedding_norm=True,
        output_bias=bool(bias),
    )
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
    embeddings = tables(tie, folder.shapes, shared=True)
    decoding, notes = decoding_config(options, special)
    return Plan(
        family=FAMILY,
        model=model,
        decoding=decoding,
        tokenizer=tokenizer(options, vocabulary, merges, merges),
        origins={
            **embeddings.origins,
            **dict(layer_origins(model.num_layers)),
            **dict(norm_origins("embedding_norm", "layernorm_embedding")),
            **learned_positions(_POSITIONS_BEFORE),
            **bias,
        },
        same=embeddings.same,
        fixed={},
        ignored=embeddings.unused | ({OUTPUT_BIAS} - {each.name for each in bias.values()}),
        notes=notes,
    )
