"""Interface of a decoder: the batches of this server, or a model server elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from transformer_core.text.tokenizer import Encoding
    from viz_app.serving.decoding.decoded_batch import Decoded, DraftBytes
    from viz_app.serving.scheduling.request_queue import OnPosition, Ticket
    from viz_app.serving.scheduling.single_flight_cache import ShouldStop


class Decoder(Protocol):
    """Decodes sentences of many visitors with one model: `Batcher` here, `RemoteDecoder` elsewhere."""

    def decode(
        self,
        ticket: Ticket,
        encoding: Encoding,
        beam: int,
        should_stop: ShouldStop,
        on_position: OnPosition | None,
        on_draft: Callable[[DraftBytes], None] | None = None,
    ) -> Decoded:
        """Wait for the ticket's turn, then decode a sentence.

        Args:
            ticket: The request.
            encoding: The sentence.
            beam: Hypotheses kept at each step.
            should_stop: Whether every session has given it up; called from any thread.
            on_position: Called with the number of requests ahead while this one waits.
            on_draft: Called with what the search has so far, in this thread; a model server has no drafts.

        Raises:
            Superseded: Every session has given it up.
            DeadlineExceeded: It took too long.
            MapsTooLarge: Its maps take more memory than allowed.
            WorkerLost: One decoding process after the other ended.
            ModelServerAway: The model server does not answer.
            OtherModel: The model server has another model.
        """

    def start(self) -> None:
        """Begin to load the model; returns at once."""

    def is_ready(self) -> bool:
        """Return whether a sentence would be decoded now; may take a second."""
