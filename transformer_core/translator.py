"""Text in, translation and attention out.

Decoding takes the fast path. The attention maps come from the search itself, or from one forced pass over source and
translation, on demand; both share weights, precision and active edits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer_core.attention_maps import AttentionMaps, Axis, FloatArray, Kind, check_map_bytes, map_bytes
from transformer_core.checkpoint import Checkpoint, load_checkpoint
from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.data import Batch, make_batch
from transformer_core.decoding.beam import Hypothesis, IsGivenUp, Node, SearchResult, ShouldStop, beam_search
from transformer_core.decoding.constraint import Constraint, PrefixError
from transformer_core.decoding.draft import OnStep
from transformer_core.decoding.forced_maps import capture_maps, to_host
from transformer_core.hooks.points import batch_context
from transformer_core.model.masks import input_padding_mask, padding_mask
from transformer_core.model.transformer import Transformer
from transformer_core.parsing.automaton import BracketAutomaton, least_symbols
from transformer_core.parsing.vocabulary import generates_trees
from transformer_core.short_repr import ShortRepr
from transformer_core.text.tokenizer import Encoding, Tokenizer, axis

MAX_TOKEN_CHARACTERS = 100  # of a text on average: its tokenizer takes half a kilobyte for each
Prefix = str | Sequence[int]  # text, or ids
_MAX_PASS_BYTES = 64 * 2**20  # of maps and logits of sentences that go through the model together, padding included


class SourceTooLong(ValueError):
    """The source has more tokens than allowed, or far too many characters for them.

    Args:
        tokens: How many it has.
        limit: How many are allowed.
        unit: What is counted.
    """

    def __init__(self, tokens: int, limit: int, unit: str = "tokens") -> None:
        super().__init__(f"the source has {tokens} {unit}, but at most {limit} are allowed")
        self.tokens, self.limit = tokens, limit


@dataclass(frozen=True)
class Translation(ShortRepr):
    """A translated sentence.

    Args:
        source: The text given.
        source_encoding: Its tokens, and which of them are unknown.
        text: The translation.
        tokens: Its tokens, without `</s>`.
        scores: Log-probability of each token, and of `</s>` when finished, in nats.
        finished: Whether it ends with `</s>`; False when it was cut off at the length limit.
        hypotheses: All hypotheses of the beam, best first; the first one is this translation.
        history: Every candidate of the search, a tree.
    """

    source: str
    source_encoding: Encoding
    text: str
    tokens: tuple[str, ...]
    scores: tuple[float, ...]
    finished: bool
    hypotheses: tuple[Hypothesis, ...]
    history: tuple[Node, ...]
    _translator: Translator = field(repr=False, compare=False)
    _maps: Mapping[Hypothesis, Mapping[Kind, Tensor]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def attention(self) -> AttentionMaps:
        """All attention weights of the translation: the search's own, or from one forced pass."""
        return self.attention_of(0)

    def attention_of(self, hypothesis: int) -> AttentionMaps:
        """Return all attention weights of one of the hypotheses."""
        candidate = self.hypotheses[hypothesis]
        maps = self._maps.get(candidate)
        return self._translator.attention(self.source_encoding, candidate.ids, candidate.finished, maps)

    @property
    def alternatives(self) -> tuple[tuple[tuple[str, float], ...], ...]:
        """For each score the likeliest tokens at that step with their log-probabilities in nats, best first."""
        tokenizer = self._translator.tokenizer
        steps = self.hypotheses[0].alternatives
        return tuple(tuple((tokenizer.token(token), log_p) for token, log_p in step) for step in steps)


@dataclass(frozen=True)
class TeacherForcedOutput(ShortRepr):
    """A given target, read by the model.

    Args:
        text: The target.
        tokens: Its tokens, without `</s>`.
        scores: Log-probability of each token and of `</s>`, in nats.
        attention: All attention weights.
    """

    text: str
    tokens: tuple[str, ...]
    scores: tuple[float, ...]
    attention: AttentionMaps

    @property
    def log_probability(self) -> float:
        """Log-probability of the whole target, `</s>` included."""
        return sum(self.scores)


