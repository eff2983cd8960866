"""Start the app for everyone on the local network.

Its address is shown as text and as a QR code. The command app opens it to this computer only.

There is no password: anyone who can reach this computer can use the app, but nothing else on it.
To ask the class from another computer than this one, you need the teacher key that is shown.

Example:
  python -m viz_app class
"""

from __future__ import annotations

import secrets
import sys

from transformer_core.cli.arguments import Options, Parser
from viz_app.cli.app import add_server, check_free, run_server, server_command, server_environment
from viz_app.serving.settings import TEACHER_KEY_SETTING

_KEY_BYTES = 9
_HOST = "0.0.0.0"


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("[--port N] [--checkpoint DIR] [--models DIR] [--model-server ADDRESS]")
    add_server(parser)


def run(options: Options) -> int:
    """Start the server and wait for its end."""
    environment = server_environment(options)
    check_free(_HOST, options.port)  # before its address is shown to a class
    key = environment.setdefault(TEACHER_KEY_SETTING, secrets.token_urlsafe(_KEY_BYTES))
    sys.stdout.write(announcement(options.port, key))
    sys.stdout.flush()
    return run_server(command(options.port), environment)


def command(port: int) -> list[str]:
    """Return the server's command line: all addresses of this machine, no browser of its own.

    Streamlit's greeting would ask a server on the internet for the address of this machine.
    """
    return server_command(
        port, [f"--server.address={_HOST}", "--server.headless=true", "--logger.hideWelcomeMessage=true"]
    )


def announcement(port: int, key: str) -> str:
    """Return the address for the class with its QR code, and the teacher key."""
    from viz_app.state.share_link import lan_address

    address = lan_address()
    if address is None:
        return f"This computer is not on a network; only it can open http://localhost:{port}\n"
    import io

    import segno

    link = f"http://{address}:{port}"
    code = io.StringIO()
    segno.make(link, micro=False).terminal(out=code, compact=True)
    return (
        f"{code.getvalue()}\nFor the class: {link}\nTo teach on this computer: http://localhost:{port}/classroom\n"
        f"Teacher key, only to teach from another computer: {key}\n"
    )
