"""M2M-100, NLLB-200 and mBART-50: translators between many languages, each named by a token.

A source begins with the token of its language, a translation with the token of its own, which the user chooses.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from transformer_core.config import ModelConfig
from transformer_core.conversion import bart_layout as layout
from transformer_core.conversion.foreign_config import Options
from transformer_core.conversion.foreign_folder import ForeignFolder
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
# Languages of M2M-100 (Fan et al. 2021) in the order of their tokens, where its files only name the list.
_M2M_LANGUAGES = """
    af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht
    hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl
    ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu
"""


def plan_m2m_100(folder: ForeignFolder, config: Mapping[str, Any]) -> Plan:
    """Plan M2M-100 or a dense NLLB-200, which share code but not vocabularies."""
    family = _M2M if folder.has(_VOCABULARY) else _NLLB
    options = Options(family, config, folder.json_if_there("generation_config.json"))
    model = layout.model_config(
        options,
        vocab_size=options.number("vocab_size"),
        tie=layout.tie_of(options, shared=True),
        norm="pre",
        positions="tensor2tensor",
        first_position=options.number("pad_token_id") + 1,
        scaled_embeddings=options.flag("scale_embedding", True),
    )
    computed = frozenset(f"model.{side}.embed_positions.weights" for side in ("encoder", "decoder"))
    return _plan(folder, options, model, dict(layout.norm_origins("norm", "layer_norm")), computed)


def plan_mbart(folder: ForeignFolder, config: Mapping[str, Any]) -> Plan:
    """Plan mBART-50."""
    options = Options(_MBART, config, folder.json_if_there("generation_config.json"))
    if folder.json_if_there(TOKENIZER_CONFIG).get("tokenizer_class") in ("MBartTokenizer", "MBartTokenizerFast"):
        raise options.fail("it is an older mBART, whose sources end with a language; only mBART-50 is supported")
    options.check(normalize_before=True, normalize_embedding=True, add_final_layer_norm=True)
    model, origins = layout.with_learned_positions(folder, options, "pre")
    return _plan(folder, options, model, {**dict(layout.norm_origins("norm", "layer_norm")), **origins})


def _plan(
    folder: ForeignFolder,
    options: Options,
    model: ModelConfig,
    origins: dict[str, Origin],
    unread: Collection[str] = (),
) -> Plan:
    segmenter = sentencepiece(folder, _SENTENCEPIECE)
    file, ids = _ids(folder, options, segmenter)
    special = layout.special_ids(options, id_of(options, file, ids, UNKNOWN))
    added = added_tokens(folder, after=ids)
    pattern = _LANGUAGE[options.family]
    languages = {match[1]: token for token in (*ids, *added) if (match := pattern.fullmatch(token))}
    if not languages and folder.json_if_there(TOKENIZER_CONFIG).get("language_codes") == "m2m100":
        # Transformers 5 only names the list; its tokens follow the others.
        languages = {language: f"__{language}__" for language in _M2M_LANGUAGES.split()}
        added = {token: len(ids) + number for number, token in enumerate(languages.values())}
    if not languages:
        raise options.fail("no language tokens, which special_tokens_map.json or tokenizer.json should list")
    named = {*languages.values(), MASK}
    ids.update({token: number for token, number in added.items() if token in named})
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
    both = tokenizer(options, vocabulary, segmenter, segmenter)
    return layout.planned(folder, options, model, both, origins, unread=unread)


def _ids(folder: ForeignFolder, options: Options, segmenter: SentencePieceSegmenter) -> tuple[str, dict[str, Any]]:
    """Return the file of the ids, and the ids without languages.

    M2M-100 lists them. The others use fairseq's: its four special tokens before SentencePiece's tokens, without the
    first three of these.
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
    """Return the source and target language that the files name; empty if they name none."""
    config = folder.json_if_there(TOKENIZER_CONFIG)
    if config.get("legacy_behaviour") is True:
        raise options.fail("legacy_behaviour is true: sources that end with a language are not supported")
    source, target = (name if name in languages else "" for name in map(str, map(config.get, ("src_lang", "tgt_lang"))))
    forced = options.search.get("forced_bos_token_id")
    if isinstance(forced, int) and 0 <= forced < len(tokens):
        target = next((name for name, token in languages.items() if token == tokens[forced]), target)
    return source, target
