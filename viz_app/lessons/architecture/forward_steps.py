"""Measurements of a forward pass: stations, orders of tokens, neighbours, one pass against single steps.

Shape legend: S source positions, T target positions, n positions that are shown, d = d_model, V = vocab_size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_core.analysis.activations import Activation, Side, record_activations
from transformer_core.data import make_batch
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.model.masks import padding_mask

if TYPE_CHECKING:
    from transformer_core.model.transformer import Transformer
    from transformer_core.translator import Translator

LIMIT = 4.0  # numbers of a tensor are shown up to here; LayerNorm leaves few beyond
NEIGHBOURS = 6
LIKELY = 6
_SAMPLED = 200  # tokens whose nearest neighbour is looked up, for comparison
_ROWS = 2**14  # of a vocabulary, compared at a time

FloatArray = npt.NDArray[np.float32]
ByteArray = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class ForwardTrace:
    """Forward pass of a sentence pair; long sentences are cut to their first n positions.

    Args:
        stations: Side, name, layer, sub-layer, width and mean norm over all positions, of each station.
        stats: (stations, n, 3) mean, deviation and norm of each position's vector; NaN-free, 0 beyond the sentence.
        tensors: (stations but the last, n, d) the vectors as bytes: 128 is 0, 1 and 255 are -LIMIT and LIMIT.
        sums: (Add & Norms, n, 3) mean, deviation and norm of x + Sublayer(x).
        cosines: (Add & Norms, n, 2) of what leaves each Add & Norm: with what came into its sub-layer, and with what
            came into the first layer.
        active: (feed-forward networks, n) share of the inner values that are above 0.
        inner: (feed-forward networks, n, d_ff) inner values as bytes: 255 is the largest of the network.
        order_error: The largest difference that the order of the tokens makes to an output of a feed-forward network.
        once: (n,) log-probability of each token of the translation, from one pass over all rows.
        stepwise: (n,) the same from one step for each token, with the cache.
        again: (n,) the same from a pass over all rows so far for each token.
        step_error: The largest difference between any logit of the three.
        likely: For each target position the likeliest tokens: id, probability and logit.
    """

    stations: list[dict[str, Any]]
    stats: FloatArray
    tensors: ByteArray
    sums: FloatArray
    cosines: FloatArray
    active: FloatArray
    inner: ByteArray
    order_error: float
    once: FloatArray
    stepwise: FloatArray
    again: FloatArray
    step_error: float
    likely: list[list[tuple[int, float, float]]]


@torch.no_grad()
def trace_forward(
    translator: Translator, source: Sequence[int], target: Sequence[int], length: int, positions: int
) -> ForwardTrace:
    """Run the model on a sentence pair and keep the values that the lesson shows.

    Args:
        translator: The model.
        source: Ids of the source without `</s>`.
        target: Ids of the translation without `</s>`.
        length: Rows of the decoder: one more than the translation has tokens, unless it was cut off.
        positions: Positions that are shown, at most.
    """
    model, special = translator.model, translator.tokenizer.special
    batch = make_batch([source], [list(target)], special)
    inputs, outputs = batch.inputs[:, :length], batch.outputs[0, :length]
    activations = record_activations(model, batch.source, inputs)
    inner = [station for station in activations if station.hidden is not None]
    logits = activations[-1].values  # (T, V)
    steps, again = _step_by_step(model, batch.source, inputs[:, :positions], special.pad)  # (n, V) each
    first = logits[:positions]
    error = max(float((first - other).abs().max()) for other in (steps, again))
    targets = outputs[:positions, None]
    log_probabilities = [torch.log_softmax(each, dim=-1).gather(1, targets)[:, 0] for each in (first, steps, again)]
    return ForwardTrace(
        stations=[_station_values(station) for station in activations],
        stats=np.stack([_stats(station.values[:positions], positions) for station in activations]),
        tensors=np.stack([_padded(_bytes(station.values[:positions]), positions) for station in activations[:-1]]),
        sums=_sums(activations, positions, model.config.residual),
        cosines=_cosines(activations, positions),
        active=np.stack([_padded(_share_on(station)[:positions], positions) for station in inner]),
        inner=np.stack([_padded(_inner_bytes(station, positions), positions) for station in inner]),
        order_error=max(_order_error(model, activations, station, positions) for station in inner),
        once=log_probabilities[0].numpy(),
        stepwise=log_probabilities[1].numpy(),
        again=log_probabilities[2].numpy(),
        step_error=error,
        likely=_likely(first),
    )


def _station_values(station: Activation) -> dict[str, Any]:
    return {
        "side": station.side,
        "name": station.name,
        "layer": station.layer,
        "sublayer": station.sublayer,
        "shape": list(station.values.shape),
        "norm": round(float(station.values.norm(dim=-1).mean()), 4),
    }


def _stats(values: Tensor, positions: int) -> FloatArray:
    """(n, width) -> (positions, 3)."""
    columns = (values.mean(dim=-1), values.std(dim=-1, unbiased=False), values.norm(dim=-1))
    return _padded(torch.stack(columns, dim=1).numpy(), positions)


def _padded(rows: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """Pad with rows of zeros, so that both sides fit into one array."""
    return np.pad(rows, [(0, count - len(rows)), *[(0, 0)] * (rows.ndim - 1)])


def _bytes(values: Tensor) -> ByteArray:
    return (values / LIMIT * 127).round().clamp(-127, 127).add(128).to(torch.uint8).numpy()


def _inner_bytes(station: Activation, positions: int) -> ByteArray:
    """Scale inner values to bytes; an active unit is at least 1."""
    assert station.hidden is not None
    values = station.hidden[:positions].clamp(min=0)
    scaled = (values / values.max().clamp(min=1e-9) * 255).ceil()
    return scaled.to(torch.uint8).numpy()


def _share_on(station: Activation) -> FloatArray:
    assert station.hidden is not None
    return (station.hidden > 0).float().mean(dim=-1).numpy()


def _sums(activations: Sequence[Activation], positions: int, residual: bool) -> FloatArray:
    """(Add & Norms, positions, 3)."""
    rows: list[FloatArray] = []
    before: Tensor | None = None
    for number, station in enumerate(activations):
        if station.name == "add_norm" and before is not None:
            sublayer = activations[number - 1].values
            rows.append(_stats((before + sublayer if residual else sublayer)[:positions], positions))
        if station.name in ("positions", "add_norm"):
            before = station.values
    return np.stack(rows)


def _cosines(activations: Sequence[Activation], positions: int) -> FloatArray:
    """(Add & Norms, positions, 2)."""
    rows: list[FloatArray] = []
    start: dict[Side, Tensor] = {}
    before: Tensor | None = None
    for station in activations:
        if station.name == "positions":
            start[station.side] = before = station.values
        elif station.name == "add_norm" and before is not None:
            pairs = [F.cosine_similarity(other, station.values, dim=-1) for other in (before, start[station.side])]
            rows.append(_padded(torch.stack(pairs, dim=1)[:positions].numpy(), positions))
            before = station.values
    return np.stack(rows)


@torch.no_grad()
def _order_error(model: Transformer, activations: Sequence[Activation], station: Activation, positions: int) -> float:
    """Run a feed-forward network again with its first token at every other place, and compare what each token gets."""
    module = model.get_submodule(f"{station.side}.layers.{station.layer}.feed_forward")
    add_norm: Any = model.get_submodule(f"{station.side}.layers.{station.layer}.feed_forward_add_norm")
    x = activations[activations.index(station) - 1].values[:positions]
    x = add_norm.norm(x) if add_norm.pre_norm else x
    orders = torch.stack([moved_order(len(x), place) for place in range(len(x))])  # (n, n)
    out = module(x[orders])  # (n, n, d)
    return float((out - station.values[:positions][orders]).abs().max())


def moved_order(count: int, place: int) -> Tensor:
    """Return the order of tokens after the first one has moved to another place; the others keep their order."""
    rest = list(range(1, count))
    return torch.tensor([*rest[:place], 0, *rest[place:]])


def _step_by_step(model: Transformer, source: Tensor, inputs: Tensor, pad: int) -> tuple[Tensor, Tensor]:
    """Compute logits step by step, as inference does: with the cache, and afresh at every step."""
    mask = padding_mask(source, pad)
    memory = model.encode(source, mask)
    decoder = IncrementalDecoder(model, memory, mask, beams=1)
    cached, fresh = [], []
    for step in range(inputs.shape[1]):
        cached.append(decoder.step(inputs[:, step : step + 1])[0])
        fresh.append(model.logits(model.decode(inputs[:, : step + 1], memory, mask)[:, -1:])[0, 0])
    return torch.stack(cached), torch.stack(fresh)


def _likely(logits: Tensor) -> list[list[tuple[int, float, float]]]:
    values, ids = torch.softmax(logits, dim=-1).topk(LIKELY, dim=-1)
    scores = logits.gather(1, ids)
    return [
        [(token, round(p, 6), round(logit, 4)) for token, p, logit in zip(*row, strict=True)]
        for row in zip(ids.tolist(), values.tolist(), scores.tolist(), strict=True)
    ]


# --- the shared matrix ------------------------------------------------------------------------------------------------


@torch.no_grad()
def nearest(matrix: Tensor, ids: Sequence[int], count: int = NEIGHBOURS) -> list[list[tuple[int, float]]]:
    """Find the rows nearest to each id by cosine: their ids and cosines, the nearest first.

    Args:
        matrix: (V, d).
        ids: Rows of it.
        count: How many for each.
    """
    indices = torch.tensor(list(ids))
    vectors = F.normalize(matrix[indices].float(), dim=1)  # (n, d)
    # Not all rows at once, of which a large vocabulary has a gigabyte.
    parts = [vectors @ F.normalize(rows.float(), dim=1).T for rows in torch.split(matrix, _ROWS)]
    cosines = torch.cat(parts, dim=1)  # (n, V)
    cosines.scatter_(1, indices[:, None], -torch.inf)  # a row is not its own neighbour
    values, neighbours = cosines.topk(count, dim=1)
    return [
        [(other, round(cosine, 4)) for other, cosine in zip(*row, strict=True)]
        for row in zip(neighbours.tolist(), values.tolist(), strict=True)
    ]


def median_nearest_cosine(matrix: Tensor) -> float:
    """Compute the median over tokens of the cosine with the nearest neighbour."""
    ids = range(0, len(matrix), max(1, len(matrix) // _SAMPLED))
    return float(np.median([neighbours[0][1] for neighbours in nearest(matrix, ids, 1)]))
