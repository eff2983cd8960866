"""Names of the weights in Marian's own files.

Marian stores matrices with inputs in rows; biases and norms are matrices of one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from transformer_core.config import ModelConfig, Tie
from transformer_core.conversion.foreign_config import Options
from transformer_core.conversion.plan import Origin
from transformer_core.conversion.tensor_sources import Shape

_NEVER = -60_000.0  # a logit that float16 holds and softmax makes 0
_SIDES = ("encoder", "decoder")


def embedding_tables(options: Options, shapes: Mapping[str, Shape], *, shared: bool) -> tuple[Tie, dict[str, Origin]]:
    """Return the tied embeddings, and the origins of the embedding matrices."""
    one = "Wemb" in shapes
    source, target = ("Wemb", "Wemb") if one else ("encoder_Wemb", "decoder_Wemb")
    for name in (source, target):
        if len(shapes.get(name, ())) != 2:
            raise options.fail(f"tensor {name} is missing, or no matrix")
    if one and not shared:
        raise options.fail("source and target share an embedding, but have different vocabularies")
    output = {
        "decoder_ff_logit_out_W": lambda matrix: matrix.T,
        "decoder_ff_logit_out_Wt": lambda matrix: matrix,
    }
    found = next((name for name in output if name in shapes), None)
    tables = {"source_embedding.weight": Origin(source), "embedding.weight": Origin(target)}
    if found is not None:
        return "none", {**tables, "projection.weight": Origin(found, output[found])}
    if not one:
        return "target", tables
    return "all", {"embedding.weight": Origin(target)}


def with_rows(rows: int, change: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Extend a change of a matrix: zeros in missing rows."""

    def changed(tensor: Tensor) -> Tensor:
        matrix = change(tensor)
        return torch.cat([matrix, matrix.new_zeros(max(0, rows - matrix.shape[0]), *matrix.shape[1:])])

    return changed


def output_bias(shapes: Mapping[str, Shape], embedding: str, rows: int, pad: int) -> Origin:
    """Return the origin of the output bias: Marian's, or zeros, and a very low logit for added tokens."""
    own = "decoder_ff_logit_out_b"

    def changed(tensor: Tensor) -> Tensor:
        bias = tensor.reshape(-1) if own in shapes else tensor.new_zeros(tensor.shape[0])
        return torch.cat([bias, bias.new_full((max(0, rows + 1 - bias.shape[0]),), _NEVER)])

    assert pad == rows
    return Origin(own if own in shapes else embedding, changed)


def layers(model: ModelConfig) -> Iterator[tuple[str, Origin]]:
    """Yield all weights of the layers, and the norms around them."""
    suffix = "_pre" if model.norm == "pre" else ""
    for side in _SIDES:
        if model.embedding_norm:
            yield from _norm(f"{side}.embedding_norm", f"{side}_emb", "_pre")
        if model.norm == "pre":
            yield from _norm(f"{side}.norm", f"{side}_top", "")
        for layer in range(model.num_layers):
            ours, theirs = f"{side}.layers.{layer}", f"{side}_l{layer + 1}"
            attentions = {"self_attention": "self", **({"cross_attention": "context"} if side == "decoder" else {})}
            for our, their in attentions.items():
                for part in "qkvo":
                    yield from _linear(f"{ours}.{our}.w_{part}", f"{theirs}_{their}", part)
                yield from _norm(f"{ours}.{our}_add_norm.norm", f"{theirs}_{their}_Wo", suffix)
            for part in "12":
                yield from _linear(f"{ours}.feed_forward.w_{part}", f"{theirs}_ffn", part)
            yield from _norm(f"{ours}.feed_forward_add_norm.norm", f"{theirs}_ffn_ffn", suffix)


def _linear(ours: str, theirs: str, part: str) -> Iterator[tuple[str, Origin]]:
    yield f"{ours}.weight", Origin(f"{theirs}_W{part}", lambda matrix: matrix.T)
    yield f"{ours}.bias", Origin(f"{theirs}_b{part}", _flattened)


def _norm(ours: str, theirs: str, suffix: str) -> Iterator[tuple[str, Origin]]:
    yield f"{ours}.weight", Origin(f"{theirs}_ln_scale{suffix}", _flattened)
    yield f"{ours}.bias", Origin(f"{theirs}_ln_bias{suffix}", _flattened)


def _flattened(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1)
