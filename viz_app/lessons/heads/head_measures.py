"""Measurements for the lesson on heads: parts of an output, and the ablation of each head.

Shape legend: L layers, H heads, T target positions, n positions, d = d_model.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.ablation import Head, all_heads, hook_point_name
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from viz_app.lessons.heads.at_rest import SELF
from viz_app.serving.scheduling.request_queue import Superseded
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

FloatArray = npt.NDArray[np.float32]
_MAX_LOGITS = 24_000_000  # of one pass: about 100 MB


@dataclass(frozen=True, eq=False)
class LayerDecomposition:
    """Output of an attention layer as a sum over its heads (Section 3.2.2): Concat(head_1, ..., head_H) W^O.

    Args:
        heads: (H, n, d_v) output of each head.
        parts: (H, n, d) what W^O makes of each head alone.
        output: (n, d) what the layer gives: W^O of all heads side by side.
        matrix: (H * d_v, d) W^O.
        error: The largest difference between `output` and the sum of `parts`.
    """

    heads: FloatArray
    parts: FloatArray
    output: FloatArray
    matrix: FloatArray
    error: float


def decompose_layer(translator: Translator, translation: Translation, kind: Kind, layer: int) -> LayerDecomposition:
    """Decompose the output of a layer into its heads, under teacher forcing."""
    import torch

    from transformer_core.hooks.points import capture

    attention: Any = translator.model.get_submodule(hook_point_name(kind, layer, "w_o").rpartition(".")[0])
    with torch.no_grad(), capture(translator.model, hook_point_name(kind, layer, "head_outputs")) as captured:
        translator.attention(translation.source_encoding, translation.hypotheses[0].ids, translation.finished)
        heads = captured[hook_point_name(kind, layer, "head_outputs")][0]  # (H, n, d_v)
        output = attention.w_o(heads.transpose(0, 1).flatten(1))  # (n, H * d_v) -> (n, d)
        matrix = attention.w_o.weight.detach().float().T  # (H * d_v, d)
        parts = torch.einsum("hnv,hvd->hnd", heads, matrix.view(len(heads), -1, matrix.shape[1]))
        whole = parts.sum(0) if attention.w_o.bias is None else parts.sum(0) + attention.w_o.bias
    return LayerDecomposition(
        heads.numpy(), parts.numpy(), output.numpy(), matrix.contiguous().numpy(), float((whole - output).abs().max())
    )


def twins(weights: FloatArray, parts: FloatArray) -> tuple[int, int, float, float] | None:
    """Find the two heads of a layer whose maps are most alike; None for a layer with one head.

    Args:
        weights: (H, Q, K) their maps.
        parts: (H, Q, d) the vectors that they add.

    Returns:
        Both heads, the share of the weight that their maps have in common, and the mean cosine of what they add.
    """
    pairs = itertools.combinations(range(len(weights)), 2)
    alike = [(float(np.minimum(weights[a], weights[b]).sum(axis=-1).mean()), a, b) for a, b in pairs]
    if not alike:
        return None
    common, one, other = max(alike)
    norms = np.linalg.norm(parts, axis=-1)
    cosines = (parts[one] * parts[other]).sum(axis=-1) / np.maximum(norms[one] * norms[other], 1e-12)
    return one, other, common, float(cosines.mean())


def strongest_sink(translator: Translator, translation: Translation, maps: AttentionMaps) -> dict[str, Any]:
    """Find the self-attention head that gives `<s>` or `</s>` most; return its columns' sums and its values' norms."""
    import torch

    from transformer_core.hooks.points import capture

    means = {kind: maps.weights(kind).mean(axis=2) * np.array(maps.keys(kind).special) for kind in SELF}  # (L, H, K)
    kind = max(means, key=lambda each: float(means[each].max()))
    layer, head, key = map(int, np.unravel_index(means[kind].argmax(), means[kind].shape))
    point = hook_point_name(kind, layer, "values")
    with torch.no_grad(), capture(translator.model, point) as captured:
        translator.attention(translation.source_encoding, translation.hypotheses[0].ids, translation.finished)
    return {
        "head": str(Head(kind, layer, head)),
        "key": key,
        "tokens": list(maps.keys(kind).tokens),
        "sums": maps.weights(kind)[layer, head].sum(axis=0).tolist(),
        "lengths": captured[point][0, head].float().norm(dim=-1).tolist(),
    }


@dataclass(frozen=True, eq=False)
class SingleHeadAblations:
    """Effects of switching off each head alone, under teacher forcing of the greedy translation.

    Args:
        text: That translation.
        changes: (heads,) change of its log-probability in nats, in the order of `ablation.all_heads`.
        same: (heads,) whether greedy decoding would still write it, word for word.
    """

    text: str
    changes: FloatArray
    same: npt.NDArray[np.bool_]


def ablate_each_head(translator: Translator, text: str, should_stop: ShouldStop = lambda: False) -> SingleHeadAblations:
    """Switch off every head alone: a row of one batch for each head, and a last row with all heads.

    Greedy decoding without a head writes the same as with it exactly if, after each beginning of what it wrote, the
    same token is still the likeliest; so one pass with the translation given decides.

    Raises:
        Superseded: `should_stop` said so.
    """
    import torch

    from transformer_core.data import make_batch
    from transformer_core.hooks.points import edit
    from transformer_core.model.masks import padding_mask

    heads = all_heads(translator)
    greedy = translator.translate(text, beam=1)
    special = translator.tokenizer.special
    batch = make_batch([greedy.source_encoding.ids], [list(greedy.hypotheses[0].ids)], special)
    mask = padding_mask(batch.source, special.pad)
    inputs, outputs = batch.inputs, batch.outputs
    if not greedy.finished:  # it was cut off: </s> was never written
        inputs, outputs = inputs[:, :-1], outputs[:, :-1]
    length = outputs.shape[1]
    size = max(1, _MAX_LOGITS // (length * translator.config.vocab_size))
    never = torch.tensor([special.pad, special.bos, special.unk])
    changes, same, whole = [], [], 0.0
    rows: list[Head | None] = [None, *heads]
    for start in range(0, len(rows), size):
        if should_stop():
            raise Superseded
        chunk = rows[start : start + size]
        count = len(chunk)
        with torch.no_grad(), edit(translator, _edits_by_row(chunk)):
            logits = translator.model(
                batch.source.expand(count, -1), inputs.expand(count, -1), mask.expand(count, -1, -1, -1)
            )
        log_p = torch.log_softmax(logits.float(), dim=-1)
        totals = log_p.gather(2, outputs.expand(count, -1)[:, :, None]).squeeze(2).double().sum(1)  # (rows,)
        whole = float(totals[0]) if start == 0 else whole
        predictions = log_p.index_fill_(2, never, -torch.inf).argmax(2)  # (rows, T)
        changes += (totals - whole).tolist()
        same += (predictions == outputs).all(1).tolist()
    return SingleHeadAblations(greedy.text, np.array(changes[1:], dtype=np.float32), np.array(same[1:], dtype=bool))


def _edits_by_row(rows: list[Head | None]) -> dict[str, Any]:
    """Return the edits that switch off, in every row of the batch, the head of that row."""
    by_address: dict[str, list[tuple[int, int]]] = {}
    for row, head in enumerate(rows):
        if head is not None:
            by_address.setdefault(hook_point_name(head[0], head[1], "head_outputs"), []).append((row, head[2]))

    def silence(pairs: list[tuple[int, int]]) -> Any:
        def change(value: Any, _site: Any) -> Any:
            changed = value.clone()
            for row, number in pairs:
                changed[row, number] = 0.0
            return changed

        return change

    return {address: silence(pairs) for address, pairs in by_address.items()}


def truncate_maps(maps: AttentionMaps, most: int) -> dict[str, npt.NDArray[np.uint8]]:
    """Return the weights of the first positions as bytes, (L, H, Q, K) for each kind; 255 is 1."""
    return {kind: np.round(maps.weights(kind)[:, :, :most, :most] * 255).astype(np.uint8) for kind in KINDS}
