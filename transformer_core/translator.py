"""Text in, translation and attention out.

Decoding takes the fast path. The attention maps come from one forced pass over source and translation, on demand;
both share weights, precision and active edits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from transformer_core.attention_maps import AttentionMaps, FloatArray, check_map_bytes
from transformer_core.checkpoint import Checkpoint, load_checkpoint
from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.data import Batch, make_batch
from transformer_core.decoding.beam import Hypothesis, Node, SearchResult, ShouldStop, beam_search
from transformer_core.hooks import capture
from transformer_core.masks import padding_mask
from transformer_core.model import Transformer
from transformer_core.tokenizer import Encoding, Tokenizer, axis


class SourceTooLong(ValueError):
    """The source has more tokens than allowed.

    Args:
        pieces: How many it has.
        limit: How many are allowed.
    """

    def __init__(self, pieces: int, limit: int) -> None:
        super().__init__(f"the source has {pieces} tokens, but at most {limit} are allowed")
        self.pieces, self.limit = pieces, limit


@dataclass(frozen=True)
class Translation:
    """A translated sentence.

    Args:
        source: The text given.
        source_encoding: Its pieces, and which of them are unknown.
        text: The translation.
        pieces: Its pieces, without `</s>`.
        scores: Log-probability of each piece, and of `</s>` when finished.
        finished: Whether it ends with `</s>`; False when it was cut off at the length limit.
        hypotheses: All hypotheses of the beam, best first; the first one is this translation.
        history: Every candidate of the search, a tree.
    """

    source: str
    source_encoding: Encoding
    text: str
    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    finished: bool
    hypotheses: tuple[Hypothesis, ...]
    history: tuple[Node, ...]
    _translator: Translator = field(repr=False, compare=False)

    @cached_property
    def attention(self) -> AttentionMaps:
        """All attention weights of the translation, from one forced pass."""
        return self.attention_of(0)

    def attention_of(self, hypothesis: int) -> AttentionMaps:
        """All attention weights of one of the hypotheses."""
        chosen = self.hypotheses[hypothesis]
        return self._translator.attention(self.source_encoding, chosen.ids, chosen.finished)

    @property
    def alternatives(self) -> tuple[tuple[tuple[str, float], ...], ...]:
        """For each score the likeliest pieces at that step with their log-probabilities, best first."""
        tokenizer = self._translator.tokenizer
        steps = self.hypotheses[0].alternatives
        return tuple(tuple((tokenizer.piece(piece), log_p) for piece, log_p in step) for step in steps)


@dataclass(frozen=True)
class Forced:
    """A given target, read by the model.

    Args:
        text: The target.
        pieces: Its pieces, without `</s>`.
        scores: Log-probability of each piece and of `</s>`, in nats.
        attention: All attention weights.
    """

    text: str
    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    attention: AttentionMaps

    @property
    def log_probability(self) -> float:
        """Of the whole target, `</s>` included."""
        return sum(self.scores)


class Translator:
    """A model with its vocabulary; `most_map_bytes` limits the maps of a sentence, unless it is None."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer, decoding: DecodingConfig | None = None) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.decoding = decoding or DecodingConfig()
        self.checkpoint: Checkpoint | None = None
        self.most_map_bytes: int | None = None

    @classmethod
    def load(cls, folder: Path | str, device: torch.device | str = "cpu") -> Translator:
        """Load a checkpoint folder. Raises CheckpointError naming the file that is missing or damaged."""
        checkpoint = load_checkpoint(folder, device)
        translator = cls(checkpoint.model, checkpoint.tokenizer, checkpoint.decoding)
        translator.checkpoint = checkpoint
        return translator

    def with_mask(self, causal: bool) -> Translator:
        """The same weights with the causal mask of the decoder on or off, however they were trained.

        A separate model, so that hooks and edits of one do not affect the other.
        """
        model = Transformer.from_weights(self.config.replace(causal=causal), self.model.state_dict())
        twin = Translator(model.to(self._device), self.tokenizer, self.decoding)
        twin.checkpoint, twin.most_map_bytes = self.checkpoint, self.most_map_bytes
        return twin

    @property
    def config(self) -> ModelConfig:
        """Shape of the model."""
        return self.model.config

    @property
    def checkpoint_hash(self) -> str:
        """The model's `weights_hash`; empty for one that was not loaded from a checkpoint."""
        return self.checkpoint.weights_hash if self.checkpoint else ""

    @property
    def checkpoint_names(self) -> tuple[str, ...]:
        """All hashes by which files name this model: today's first, then those of older files."""
        return self.checkpoint.names if self.checkpoint else ("",)

    @property
    def metrics(self) -> dict[str, Any]:
        """Scores and facts of the checkpoint; empty for a model that was not loaded from one."""
        return self.checkpoint.metrics if self.checkpoint else {}

    def translate(
        self,
        text: str,
        *,
        beam: int | None = None,
        alpha: float | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Translation:
        """Translate one sentence; see `translate_batch`."""
        return self.translate_batch([text], beam=beam, alpha=alpha, should_stop=should_stop)[0]

    def translate_batch(
        self,
        texts: Sequence[str],
        *,
        beam: int | None = None,
        alpha: float | None = None,
        should_stop: ShouldStop | None = None,
    ) -> list[Translation]:
        """Translate sentences, all in one batch.

        Args:
            texts: Sentences; an empty one gives an empty translation.
            beam: Hypotheses kept; None takes the checkpoint's default.
            alpha: Strength of the length penalty; None takes the checkpoint's default.
            should_stop: Called before every step.

        Raises:
            SourceTooLong: A sentence has more pieces than `decoding.max_source_pieces`.
            DecodingStopped: `should_stop` returned True.
        """
        changes = {name: value for name, value in (("beam", beam), ("alpha", alpha)) if value is not None}
        config = self.decoding.replace(**changes)
        encodings = [self.encode(text) for text in texts]
        filled = [i for i, encoding in enumerate(encodings) if encoding.ids]
        results: dict[int, SearchResult] = {}
        if filled:
            batch = make_batch([encodings[i].ids for i in filled], [[] for _ in filled], self.tokenizer.special)
            source = batch.source.to(self._device)
            found = beam_search(self.model, source, self.tokenizer.special, config, should_stop or (lambda: False))
            results = dict(zip(filled, found, strict=True))
        empty = SearchResult((Hypothesis((), (), (), 0.0, True, -1),), ())
        return [
            self._translation(text, encoding, results.get(i, empty))
            for i, (text, encoding) in enumerate(zip(texts, encodings, strict=True))
        ]

    def encode(self, text: str) -> Encoding:
        """Source -> pieces.

        Raises:
            SourceTooLong: They are more than `decoding.max_source_pieces`, or than the model has learned positions for.
        """
        return self._within_limit(self.tokenizer.source.encode(text))

    def encode_target(self, text: str) -> Encoding:
        """Target -> pieces; as `encode`, but for models with a vocabulary for each side."""
        return self._within_limit(self.tokenizer.encode(text))

    @property
    def max_pieces(self) -> int:
        """Pieces of the longest text that is accepted."""
        limit = self.decoding.max_source_pieces
        if self.config.longest is not None:
            limit = min(limit, self.config.longest - 1)  # </s> comes after them, or <s> before
        return limit

    def _within_limit(self, encoding: Encoding) -> Encoding:
        if len(encoding) > self.max_pieces:
            raise SourceTooLong(len(encoding), self.max_pieces)
        return encoding

    def force(self, source: str, target: str) -> Forced:
        """Let the model read a given target: the probability of each token, and all attention weights."""
        encoding, target_ids = self.encode(source), self.encode_target(target).ids
        maps, scores = self._forced_pass(encoding, target_ids, finished=True)
        return Forced(target, self.tokenizer.pieces(target_ids), scores, maps)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Log-probability in nats of each target given its source, `</s>` included."""
        if not pairs:
            return []
        special = self.tokenizer.special
        sources = [self.encode(source).ids for source, _ in pairs]
        batch = make_batch(sources, [self.encode_target(target).ids for _, target in pairs], special).to(self._device)
        with torch.no_grad():
            masks = (padding_mask(ids, special.pad) for ids in (batch.source, batch.inputs))
            logits = self.model(batch.source, batch.inputs, *masks)
        log_p = torch.log_softmax(logits.float(), dim=-1).gather(2, batch.outputs[:, :, None]).squeeze(2)  # (B, T)
        totals: list[float] = log_p.masked_fill(batch.outputs == special.pad, 0.0).double().sum(dim=1).tolist()
        return totals

    def attention(self, source: Encoding, target_ids: Sequence[int], finished: bool) -> AttentionMaps:
        """All attention weights of a source and a target."""
        return self._forced_pass(source, target_ids, finished)[0]

    def forced_batch(self, source: Encoding, target_ids: Sequence[int], finished: bool) -> Batch:
        """What the model reads in a forced pass over one sentence, on its device.

        Args:
            source: The source.
            target_ids: The target without `</s>`.
            finished: Whether `</s>` follows; if not, the last token was generated, but never read.
        """
        batch = make_batch([source.ids], [list(target_ids)], self.tokenizer.special).to(self._device)
        return batch if finished else Batch(batch.source, batch.inputs[:, :-1], batch.outputs[:, :-1])

    @property
    def _device(self) -> torch.device:
        return self.model.embedding.weight.device

    def _translation(self, text: str, encoding: Encoding, result: SearchResult) -> Translation:
        best = result.hypotheses[0]
        return Translation(
            source=text,
            source_encoding=encoding,
            text=self.tokenizer.decode(best.ids),
            pieces=self.tokenizer.pieces(best.ids),
            scores=best.log_probabilities,
            finished=best.finished,
            hypotheses=result.hypotheses,
            history=result.history,
            _translator=self,
        )

    @torch.no_grad()
    def _forced_pass(
        self, source: Encoding, target_ids: Sequence[int], finished: bool
    ) -> tuple[AttentionMaps, tuple[float, ...]]:
        """One pass over source and target with every weight captured."""
        batch = self.forced_batch(source, target_ids, finished)
        heads = self.config.num_layers * self.config.num_heads
        check_map_bytes(heads, batch.source.shape[1], batch.inputs.shape[1], self.most_map_bytes)
        with capture(self.model, points={"weights"}, device="cpu") as captured:
            logits = self.model(batch.source, batch.inputs, padding_mask(batch.source, self.tokenizer.special.pad))
        log_p = torch.log_softmax(logits[0].float(), dim=-1).gather(1, batch.outputs[0, :, None]).flatten()  # (T,)
        pieces = self.tokenizer.pieces(target_ids)
        maps = AttentionMaps(
            encoder=self._stack(captured, "encoder", "self_attention"),
            decoder=self._stack(captured, "decoder", "self_attention"),
            cross=self._stack(captured, "decoder", "cross_attention"),
            source=axis(source.pieces, end=True),
            inputs=axis(pieces if finished else pieces[:-1], start=True),
            outputs=axis(pieces, end=finished),
            finished=finished,
        )
        return maps, tuple(log_p.tolist())

    def _stack(self, captured: Any, stack: str, attention: str) -> FloatArray:
        """The captured weights of all layers -> (L, H, Q, K)."""
        layers = range(self.config.num_layers)
        weights: FloatArray = np.concatenate(
            [captured[f"{stack}.layers.{layer}.{attention}.weights"].numpy() for layer in layers]
        )
        return weights
