"""Start the app and open it in the browser; Ctrl-C ends it. Only this computer can open it.

Options with a dot, such as --server.headless=true, go to Streamlit; write them last. All of them:
python -m streamlit run --help

Example:
  python -m viz_app app --checkpoint checkpoints/en-fr --server.headless=true
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from transformer_core.cli.arguments import Options, Parser, UsageError, existing
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.storage.manifest import Manifest
from viz_app.serving.end_with_parent import ENDS_WITH_INPUT, end_with_parent
from viz_app.serving.opening.model_folders import OFF, SETTING
from viz_app.serving.server_address import MODEL_SERVER_SETTING, parse_address
from viz_app.serving.settings import METRICS_SETTING, SettingError, check_settings

APP = Path(__file__).resolve().parents[1] / "main.py"
MAX_PORT = 65_535
_OWN = ("--models", "--port", "--checkpoint", "--model-server")


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("[--port N] [--checkpoint DIR] [--models DIR] [--model-server ADDRESS] [options of Streamlit]")
    parser.foreign = lambda argument: argument.startswith("--") and "." in argument.partition("=")[0]
    add_server(parser)


def run(options: Options) -> int:
    """Start the server and wait for its end."""
    if late := next((each for each in options.rest if each.partition("=")[0] in _OWN), None):
        raise UsageError(f"{late}: write it before the options of Streamlit")
    environment = server_environment(options)
    given = dict(each.split("=", 1) for each in options.rest if "=" in each)
    if (port := given.get("--server.port", str(options.port))).isdecimal():
        check_free(given.get("--server.address", "127.0.0.1"), int(port))
    return run_server(server_command(options.port, options.rest), environment)


def add_server(parser: Parser) -> None:
    """Add the options of the server and of its models."""
    about = "Let visitors open models: those below this folder; off for none."
    parser.add_argument("--models", metavar="DIR", help=about)
    parser.add_number("--port", 8501, "Port of the server.", most=MAX_PORT)
    about = "The model; checkpoints/en-de unless given."
    parser.add_path("--checkpoint", about, form="DIR", read=find_checkpoint)
    about = "Let a model server decode, as `serve` starts it: http://127.0.0.1:8000."
    parser.add_argument("--model-server", metavar="ADDRESS", help=about)


def check_free(host: str, port: int, setting: str = "--port") -> None:
    """Raise UsageError for an address in use: Streamlit says it without a way out, and Ray in many lines."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            pass
    except OSError as error:
        reason = str(error.strerror or error).partition(" (")[0]
        raise UsageError(f"cannot listen on {host} port {port}: {reason}; choose another {setting}") from None


def server_environment(options: Options) -> dict[str, str]:
    """Return the environment of the server. Raises UsageError for an unusable option."""
    environment = dict(os.environ)
    try:
        check_settings()
    except SettingError as error:
        raise UsageError(str(error)) from None
    if metrics_port := os.environ.get(METRICS_SETTING, "").strip():
        check_free("127.0.0.1", int(metrics_port), METRICS_SETTING)
    if options.checkpoint is not None:
        Manifest.read(Path(options.checkpoint))  # the server would start, and each page name the error
        environment["HEADLIGHT_CHECKPOINT"] = str(Path(options.checkpoint).resolve())
    if options.models is not None:
        allows = options.models.lower() != OFF
        environment[SETTING] = str(existing("--models", options.models, folder=True).resolve()) if allows else OFF
    if options.model_server is not None:
        try:
            parse_address(options.model_server)
        except ValueError as error:
            raise UsageError(f"--model-server is {options.model_server!r}, but must be {error}") from None
        environment[MODEL_SERVER_SETTING] = options.model_server
    if importlib.util.find_spec("streamlit") is None:
        raise ModuleNotFoundError(name="streamlit")
    return environment


def server_command(port: int, options: Sequence[str] = ()) -> list[str]:
    """Return the server's command line."""
    return [sys.executable, "-m", "streamlit", "run", str(APP), f"--server.port={port}", *options]


def run_server(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a server until it ends and return its exit status; 0 after SIGTERM, which is passed on to it.

    It ends with this process, even if that is killed.
    """
    end_with_parent()
    with subprocess.Popen(command, env={**environment, ENDS_WITH_INPUT: "1"}, stdin=subprocess.PIPE) as server:
        before = signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        try:
            status = server.wait()
            return 0 if status == -signal.SIGTERM else status
        finally:
            signal.signal(signal.SIGTERM, before)
