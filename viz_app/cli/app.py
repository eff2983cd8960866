"""Start the app and open it in the browser; Ctrl-C ends it. Only this computer can open it.

Options with a dot, such as --server.headless=true, go to Streamlit; write them last. All of them:
python -m streamlit run --help
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from transformer_core.cli.arguments import Parser, UsageError, existing
from transformer_core.storage.bundled_models import find_checkpoint
from viz_app.serving.opening.model_folders import OFF, SETTING
from viz_app.serving.server_address import MODEL_SERVER_SETTING, parse_address

APP = Path(__file__).resolve().parents[1] / "main.py"
_PORTS = range(1, 65_536)


def parser() -> Parser:
    """Return the options of this command."""
    result = Parser(
        "app",
        package="viz_app",
        usage="[--port N] [--checkpoint DIR] [--models DIR] [--model-server ADDRESS] [options of Streamlit]",
        description=__doc__,
        example="  python -m viz_app app --checkpoint checkpoints/en-fr --server.headless=true",
    )
    add_server(result)
    return result


def run(arguments: Sequence[str]) -> int:
    """Start the server and wait for its end."""
    own = list(takewhile(lambda argument: not _is_streamlits(argument), arguments))
    options = parser().options(own)
    environment = server_environment(options)
    return run_server(server_command(options.port, arguments[len(own) :]), environment)


def add_server(parser: Parser) -> None:
    """Options on the server and what it serves."""
    about = "Let visitors open models: those below this folder, and what they upload; off for none."
    parser.add_argument("--models", metavar="DIR", help=about)
    parser.add_argument("--port", type=int, default=8501, metavar="N", help="Port of the server.")
    about = "The model; checkpoints/en-de unless given."
    parser.add_argument("--checkpoint", type=find_checkpoint, metavar="DIR", help=about)
    about = "Let a model server decode, as `serve` starts it: http://127.0.0.1:8000."
    parser.add_argument("--model-server", metavar="ADDRESS", help=about)


def server_environment(options: argparse.Namespace) -> dict[str, str]:
    """Environment of the server. Raises UsageError for an unusable option, and ModuleNotFoundError of Streamlit."""
    check_port(options.port)
    environment = dict(os.environ)
    if options.checkpoint is not None:
        environment["HEADLIGHT_CHECKPOINT"] = str(existing("--checkpoint", options.checkpoint, folder=True).resolve())
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


def check_port(port: int) -> None:
    """Raise UsageError for a number that is no port."""
    if port not in _PORTS:
        raise UsageError(f"--port is {port}, but must be from 1 to 65535")


def server_command(port: int, options: Sequence[str] = ()) -> list[str]:
    """The server's command line."""
    return [sys.executable, "-m", "streamlit", "run", str(APP), f"--server.port={port}", *options]


def run_server(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a server until it ends; its exit status. SIGTERM ends it too: a service manager sends it to us alone."""
    with subprocess.Popen(command, env=environment) as server:
        before = signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        try:
            return server.wait()
        finally:
            signal.signal(signal.SIGTERM, before)


def _is_streamlits(argument: str) -> bool:
    return argument.startswith("--") and "." in argument.partition("=")[0]
