"""app: the app on this computer."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from transformer_core.cli.options import Parser, UsageError, existing
from transformer_core.shipped import find_checkpoint

APP = Path(__file__).resolve().parents[1] / "main.py"
_PORTS = range(1, 65_536)


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "app",
        package="viz_app",
        usage="[--port N] [--checkpoint DIR] [options of Streamlit]",
        description=(
            "Start the app and open it in the browser; Ctrl-C ends it. Only this computer can open it.\n\n"
            "Options with a dot, such as --server.headless=true, go to Streamlit; write them last. All of them:\n"
            "python -m streamlit run --help"
        ),
        example="  python -m viz_app app --checkpoint checkpoints/en-fr --server.headless=true",
    )
    add_server(result)
    return result


def run(arguments: Sequence[str]) -> int:
    """Start the server and wait for its end."""
    own = list(takewhile(lambda argument: not _is_streamlits(argument), arguments))
    options = parser().options(own)
    environment = server_environment(options)
    return subprocess.call(server_command(options.port, arguments[len(own) :]), env=environment)


def add_server(parser: Parser) -> None:
    """Options on the server and what it serves."""
    parser.add_argument("--port", type=int, default=8501, metavar="N", help="Port of the server.")
    about = "The model; checkpoints/en-de unless given."
    parser.add_argument("--checkpoint", type=find_checkpoint, metavar="DIR", help=about)


def server_environment(options: argparse.Namespace) -> dict[str, str]:
    """Environment of the server. Raises UsageError for an unusable option, and ModuleNotFoundError of Streamlit."""
    if options.port not in _PORTS:
        raise UsageError(f"--port is {options.port}, but must be from 1 to 65535")
    environment = dict(os.environ)
    if options.checkpoint is not None:
        environment["HEADLIGHT_CHECKPOINT"] = str(existing("--checkpoint", options.checkpoint, folder=True).resolve())
    if importlib.util.find_spec("streamlit") is None:
        raise ModuleNotFoundError(name="streamlit")
    return environment


def server_command(port: int, options: Sequence[str] = ()) -> list[str]:
    """The server's command line."""
    return [sys.executable, "-m", "streamlit", "run", str(APP), f"--server.port={port}", *options]


def _is_streamlits(argument: str) -> bool:
    return argument.startswith("--") and "." in argument.partition("=")[0]
