"""Translation service: sentences in, translations and their attention out; one model for many sessions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from transformer_core.attention_maps import KINDS, AttentionMaps
from transformer_core.parsing.vocabulary import generates_trees
from viz_app.components.explorer.weights import PackedWeights, pack_weights, packed_size
from viz_app.serving.decoding.batching import Batcher, DeadlineExceeded
from viz_app.serving.decoding.decoder import Decoder
from viz_app.serving.decoding.decoding_limits import DEADLINE
from viz_app.serving.input_validation import MAX_TOKENS, Sentence, validate_sentence, visible_words
from viz_app.serving.measurements.head_atlas import HeadAtlas, read_atlas
from viz_app.serving.measurements.model_card import ModelCard
from viz_app.serving.memory_size import memory_size
from viz_app.serving.models.search_tree import branch_translation
from viz_app.serving.scheduling.monitoring import measured
from viz_app.serving.scheduling.request_queue import OnPosition, RequestQueue, Superseded, Visitor
from viz_app.serving.scheduling.single_flight_cache import ShouldStop, SingleFlightCache
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE, examples_of, first_example

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator
    from viz_app.serving.decoding.decoded_batch import DraftBytes

BEAM = 4  # hypotheses kept at each step of the app's translations

_EXAMPLES_SESSION = "examples"  # the session of the examples

Value = TypeVar("Value")


@dataclass(frozen=True)
class TranslationResult:
    """A translation and its attention."""

    translation: Translation
    maps: AttentionMaps

    @cached_property
    def packed(self) -> PackedWeights:
        """The maps in the browser's form: one copy for all sessions that look at this sentence."""
        return pack_weights(self.maps)

    @property
    def nbytes(self) -> int:
        """Memory of the maps and of their packed form, nearly the whole memory."""
        return sum(self.maps.weights(kind).nbytes for kind in KINDS) + packed_size(self.maps)


