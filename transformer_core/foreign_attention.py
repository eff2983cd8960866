"""Attention that another program has computed: its arrays and tokens, checked and brought into one form.

Outputs of `transformers` are read by the names of their fields, so that nothing here imports it:

* `attentions` of a model with one sequence; `encoder_attentions`, `decoder_attentions`, `cross_attentions` of one with
  two. Each is a tuple over layers of (batch, heads, queries, keys).
* After `generate()`, all but `encoder_attentions` are a tuple over steps of such tuples. Step t has the new rows only.

Shape legend: B rows of the batch, H heads, Q queries, K keys, S source positions, T target positions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.axis import WORD_BOUNDARY, Axis

MAX_BYTES = 2**30  # of the maps of one sentence
MAX_LABEL = 1_000  # characters of a token
UNKNOWN = "\u2026"  # what the last position has produced, where nobody says
_EXACT, _ROUNDED = 1e-3, 0.02  # how far the sum of a row may be from 1, in float32 and after rounding to 8 bits
_SPECIAL = re.compile(r"<(?!0x[0-9A-F]{2}>)[^<>\s]+>|\[[A-Z]{2,}\d*\]")
_BLANK = "\u0120"  # how GPT-2 and its successors write the byte of a space

_Layers = list[Any]  # of each layer an array (H, Q, K), or None


class MapsTooLarge(ValueError):
    """The attention maps would take more memory than allowed.

    Args:
        needed: Bytes that they would take.
        limit: Bytes that are allowed.
    """

    def __init__(self, needed: int, limit: int) -> None:
        super().__init__(f"the attention maps would take {needed:,} bytes, but at most {limit:,} are allowed")
        self.needed, self.limit = needed, limit


def read_outputs(outputs: Any, row: int | None) -> tuple[dict[str, _Layers], int | None]:
    """Find the attention of one sentence. Arguments and errors as for `AttentionMaps.from_transformers`.

    Returns:
        Layers by kind, "one" where the model has one sequence; and after `generate()` the number of decoder inputs.
    """
    names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    weights = {kind: list(_field(outputs, name) or ()) for kind, name in names.items()}
    weights["decoder" if weights["cross"] and not weights["decoder"] else "one"] = list(
        _field(outputs, "attentions") or ()
    )
    weights = {kind: layers for kind, layers in weights.items() if layers}
    if not weights or not all(map(_has_weights, weights.values())):
        raise ValueError(
            "the outputs hold no attention weights: load the model with "
            'attn_implementation="eager" and call it with output_attentions=True'
        )
    sequences = _field(outputs, "sequences")
    if sequences is None:
        if isinstance(next(iter(weights.values()))[0], tuple | list):
            raise ValueError("these are steps of generate(): give its outputs with return_dict_in_generate=True")
        _check_size(layer.shape[1:] for layers in weights.values() for layer in layers if layer is not None)
        return {kind: _rows(layers, row) for kind, layers in weights.items()}, None
    return _generated(weights, row, len(sequences), _field(outputs, "beam_indices"))


def _generated(steps_of: dict[str, _Layers], row: int | None, count: int, beams: Any) -> tuple[dict[str, _Layers], int]:
    """Join the steps of `generate()`; `beams` (count, steps) says which row of the batch each token came from."""
    row = _check_row(row, count)
    layers: dict[str, _Layers] = {}
    positions = 0
    for kind, steps in steps_of.items():
        if kind == "encoder":  # computed once for all hypotheses of a sentence
            batch = next(each for each in steps if each is not None).shape[0]
            layers[kind] = _rows(steps, row * batch // count)
            continue
        rows = [row] * len(steps) if beams is None else [int(beam) for beam in beams[row] if beam >= 0]
        steps = steps[: len(rows)]
        some = next(each for each in steps[0] if each is not None)
        positions = some.shape[2] + len(steps) - 1
        keys = some.shape[3] if kind == "cross" else positions
        heads = sum(each.shape[1] for each in steps[0] if each is not None)
        _check_size([(heads, positions, keys)])
        layers[kind] = [
            None if steps[0][layer] is None else _joined([step[layer] for step in steps], rows, positions, keys)
            for layer in range(len(steps[0]))
        ]
    return layers, positions


def _joined(steps: Sequence[Any], rows: Sequence[int], positions: int, keys: int) -> npt.NDArray[np.float32]:
    """Return (H, T, K) of one layer. A cache of fixed size has more keys than there are, all without weight."""
    first = to_numbers(steps[0][rows[0]])[..., :keys]
    joined = np.zeros((first.shape[0], positions, keys), dtype=np.float32)
    joined[:, : first.shape[1], : first.shape[2]] = first
    for position, (step, row) in enumerate(zip(steps[1:], rows[1:], strict=True), start=first.shape[1]):
        new = to_numbers(step[row])[:, -1, :keys]  # without a cache, all rows are there again
        if new.shape[1] < min(position + 1, keys):
            raise ValueError(f"step {position} has only {new.shape[1]} keys: the cache has dropped older ones")
        joined[:, position, : new.shape[1]] = new
    return joined


def _has_weights(layers: Any) -> bool:
    """Return whether a tuple of layers, or of steps of layers, holds any weights."""
    return any(_has_weights(each) if isinstance(each, tuple | list) else each is not None for each in layers)


def _field(outputs: Any, name: str) -> Any:
    return outputs.get(name) if isinstance(outputs, Mapping) else getattr(outputs, name, None)


def _rows(layers: _Layers, row: int | None) -> _Layers:
    """Take one row of the batch of each layer: (B, H, Q, K) -> (H, Q, K)."""
    return [None if layer is None else layer[_check_row(row, layer.shape[0])] for layer in layers]


def _check_row(row: int | None, count: int) -> int:
    if row is None and count > 1:
        raise ValueError(f"the batch has {count} rows: say which with row=, counted from 0")
    row = row or 0
    if not 0 <= row < count:
        raise ValueError(f"row is {row}, but must be between 0 and {count - 1} (counted from 0)")
    return row


def _check_size(shapes: Any) -> None:
    needed = 4 * sum(math.prod(shape) for shape in shapes)
    if needed > MAX_BYTES:
        raise MapsTooLarge(needed, MAX_BYTES)


def to_numbers(array: Any, name: str = "weights") -> npt.NDArray[np.float32]:
    """Copy an array, or a tensor of any type and device, to float32. Raises ValueError for other things."""
    if hasattr(array, "detach"):
        array = array.detach().float().cpu()
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} are of type {array.dtype}, but must be real numbers")
    return np.array(array, dtype=np.float32)


def stack(kind: str, layers: _Layers) -> npt.NDArray[np.float32]:
    """Return (L, H, Q, K) of all layers, H of the one with most heads; heads that a layer lacks are NaN.

    Args:
        kind: For errors.
        layers: For each layer (H, Q, K) or (1, H, Q, K); None for a layer without attention.

    Raises:
        ValueError: A shape, a weight or the sum of a row is wrong.
        MapsTooLarge: They take more than `MAX_BYTES`.
    """
    shapes = [None if layer is None else np.shape(layer)[-3:] for layer in layers]
    known = [shape for shape in shapes if shape is not None]
    alike = bool(known) and all(len(shape) == 3 and shape[1:] == known[0][1:] and 0 not in shape for shape in known)
    if not alike or any(np.shape(layer)[:-3] not in ((), (1,)) for layer in layers if layer is not None):
        raise ValueError(
            f"{kind} has layers of shapes {[layer if layer is None else np.shape(layer) for layer in layers]}, "
            "but each must be (heads, queries, keys), with the same queries and keys"
        )
    shape = (len(layers), max(shape[0] for shape in known), *known[0][1:])
    _check_size([shape])
    array = np.full(shape, np.nan, dtype=np.float32)
    for number, layer in enumerate(layers):
        if layer is not None:
            weights = to_numbers(layer).reshape(shapes[number])
            check_rows(weights[None], _ROUNDED, f"{kind} attention", number)
            sums = weights.sum(axis=-1, keepdims=True)
            array[number, : len(weights)] = np.where(np.abs(sums - 1) > _EXACT / 2, weights / sums, weights)
    if kind == "decoder" and not is_causal(list(array)):
        raise ValueError("decoder attention looks ahead: weights above its diagonal must be 0 (padding on the left?)")
    return array


def check_rows(
    array: npt.NDArray[np.float32], tolerance: float = _EXACT, name: str = "the weights", first: int = 0
) -> None:
    """Raise ValueError unless each row of (L, H, Q, K) weights holds numbers from 0 to 1 that sum to 1.

    `name` and the number of the `first` layer are for the error.
    """
    low, high = -tolerance, 1 + tolerance
    with np.errstate(invalid="ignore"):
        sums = array.sum(axis=-1, dtype=np.float64)
    for wrong, what in (
        (np.isnan(array).any(axis=-1), "holds NaN, but must hold weights from 0 to 1"),
        ((array < low).any(axis=-1), "holds a negative weight, but weights are 0 to 1 (is it before the softmax?)"),
        ((array > high).any(axis=-1), "holds a weight above 1, but weights are 0 to 1 (is it before the softmax?)"),
        (
            np.abs(sums - 1) > tolerance,
            f"sums to {{sum:.4f}}, but must sum to 1 (within {tolerance}; in training, dropout changes that)",
        ),
    ):
        if wrong.any():
            layer, head, row = (int(i) for i in np.argwhere(wrong)[0])
            message = what.format(sum=sums[layer, head, row]) if "{sum" in what else what
            raise ValueError(f"layer {first + layer}, head {head}, query {row} of {name} (counted from 0) {message}")


def is_causal(layers: _Layers) -> bool:
    """Return whether no query of these (H, Q, K) layers has weight on a later key."""
    there = [to_numbers(layer) for layer in layers if layer is not None]
    return all(bool((np.triu(np.nan_to_num(layer), k=1) == 0).all()) for layer in there)


def label(arrays: Mapping[str, npt.NDArray[np.float32]], source: Sequence[str], target: Sequence[str]) -> list[Axis]:
    """Return the axes source, inputs and outputs of (L, H, Q, K) arrays by kind.

    Raises:
        ValueError: There is not a token for each position.
    """
    lengths = {"source": {"encoder": 3, "cross": 3}, "target": {"decoder": 3, "cross": 2}}
    counts = {}
    for side, tokens in (("source", source), ("target", target)):
        sizes = {arrays[kind].shape[axis] for kind, axis in lengths[side].items() if kind in arrays}
        if len(sizes) > 1:
            raise ValueError(f"the kinds of attention have {sorted(sizes)} {side} positions, but must have the same")
        count = counts[side] = sizes.pop() if sizes else 0
        _check_tokens(f"{side}_tokens", tokens, count, 1 if side == "target" and count else 0)
    count = counts["target"]
    produced = [*target[1 : count + 1], UNKNOWN][:count]
    return [axis_of(source), axis_of(target[:count]), axis_of(produced)]


def _check_tokens(name: str, tokens: Sequence[str], count: int, more: int) -> None:
    if isinstance(tokens, str):
        raise ValueError(f"{name} is one text, but must be a list with a token for each position")
    if not count <= len(tokens) <= count + more:
        also = f" (or {count + more}, with the last one produced)" if more else ""
        raise ValueError(f"{name} has {len(tokens)} tokens, but the attention has {count} positions{also}")
    for token in tokens:
        if not isinstance(token, str) or len(token) > MAX_LABEL:
            raise ValueError(f"{name} holds {str(token)[:40]!r}, but must hold texts up to {MAX_LABEL:,} characters")


def is_special(token: str) -> bool:
    """Return whether a token is one that no text holds, such as `<s>`, `[CLS]` or `<|endoftext|>`."""
    return token == UNKNOWN or _SPECIAL.fullmatch(token) is not None


def axis_of(tokens: Sequence[str]) -> Axis:
    """Return an axis of another tokenizer's tokens; its marks of words become SentencePiece's.

    Read are `Ġ` (GPT-2), `##` (BERT) and `</w>` (CLIP, XLM). Without any mark, each token is a word.
    """
    from transformer_core.text.tokenizer import word_numbers

    special = tuple(map(is_special, tokens))
    labels = _with_marks(tokens, special)
    if not any(WORD_BOUNDARY in token for token in labels):
        return Axis(tuple(tokens), tuple(range(len(tokens))), special)
    words: list[int] = []
    start = 0
    while start < len(labels):
        end = start + 1
        while not special[start] and end < len(labels) and not special[end]:
            end += 1
        first = words[-1] + 1 if words else 0
        words += [first + number for number in word_numbers(labels[start:end])]
        start = end
    return Axis(tuple(labels), tuple(words), special)


def _with_marks(tokens: Sequence[str], special: Sequence[bool]) -> list[str]:
    """Return the tokens with SentencePiece's mark where a word begins."""
    from transformer_core.text.byte_level import shown

    ordinary = [token for token, mark in zip(tokens, special, strict=True) if not mark]
    if any(token.startswith("##") and len(token) > 2 for token in ordinary):
        begun = [WORD_BOUNDARY * (not token.startswith("##")) + token.removeprefix("##") for token in tokens]
    elif any(_BLANK in token for token in ordinary):
        begun = [shown(token) for token in tokens]
    elif any(token.endswith("</w>") for token in ordinary):
        ends = [True, *(mark or token.endswith("</w>") for token, mark in zip(tokens, special, strict=True))]
        begun = [WORD_BOUNDARY * end + token.removesuffix("</w>") for token, end in zip(tokens, ends, strict=False)]
    else:
        begun = list(tokens)
    return [token if mark else new for token, new, mark in zip(tokens, begun, special, strict=True)]
