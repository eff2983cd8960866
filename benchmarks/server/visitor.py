"""A visitor of the app without a browser, over Streamlit's websocket protocol, and the memory of a server's process."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.state.common import user_key_from_element_id
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

SECONDS = 180  # that a visitor waits for anything


class PageError(Exception):
    """The page shows an error where a translation was to be."""


@dataclass
class Visitor:
    """One session of the app.

    Args:
        connection: Its websocket.
        fields: The id of each text field that the page has drawn.
        files: What each download button asks for.
        buttons: The id of each other button, by its key.
        classroom: Code of the class on the teacher's board.
        translation: Which translation the explorer shows; empty at the start.
        tokens: Tokens of the translation, with `</s>`.
        session: How the server names this session.
        errors: Errors that the page has shown.
    """

    connection: ClientConnection
    fields: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    buttons: dict[str, str] = field(default_factory=dict)
    classroom: str = ""
    translation: str = ""
    source: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    session: str = ""
    errors: list[str] = field(default_factory=list)

    async def open(self, page: str = "", **params: str) -> None:
        """Open a page by its address, and wait until it is drawn."""
        message = BackMsg()
        message.rerun_script.query_string = urlencode({"lang": "en", **params})
        message.rerun_script.page_name = page
        await self.send(message)
        await self._until_drawn()

    async def translate(self, text: str) -> float:
        """Type a sentence; the seconds until its heads are here. Raises PageError for an error in their place."""
        before, started = self.translation, time.perf_counter()
        await self.type(text)
        while self.translation == before:
            await self._receive()
            if self.errors:
                raise PageError(self.errors.pop())
        seconds = time.perf_counter() - started
        await self._until_drawn()
        return seconds

    async def type(self, text: str) -> None:
        """Send what the field of the sentence holds."""
        message = BackMsg()
        message.rerun_script.query_string = urlencode({"lang": "en"})
        message.rerun_script.widget_states.widgets.add(id=self.fields[0], string_value=text)
        await self.send(message)

    async def press(self, text: str) -> None:
        """Type a text that may well be refused, and wait until the page is drawn again."""
        await self.type(text)
        await self._until_drawn()

    async def click(self, key: str, page: str = "") -> None:
        """Click a button of a page by its key, and wait until the page is drawn again."""
        message = BackMsg()
        message.rerun_script.query_string = urlencode({"lang": "en"})
        message.rerun_script.page_name = page
        message.rerun_script.widget_states.widgets.add(id=self.buttons[key], trigger_value=True)
        await self.send(message)
        await self._until_drawn()

    async def download(self, file: str) -> bool:
        """Press a download button; whether the server has made the file."""
        message = BackMsg()
        message.backend_operation_request.request_id = file
        message.backend_operation_request.session_id = self.session
        message.backend_operation_request.deferred_file.file_id = file
        await self.send(message)
        while True:
            answer = await self._receive()
            if answer.WhichOneof("type") == "backend_operation_response":
                return answer.backend_operation_response.WhichOneof("payload") is not None

    async def send(self, message: BackMsg) -> None:
        """Any message of the protocol."""
        await self.connection.send(message.SerializeToString())

    async def _until_drawn(self) -> None:
        while (await self._receive()).WhichOneof("type") != "script_finished":
            pass

    async def _receive(self) -> ForwardMsg:
        message = ForwardMsg()
        message.ParseFromString(bytes(await asyncio.wait_for(self.connection.recv(decode=False), SECONDS)))
        if message.WhichOneof("type") == "new_session":
            self.session = message.new_session.initialize.session_id
            self.files.clear()
            self.errors.clear()
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind in ("text_area", "text_input") and (name := getattr(element, kind).id) not in self.fields:
            self.fields.append(name)
        elif kind == "button" and (key := user_key_from_element_id(element.button.id)):
            self.buttons[key] = element.button.id
        elif kind == "alert" and element.alert.format == Alert.ERROR:
            self.errors.append(element.alert.body)
        elif kind == "download_button" and element.download_button.deferred_file_id:
            self.files.append(element.download_button.deferred_file_id)
        elif kind == "bidi_component" and element.bidi_component.component_name == "headlight_explorer":
            header = _header(element.bidi_component.bytes)
            self.translation = str(header["id"])
            self.source = tuple(header["axes"]["source"]["tokens"])
            self.tokens = tuple(header["axes"]["outputs"]["tokens"])
        elif kind == "bidi_component" and element.bidi_component.component_name == "headlight_class_board":
            self.classroom = json.loads(element.bidi_component.json)["code"]
        return message


def _header(data: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<I", data[:4])
    header: dict[str, Any] = json.loads(data[4 : 4 + length])
    return header


@asynccontextmanager
async def visiting(address: str, forwarded: str = "", cookie: str = "") -> AsyncIterator[Visitor]:
    """A new session, which has not asked for a page yet.

    Args:
        address: Of the server, such as "http://127.0.0.1:8501".
        forwarded: The visitor's own address, as a proxy on this machine would forward it.
        cookie: What the visitor's browser sends of it.
    """
    headers = {name: value for name, value in (("X-Forwarded-For", forwarded), ("Cookie", cookie)) if value}
    parts = urlsplit(address)
    async with connect(
        f"{address.replace('http', 'ws', 1)}/_stcore/stream",
        subprotocols=[Subprotocol("streamlit")],
        origin=Origin(f"{parts.scheme}://{parts.netloc}"),
        additional_headers=headers,
        max_size=None,
        open_timeout=SECONDS,
        ping_interval=None,
    ) as connection:
        yield Visitor(connection)


def processes(pid: int) -> list[int]:
    """A process and all that it has started, as far as the system tells."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            after_the_name = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            parents[int(folder.name)] = int(after_the_name[1])
    pids = [pid]
    for each in pids:  # grows while it is read
        pids += [child for child, parent in parents.items() if parent == each]
    return pids


def memory(pid: int, which: str = "VmRSS", *, alone: bool = False) -> float | None:
    """MiB that a process and those that it has started hold, or have held at most (VmHWM); None if it is not known.

    Memory that they share counts for each of them, and their peaks need not have been at the same time.
    """
    sizes = [_memory(each, which) for each in ([pid] if alone else processes(pid))]
    return None if sizes[0] is None else sum(each or 0.0 for each in sizes)


def processor_seconds(pid: int) -> float:
    """Seconds of a processor that a process and those that it has started have taken, as far as they still run."""
    seconds = 0.0
    for each in processes(pid):
        with suppress(OSError):
            after_the_name = Path(f"/proc/{each}/stat").read_text(errors="replace").rpartition(")")[2].split()
            seconds += (int(after_the_name[11]) + int(after_the_name[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def _memory(pid: int, which: str) -> float | None:
    try:
        lines: Sequence[str] = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{which}:")), None)


def forget_peak(pid: int) -> None:
    """From now on VmHWM counts anew; nothing where the system cannot."""
    for each in processes(pid):
        with suppress(OSError):
            Path(f"/proc/{each}/clear_refs").write_text("5", encoding="ascii")
