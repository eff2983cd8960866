"""Marian and OPUS-MT in the format of transformers: config.json, source.spm, target.spm, vocab.json and weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformer_core.config import Positions
from transformer_core.conversion import bart_layout as layout
from transformer_core.conversion.foreign_config import Options
from transformer_core.conversion.foreign_folder import ForeignFolder
from transformer_core.conversion.plan import Plan
from transformer_core.conversion.token_lists import UNKNOWN, id_of, listed, sentencepiece, tokenizer
from transformer_core.model.positions import sinusoidal_positions
from transformer_core.text.vocabulary import TARGET_LANGUAGE

FAMILY = "Marian / OPUS-MT (transformers)"
_VOCABULARY, _TARGET_VOCABULARY = "vocab.json", "target_vocab.json"
_COMPARED = 64  # rows of a table of positions, enough to distinguish the angles


def plan(folder: ForeignFolder, config: Mapping[str, Any]) -> Plan:
    """Plan Marian from its `config.json`. Raises ConversionError for unsupported options or inconsistent files."""
    options = Options(FAMILY, config, folder.json_if_there("generation_config.json"))
    options.check(normalize_before=False, normalize_embedding=False, add_final_layer_norm=False)
    shared = options.flag("share_encoder_decoder_embeddings", True)
    size = options.number("vocab_size")
    target_size = options.number("decoder_vocab_size", size)
    separate = folder.has(_TARGET_VOCABULARY)
    if shared and (separate or target_size != size):
        raise options.fail("share_encoder_decoder_embeddings is true, but there are two vocabularies")
    if not separate and target_size != size:
        raise options.fail(f"{_TARGET_VOCABULARY} is missing, but decoder_vocab_size is another than vocab_size")
    vocabulary = folder.json(_VOCABULARY)
    target_vocabulary = folder.json(_TARGET_VOCABULARY) if separate else vocabulary
    special = layout.special_ids(options, id_of(options, _VOCABULARY, vocabulary, UNKNOWN))
    languages = {token[2:-2]: token for token in vocabulary if token[:2] == ">>" and token[-2:] == "<<" and token[2:-2]}
    tokens = {
        "tokens": listed(options, _VOCABULARY, target_vocabulary, target_size),
        "source_tokens": listed(options, _VOCABULARY, vocabulary, size) if separate else (),
        "special": special,
        "languages": languages,
        "source_prefix": TARGET_LANGUAGE if languages else "",
        "marks": True,
    }
    bias = layout.bias_origin(folder)
    model = layout.model_config(
        options,
        vocab_size=target_size,
        source_vocab_size=size if separate else 0,
        tie=layout.tie_of(options, shared=shared),
        positions=_positions(folder, options.number("d_model")),
        scaled_embeddings=options.flag("scale_embedding", False),
        output_bias=bool(bias),
    )
    segmenters = sentencepiece(folder, "target.spm"), sentencepiece(folder, "source.spm")
    return layout.planned(folder, options, model, tokenizer(options, tokens, *segmenters), bias, shared=shared)


def _positions(folder: ForeignFolder, d_model: int) -> Positions:
    """Return MarianMTModel's positions, or Marian's own if the file has a table of them, as `export-model` writes."""
    name = "model.encoder.embed_positions.weight"
    if not layout.is_table(folder.shapes.get(name, ()), d_model):
        return "concatenated"
    positions = folder.tensor(name)[:_COMPARED].float()
    kinds: dict[Positions, bool] = {"concatenated": False, "tensor2tensor": True}

    def apart(kind: Positions) -> float:
        table = sinusoidal_positions(len(positions), d_model, interleaved=False, whole_range=kinds[kind])
        return float((positions - table).abs().max()) if positions.numel() else 0.0

    return min(kinds, key=apart)  # all rows are checked later
