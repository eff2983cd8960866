"""Thirty sessions at once against the real server, over its own websocket protocol."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from transformer_core.translator import Translator
from viz_app.text.examples import EXAMPLES

ROOT = Path(__file__).resolve().parents[4]
USERS = 30
SECONDS = 120


@pytest.fixture(scope="module")
def port(random_checkpoint: Path) -> Iterator[int]:
    """The port of a server with a checkpoint of random weights."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    options = ["--server.headless=true", f"--server.port={number}", "--server.fileWatcherType=none"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(ROOT / "viz_app" / "main.py"), *options],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HEADLIGHT_CHECKPOINT": str(random_checkpoint)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{number}/_stcore/health", timeout=1).close()
            break
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    yield number
    server.terminate()
    server.wait(timeout=10)


async def visit(port: int, text: str) -> dict[str, Any]:
    """Open the app with a sentence in the link; give the header of what the explorer is handed."""
    origin = f"http://127.0.0.1:{port}"
    request = BackMsg()
    request.rerun_script.query_string = urlencode({"text": text, "lang": "en"})
    header: dict[str, Any] = {}
    url = f"ws://127.0.0.1:{port}/_stcore/stream"
    async with connect(
        url, subprotocols=[Subprotocol("streamlit")], origin=Origin(origin), max_size=None, open_timeout=SECONDS
    ) as socket_:
        await socket_.send(request.SerializeToString())
        while True:
            message = ForwardMsg()
            message.ParseFromString(bytes(await asyncio.wait_for(socket_.recv(decode=False), SECONDS)))
            element = message.delta.new_element
            if element.WhichOneof("type") == "exception":
                pytest.fail(f"a visitor saw {element.exception.type}: {element.exception.message}")
            component = element.bidi_component
            if component.component_name == "headlight_explorer":
                (length,) = struct.unpack("<I", component.bytes[:4])
                header = json.loads(component.bytes[4 : 4 + length])
            if message.WhichOneof("type") == "script_finished":
                return header


async def all_visits(port: int, sentences: list[str]) -> list[dict[str, Any]]:
    return list(await asyncio.gather(*(visit(port, text) for text in sentences)))


def test_thirty_users_each_see_their_own_sentence(port: int, random_checkpoint: Path) -> None:
    examples = list(EXAMPLES.values())
    # Half of the class opens the same example, the others type something of their own.
    own = [f"{examples[i % len(examples)]} {examples[(i + 1 + i // 12) % len(examples)]}" for i in range(USERS // 2)]
    sentences = [*own, *[examples[0]] * (USERS - len(own))]
    headers = asyncio.run(all_visits(port, sentences))
    tokenizer = Translator.load(random_checkpoint).tokenizer
    for text, header in zip(sentences, headers, strict=True):
        assert header, f"nothing was shown for {text!r}"
        assert header["axes"]["source"]["tokens"] == [*tokenizer.encode(text).tokens, "</s>"]
    assert len({header["id"] for header in headers[len(own) :]}) == 1
