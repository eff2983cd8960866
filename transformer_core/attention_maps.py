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

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from transformer_core.short_repr import ShortRepr

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")
WORD_BOUNDARY = "\u2581"  # SentencePiece writes a space before a token as this character

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Axis(ShortRepr):
    """One axis of a map.

    Args:
        tokens: A label for each position: tokens as SentencePiece writes them, or `<s>`, `</s>`.
        words: For each position the number of the word that it belongs to; 0 for the first, never falling,
            rising by 1 at most. A special token is a word of its own.
        special: Whether each position is `<s>` or `</s>`.
    """

    tokens: tuple[str, ...]
    words: tuple[int, ...]
    special: tuple[bool, ...]

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.words) == len(self.special):
            raise ValueError(
                f"an axis of {len(self.tokens)} tokens has {len(self.words)} word numbers "
                f"and {len(self.special)} special marks; all three must be equally many"
            )
        steps = np.diff(np.asarray((-1, *self.words)))
        if self.words and not (self.words[0] == 0 and bool(np.isin(steps, (0, 1)).all())):
            raise ValueError(f"word numbers must start at 0 and rise by 0 or 1, but are {self.words}")

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def word_texts(self) -> tuple[str, ...]:
        """The text of each word, without word-boundary marks."""
        texts = [""] * (self.words[-1] + 1 if self.words else 0)
        for token, word in zip(self.tokens, self.words, strict=True):
            texts[word] += token
        return tuple(text.replace(WORD_BOUNDARY, "") for text in texts)

    def merged(self) -> Axis:
        """Return the same axis with one position for each word."""
        count = len(self.word_texts)
        special = [False] * count
        for mark, word in zip(self.special, self.words, strict=True):
            special[word] = special[word] or mark
        return Axis(self.word_texts, tuple(range(count)), tuple(special))


class MapsTooLarge(ValueError):
    """The attention maps would take more memory than allowed.

    Args:
        needed: Bytes that they would take.
        limit: Bytes that are allowed.
    """

    def __init__(self, needed: int, limit: int) -> None:
        super().__init__(f"the attention maps would take {needed:,} bytes, but at most {limit:,} are allowed")
        self.needed, self.limit = needed, limit


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
            shape = self.weights(kind).shape
            expected = (*shape[:2], len(self.queries(kind)), len(self.keys(kind)))
            if len(shape) != 4 or shape != expected or 0 in shape[:2]:
                raise ValueError(f"{kind} attention has shape {shape}, but its labels require {expected}")

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
    key_words = np.asarray(keys.words)
    query_words = np.asarray(queries.words)
    summed = np.add.reduceat(weights, _starts(key_words), axis=3)  # (L, H, Q, key words)
    counts = np.bincount(query_words).astype(np.float32)
    merged = np.add.reduceat(summed, _starts(query_words), axis=2) / counts[:, None]  # (L, H, query words, key words)
    return np.asarray(merged, dtype=np.float32)


def _starts(words: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return first position of each word."""
    return np.flatnonzero(np.diff(words, prepend=-1))
