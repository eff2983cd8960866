"""Messages of front ends and model servers: they come back as they were, and nothing else is taken."""

from __future__ import annotations

import io
import json
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest

from tests.app.serving.decoding.test_batching import same_maps
from tests.app.serving.scheduling.test_request_queue import PATIENCE
from transformer_core.attention_maps import MapsTooLarge
from transformer_core.decoding.beam import SearchResult
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator
from viz_app.components.buffer import join_buffer, split_buffer
from viz_app.serving.cluster import decoding_messages, remote_decoder
from viz_app.serving.cluster.decoding_messages import BadReply, Refused, Request, read_reply, read_request, to_reply
from viz_app.serving.cluster.remote_decoder import ModelServerAway, OtherModel, RemoteDecoder
from viz_app.serving.decoding.batching import DeadlineExceeded
from viz_app.serving.decoding.decoded_batch import Decoded, decode_together
from viz_app.serving.models.translation_service import BEAM, TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.serving.server_address import parse_address

TEXT = "The dog is fast \u2603."  # with a character that the vocabulary lacks


@pytest.fixture(scope="module")
def sentence(translator: Translator) -> Encoding:
    return translator.encode(TEXT)


@pytest.fixture(scope="module")
def decoded(translator: Translator, sentence: Encoding) -> Decoded:
    (result,) = decode_together(translator, [sentence], BEAM, lambda: False, lambda _: False)
    assert isinstance(result, Decoded)
    return result


def reader(data: bytes) -> Callable[[int], bytearray]:
    stream = io.BytesIO(data)

    def read(count: int) -> bytearray:
        result = bytearray(stream.read(count))
        assert len(result) == count
        return result

    return read


def request(translator: Translator, sentence: Encoding, **changes: Any) -> bytes:
    value = msgspec.to_builtins(Request(translator.checkpoint_hash, BEAM, sentence))
    value["sentence"] |= {name: changes.pop(name) for name in list(changes) if name in value["sentence"]}
    return msgspec.json.encode({**value, **changes})


def changed(reply: bytes, **changes: Any) -> bytes:
    header, data = split_buffer(reply)
    return join_buffer({**header, **changes}, data)


def test_everything_comes_back_as_it_was(translator: Translator, sentence: Encoding, decoded: Decoded) -> None:
    assert read_request(request(translator, sentence), translator).sentence == sentence
    result = read_reply(reader(to_reply(decoded)), translator, sentence)
    assert result.result == decoded.result
    same_maps(result.maps, decoded.maps)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"weights_hash": "0" * 64}, "other_model"),
        ({"beam": 0}, "request"),
        ({"beam": 10_000}, "request"),
        ({"more": 1}, "request"),
        ({"ids": [1, 2]}, "request"),
        ({"ids": [-1]}, "request"),
        ({"unknown": None}, "request"),
        ({name: [value] * 100_000 for name, value in {"ids": 5, "unknown": False}.items()}, "request"),
        *((data, "request") for data in (b"", b"[]", b"\xff", b'{"weights_hash": "\\ud800"}', b"9" * 5000)),
    ],
)
def test_a_request_that_cannot_be_served_is_refused(
    translator: Translator, sentence: Encoding, changes: dict[str, Any] | bytes, error: str
) -> None:
    with pytest.raises(Refused) as refused:
        read_request(changes if isinstance(changes, bytes) else request(translator, sentence, **changes), translator)
    assert refused.value.refusal.error == error


def test_ids_beyond_the_vocabulary_are_refused(translator: Translator) -> None:
    wrong = Encoding((len(translator.tokenizer.source),), ("x",), ((0, 1),), (False,))
    with pytest.raises(Refused, match="ids must be from 0 to"):
        read_request(request(translator, wrong), translator)


