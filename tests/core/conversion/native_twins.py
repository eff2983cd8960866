"""Marian's own files in small: the weights of a transformers model under Marian's names.

Post-norm is MarianMTModel with Marian's angles and epsilon. Pre-norm is M2M100, whose positions begin at 0 here.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.core.conversion.marian_twins import marian_folder
from tests.core.conversion.twins import SHAPE, Twin, drawn
from transformer_core.conversion import convert
from transformer_core.translator import Translator

VARIANTS = ("post-norm", "pre-norm", "separate", "untied")
_PARTS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}


def angles(length: int, d_model: int) -> torch.Tensor:
    """(n, d): Marian's sinusoids, number by number."""
    half = d_model // 2
    table = torch.zeros(length, d_model, dtype=torch.float64)
    for position in range(length):
        for i in range(half):
            angle = position * 10_000.0 ** (-i / (half - 1))
            table[position, i], table[position, half + i] = np.sin(angle), np.cos(angle)
    return table.float()


def _places(ids: torch.Tensor, padding: int, before: int) -> torch.Tensor:
    """Positions counted from 0, whatever the tokens are."""
    return (torch.arange(ids.shape[1]) + before).repeat(len(ids), 1)


@torch.no_grad()
def _as_marian(model: Any, *, pre_norm: bool) -> Any:
    """Positions and epsilon as Marian has them; zeros and no chance for the token that starts."""
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-6
    for stack in (model.model.encoder, model.model.decoder):
        if pre_norm:
            stack.embed_positions.weights.copy_(angles(len(stack.embed_positions.weights), 32))
            stack.embed_positions.create_position_ids_from_input_ids = _places
        else:
            stack.embed_positions.weight.copy_(angles(len(stack.embed_positions.weight), 32))
    return model


@torch.no_grad()
def arrays(model: Any, rows: int, *, pre_norm: bool) -> dict[str, Any]:
    """The weights under Marian's names, without the rows of the token that starts."""
    suffix, found = "_pre" if pre_norm else "", dict[str, Any]()

    def norm(name: str, module: Any, suffix: str = suffix) -> None:
        found[f"{name}_ln_scale{suffix}"] = module.weight[None]
        found[f"{name}_ln_bias{suffix}"] = module.bias[None]

    for side, stack in (("encoder", model.model.encoder), ("decoder", model.model.decoder)):
        if pre_norm:
            norm(f"{side}_top", stack.layer_norm, "")
        for number, layer in enumerate(stack.layers, start=1):
            name = f"{side}_l{number}"
            for our, their in (("self", "self_attn"), ("context", "encoder_attn")):
                if not hasattr(layer, their):
                    continue
                for part, projection in _PARTS.items():
                    linear = getattr(getattr(layer, their), projection)
                    found[f"{name}_{our}_W{part}"], found[f"{name}_{our}_b{part}"] = linear.weight.T, linear.bias[None]
                norm(f"{name}_{our}_Wo", getattr(layer, f"{their}_layer_norm"))
            for part, linear in (("1", layer.fc1), ("2", layer.fc2)):
                found[f"{name}_ffn_W{part}"], found[f"{name}_ffn_b{part}"] = linear.weight.T, linear.bias[None]
            norm(f"{name}_ffn_ffn", layer.final_layer_norm)
    encoder, decoder = model.model.encoder.embed_tokens.weight[:rows], model.model.decoder.embed_tokens.weight[:rows]
    if torch.equal(encoder, decoder):
        found["Wemb"] = encoder
    else:
        found["encoder_Wemb"], found["decoder_Wemb"] = encoder, decoder
    if not torch.equal(model.lm_head.weight[:rows], decoder):
        found["decoder_ff_logit_out_W"] = model.lm_head.weight[:rows].T
    if hasattr(model, "final_logits_bias"):
        found["decoder_ff_logit_out_b"] = model.final_logits_bias[:, :rows]
    return {name: np.ascontiguousarray(value.numpy()) for name, value in found.items()}


