"""Decoder of a front end that asks a model server over plain HTTP.

The visitor's own thread asks, and checks ten times a second whether the visitor still wants the answer. If not, it
closes the connection, and the server drops the sentence from its batch. Decoding twice does no harm, so the decoder
repeats a request whose answer was lost.
"""

from __future__ import annotations

import http.client
import selectors
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from transformer_core.attention_maps import MapsTooLarge
from viz_app.serving.checked_json import READ_ERRORS
from viz_app.serving.decoding.batching import DeadlineExceeded
from viz_app.serving.decoding.decoding_limits import DEADLINE
from viz_app.serving.retry import retry
from viz_app.serving.scheduling.request_queue import BatchJob, OnPosition, RequestQueue, Superseded, Ticket
from viz_app.serving.scheduling.single_flight_cache import ShouldStop
from viz_app.serving.server_address import PATH

if TYPE_CHECKING:
    from transformer_core.text.tokenizer import Encoding
    from transformer_core.translator import Translator
    from viz_app.serving.cluster.decoding_messages import Refusal
    from viz_app.serving.decoding.decoded_batch import Decoded

MAX_REFUSAL_BYTES = 10_000

_PAUSES = (0.1, 0.3, 1.0, 2.0)  # seconds before asking again, once each
_CONNECT_SECONDS = 2.0
_STALL_SECONDS = 10.0  # without a byte of an answer that has begun
_POLL_SECONDS = 0.1  # between two checks whether the visitor has left
_CHUNK_BYTES = 2**20
_OK = 200


class ModelServerAway(RuntimeError):
    """The model server does not answer, or is overloaded."""


class OtherModel(RuntimeError):
    """The model server has another model than the requested one."""


class _Lost(Exception):
    """The answer did not arrive; a second try may succeed."""


class RemoteDecoder:
    """Decoder that asks a model server.

    Args:
        server: Host and port of the model server.
        translator: The model, as this front end has loaded it.
        queue: Queue of requests; its number of batches limits the concurrent requests to the server.
        deadline: Seconds that the server may take for a batch.
    """

    def __init__(
        self, server: tuple[str, int], translator: Translator, queue: RequestQueue, deadline: float = DEADLINE
    ) -> None:
        self._server, self._translator, self._queue, self._deadline = server, translator, queue, deadline

    def decode(
        self,
        ticket: Ticket,
        encoding: Encoding,
        beam: int,
        should_stop: ShouldStop,
        on_position: OnPosition | None,
        on_draft: object = None,
    ) -> Decoded:
        """See `Decoder`; the server forms the batches, so each sentence is one request."""
        with self._queue.batch(ticket, BatchJob(), on_position):
            return self._ask_until_answered(encoding, beam, should_stop)

    def start(self) -> None:
        """Do nothing: the server runs by itself."""

    def is_ready(self) -> bool:
        """Return whether the server answers, and with the right model."""
        from viz_app.serving.cluster.decoding_messages import Identity

        connection = http.client.HTTPConnection(*self._server, timeout=_CONNECT_SECONDS)
        try:
            connection.request("GET", PATH)
            response = connection.getresponse()
            identity = msgspec.json.decode(response.read(MAX_REFUSAL_BYTES), type=Identity)
            return response.status == _OK and identity.weights_hash == self._translator.checkpoint_hash
        except (OSError, http.client.HTTPException, *READ_ERRORS):
            return False
        finally:
            connection.close()

    def _ask_until_answered(self, encoding: Encoding, beam: int, should_stop: ShouldStop) -> Decoded:
        from viz_app.serving.cluster.decoding_messages import Request

        data = msgspec.json.encode(Request(self._translator.checkpoint_hash, beam, encoding))
        # A batch may wait for another one, and each may take as long as it is allowed to.
        until = time.monotonic() + 2 * self._deadline

        def check() -> None:
            if should_stop():
                raise Superseded
            if time.monotonic() > until:
                raise DeadlineExceeded(f"no translation after {2 * self._deadline:g} seconds")

        def wait(pause: float) -> None:
            again = time.monotonic() + pause
            while time.monotonic() < again:
                check()
                time.sleep(_POLL_SECONDS)

        lost = (_Lost, OSError, http.client.HTTPException)
        try:
            return retry(lambda: self._ask(data, encoding, check), lost, _PAUSES, wait)
        except lost as error:
            reason = f"{type(error).__name__}: {error}"
            raise ModelServerAway(f"no answer of the model server at {self._name}: {reason}") from error

    def _ask(self, data: bytes, encoding: Encoding, check: Callable[[], None]) -> Decoded:
        from viz_app.serving.cluster.decoding_messages import read_reply

        connection = http.client.HTTPConnection(*self._server, timeout=_CONNECT_SECONDS)
        try:
            connection.request("POST", PATH, data, {"Content-Type": "application/json"})
            with selectors.DefaultSelector() as selector:
                selector.register(connection.sock, selectors.EVENT_READ)
                while not selector.select(_POLL_SECONDS):
                    check()
            connection.sock.settimeout(_STALL_SECONDS)
            response = connection.getresponse()
            if response.status != _OK:
                raise self._error(response.status, response.read(MAX_REFUSAL_BYTES))

            def read(count: int) -> bytearray:
                block = bytearray(count)
                rest = memoryview(block)
                while rest:
                    check()
                    size = response.readinto(rest[:_CHUNK_BYTES])
                    if not size:
                        raise _Lost(f"the answer ends {len(rest):,} bytes too soon")
                    rest = rest[size:]
                return block

            return read_reply(read, self._translator, encoding)
        finally:
            connection.close()

    def _error(self, status: int, body: bytes) -> Exception:
        """Return the error for a refused request; a refusal of Serve itself is no JSON."""
        from viz_app.serving.cluster.decoding_messages import BadReply, Refusal

        try:
            refusal = msgspec.json.decode(body, type=Refusal)
        except READ_ERRORS:
            return _Lost(f"status {status}")
        return _meaning(refusal) or BadReply(f"the model server at {self._name}: {refusal.message}")

    @property
    def _name(self) -> str:
        return "{}:{}".format(*self._server)


def _meaning(refusal: Refusal) -> Exception | None:
    if refusal.error == "other_model":
        return OtherModel(refusal.message)
    if refusal.error == "maps_too_large":
        return MapsTooLarge(refusal.needed, refusal.limit)
    if refusal.error == "deadline":
        return DeadlineExceeded(refusal.message)
    return None
