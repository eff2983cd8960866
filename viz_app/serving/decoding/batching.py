"""Dynamic batching: decode waiting sentences of different visitors together.

A model multiplies thirty sentences with its weights in little more time than it takes to read the weights once. The
thread of the first ticket in line decodes its sentence and the waiting ones of similar length. Each of their threads
reads its result from a Future. A batch lasts as long as its longest sentence.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from viz_app.serving.decoding.decoding_limits import DEADLINE, max_batch_length, max_batch_size, same_bucket
from viz_app.serving.decoding.worker_processes import ModelKey, NoneReady, WorkerProcesses
from viz_app.serving.scheduling.monitoring import batch_sentences
from viz_app.serving.scheduling.request_queue import BatchJob, OnPosition, RequestQueue, Superseded, Ticket
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.attention_maps import MapsTooLarge
    from transformer_core.text.tokenizer import Encoding
    from transformer_core.translator import Translator
    from viz_app.serving.decoding.decoded_batch import Decoded, DraftBytes, OnDraft

_POLL_SECONDS = 0.1  # between two checks whether the result is still wanted


class DeadlineExceeded(Exception):
    """A request took longer than it may, as with a model whose settings never let a translation end."""


@dataclass(frozen=True, eq=False)
class _Sentence(BatchJob):
    """Sentence to decode.

    Args:
        batcher: Decodes it.
        encoding: The sentence.
        beam: Hypotheses kept at each step.
        should_stop: Whether every session has given it up.
        max_batch_size: Sentences of a batch that this one leads.
        on_draft: Called with what the search has so far; None for a sentence without drafts.
        decoded: Its result, which the thread of another sentence may set.
        draft: The newest one that its own thread has not taken.
    """

    batcher: Batcher
    encoding: Encoding
    beam: int
    should_stop: ShouldStop
    max_batch_size: int
    on_draft: Callable[[DraftBytes], None] | None = None
    decoded: Future[Decoded] = field(default_factory=Future)
    draft: deque[DraftBytes] = field(default_factory=lambda: deque(maxlen=1))

    def tell(self) -> None:
        """Hand over the newest draft; for the sentence's own thread."""
        if self.on_draft and self.draft:
            self.on_draft(self.draft.pop())

    def fits(self, other: BatchJob) -> bool:
        """Return whether the same model can decode both together, and neither waits long for the other."""
        return (
            isinstance(other, _Sentence)
            and (self.batcher, self.beam) == (other.batcher, other.beam)
            and same_bucket(self.encoding, other.encoding)
        )


class Batcher:
    """Dynamic batching for one model.

    Args:
        translator: The model.
        queue: Where requests wait for their turn.
        workers: Processes that decode; None for this one.
        deadline: Seconds that a batch may take.
    """

    def __init__(
        self,
        translator: Translator,
        queue: RequestQueue,
        workers: WorkerProcesses | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self._translator, self._queue, self._workers, self._deadline = translator, queue, workers, deadline

    def decode(
        self,
        ticket: Ticket,
        encoding: Encoding,
        beam: int,
        should_stop: ShouldStop,
        on_position: OnPosition | None,
        on_draft: Callable[[DraftBytes], None] | None = None,
    ) -> Decoded:
        """See `Decoder`; the deadline applies to the batch."""
        size = max_batch_size(self._translator.config, max_batch_length(len(encoding)))
        sentence = _Sentence(self, encoding, beam, should_stop, size, on_draft)
        with self._queue.batch(ticket, sentence, on_position) as batch:
            if batch:
                self._decode(batch, sentence)
        while True:
            try:
                return sentence.decoded.result(_POLL_SECONDS)
            except TimeoutError:
                if should_stop():
                    raise Superseded from None
                sentence.tell()

    def start(self) -> None:
        """Let the processes load the model."""
        if self._workers is not None:
            self._workers.start(self._key(self._workers))

    def is_ready(self) -> bool:
        """Return True: this process decodes until a worker process is ready."""
        return True

    def _decode(self, sentences: Sequence[_Sentence], own: _Sentence) -> None:
        """Decode a batch; set the result or the error of each sentence. `own` is that of this thread."""
        from transformer_core.decoding.beam import DecodingStopped  # with torch, which takes seconds to import

        batch_sentences.observe(len(sentences))
        ended: list[BaseException] = []

        def on_draft(number: int, draft: DraftBytes) -> None:
            sentences[number].draft.append(draft)
            try:
                own.tell()
            except BaseException as error:  # it ends the run of this sentence, but not the batch
                ended.append(error)

        end = time.monotonic() + self._deadline
        outcomes: Sequence[Decoded | Exception | None]
        try:
            outcomes = self._run(
                [each.encoding for each in sentences],
                sentences[0].beam,
                lambda: time.monotonic() > end,
                lambda number: sentences[number].should_stop(),
                [number for number, each in enumerate(sentences) if each.on_draft],
                on_draft,
            )
        except DecodingStopped:
            outcomes = [DeadlineExceeded(f"no translation after {self._deadline:g} seconds")] * len(sentences)
        except Exception as error:
            outcomes = [error] * len(sentences)
        except BaseException as error:
            for each in sentences:
                each.decoded.set_exception(error)
            raise
        for each, decoded in zip(sentences, outcomes, strict=True):
            if decoded is None:
                each.decoded.set_exception(Superseded())
            elif isinstance(decoded, Exception):
                each.decoded.set_exception(decoded)
            else:
                each.decoded.set_result(decoded)
        if ended:
            raise ended[0]

    def _run(
        self,
        encodings: Sequence[Encoding],
        beam: int,
        should_stop: Callable[[], bool],
        is_given_up: Callable[[int], bool],
        drafts: Sequence[int],
        on_draft: OnDraft,
    ) -> list[Decoded | MapsTooLarge | None]:
        from viz_app.serving.decoding.decoded_batch import decode_together

        if self._workers is not None and self._translator.checkpoint is not None:
            try:
                key = self._key(self._workers)
                return self._workers.decode(key, encodings, beam, should_stop, is_given_up, drafts, on_draft)
            except NoneReady:
                pass
        return decode_together(self._translator, encodings, beam, should_stop, is_given_up, drafts, on_draft)

    def _key(self, workers: WorkerProcesses) -> ModelKey:
        """Return the model's key in these processes."""
        checkpoint = self._translator.checkpoint
        assert checkpoint is not None, "a model that was loaded from a folder"
        return ModelKey(
            str(checkpoint.folder), checkpoint.weights_hash, self._translator.most_map_bytes, workers.device
        )