def options(*, pre_norm: bool, **more: str) -> str:
    """What `special:model.yml` holds."""
    lines = {
        "type": "transformer",
        "dim-emb": "32",
        "dim-vocabs": "\n  - 100\n  - 100",
        "enc-depth": "2",
        "dec-depth": "2",
        "transformer-heads": "4",
        "transformer-dim-ffn": "48",
        "transformer-ffn-depth": "2",
        "transformer-ffn-activation": "relu" if pre_norm else "swish",
        "transformer-preprocess": "n" if pre_norm else '""',
        "transformer-postprocess": "da" if pre_norm else "dan",
        "transformer-postprocess-emb": "d",
        "transformer-postprocess-top": "n" if pre_norm else '""',
        "transformer-decoder-autoreg": "self-attention",
        "transformer-no-projection": "false",
        "version": "v1.12.0",
        **more,
    }
    return "".join(f"{name}: {value}\n" for name, value in lines.items())


def native_folder(path: Path, variant: str, **more: str) -> tuple[Any, Any]:
    """A folder as Marian's training leaves it; returns what transformers makes of the same weights."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    pre_norm = variant == "pre-norm"
    kinds = {"separate": "share_encoder_decoder_embeddings", "untied": "tie_word_embeddings"}
    theirs = path.with_name("transformers")
    chosen: dict[str, Any] = {"activation_function": "swish", "scale_embedding": True}
    if variant in kinds:
        chosen[kinds[variant]] = False
    model, tokenizer = marian_folder(theirs, **chosen)
    pad = model.config.pad_token_id
    if pre_norm:
        special: dict[str, Any] = dict.fromkeys(("pad_token_id", "decoder_start_token_id"), pad)
        model = M2M100ForConditionalGeneration(
            M2M100Config(
                vocab_size=pad + 1, scale_embedding=True, eos_token_id=0, bos_token_id=None, **special, **SHAPE
            )
        )
        drawn(model, 5, ending=4.0)
    with torch.no_grad():
        for table in (model.model.encoder.embed_tokens, model.model.decoder.embed_tokens, model.lm_head):
            table.weight[pad] = 0.0
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias[0, pad] = -60_000.0
        else:
            model.lm_head.bias = torch.nn.Parameter(torch.zeros(pad + 1).index_fill(0, torch.tensor([pad]), -60_000.0))
    _as_marian(model, pre_norm=pre_norm)
    path.mkdir()
    weights = arrays(model, pad, pre_norm=pre_norm)
    text = options(pre_norm=pre_norm, **more).encode() + b"\0"
    np.savez(path / "model.npz", **weights, **{"special:model.yml": np.frombuffer(text, dtype=np.int8)})  # type: ignore[arg-type]
    for name in ("source.spm", "target.spm"):
        shutil.copy(theirs / name, path / name)
    names = ["vocab.yml", "vocab.yml"]
    _write_vocabulary(path / "vocab.yml", tokenizer.encoder)
    if variant == "separate":
        names = ["source.vocab.yml", "target.vocab.yml"]
        (path / "vocab.yml").rename(path / names[0])
        _write_vocabulary(path / names[1], tokenizer.target_encoder)
    listed = "".join(f"  - {name}\n" for name in names)
    (path / "decoder.yml").write_text(
        f"relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n{listed}beam-size: 4\nnormalize: 1\nword-penalty: 0\n",
        encoding="utf-8",
    )
    return model, tokenizer


def _write_vocabulary(path: Path, ids: dict[str, int]) -> None:
    lines = []
    for token, number in ids.items():
        if token == "<pad>":
            continue
        escaped = token.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f"{token}: {number}" if token.isalnum() else f'"{escaped}": {number}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def native_twin(parent: Path, variant: str) -> Twin:
    """One of the variants, converted."""
    model, tokenizer = native_folder(parent / "theirs", variant)
    convert(parent / "theirs", parent / "ours")
    return Twin(parent / "theirs", model, tokenizer, {}, Translator.load(parent / "ours"))
