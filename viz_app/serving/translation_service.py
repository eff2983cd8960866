"""Sentences in, translations and their attention out: one model for many sessions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from transformer_core.attention_maps import KINDS, AttentionMaps
from viz_app.components.explorer.weights import PackedWeights, pack_weights, packed_size
from viz_app.serving.metrics import ModelCard
from viz_app.serving.request_queue import OnPosition, RequestQueue, Superseded
from viz_app.serving.search_tree import branch_translation
from viz_app.serving.single_flight_cache import ShouldStop, SingleFlightCache

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

BEAM = 4  # hypotheses kept at each step of the app's translations


@dataclass(frozen=True)
class TranslationResult:
    """A translation and its attention."""

    translation: Translation
    maps: AttentionMaps

    @cached_property
    def packed(self) -> PackedWeights:
        """The maps as the browser gets them: one copy for all sessions that look at this sentence."""
        return pack_weights(self.maps)

    @property
    def nbytes(self) -> int:
        """Memory of the maps and of their packed form, which is nearly all of it."""
        return sum(self.maps.weights(kind).nbytes for kind in KINDS) + packed_size(self.maps)


class TranslationService:
    """Translations for many sessions from one model.

    Args:
        translator: The model.
        queue: Bounds how many requests work at once.
        max_entries: Translations kept at most.
        max_bytes: Memory of the attention kept at most.
        name: Name of the model in `viz_app.serving.registry`.
    """

    def __init__(
        self,
        translator: Translator,
        queue: RequestQueue,
        max_entries: int = 256,
        max_bytes: int = 512 * 2**20,
        name: str = "",
    ) -> None:
        self.translator = translator
        self.queue = queue
        self.name = name
        self.cache: SingleFlightCache[TranslationResult] = SingleFlightCache(
            max_entries, max_bytes, lambda result: result.nbytes
        )

    @cached_property
    def card(self) -> ModelCard:
        """Scores and facts of the checkpoint, from its `metrics.json`."""
        return ModelCard.read(self.translator.metrics)

    def translate(
        self, session: str, text: str, *, beam: int = BEAM, on_position: OnPosition | None = None
    ) -> TranslationResult:
        """Translate a sentence for a session and compute its attention.

        Args:
            session: Who asks; a newer request of the same session cancels this one.
            text: The sentence.
            beam: Hypotheses kept at each step.
            on_position: Called with the number of requests ahead while this one waits for the model.

        Raises:
            Superseded: when a newer request of the session took over.
        """
        key = (self.translator.checkpoint_hash, text, beam)
        with self.queue.ticket(session) as ticket:

            def compute(unwanted: ShouldStop) -> TranslationResult:
                with self.queue.slot(ticket, on_position):
                    return self._translate(text, beam, unwanted)

            return self.cache.get(key, compute, ticket)

    def translate_branch(
        self,
        session: str,
        best: TranslationResult,
        number: int,
        *,
        beam: int = BEAM,
        on_position: OnPosition | None = None,
    ) -> TranslationResult:
        """A branch of the search for a sentence, with its attention from one forced pass over its pieces.

        Args:
            session: As for `translate`.
            best: What `translate` returned for the sentence.
            number: Of the branch, from 0; see `viz_app.serving.search_tree`. One that does not exist gives the best.
            beam: As for `translate`.
            on_position: As for `translate`.

        Raises:
            Superseded: when a newer request of the session took over.
        """
        chosen = branch_translation(best.translation, number, self.translator)
        if chosen is best.translation:
            return best
        key = (self.translator.checkpoint_hash, best.translation.source, beam, number)
        with self.queue.ticket(session) as ticket:

            def compute(unwanted: ShouldStop) -> TranslationResult:
                with self.queue.slot(ticket, on_position):
                    return TranslationResult(chosen, chosen.attention)

            return self.cache.get(key, compute, ticket)

    def _translate(self, text: str, beam: int, unwanted: ShouldStop) -> TranslationResult:
        from transformer_core.decoding.beam import DecodingStopped  # with torch, which takes seconds to import

        try:
            translation = self.translator.translate(text, beam=beam, should_stop=unwanted)
        except DecodingStopped:
            raise Superseded from None
        return TranslationResult(translation, translation.attention)