@pytest.mark.parametrize(
    "changes",
    [
        {"heads": 5},
        {"layers": 10**9},
        {"finished": "yes"},
        {"result": {"hypotheses": [], "history": []}},
        {"source": {"tokens": [], "words": [], "special": []}},
        {"outputs": {"tokens": ["a"], "words": [0], "special": [False]}},
        {"outputs": {"tokens": ["a"], "words": [7], "special": [False]}},
    ],
)
def test_a_reply_for_something_else_is_no_reply(
    translator: Translator, sentence: Encoding, decoded: Decoded, changes: dict[str, Any]
) -> None:
    with pytest.raises(BadReply):
        read_reply(reader(changed(to_reply(decoded), **changes)), translator, sentence)


def test_sizes_are_checked_before_memory_is_spent(
    translator: Translator, sentence: Encoding, decoded: Decoded, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadReply, match="a header of 4,294,967,295 bytes"):
        read_reply(reader(struct.pack("<I", 2**32 - 1)), translator, sentence)
    many = {"tokens": ["a"] * 50_000, "words": [0] * 50_000, "special": [False] * 50_000}
    monkeypatch.setattr(translator, "most_map_bytes", 2**20)
    with pytest.raises(MapsTooLarge):
        read_reply(reader(changed(to_reply(decoded), inputs=many, outputs=many)), translator, sentence)


def test_a_probability_that_json_cannot_hold_is_an_error(decoded: Decoded) -> None:
    (best, *others), history = decoded.result.hypotheses, decoded.result.history
    broken = replace(best, score=float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        to_reply(Decoded(SearchResult((broken, *others), history), decoded.maps))


# --- the front end against servers that answer something else ---------------------------------------------------------


@contextmanager
def answering(*answers: tuple[int, bytes]) -> Iterator[tuple[tuple[str, int], list[bytes]]]:
    """A server that gives one answer after the other; where it is, and what it was asked for."""
    asked: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            status, body = answers[min(len(asked), len(answers)) - 1]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield ("127.0.0.1", server.server_port), asked
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_decoder, "_PAUSES", (0.0, 0.0))


def remote(server: tuple[str, int], translator: Translator) -> TranslationService:
    queue = RequestQueue(1, batches=4)
    return TranslationService(translator, queue, decoder=RemoteDecoder(server, translator, queue))


@pytest.mark.parametrize("lost", [(500, b"Internal Server Error"), (503, b"too many"), (200, b"\x00"), (404, b"{}")])
def test_what_is_lost_is_asked_for_again(
    translator: Translator, decoded: Decoded, lost: tuple[int, bytes], impatient: None
) -> None:
    with answering(lost, lost, (200, to_reply(decoded))) as (server, asked):
        assert remote(server, translator).translate("me", TEXT).translation.tokens
    assert len(asked) == 3 and len(set(asked)) == 1


def test_a_server_that_is_away_is_an_error_until_it_is_back(
    translator: Translator, decoded: Decoded, impatient: None
) -> None:
    with answering((500, b"")) as (server, asked):
        service = remote(server, translator)
        with pytest.raises(ModelServerAway, match="status 500"):
            service.translate("me", TEXT)
        assert len(asked) == 3, "no more than so often"
        assert not service.decoder.is_ready()
    with pytest.raises(ModelServerAway, match="ConnectionRefusedError"):
        service.translate("me", TEXT)
    assert service.queue.working == 0


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        ({"error": "other_model", "message": "another"}, OtherModel),
        ({"error": "maps_too_large", "needed": 3, "limit": 2}, MapsTooLarge),
        ({"error": "deadline"}, DeadlineExceeded),
        ({"error": "failed"}, BadReply),
    ],
)
def test_a_refusal_is_the_error_that_it_names(
    translator: Translator, refusal: dict[str, Any], error: type[Exception], impatient: None
) -> None:
    status = decoding_messages.STATUS[refusal["error"]]
    with answering((status, json.dumps(refusal).encode())) as (server, asked):
        with pytest.raises(error):
            remote(server, translator).translate("me", TEXT)
        assert len(asked) == 1, "not asked for again"


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:8000", "https://a:1", "http://a", "http://a:0x", "http://a:99999", "http://a:1/b"]
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ValueError, match="an address such as http://127"):
        parse_address(address)
    assert parse_address("http://[::1]:80/") == ("::1", 80)
