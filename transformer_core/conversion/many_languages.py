"""M2M-100, NLLB-200 and mBART-50: translators between many languages, each named by a token.

A source begins with the token of its language. A translation begins with the token of its own, which is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from transformer_core.config import ModelConfig
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
from transformer_core.conversion.language_lists import M2M_100
from transformer_core.conversion.plan import Origin, Plan
from transformer_core.conversion.token_lists import (
    END,
    MASK,
    PADDING,
    START,
    TOKENIZER_CONFIG,
    UNKNOWN,
    added_tokens,
    id_of,
    listed,
    sentencepiece,
    tokenizer,
)
from transformer_core.text.segmenters import SentencePieceSegmenter
from transformer_core.text.vocabulary import SOURCE_LANGUAGE, TARGET_LANGUAGE

_M2M, _NLLB, _MBART = "M2M-100", "NLLB-200", "mBART-50"
_SENTENCEPIECE, _VOCABULARY = "sentencepiece.bpe.model", "vocab.json"
_LANGUAGE = {
    _M2M: re.compile(r"__([a-z]{2,3})__"),
    _NLLB: re.compile(r"([a-z]{3}_[A-Z][a-z]{3})"),
    _MBART: re.compile(r"([a-z]{2}_[A-Z]{2})"),
}
_POSITIONS_BEFORE = 2  # rows of mBART's table that nothing reads


def plan_m2m_100(folder: ForeignFolder, config: Mapping[str, Any]) -> Plan:
    """What is to become of M2M-100, or of a dense NLLB-200: they share code, but not their vocabularies."""
    family = _M2M if folder.has(_VOCABULARY) else _NLLB
    options = Options(family, config, folder.json_if_there("generation_config.json"))
    tie = tie_of(options, shared=True)
    model = model_config(
        options,
        vocab_size=options.number("vocab_size"),
        tie=tie,
        norm="pre",
        positions="tensor2tensor",
        first_position=options.number("pad_token_id") + 1,
        scaled_embeddings=options.flag("scale_embedding", True),
    )
    computed = frozenset(f"model.{side}.embed_positions.weights" for side in ("encoder", "decoder"))
    return _plan(folder, options, model, dict(norm_origins("norm", "layer_norm")), computed)


def plan_mbart(folder: ForeignFolder, config: Mapping[str, Any]) -> Plan:
    """What is to become of mBART-50."""
    options = Options(_MBART, config, folder.json_if_there("generation_config.json"))
    if folder.json_if_there(TOKENIZER_CONFIG).get("tokenizer_class") in ("MBartTokenizer", "MBartTokenizerFast"):
        raise options.fail("it is an older mBART, whose sources end with a language; only mBART-50 is supported")
    options.check(normalize_before=True, normalize_embedding=True, add_final_layer_norm=True)
    bias = bias_origin(folder)
    model = model_config(
        options,
        vocab_size=options.number("vocab_size"),
        tie=tie_of(options, shared=True),
        norm="pre",
        positions="learned",
        scaled_embeddings=options.flag("scale_embedding", False),
        embedding_norm=True,
        output_bias=bool(bias),
    )
    norms = {**dict(norm_origins("norm", "layer_norm")), **dict(norm_origins("embedding_norm", "layernorm_embedding"))}
    unread = frozenset({OUTPUT_BIAS} - {each.name for each in bias.values()})
    return _plan(folder, options, model, {**norms, **learned_positions(_POSITIONS_BEFORE), **bias}, unread)


def _plan(
    folder: ForeignFolder, options: Options, model: ModelConfig, origins: dict[str, Origin], unread: frozenset[str]
) -> Plan:
    segmenter = sentencepiece(folder, _SENTENCEPIECE)
    file, ids = _ids(folder, options, segmenter)
    special = special_ids(options, id_of(options, file, ids, UNKNOWN))
    added = added_tokens(folder, next_id=max(ids.values(), default=0) + 1)
    pattern = _LANGUAGE[options.family]
    languages = {found[1]: token for token in (*ids, *added) if (found := pattern.fullmatch(token))}
    if not languages and folder.json_if_there(TOKENIZER_CONFIG).get("language_codes") == "m2m100":
        # Transformers 5 names the list alone; its tokens follow the others.
        languages = {language: f"__{language}__" for language in M2M_100}
        added = {token: len(ids) + number for number, token in enumerate(languages.values())}
    if not languages:
        raise options.fail("no language tokens, which special_tokens_map.json or tokenizer.json should list")
    ids.update({token: number for token, number in added.items() if token in (*languages.values(), MASK)})
    embeddings = tables(model.tie, folder.shapes, shared=True)
    decoding, notes = decoding_config(options, special)
    tokens = listed(options, file, ids, model.vocab_size)
    source, target = _default_languages(folder, options, languages, tokens)
    vocabulary = {
        "tokens": tokens,
        "special": special,
        "languages": languages,
        "source_prefix": SOURCE_LANGUAGE,
        "target_prefix": TARGET_LANGUAGE,
        "source_language": source,
        "target_language": target,
    }
    return Plan(
        family=options.family,
        model=model,
        decoding=decoding,
        tokenizer=tokenizer(options, vocabulary, segmenter, segmenter),
        origins={**embeddings.origins, **dict(layer_origins(model.num_layers)), **origins},
        same=embeddings.same,
        fixed={},
        ignored=embeddings.unused | unread,
        notes=notes,
    )


def _ids(folder: ForeignFolder, options: Options, segmenter: SentencePieceSegmenter) -> tuple[str, dict[str, Any]]:
    """Ids without those of languages, and the file that they come from.

    M2M-100 lists them. The others take fairseq's: four special tokens of its own before SentencePiece's tokens, whose
    first three are left out.
    """
    if options.family == _M2M:
        return _VOCABULARY, dict(folder.json(_VOCABULARY))
    if segmenter.tokens[:3] != (UNKNOWN, START, END):
        raise options.fail(f"{_SENTENCEPIECE} begins with {segmenter.tokens[:3]}, not with {(UNKNOWN, START, END)}")
    before = (START, PADDING, END, UNKNOWN)
    return _SENTENCEPIECE, {token: number for number, token in enumerate((*before, *segmenter.tokens[3:]))}


def _default_languages(
    folder: ForeignFolder, options: Options, languages: Mapping[str, str], tokens: tuple[str, ...]
) -> tuple[str, str]:
    """Source and target that the files name; empty where they name none."""
    config = folder.json_if_there(TOKENIZER_CONFIG)
    if config.get("legacy_behaviour") is True:
        raise options.fail("legacy_behaviour is true: sources that end with a language are not supported")
    source, target = (name if name in languages else "" for name in map(str, map(config.get, ("src_lang", "tgt_lang"))))
    forced = options.search.get("forced_bos_token_id")
    if isinstance(forced, int) and 0 <= forced < len(tokens):
        target = next((name for name, token in languages.items() if token == tokens[forced]), target)
    return source, target
