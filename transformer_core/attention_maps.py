"""The attention of one sentence, with the labels of both axes: the currency of the app.

A map never travels without its labels. Three axes exist and are never mixed up:

* source: tokens of the source and `</s>`; queries and keys of the encoder, keys of the encoder-decoder attention.
* inputs: what the decoder reads, `<s>` and then its own tokens (the output shifted right, Section 3.1).
* outputs: what the decoder generates at the same positions: its tokens and `</s>`.

Row t of decoder self-attention belongs to input t and helps to produce output t. A row of encoder-decoder attention
is named after the output that it produces.

Shape legend: L layers, H heads, S source positions, T target positions, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from transformer_core import foreign_attention
from transformer_core.axis import WORD_BOUNDARY as WORD_BOUNDARY
from transformer_core.axis import Axis as Axis
from transformer_core.foreign_attention import MapsTooLarge as MapsTooLarge
from transformer_core.short_repr import ShortRepr

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")

FloatArray = npt.NDArray[np.float32]


def map_bytes(heads: int, source: int, target: int) -> int:
    """Return bytes of all maps of a sentence; arguments as for `check_map_bytes`."""
    return 4 * heads * (source**2 + target**2 + source * target)


def check_map_bytes(heads: int, source: int, target: int, limit: int | None) -> None:
    """Raise MapsTooLarge when the maps of a sentence would exceed a number of bytes; None allows all.

    Args:
        heads: Of all layers together, L * H; equally many of each kind.
        source: S.
        target: T.
        limit: Bytes.
    """
    needed = map_bytes(heads, source, target)
    if limit is not None and needed > limit:
        raise MapsTooLarge(needed, limit)


@dataclass(frozen=True)
class AttentionMaps(ShortRepr):
    """All attention weights of one sentence and its translation; padding removed, float32, rows sum to 1.

    A kind that a model lacks has no layers. A head that a layer lacks is NaN throughout.

    Args:
        encoder: (L, H, S, S) encoder self-attention. Each kind may have numbers of layers and heads of its own.
        decoder: (L, H, T, T) masked decoder self-attention; zero above the diagonal.
        cross: (L, H, T, S) encoder-decoder attention.
        source: The S source positions.
        inputs: The T decoder inputs.
        outputs: The T tokens produced, aligned with `inputs`: outputs[t] was produced from inputs[: t + 1].
        finished: Whether the translation ended with `</s>`; False when it was cut off at the length limit.
    """

    encoder: FloatArray
    decoder: FloatArray
    cross: FloatArray
    source: Axis
    inputs: Axis
    outputs: Axis
    finished: bool = True

    def __post_init__(self) -> None:
        for kind in KINDS:
            shape = getattr(self, kind).shape
            expected = (*shape[:2], len(self.queries(kind)), len(self.keys(kind)))
            if len(shape) != 4 or shape != expected or (shape[0] > 0 and shape[1] == 0):
                raise ValueError(f"{kind} attention has shape {shape}, but its labels require {expected}")
        if not self.kinds:
            raise ValueError("there is no attention: encoder, decoder and cross have no layers")

    @classmethod
    def from_arrays(
        cls,
        *,
        encoder: Any = None,
        decoder: Any = None,
        cross: Any = None,
        source_tokens: Sequence[str] = (),
        target_tokens: Sequence[str] = (),
    ) -> AttentionMaps:
        """Label attention of any model, as `own_maps` of the figures, with the kinds that the model has.

        Args:
            encoder: (L, H, S, S) self-attention in both directions; or a list of L arrays (H, S, S), which may differ
                in heads; None for a model without.
            decoder: (L, H, T, T) masked self-attention, also of a decoder-only model.
            cross: (L, H, T, S) encoder-decoder attention.
            source_tokens: The S tokens of the source, as their tokenizer writes them.
            target_tokens: The T input tokens of the decoder. One more may follow: what the last position has produced.

        Raises:
            ValueError: Shapes, tokens or weights are wrong; one line says what is allowed.
            MapsTooLarge: The maps would take more than 1 GiB.
        """
        arrays = {"encoder": encoder, "decoder": decoder, "cross": cross}
        return cls._labelled({k: list(v) for k, v in arrays.items() if v is not None}, source_tokens, target_tokens)

    @classmethod
    def from_transformers(
        cls,
        outputs: Any,
        source_tokens: Sequence[str] | None = None,
        target_tokens: Sequence[str] | None = None,
        *,
        row: int | None = None,
    ) -> AttentionMaps:
        """Label the attention in the outputs of a model of `transformers`, or of its `generate()`.

        Models with one sequence take one list of tokens. Their attention counts as a decoder's where it never looks
        ahead, else as an encoder's.

        Args:
            outputs: What the model returned with `output_attentions=True`; `generate()` also needs
                `return_dict_in_generate=True`.
            source_tokens: A token for each position of the encoder: `tokenizer.convert_ids_to_tokens(ids)`.
            target_tokens: The same for the decoder's input. One more may follow: what the last position has produced.
                After `generate()` these are the tokens of `outputs.sequences[row]`.
            row: Sentence of the batch; after `generate()`, row of `outputs.sequences`. None takes the only one.

        Raises:
            ValueError: The outputs hold no attention, or shapes, tokens or weights are wrong.
            MapsTooLarge: The maps would take more than 1 GiB.
        """
        layers, positions = foreign_attention.read_outputs(outputs, row)
        source, target = source_tokens or (), target_tokens or ()
        if "one" in layers:
            if bool(source) == bool(target):
                raise ValueError("this model has one sequence: give its tokens as source_tokens or target_tokens")
            causal = foreign_attention.is_causal(layers["one"])
            if target and not causal:
                raise ValueError("this attention looks ahead, so it is an encoder's: give the tokens as source_tokens")
            source, target = ((), source or target) if causal else (source, ())
            layers["decoder" if causal else "encoder"] = layers.pop("one")
        if positions is not None:  # tokens after the end of a sentence, which others of the batch still filled
            target = target[: positions + 1]
        return cls._labelled(layers, source, target)

    @classmethod
    def _labelled(cls, layers: Mapping[str, list[Any]], source: Sequence[str], target: Sequence[str]) -> AttentionMaps:
        arrays = {kind: foreign_attention.stack(kind, layers[kind]) for kind in layers}
        axes = foreign_attention.label(arrays, source, target)
        lacking: dict[str, Any] = {
            kind: np.zeros((0, 0, len(axes[q]), len(axes[k])), dtype=np.float32)
            for kind, q, k in (("encoder", 0, 0), ("decoder", 1, 1), ("cross", 2, 0))
        }
        source_axis, inputs, outputs = axes
        return cls(**{**lacking, **arrays}, source=source_axis, inputs=inputs, outputs=outputs)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that the model has."""
        return tuple(kind for kind in KINDS if len(getattr(self, kind)))

    def existing(self, kind: Kind) -> npt.NDArray[np.bool_]:
        """Return (L, H), which heads there are; layers of other programs' models may differ in heads."""
        return ~np.isnan(self.weights(kind)[:, :, 0, 0])

    def layers(self, kind: Kind) -> int:
        """Layers with this kind of attention; encoder and decoder may have different numbers."""
        return int(self.weights(kind).shape[0])

    def heads(self, kind: Kind) -> int:
        """Heads of each attention of this kind."""
        return int(self.weights(kind).shape[1])

    def weights(self, kind: Kind) -> FloatArray:
        """(L, H, Q, K) weights of one kind of attention. Raises ValueError for another kind."""
        if kind not in KINDS:
            raise ValueError(f"attention kind is {kind!r}, but must be one of {', '.join(KINDS)}")
        if kind not in self.kinds:
            raise ValueError(f"attention kind is {kind!r}, but this model has only {', '.join(self.kinds)}")
        array: FloatArray = getattr(self, kind)
        return array

    def queries(self, kind: Kind) -> Axis:
        """Return the axis that labels the rows of one kind: source, decoder inputs, or the outputs produced."""
        return {"encoder": self.source, "decoder": self.inputs, "cross": self.outputs}[kind]

    def keys(self, kind: Kind) -> Axis:
        """Return the axis that labels the columns of one kind."""
        return {"encoder": self.source, "decoder": self.inputs, "cross": self.source}[kind]

    def merged_to_words(self) -> AttentionMaps:
        """Tokens merged to words: summed over the keys of a word, averaged over its queries, so rows still sum to 1.

        Of a translation that was cut off within a word, `inputs` can then hold one word more than `outputs`.
        """
        source, inputs, outputs = self.source, self.inputs, self.outputs
        return AttentionMaps(
            encoder=_merge(self.encoder, source, source),
            decoder=_merge(self.decoder, inputs, inputs),
            cross=_merge(self.cross, outputs, source),
            source=source.merged(),
            inputs=inputs.merged(),
            outputs=outputs.merged(),
            finished=self.finished,
        )


def _merge(weights: FloatArray, queries: Axis, keys: Axis) -> FloatArray:
    """(L, H, Q, K) over tokens -> (L, H, query words, key words)."""
    if not len(weights):
        return np.zeros((0, 0, len(queries.word_texts), len(keys.word_texts)), dtype=np.float32)
    key_words = np.asarray(keys.words)
    query_words = np.asarray(queries.words)
    summed = np.add.reduceat(weights, _starts(key_words), axis=3)  # (L, H, Q, key words)
    counts = np.bincount(query_words).astype(np.float32)
    merged = np.add.reduceat(summed, _starts(query_words), axis=2) / counts[:, None]  # (L, H, query words, key words)
    return np.asarray(merged, dtype=np.float32)


def _starts(words: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return first position of each word."""
    return np.flatnonzero(np.diff(words, prepend=-1))