@dataclass(frozen=True)
class TeacherForcedInput:
    """Input of a forced pass over one sentence.

    Args:
        source: The source.
        target: Ids of the target, without `</s>`.
        finished: Whether `</s>` follows; if not, the last token was generated, but never read.
        spans: Characters of each target token in a text; () for the text that its ids make.
    """

    source: Encoding
    target: tuple[int, ...]
    finished: bool = True
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def read(self) -> tuple[int, ...]:
        """The tokens of the target that are read, after `<s>`."""
        return self.target if self.finished else self.target[:-1]

    @property
    def rows(self) -> int:
        """T, positions of the decoder."""
        return len(self.read) + 1


class Translator:
    """A model with its vocabulary.

    Args:
        model: The Transformer; it is set to evaluation mode.
        tokenizer: The vocabulary of the texts.
        decoding: Defaults of the search; None takes the ones of `DecodingConfig`.

    Attributes:
        most_map_bytes: Limit of the attention maps of a sentence, in bytes; None for no limit.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, decoding: DecodingConfig | None = None) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.decoding = decoding or DecodingConfig()
        self.checkpoint: Checkpoint | None = None
        self.most_map_bytes: int | None = None

    @classmethod
    def load(cls, folder: Path | str, device: torch.device | str = "cpu", *, half: bool | None = None) -> Translator:
        """Load a checkpoint folder.

        Args:
            folder: Of the model.
            device: Where the model computes, such as "cuda".
            half: As for `load_checkpoint`.

        Raises:
            CheckpointError: Names the file that is missing or damaged.
        """
        checkpoint = load_checkpoint(folder, device, half=half)
        translator = cls(checkpoint.model, checkpoint.tokenizer, checkpoint.decoding)
        translator.checkpoint = checkpoint
        return translator

    def with_mask(self, causal: bool) -> Translator:
        """Return the same weights with the causal mask of the decoder on or off, however they were trained.

        A separate model, so that hooks and edits of one do not affect the other.
        """
        half, weights = self.model.has_half_weights, self.model.state_dict()
        model = Transformer.from_weights(self.config.replace(causal=causal), weights, half=half)
        return self._twin(model.to(self._device), self.tokenizer)

    def with_languages(self, source: str | None = None, target: str | None = None) -> Translator:
        """Return the same model, reading and generating these languages; None leaves one as it is.

        Raises:
            TokenizerError: It has no choice of languages, or not this one; the message lists its languages.
        """
        return self._twin(self.model, self.tokenizer.with_languages(source, target))

    def _twin(self, model: Transformer, tokenizer: Tokenizer) -> Translator:
        twin = Translator(model, tokenizer, self.decoding)
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
    def metrics(self) -> dict[str, Any]:
        """Scores and facts of the checkpoint; empty for a model that was not loaded from one."""
        return self.checkpoint.metrics if self.checkpoint else {}

    def translate(
        self,
        text: str,
        *,
        beam: int | None = None,
        alpha: float | None = None,
        prefix: Prefix | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Translation:
        """Translate one sentence.

        Args:
            text: The sentence; an empty one gives an empty translation.
            beam: Hypotheses kept; None takes the checkpoint's default.
            alpha: Strength of the length penalty; None takes the checkpoint's default.
            prefix: Beginning of the translation, as text or ids; the search goes on from there.
            should_stop: Called before every step.

        Raises:
            SourceTooLong: See `encode`.
            PrefixError: The prefix is longer than the translation may be, or a parser could not begin so.
            DecodingStopped: `should_stop` returned True.
        """
        prefixes = None if prefix is None else [prefix]
        return self.translate_batch([text], beam=beam, alpha=alpha, prefixes=prefixes, should_stop=should_stop)[0]

    def translate_batch(
        self,
        texts: Sequence[str],
        *,
        beam: int | None = None,
        alpha: float | None = None,
        prefixes: Sequence[Prefix] | None = None,
        should_stop: ShouldStop | None = None,
    ) -> list[Translation]:
        """Translate sentences, all in one batch.

        Args:
            texts: Sentences; an empty one gives an empty translation.
            beam: Hypotheses kept; None takes the checkpoint's default.
            alpha: Strength of the length penalty; None takes the checkpoint's default.
            prefixes: Beginning of each translation, as text or ids. The search goes on from there; tokens of a prefix
                have the log-probabilities that the model gives them.
            should_stop: Called before every step.

        Raises:
            SourceTooLong: A sentence has more tokens than `decoding.max_source_tokens`.
            PrefixError: A prefix is longer than the translation may be, or a parser could not begin so.
            DecodingStopped: `should_stop` returned True.
        """
        encodings = [self.encode(text) for text in texts]
        begun = None if prefixes is None else [self.encode_target(p).ids if isinstance(p, str) else p for p in prefixes]
        sources = [each.ids for each in encodings]
        search, alone = self.search, len(texts) == 1
        results = search(sources, beam=beam, alpha=alpha, prefixes=begun, should_stop=should_stop, keep_maps=alone)
        return [self.translation(*each) for each in zip(texts, encodings, results, strict=True)]

    def search(
        self,
        sources: Sequence[Sequence[int]],
        *,
        beam: int | None = None,
        alpha: float | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
        should_stop: ShouldStop | None = None,
        is_given_up: IsGivenUp | None = None,
        constrained: bool | None = None,
        on_step: OnStep | None = None,
        keep_maps: bool = False,
    ) -> list[SearchResult]:
        """Search like `translate_batch`, from the ids of each source without `</s>`.

        Args:
            sources: Ids from `encode`.
            beam: As for `translate_batch`.
            alpha: As for `translate_batch`.
            prefixes: Ids with which each translation begins.
            should_stop: As for `translate_batch`.
            is_given_up: Called after every step with the number of a source: whether it leaves the batch. Its result
                has no hypotheses then.
            constrained: Whether a parser generates only trees; None takes the checkpoint's default.
            on_step: Called after every step with the number of a source and the best hypothesis so far, while its
                search goes on.
            keep_maps: As for `beam_search`.

        Raises:
            DecodingStopped: `should_stop` returned True.
            PrefixError: As for `translate_batch`.
        """
        options: dict[str, Any] = {"beam": beam, "alpha": alpha, "constrained": constrained}
        changes = {name: value for name, value in options.items() if value is not None}
        config, special = self.decoding.replace(**changes), self.tokenizer.special
        filled = [number for number, ids in enumerate(sources) if ids]
        begun = [()] * len(sources) if prefixes is None else prefixes
        if any(prefix and not ids for ids, prefix in zip(sources, begun, strict=True)):
            raise PrefixError("the translation of an empty sentence is empty, whatever its prefix")
        results: list[SearchResult] = [SearchResult((Hypothesis((), (), (), 0.0, True, -1),), ())] * len(sources)
        if not filled:
            return results
        source = make_batch([sources[number] for number in filled], [[] for _ in filled], special).source
        lengths = [(len(sources[number]) + 1, None) for number in filled]
        with batch_context(filled, len(sources), lengths):
            outcomes = beam_search(
                self.model,
                source.to(self._device),
                special,
                config,
                should_stop or (lambda: False),
                (lambda row: is_given_up(filled[row])) if is_given_up else (lambda row: False),
                self.constraint([sources[number] for number in filled], config),
                [begun[number] for number in filled],
                (lambda row, draft: on_step(filled[row], draft)) if on_step else None,
                keep_maps,
            )
        for number, result in zip(filled, outcomes, strict=True):
            results[number] = result
        return results

    def constraint(self, sources: Sequence[Sequence[int]], config: DecodingConfig | None = None) -> Constraint | None:
        """Return the constraint on a search for each of these sources; None allows anything.

        Args:
            sources: Ids of each, one at least.
            config: Of the search; None takes the checkpoint's.
        """
        if not (config or self.decoding).constrained or not generates_trees(self.tokenizer):
            return None
        return BracketAutomaton.from_sources(self.tokenizer, sources)

    def encode(self, text: str) -> Encoding:
        """Encode a source.

        Raises:
            SourceTooLong: It has more tokens than `max_tokens`, or far too many characters for them.
        """
        return self._within_limit(self.tokenizer.source, text)

    def encode_target(self, text: str) -> Encoding:
        """Encode a target; as `encode`, but for models with a vocabulary for each side."""
        return self._within_limit(self.tokenizer, text)

    @property
    def max_tokens(self) -> int:
        """Tokens of the longest text that is accepted."""
        limit = self.decoding.max_source_tokens
        if self.config.max_length is not None:
            # </s> comes after them, or <s> before; around the words of the smallest tree, two brackets and </s>.
            limit = min(limit, self.config.max_length - (least_symbols(0) if self.decoding.constrained else 1))
        return limit

    def _within_limit(self, tokenizer: Tokenizer, text: str) -> Encoding:
        if len(text) > (most := self.max_tokens * MAX_TOKEN_CHARACTERS):
            raise SourceTooLong(len(text), most, "characters")
        encoding = tokenizer.encode(text)
        if len(encoding) > self.max_tokens:
            raise SourceTooLong(len(encoding), self.max_tokens)
        return encoding

    def teacher_force(self, source: str, target: str) -> TeacherForcedOutput:
        """Let the model read a given target: the log-probability of each token, and all attention weights.

        Raises:
            SourceTooLong: See `encode`; of source or target.
        """
        encoded = self.encode_target(target)
        reading = TeacherForcedInput(self.encode(source), encoded.ids, spans=encoded.spans)
        self.check_maps(reading)
        maps, scores = self._forced(reading)
        return TeacherForcedOutput(target, self.tokenizer.tokens(reading.target), scores, maps)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the log-probability in nats of each target given its source, `</s>` included.

        As many pairs as memory allows share a pass.

        Raises:
            SourceTooLong: See `encode`; of a source or target.
        """
        inputs = [TeacherForcedInput(self.encode(source), self.encode_target(target).ids) for source, target in pairs]
        totals: list[float] = []
        for together in self.passes(inputs, maps=False):
            numbers = range(len(totals), len(totals) + len(together))
            with torch.no_grad(), batch_context(numbers, len(inputs)):
                totals += self.read(together).double().sum(dim=1).tolist()
        return totals

    def read(self, pairs: Sequence[TeacherForcedInput]) -> Tensor:
        """Run one pass; hooks see a row for each pair, and gradients flow unless they are off.

        Returns:
            (B, T) log-probability of each output in nats; 0 at padding, and where the first token is given.
        """
        special = self.tokenizer.special
        written = [torch.tensor((*each.target, special.eos)[: each.rows], device=self._device) for each in pairs]
        outputs = pad_sequence(written, batch_first=True, padding_value=special.pad)  # (B, T)
        with self._sentences(pairs):
            log_p = torch.log_softmax(self.model.logits(self._decoder_output(pairs)).float(), dim=-1)  # (B, T, V)
        counted = outputs != special.pad
        counted[:, 0] &= outputs[:, 0] != special.forced_bos
        return log_p.gather(2, outputs[:, :, None]).squeeze(2).masked_fill(~counted, 0.0)

    def passes(
        self, pairs: Sequence[TeacherForcedInput], *, maps: bool = True, logits: bool = True
    ) -> Iterator[Sequence[TeacherForcedInput]]:
        """Yield neighbours of `pairs` that share a pass: their padded `maps` and `logits` fit into memory."""
        heads = self.config.num_layers * self.config.num_heads if maps else 0
        width = 2 * self.config.vocab_size if logits else 0  # logits and their log-probabilities
        start = most_source = most_target = 0
        for number, each in enumerate(pairs):
            most_source, most_target = max(most_source, len(each.source) + 1), max(most_target, each.rows)
            row_bytes = map_bytes(heads, most_source, most_target) + 4 * width * most_target
            if number > start and (number + 1 - start) * row_bytes > _MAX_PASS_BYTES:
                yield pairs[start:number]
                start, most_source, most_target = number, len(each.source) + 1, each.rows
        if pairs:
            yield pairs[start:]

    def attention(
        self, source: Encoding, target_ids: Sequence[int], finished: bool, maps: Mapping[Kind, Tensor] | None = None
    ) -> AttentionMaps:
        """Return all attention weights of a source and a target.

        Args:
            source: From `encode`.
            target_ids: Ids of the target, without `</s>`.
            finished: Whether `</s>` follows.
            maps: Those that a search has kept for them; without any, one forced pass computes them.

        Raises:
            MapsTooLarge: They are larger than `most_map_bytes`.
        """
        reading = TeacherForcedInput(source, tuple(target_ids), finished)
        if not maps:
            return self.attention_batch([reading])[0]
        self.check_maps(reading)
        return self._maps(reading, maps, 0)

    def attention_batch(self, pairs: Sequence[TeacherForcedInput]) -> list[AttentionMaps]:
        """Return all attention weights of each source and its target: as many as memory allows in one pass.

        Raises:
            MapsTooLarge: The maps of one of them are larger than `most_map_bytes`.
        """
        for each in pairs:
            self.check_maps(each)
        all_maps: list[AttentionMaps] = []
        for together in self.passes(pairs, logits=False):
            with batch_context(range(len(all_maps), len(all_maps) + len(together)), len(pairs)):
                all_maps += self._forced_pass(together)
        return all_maps

    def _map_size(self, reading: TeacherForcedInput) -> tuple[int, int, int]:
        """Return heads, S and T."""
        return self.config.num_layers * self.config.num_heads, len(reading.source) + 1, reading.rows

    def check_maps(self, reading: TeacherForcedInput) -> None:
        """Raise MapsTooLarge if the maps are larger than `most_map_bytes`."""
        check_map_bytes(*self._map_size(reading), self.most_map_bytes)

    def forced_batch(self, source: Encoding, target_ids: Sequence[int], finished: bool) -> Batch:
        """Build the input of a forced pass over one sentence, on the device of the model.

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

    def translation(self, text: str, encoding: Encoding, result: SearchResult) -> Translation:
        """Return the translation in a `result` of `search` for a text and its `encoding`."""
        best = result.hypotheses[0]
        return Translation(
            source=text,
            source_encoding=encoding,
            text=self.tokenizer.decode(best.ids),
            tokens=self.tokenizer.tokens(best.ids),
            scores=best.log_probabilities,
            finished=best.finished,
            hypotheses=result.hypotheses,
            history=result.history,
            _translator=self,
            _maps={best: result.maps},
        )

    @staticmethod
    def _sentences(pairs: Sequence[TeacherForcedInput]) -> AbstractContextManager[None]:
        lengths = [(len(each.source) + 1, each.rows) for each in pairs]
        return batch_context(range(len(pairs)), len(pairs), lengths)

    def _decoder_output(self, pairs: Sequence[TeacherForcedInput]) -> Tensor:
        """Run one pass; return (B, T, d)."""
        special = self.tokenizer.special
        batch = make_batch([each.source.ids for each in pairs], [each.read for each in pairs], special).to(self._device)
        source_mask = padding_mask(batch.source, special.pad)
        memory = self.model.encode(batch.source, source_mask)
        return self.model.decode(batch.inputs, memory, source_mask, input_padding_mask(batch.inputs, special.pad))

    @torch.no_grad()
    def _forced_pass(self, pairs: Sequence[TeacherForcedInput]) -> list[AttentionMaps]:
        """Run one pass with every weight captured."""
        with capture_maps(self.model) as captured, self._sentences(pairs):
            self._decoder_output(pairs)
        maps = to_host(captured)
        return [self._maps(each, maps, row) for row, each in enumerate(pairs)]

    @torch.no_grad()
    def _forced(self, reading: TeacherForcedInput) -> tuple[AttentionMaps, tuple[float, ...]]:
        """Return maps of one sentence, and the log-probability of each output."""
        with capture_maps(self.model) as captured:
            log_p = self.read([reading])
        return self._maps(reading, to_host(captured), 0), tuple(log_p[0].tolist())

    def axes(self, reading: TeacherForcedInput) -> tuple[Axis, Axis, Axis]:
        """Return the labels of source, decoder inputs and outputs, as in `AttentionMaps`."""
        tokens, blanks = self.tokenizer.tokens(reading.target), self.tokenizer.closed
        spans, read = reading.spans or self.tokenizer.spans(reading.target), len(reading.read)
        return (
            axis(reading.source.tokens, reading.source.spans, end=True, at_blanks=blanks),
            axis(tokens[:read], spans[:read], start=True, at_blanks=blanks),
            axis(tokens, spans, end=reading.finished, at_blanks=blanks),
        )

    def _maps(self, reading: TeacherForcedInput, maps: Mapping[Kind, Tensor], row: int) -> AttentionMaps:
        """Return the maps of one row of a batch, without its padding."""
        sources = len(reading.source) + 1
        source, inputs, outputs = self.axes(reading)

        def weights(kind: Kind, queries: int, keys: int) -> FloatArray:
            """(L, H, Q, K), a copy where they would keep other sentences or pinned memory alive."""
            cut = maps[kind][:, row, :, :queries, :keys].numpy()
            return cut.copy() if len(maps[kind][0]) > 1 or maps[kind].is_pinned() else cut

        return AttentionMaps(
            encoder=weights("encoder", sources, sources),
            decoder=weights("decoder", reading.rows, reading.rows),
            cross=weights("cross", reading.rows, sources),
            source=source,
            inputs=inputs,
            outputs=outputs,
            finished=reading.finished,
        )
