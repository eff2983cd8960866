"""Other accounts of the model server's machine, and web pages that are open on it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("ray", reason="needs Ray: pip install 'headlight[cluster]'")
if os.name != "posix":
    pytest.skip("needs permissions of user, group and others", allow_module_level=True)

from starlette.requests import Request

from transformer_core.config import ConfigError
from viz_app.serving.classes.classrooms import Classrooms
from viz_app.serving.cluster import model_server, private_files

ROOT = Path(__file__).parents[2]
NOBODY = 65534
JSON = {"content-type": "application/json"}
VARIABLES = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_ADDRESS")

# Ray as the server starts it, see below; without the imports of the model.
START = """
import os, ray
from viz_app.serving.cluster.private_files import keep_token_private, private_folder
os.environ["RAY_AUTH_MODE"] = "token"
keep_token_private()
ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, _temp_dir=private_folder())
print(ray._private.worker._global_node.get_session_dir_path(), flush=True)
input()
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home that other accounts may enter, as many are; its path is short, for sockets lie in it."""
    folder = Path(tempfile.mkdtemp(prefix="hl", dir="/tmp"))
    folder.chmod(0o755)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield folder
    shutil.rmtree(folder)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def seen_by_others(folder: Path) -> list[str]:
    """Files that another account can read, or folders that it can list."""
    if os.getuid() == 0:
        search = ["find", str(folder), "-mindepth", "1", "-readable"]
        run = subprocess.run(search, capture_output=True, text=True, check=False, user=NOBODY, group=NOBODY)
        return run.stdout.split()
    closed = {path for path in folder.rglob("*") if not mode(path) & 0o007}
    return [str(path) for path in folder.rglob("*") if closed.isdisjoint({path, *path.parents})]


@pytest.mark.process
def test_another_account_reads_nothing_of_ray(home: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", START], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        session = Path(process.stdout.readline().strip())
        assert session.is_relative_to(home)
        assert (session / "sockets" / "raylet").is_socket()
        assert len((home / ".ray" / "auth_token").read_text()) == 64
        assert seen_by_others(home) == []
    finally:
        process.communicate("\n", timeout=60)


@pytest.mark.process
def test_the_server_starts_ray_in_private(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def init(address: str, *, _temp_dir: str, **options: object) -> None:
        assert (home / ".ray" / "auth_token").exists()
        assert (address, _temp_dir) == ("local", private_files.private_folder())
        raise KeyboardInterrupt

    monkeypatch.setattr("ray.init", init)
    with pytest.raises(KeyboardInterrupt):
        model_server.start(model_server.ServerOptions(checkpoint=""))


def test_a_token_is_written_for_its_owner_alone(home: Path) -> None:
    private_files.keep_token_private()
    file = home / ".ray" / "auth_token"
    assert (mode(file.parent), mode(file)) == (0o700, 0o600)
    token = file.read_text()
    private_files.keep_token_private()
    assert file.read_text() == token


def test_an_open_token_is_closed(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = home / ".ray" / "auth_token"
    file.parent.mkdir(mode=0o755)
    file.write_text("secret")
    file.chmod(0o644)
    with caplog.at_level(logging.WARNING):
        private_files.keep_token_private()
    assert (mode(file.parent), mode(file), file.read_text()) == (0o700, 0o600, "secret")
    assert "could be read by other accounts: replace it" in caplog.text


def test_a_token_that_stays_open_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system without modes."""
    (home / ".ray").mkdir()
    (home / ".ray" / "auth_token").write_text("secret")
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)
    with pytest.raises(ConfigError, match="is open to other accounts"):
        private_files.keep_token_private()


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_account_is_refused(home: Path) -> None:
    (home / f"ray-{os.getuid()}").mkdir(mode=0o700)
    os.chown(home / f"ray-{os.getuid()}", NOBODY, NOBODY)
    with pytest.raises(ConfigError, match="belongs to another account"):
        private_files.private_folder()


def test_a_link_that_another_account_could_lay_is_refused(home: Path) -> None:
    (home / "elsewhere").mkdir(mode=0o700)
    (home / f"ray-{os.getuid()}").symlink_to(home / "elsewhere")
    with pytest.raises(ConfigError):
        private_files.private_folder()


@pytest.mark.parametrize("variable", VARIABLES)
def test_token_of_environment_or_cluster_stays(home: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "given")
    private_files.keep_token_private()
    assert not (home / ".ray").exists()


def test_paths_of_sockets_stay_short(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(home / ("long" * 20)))
    folder = private_files.private_folder()
    assert folder == str(Path("/tmp").resolve() / f"ray-{os.getuid()}" / "ray")
    assert len(f"{folder}/session_2026-11-26_11-46-43_642279_4194304/sockets/plasma_store") <= 103
    with contextlib.suppress(OSError):  # a server of this account may use it
        Path(folder).parent.rmdir()


def asked(replica: Any, headers: dict[str, str], method: str = "POST") -> tuple[int, bytes]:
    scope = {
        "type": "http",
        "method": method,
        "path": "/classroom/nothing",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"[]"}

    response = asyncio.run(replica(Request(scope, receive)))
    return response.status_code, response.body


@pytest.mark.parametrize(
    "headers",
    [
        {**JSON, "origin": "http://evil.example"},
        {**JSON, "sec-fetch-site": "cross-site"},
        {**JSON, "sec-fetch-site": "same-origin"},  # of a name that was bound to this address
        {"content-type": "text/plain"},
        {},
    ],
)
def test_a_web_page_is_refused(headers: dict[str, str]) -> None:
    for replica in (object.__new__(model_server.ClassReplica), object.__new__(model_server.ModelReplica)):
        status, body = asked(replica, headers)
        assert (status, msgspec.json.decode(body)["error"]) == (400, "request")


def test_a_front_end_is_answered() -> None:
    replica = object.__new__(model_server.ClassReplica)  # without a file
    replica._store = Classrooms()
    assert asked(replica, JSON) == (409, b'{"error":"Call"}')
