"""OPUS-MT in small: folders as transformers' MarianMTModel and MarianTokenizer save them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.core.conversion.twins import SHAPE, SOURCES, TARGETS, Twin, drawn, names, tokens_model, write_json
from transformer_core.conversion import convert
from transformer_core.translator import Translator

VARIANTS: dict[str, dict[str, Any]] = {
    "opus": {"activation_function": "swish", "scale_embedding": True},
    "relu, unscaled": {"activation_function": "relu", "scale_embedding": False},
    "many languages": {"activation_function": "swish", "scale_embedding": True, "languages": ("fra", "deu")},
    "separate": {"activation_function": "swish", "scale_embedding": True, "share_encoder_decoder_embeddings": False},
    "untied output": {"activation_function": "swish", "scale_embedding": True, "tie_word_embeddings": False},
}


def vocabulary(source: bytes, target: bytes, languages: tuple[str, ...] = ()) -> dict[str, int]:
    """A joint vocabulary as OPUS-MT has them: `</s>` first, then `<unk>`, `<pad>` last; some tokens are left out."""
    both = dict.fromkeys([*names(source), *names(target)])
    tokens = [token for number, token in enumerate(both) if token not in ("<unk>", "<s>", "</s>") and number % 29]
    listed = ["</s>", "<unk>", *tokens, *(f">>{language}<<" for language in languages), "<pad>"]
    return {token: number for number, token in enumerate(listed)}


def marian_folder(path: Path, *, pickled: str = "", shards: str = "5GB", **options: Any) -> tuple[Any, Any]:
    """A folder with a model and its tokenizer; returns both."""
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    languages = options.pop("languages", ())
    separate = not options.get("share_encoder_decoder_embeddings", True)
    path.mkdir(parents=True)
    source, target = tokens_model(SOURCES, 120), tokens_model(TARGETS, 140)
    (path / "source.spm").write_bytes(source)
    (path / "target.spm").write_bytes(target)
    if separate:
        encoder, decoder = vocabulary(source, source), vocabulary(target, target)
        # One id for padding: the shorter list gets names that no text has.
        size = max(len(encoder), len(decoder))
        encoder, decoder = _padded(encoder, size), _padded(decoder, size)
        write_json(path / "target_vocab.json", decoder)
    else:
        encoder = decoder = vocabulary(source, target, languages)
    write_json(path / "vocab.json", encoder)
    tokenizer = MarianTokenizer(
        str(path / "source.spm"),
        str(path / "target.spm"),
        str(path / "vocab.json"),
        target_vocab_file=str(path / "target_vocab.json") if separate else None,
        source_lang="en",
        target_lang="de",
        separate_vocabs=separate,
        split_special_tokens=True,
    )
    pad = encoder["<pad>"]
    model = MarianMTModel(
        MarianConfig(
            vocab_size=len(encoder),
            decoder_vocab_size=len(decoder),
            pad_token_id=pad,
            eos_token_id=0,
            decoder_start_token_id=pad,
            forced_eos_token_id=None,
            **{**SHAPE, **options},
        )
    )
    drawn(model, 5, ending=4.0 if separate else 3.0)
    model.generation_config.update(num_beams=4, bad_words_ids=[[pad]], length_penalty=1.0, forced_eos_token_id=None)
    save(model, path, pickled=pickled, shards=shards)
    tokenizer.save_pretrained(path)
    return model, tokenizer


def save(model: Any, path: Path, *, pickled: str, shards: str) -> None:
    """The weights as safetensors, perhaps in shards, or as an old pytorch_model.bin with all names of a tied matrix."""
    import torch

    model.save_pretrained(path, max_shard_size=shards)
    if pickled:
        for file in path.glob("*.safetensors*"):
            file.unlink()
        # The form of 2020, from which many published models are, has no zip around it.
        torch.save(model.state_dict(), path / "pytorch_model.bin", _use_new_zipfile_serialization=pickled == "zip")


def _padded(ids: dict[str, int], size: int) -> dict[str, int]:
    tokens = [token for token in ids if token != "<pad>"]
    fill = [f"FILL{number}" for number in range(size - len(ids))]
    return {token: number for number, token in enumerate([*tokens, *fill, "<pad>"])}


def marian_twin(parent: Path, name: str) -> Twin:
    """One of the variants, converted."""
    folder = parent / "theirs"
    model, tokenizer = marian_folder(folder, **VARIANTS[name])
    convert(folder, parent / "ours")
    return Twin(folder, model, tokenizer, {}, Translator.load(parent / "ours"))
