"""Each internal of Streamlit that the app uses is still there; files of a download button stay long enough."""

from __future__ import annotations

import dataclasses
import inspect
from importlib import import_module
from typing import Any

import pytest
import streamlit
from google.protobuf.message import Message  # type: ignore[import-untyped]
from streamlit import runtime
from streamlit.runtime import Runtime, RuntimeConfig, media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from viz_app.serving import streamlit_patches
from viz_app.serving.streamlit_patches import KEPT_SECONDS, Throttled, retain_media

# Module, attribute in it, and the function of the app that needs it.
INTERNALS = (
    ("streamlit.runtime", "Runtime.media_file_mgr", "retain_media"),
    ("streamlit.runtime.media_file_manager", "MediaFileManager.remove_orphaned_files", "retain_media"),
    ("streamlit.net_util", "get_external_ip", "disable_external_ip_lookup"),
    ("streamlit.web.server.starlette.starlette_websocket", "is_host_allowed", "is_named_host"),
    ("streamlit.web.server.starlette.starlette_websocket", "is_host_allowed", "leave_hosts_to_the_guard"),
    ("streamlit.runtime", "Runtime.get_client", "client_address"),
    ("streamlit.runtime.session_manager", "ClientContext.remote_ip", "client_address"),
    ("uvicorn.config", "Config.ws_max_size", "limit_incoming"),
    ("uvicorn.protocols.websockets.websockets_sansio_impl", "WebSocketsSansIOProtocol.conn", "limit_incoming"),
    ("uvicorn.protocols.websockets.websockets_sansio_impl", "WebSocketsSansIOProtocol.transport", "limit_incoming"),
    ("websockets.server", "ServerProtocol.events_received", "limit_incoming"),
    ("uvicorn.protocols.http.httptools_impl", "HttpToolsProtocol.data_received", "limit_heads"),
    ("uvicorn.protocols.http.httptools_impl", "HttpToolsProtocol.on_headers_complete", "limit_heads"),
    ("uvicorn.protocols.http.httptools_impl", "HttpToolsProtocol.on_body", "limit_heads"),
    ("uvicorn.protocols.http.httptools_impl", "HttpToolsProtocol.transport", "limit_heads"),
    ("streamlit.proto.BackMsg_pb2", "BackMsg.rerun_script", "is_offered"),
    ("streamlit.proto.BackMsg_pb2", "BackMsg.stop_script", "is_offered"),
    ("streamlit.proto.BackMsg_pb2", "BackMsg.app_heartbeat", "is_offered"),
    ("streamlit.proto.BackMsg_pb2", "BackMsg.backend_operation_request", "is_offered"),
    ("streamlit.runtime.scriptrunner", "get_script_run_ctx", "run_session"),
    ("streamlit.runtime.scriptrunner", "ScriptRunContext.session_id", "run_session"),
    ("streamlit.runtime", "Runtime.is_active_session", "is_connected"),
    ("streamlit.runtime.scriptrunner", "ScriptRunContext.session_state", "reported_text"),
    ("streamlit.runtime.state", "SafeSessionState.get_widget_states", "reported_text"),
    ("streamlit.runtime.state.common", "user_key_from_element_id", "reported_text"),
    (
        "streamlit.runtime.scriptrunner_utils.script_run_context",
        "ScriptRunContext.run_with_active_hash",
        "shared_across_pages",
    ),
    (
        "streamlit.runtime.scriptrunner_utils.script_run_context",
        "ScriptRunContext.pages_manager",
        "shared_across_pages",
    ),
    ("streamlit.runtime.pages_manager", "PagesManager.main_script_hash", "shared_across_pages"),
)


def has(owner: Any, name: str) -> bool:
    """Whether a class has an attribute, a field, or sets it as it is made."""
    if hasattr(owner, name):
        return True
    if dataclasses.is_dataclass(owner):
        return name in {each.name for each in dataclasses.fields(owner)}
    if issubclass(owner, Message):
        return name in owner.DESCRIPTOR.fields_by_name
    return f"self.{name}" in inspect.getsource(owner.__init__)


@pytest.mark.parametrize(("module", "path", "user"), INTERNALS, ids=[path for _, path, _ in INTERNALS])
def test_the_internal_is_there(module: str, path: str, user: str) -> None:
    assert callable(getattr(streamlit_patches, user))
    owner: Any = import_module(module)
    for name in path.split("."):
        assert has(owner, name), (
            f"Streamlit {streamlit.__version__} or its server has no {module}.{path} any more: "
            f"change streamlit_patches.{user}"
        )
        owner = getattr(owner, name, None)


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    """Streamlit's store, asked by one session."""
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: "a visitor")
    return MediaFileManager(MemoryMediaFileStorage("/media"))


def pressed(manager: MediaFileManager) -> str:
    """Id of the file that a button made."""
    button = manager.add_deferred(lambda: b"a picture", "image/png", "0.1", file_name="picture.png")
    return manager.execute_deferred(button).split("/")[-1].split(".")[0]


def there(manager: MediaFileManager, file: str) -> bool:
    return manager.read_file(file) is not None


def test_a_file_outlives_the_runs_of_others(manager: MediaFileManager) -> None:
    now = 0.0
    runs_end = Throttled(manager.remove_orphaned_files, clock=lambda: now)
    file = pressed(manager)
    for _ in range(100):
        runs_end()
    now = KEPT_SECONDS - 0.1
    runs_end()
    assert there(manager, file)
    now = KEPT_SECONDS
    runs_end()
    assert not there(manager, file), "nor does it stay for ever"


@pytest.fixture
def server(manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """Streamlit's runtime as a server makes it, with a store of its own."""
    monkeypatch.setattr(Runtime, "_instance", None)
    return Runtime(RuntimeConfig("app.py", MemoryMediaFileStorage("/media"), MemoryUploadedFileManager("/upload")))


def test_a_server_keeps_files_from_the_first_run_on(server: Runtime) -> None:
    store = server.media_file_mgr
    retain_media()
    kept, file = store.remove_orphaned_files, pressed(store)
    for _ in range(3):
        retain_media()  # as each run does
        store.remove_orphaned_files()
    assert there(store, file)
    assert store.remove_orphaned_files is kept, "a wait of its own for each run would never end"


def test_without_a_server_there_is_nothing_to_keep(manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runtime, "_instance", None)
    retain_media()
    assert not runtime.exists(), "none is made for it"
    file = pressed(manager)
    for _ in range(2):
        manager.remove_orphaned_files()
    assert not there(manager, file), "stores of others are left as they are"
