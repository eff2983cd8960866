"""M2M-100, NLLB-200 and mBART-50 in small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.core.conversion.twins import SHAPE, SOURCES, TARGETS, Twin, drawn, names, tokens_model, write_json
from transformer_core.conversion import convert
from transformer_core.translator import Translator

LANGUAGES = {"m2m": ("en", "de"), "nllb": ("eng_Latn", "deu_Latn"), "mbart": ("en_XX", "de_DE")}
SPM = "sentencepiece.bpe.model"


def _tokenizer(family: str, path: Path, model: bytes) -> Any:
    from transformers import M2M100Tokenizer, MBart50Tokenizer, NllbTokenizer

    source, target = LANGUAGES[family]
    (path / SPM).write_bytes(model)
    if family == "m2m":
        tokens = [token for number, token in enumerate(names(model)[3:]) if number % 31]
        listed = ["<s>", "<pad>", "</s>", "<unk>", *tokens]
        write_json(path / "vocab.json", {token: number for number, token in enumerate(listed)})
        return M2M100Tokenizer(
            str(path / "vocab.json"), str(path / SPM), src_lang=source, tgt_lang=target, split_special_tokens=True
        )
    if family == "nllb":
        from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

        codes = list(FAIRSEQ_LANGUAGE_CODES)
        return NllbTokenizer.from_pretrained(path, src_lang=source, tgt_lang=target, extra_special_tokens=codes)
    return MBart50Tokenizer.from_pretrained(path, src_lang=source, tgt_lang=target)


def _model(family: str, size: int) -> Any:
    from transformers import M2M100Config, M2M100ForConditionalGeneration, MBartConfig, MBartForConditionalGeneration

    if family == "mbart":
        return MBartForConditionalGeneration(
            MBartConfig(
                vocab_size=size,
                activation_function="gelu",
                scale_embedding=True,
                decoder_start_token_id=2,
                forced_eos_token_id=None,
                **SHAPE,
            )
        )
    return M2M100ForConditionalGeneration(
        M2M100Config(vocab_size=size, scale_embedding=True, encoder_layerdrop=0.0, decoder_layerdrop=0.0, **SHAPE)
    )


def language_folder(path: Path, family: str, *, listed: bool = True) -> tuple[Any, Any]:
    """A folder with a model and its tokenizer; returns both. Transformers 5 lists no languages of M2M-100."""
    path.mkdir(parents=True)
    kind = "bpe" if family == "nllb" else "unigram"
    tokenizer = _tokenizer(family, path, tokens_model([*SOURCES, *TARGETS], 150, kind))
    size = max(tokenizer.lang_token_to_id.values()) + 1 if family == "m2m" else len(tokenizer)
    # Rows beyond the vocabulary, as published models have them.
    model = drawn(_model(family, size + 2), 5, ending=4.0)
    _, target = LANGUAGES[family]
    if family != "m2m":
        model.generation_config.forced_bos_token_id = tokenizer.convert_tokens_to_ids(target)
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    if family == "m2m" and listed:  # as the published folder lists its languages
        tokens = list(tokenizer.lang_token_to_id)
        write_json(path / "special_tokens_map.json", {"additional_special_tokens": tokens, "unk_token": "<unk>"})
    return model, tokenizer


def language_twin(parent: Path, family: str) -> Twin:
    """One of the families, converted."""
    folder = parent / "theirs"
    model, tokenizer = language_folder(folder, family)
    convert(folder, parent / "ours")
    translator = Translator.load(parent / "ours")
    generate = {"forced_bos_token_id": translator.tokenizer.special.forced_bos}
    return Twin(folder, model, tokenizer, generate, translator)
