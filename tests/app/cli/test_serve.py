"""The commands of many machines: what they refuse, and how the address of the model server reaches the app."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path

import pytest

from transformer_core.cli import main
from viz_app.cli import PROGRAM, app
from viz_app.serving import settings
from viz_app.serving.models import loader
from viz_app.serving.server_address import MODEL_SERVER_SETTING

ADDRESS = "http://10.0.0.5:8000"


@pytest.mark.parametrize(("command", "host"), [("serve", "127.0.0.1"), ("app", "127.0.0.1"), ("class", "0.0.0.0")])
def test_a_port_that_is_taken_is_named_first(command: str, host: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before Ray starts, or a class reads the address of another program."""
    with socket.create_server((host, 0)) as taken:
        port = taken.getsockname()[1]
        assert main([command, f"--port={port}"], PROGRAM) == 2
    out, err = capsys.readouterr()
    assert err == f"error: cannot listen on {host} port {port}: Address already in use; choose another --port\n"
    assert out == ""


def test_a_folder_without_a_model_starts_no_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["app", f"--checkpoint={tmp_path}"], PROGRAM) == 1
    assert capsys.readouterr().err == f"error: {tmp_path}/manifest.json: is missing: the folder is no checkpoint\n"


def test_serve_says_how_to_install_ray(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ray" else find_spec(name))
    assert main(["serve"], PROGRAM) == 2
    assert capsys.readouterr().err == "error: serve needs Ray: pip install 'headlight[cluster]'\n"


def test_the_address_reaches_the_app(fresh_model: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("app", "class"):
        environment = app.server_environment(PROGRAM.parser(command).options(["--model-server", ADDRESS]))
        assert environment[MODEL_SERVER_SETTING] == ADDRESS
    monkeypatch.setenv(MODEL_SERVER_SETTING, ADDRESS)
    assert settings.model_server() == ("10.0.0.5", 8000)
    assert loader.worker_processes() is None
    assert loader.request_queue().batches == loader.MAX_ASKED
    monkeypatch.setenv(MODEL_SERVER_SETTING, "localhost")
    with pytest.raises(settings.SettingError, match="HEADLIGHT_MODEL_SERVER is 'localhost', but must be an address"):
        settings.model_server()
