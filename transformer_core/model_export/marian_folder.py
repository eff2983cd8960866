"""Export to MarianMTModel and MarianTokenizer of transformers, without needing transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_core.attention_variants import Feature
from transformer_core.checkpoint import Checkpoint
from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.conversion.bart_layout import LAYER_NORM_EPSILON
from transformer_core.model_export.marian_weights import has_own_table, marian_weights
from transformer_core.model_export.refusals import ExportError, check_options, check_plain_attention, check_table
from transformer_core.model_export.search import penalty_notes, power
from transformer_core.model_export.vocabulary import TokenLists, ids_of, token_lists, write_segmenters
from transformer_core.storage.files import write_json
from transformer_core.storage.tensor_files import save_tensors

_PROGRAM: Feature = "MarianMTModel"

USAGE = """```python
from transformers import MarianMTModel, MarianTokenizer

tokenizer, model = (each.from_pretrained(".") for each in (MarianTokenizer, MarianMTModel))
ids = model.generate(**tokenizer(["A man rides a bicycle."], return_tensors="pt"))
print(tokenizer.batch_decode(ids, skip_special_tokens=True))
```
"""


def write_marian(checkpoint: Checkpoint, folder: Path) -> tuple[str, ...]:
    """Write the folder of a MarianMTModel; return notes on differences.

    Raises:
        ExportError: MarianMTModel lacks one of the model's options.
    """
    config, decoding = checkpoint.model.config, checkpoint.decoding
    check_plain_attention(_PROGRAM, config)
    check_options(_PROGRAM, config, norm="post", embedding_norm=False)
    if config.layer_norm_epsilon > LAYER_NORM_EPSILON:
        raise ExportError(
            f"layer_norm_epsilon is {config.layer_norm_epsilon}, but {_PROGRAM} adds {LAYER_NORM_EPSILON}"
        )
    lists = token_lists(_PROGRAM, checkpoint.tokenizer)
    positions = config.max_length or decoding.max_source_tokens + 1
    if has_own_table(config):
        check_table(config, positions)
    options = _model_options(config, lists, positions)
    search, notes = _search_options(decoding, lists, positions)
    write_json(folder / "config.json", options)
    write_json(folder / "generation_config.json", search)
    _write_tokenizer(folder, lists, positions)
    weights = marian_weights(checkpoint.model, positions)
    save_tensors(
        folder / "model.safetensors",
        {name: _smallest(tensor) for name, tensor in weights.items()},
        metadata={"format": "pt"},
    )
    return (*_model_notes(config), *lists.notes, *notes)


def usage(checkpoint: Checkpoint) -> str:
    """Return an example of a translation with the folder."""
    return USAGE


def _smallest(tensor: Tensor) -> Tensor:
    """Convert to float16 if that is exact."""
    half = tensor.to(torch.float16)
    return half if bool(torch.equal(half.float(), tensor.float())) else tensor.float()


def _special(lists: TokenLists) -> dict[str, int]:
    special = lists.special
    return {"pad_token_id": special.pad, "eos_token_id": special.eos, "decoder_start_token_id": special.bos}


def _model_options(config: ModelConfig, lists: TokenLists, positions: int) -> dict[str, Any]:
    sides = {
        "layers": config.num_layers,
        "attention_heads": config.num_heads,
        "ffn_dim": config.d_ff,
        "layerdrop": 0.0,
    }
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "dtype": "float32",  # to compute in; transformers would take the file's float16 otherwise
        "is_encoder_decoder": True,
        "vocab_size": len(lists.source),
        "decoder_vocab_size": len(lists.target),
        "d_model": config.d_model,
        **{f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in sides.items()},
        "num_hidden_layers": config.num_layers,
        "activation_function": config.activation,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
        "max_position_embeddings": positions,
        "scale_embedding": config.scaled_embeddings,
        "share_encoder_decoder_embeddings": config.tie == "all",
        "tie_word_embeddings": config.tie != "none",
        "forced_eos_token_id": None,
        **_special(lists),
    }


def _search_options(decoding: DecodingConfig, lists: TokenLists, positions: int) -> tuple[dict[str, Any], list[str]]:
    """Return the defaults of `generate`, and notes on parts of our search that it lacks."""
    notes = [f"translations end at {positions - 1:,} tokens; here, at {decoding.extra_length} more than the source has"]
    return {
        "num_beams": decoding.beam,
        "length_penalty": power(decoding),
        "early_stopping": decoding.early_stopping,
        "do_sample": False,
        # In transformers the decoder's first input counts as a token.
        "min_length": decoding.min_length + 1 if decoding.min_length else 0,
        "max_length": positions,
        "bad_words_ids": [[each] for each in sorted(set(lists.special.never_generated))],
        **_special(lists),
    }, [*notes, *penalty_notes(decoding)]


def _write_tokenizer(folder: Path, lists: TokenLists, positions: int) -> None:
    write_segmenters(lists, folder)
    write_json(folder / "vocab.json", ids_of(lists.source))
    if lists.separate:
        write_json(folder / "target_vocab.json", ids_of(lists.target))
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "MarianTokenizer",
            **{f"{name}_token": lists.special_token(name) for name in ("pad", "eos", "unk")},
            "separate_vocabs": lists.separate,
            "model_max_length": positions,
            "clean_up_tokenization_spaces": False,
            "split_special_tokens": True,  # a typed `</s>` ends no sentence
        },
    )


def _model_notes(config: ModelConfig) -> list[str]:
    notes = []
    if config.layer_norm_epsilon != LAYER_NORM_EPSILON:
        notes.append(
            f"LayerNorm adds {LAYER_NORM_EPSILON} to the variance, not {config.layer_norm_epsilon}: logits differ by "
            "about 1e-4"
        )
    if has_own_table(config):
        notes.append(
            "the file holds the positions, since MarianMTModel computes others; its save_pretrained leaves them out"
        )
    return notes
