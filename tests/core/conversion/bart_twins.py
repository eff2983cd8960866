"""BART in small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.core.conversion.twins import SHAPE, SOURCES, TARGETS, Twin, drawn, write_json
from transformer_core.conversion import convert
from transformer_core.translator import Translator

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def bart_folder(path: Path) -> tuple[Any, Any]:
    """A folder with a model and its tokenizer, whose merges are learned here; returns both."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import BartConfig, BartForConditionalGeneration, BartTokenizer

    path.mkdir(parents=True)
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=[*SPECIAL, "<mask>"], initial_alphabet=alphabet, show_progress=False
    )
    learner.train_from_iterator([*SOURCES, *TARGETS, "한국어 문장"], trainer)
    learned = json.loads(learner.to_str())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in learned["merges"]]
    write_json(path / "vocab.json", learned["vocab"])
    (path / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]) + "\n", encoding="utf-8")
    tokenizer = BartTokenizer.from_pretrained(path, split_special_tokens=True)
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(learned["vocab"]),
            activation_function="gelu",
            decoder_start_token_id=2,
            forced_eos_token_id=None,
            **SHAPE,
        )
    )
    drawn(model, 5, ending=4.0)
    model.generation_config.update(forced_bos_token_id=0, num_beams=4, early_stopping=True, no_repeat_ngram_size=3)
    model.save_pretrained(path)
    model.generation_config.no_repeat_ngram_size = None  # not carried over, which the conversion says
    return model, tokenizer


def bart_twin(parent: Path) -> Twin:
    """The model, converted."""
    model, tokenizer = bart_folder(parent / "theirs")
    convert(parent / "theirs", parent / "ours")
    translator = Translator.load(parent / "ours")
    return Twin(parent / "theirs", model, tokenizer, {"forced_bos_token_id": 0}, translator)