class TranslationService:
    """Translations for many sessions from one model.

    Args:
        translator: The model.
        queue: Bounds how many requests work at once.
        max_entries: Translations, and other values computed from the model, kept at most.
        max_bytes: Their memory at most.
        name: Name of the model in `viz_app.serving.models.registry`.
        deadline: Seconds of work on one request at most.
        decoder: Decodes the sentences; None for this process.
    """

    def __init__(
        self,
        translator: Translator,
        queue: RequestQueue,
        max_entries: int = 1024,
        max_bytes: int = 512 * 2**20,
        name: str = "",
        deadline: float = DEADLINE,
        decoder: Decoder | None = None,
    ) -> None:
        self.translator = translator
        self.queue = queue
        self.name = name
        self.deadline = deadline
        self.decoder: Decoder = decoder or Batcher(translator, queue, deadline=deadline)
        self.cache: SingleFlightCache[Any] = SingleFlightCache(max_entries, max_bytes, memory_size, self._is_example)

    @cached_property
    def card(self) -> ModelCard:
        """Scores and facts of the checkpoint, from its `metrics.json`."""
        return ModelCard.from_metrics(self.translator.metrics)

    @cached_property
    def head_atlas(self) -> HeadAtlas:
        """Measured job of each head, from the checkpoint's `derived/`."""
        return read_atlas(self.translator.checkpoint)

    @cached_property
    def head_penalty(self) -> bool:
        """Whether the model was trained with a penalty on resting heads and fixed offsets."""
        from transformer_core.training.head_penalty import is_penalised  # with torch, which takes seconds to import

        checkpoint = self.translator.checkpoint
        return checkpoint is not None and is_penalised(checkpoint.folder, self.card.training)

    @cached_property
    def parses(self) -> bool:
        """Whether the model generates trees: a ConstituencyParser of `transformer_core`."""
        return generates_trees(self.translator.tokenizer)

    @cached_property
    def examples(self) -> dict[str, str]:
        """Example sentences for the model, as a visitor types them, by name."""
        return examples_of(self.source_language, parses=self.parses)

    @property
    def source_language(self) -> str:
        """BCP 47 code of the source language; empty if unknown."""
        return self.card.languages.source if self.card.languages else ""

    @cached_property
    def example_texts(self) -> tuple[str, ...]:
        """Examples as the model reads them; English ones if its language has none."""
        return tuple(map(self.source_text, (self.examples or EXAMPLES).values()))

    @property
    def first_example(self) -> str:
        """Example used in the place of a sentence that the model cannot read."""
        return first_example(self.source_language) or EXAMPLES[FIRST_EXAMPLE]

    def source_text(self, text: str) -> str:
        """Return the model's input for a typed text: the words of a parser, joined by blanks, or the text itself."""
        return " ".join(visible_words(text)) if self.parses else text

    def validate(self, typed: str, limit: int = MAX_TOKENS) -> Sentence:
        """Validate a typed sentence; computes nothing with the model.

        Args:
            typed: The text as typed.
            limit: Maximum of tokens, beside the model's and MAX_TOKENS.

        Raises:
            ValueError: The text has more than MAX_CHARACTERS.
        """
        translator, limit = self.translator, min(limit, self.translator.max_tokens)
        tokenizer, reads = translator.tokenizer.source, self.source_language
        if not self.parses:
            return validate_sentence(typed, tokenizer, limit, reads=reads)
        sentence = validate_sentence(typed, tokenizer, limit, visible_words, reads)
        words, room = len(sentence.source.split()), self._max_words(sentence.tokens)
        if sentence.status != "good" or words <= room:
            return sentence
        return replace(sentence, status="long", tokens=words, limit=room)

    def _max_words(self, tokens: int) -> int:
        """Return the words of the largest tree that the model can generate for this number of tokens."""
        from transformer_core.parsing.automaton import least_symbols
        from transformer_core.parsing.treebank import MAX_WORDS

        room, longest = tokens + self.translator.decoding.extra_length, self.translator.config.max_length
        return max(0, min(MAX_WORDS, (room if longest is None else min(room, longest)) - least_symbols(0)))

    def _is_example(self, key: object) -> bool:
        return isinstance(key, tuple) and key[0] == "translation" and key[1] in self.example_texts and key[2] == BEAM

    def compute_once(
        self,
        session: str,
        key: tuple[object, ...],
        compute: Callable[[ShouldStop], Value],
        *,
        on_position: OnPosition | None = None,
        visitor: Visitor | None = None,
        patience: float = 0.0,
    ) -> Value:
        """Compute a value with the model, once for all sessions, and cache it.

        Args:
            session: Session that asks; its newer request cancels this one.
            key: Identity of the value, for this model.
            compute: Computes the value. Its argument returns whether to stop. It must not call this method. The value
                is shared and must not be changed.
            on_position: Called with the number of requests ahead while this one waits for the model.
            visitor: Origin of the request, if the caller's run does not say.
            patience: Seconds before the computation begins, in which a newer request of the session may take over.

        Raises:
            Superseded: When a newer request of the session took over.
            DeadlineExceeded: When decoding takes too long.
            Exception: Error of `compute`; nothing is kept then.
        """

        def stoppable(should_stop: ShouldStop) -> Value:
            from transformer_core.decoding.beam import DecodingStopped  # with torch, which takes seconds to import

            end = time.monotonic() + self.deadline
            try:
                return compute(lambda: should_stop() or time.monotonic() > end)
            except DecodingStopped:
                if should_stop():
                    raise Superseded from None
                raise DeadlineExceeded(f"no translation after {self.deadline:g} seconds") from None

        with measured("computation"):
            value: Value = self.cache.get_in_turn(key, stoppable, self.queue, session, on_position, visitor, patience)
        return value

    def give_up(self, session: str) -> None:
        """End a session's waiting request, or a computation for it alone."""
        with self.queue.ticket(session):
            pass

    def translate_examples(self, visitor: Visitor | None = None) -> None:
        """Translate the examples one after the other, so that the cache has them.

        Raises:
            Superseded: `visitor` has left.
        """
        for text in self.example_texts:
            self.translate(_EXAMPLES_SESSION, text, visitor=visitor)

    def translate(
        self,
        session: str,
        text: str,
        *,
        beam: int = BEAM,
        on_position: OnPosition | None = None,
        on_draft: Callable[[DraftBytes], None] | None = None,
        visitor: Visitor | None = None,
    ) -> TranslationResult:
        """Translate a sentence for a session and compute its attention.

        Args:
            session: Session that asks; its newer request cancels this one.
            text: The sentence as the model reads it: `Sentence.source` of one that `validate` calls good.
            beam: Hypotheses kept at each step.
            on_position: Called with the number of requests ahead while this one waits for the model.
            on_draft: Called with what the search has so far, if this request leads it.
            visitor: Origin of the request, if the caller's run does not say.

        Raises:
            Superseded: When a newer request of the session took over.
        """
        with measured("translation"), self.queue.ticket(session, visitor) as ticket:

            def translate(should_stop: ShouldStop) -> TranslationResult:
                encoding = self.translator.encode(text)
                decoded = self.decoder.decode(ticket, encoding, beam, should_stop, on_position, on_draft)
                return TranslationResult(self.translator.translation(text, encoding, decoded.result), decoded.maps)

            result: TranslationResult = self.cache.get(("translation", text, beam), translate, ticket)
            return result

    @cached_property
    def _token_ids(self) -> dict[str, int]:
        tokenizer = self.translator.tokenizer
        return {tokenizer.token(number): number for number in range(len(tokenizer))}

    def translate_forced(
        self,
        session: str,
        free: TranslationResult,
        tokens: str,
        *,
        on_position: OnPosition | None = None,
    ) -> TranslationResult:
        """Translate a sentence again, from a forced beginning; the search goes on from there.

        Args:
            session: As for `translate`.
            free: Result of `translate` for the sentence.
            tokens: The beginning, a space between tokens. One that no translation has, or an empty one, gives `own`.
            on_position: As for `translate`.

        Raises:
            Superseded: When a newer request of the session took over.
        """
        from transformer_core.decoding.constraint import PrefixError  # with torch, which takes seconds to import

        prefix = tuple(self._token_ids.get(token, -1) for token in tokens.split())
        if not prefix or -1 in prefix:
            return free
        text = free.translation.source

        def translate(should_stop: ShouldStop) -> TranslationResult:
            translation = self.translator.translate(text, beam=BEAM, prefix=prefix, should_stop=should_stop)
            return TranslationResult(translation, translation.attention)

        try:
            return self.compute_once(session, ("forced", text, prefix), translate, on_position=on_position)
        except PrefixError:
            return free

    def translate_branch(
        self,
        session: str,
        best: TranslationResult,
        number: int,
        *,
        beam: int = BEAM,
        on_position: OnPosition | None = None,
    ) -> TranslationResult:
        """Return a branch of the search for a sentence, with its attention from one forced pass.

        Args:
            session: As for `translate`.
            best: Result of `translate` for the sentence.
            number: Number of the branch, from 0; see `search_tree`. An unknown number gives the best.
            beam: As for `translate`.
            on_position: As for `translate`.

        Raises:
            Superseded: When a newer request of the session took over.
        """
        branch = branch_translation(best.translation, number, self.translator)
        if branch is best.translation:
            return best
        key = ("branch", branch.source, branch.tokens, branch.finished)  # the search may have had a forced beginning
        return self.compute_once(
            session, key, lambda _: TranslationResult(branch, branch.attention), on_position=on_position
        )
