"""The link that carries what is on the screen, and whether others can open it."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode, urlsplit

from viz_app.serving.server_address import is_loopback

_PORT, _MAX_PORT = 8501, 65_535  # Streamlit's, for an address that names none; the last one
_ANYWHERE = "192.0.2.1"  # reserved for examples (RFC 5737): asking for the way there sends nothing


@dataclass(frozen=True)
class ShareLink:
    """A link.

    Args:
        url: Address of the page with its whole state.
        is_reachable: Whether other computers of the local network can open it.
        command: Command that opens the app to them, beside this server: its port is the next one.
    """

    url: str
    is_reachable: bool
    command: str


def share_link(
    seen: str,
    bound: str | None,
    page: str,
    params: Mapping[str, str | None],
    lan_host: str | None,
    target: str | None = None,
) -> ShareLink:
    """Return the link to a page.

    Args:
        seen: Address of this page as the browser has it, such as "http://localhost:8501/lessons". What stands before
            the page in its path, the prefix of a proxy or `server.baseUrlPath`, is kept.
        bound: The address on which the server listens; None or "" for all.
        page: Path of the page, "" for the home.
        params: The state; None for what does not stand in the address.
        lan_host: Address of this machine in its network, taken when the browser runs here; None when unknown.
        target: Path of the page that the link opens, if it is another one.
    """
    try:
        parts = urlsplit(seen)
        host, number = parts.hostname or "localhost", parts.port
    except ValueError:  # no address of a page, so not from a browser
        parts, host, number = urlsplit(""), "localhost", None
    port = f":{number}" if number else ""
    private = bool(bound) and is_loopback(bound or "")
    if is_loopback(host) and not private and lan_host:
        host = lan_host
    bracketed = f"[{host}]" if ":" in host else host
    query = urlencode({name: value for name, value in params.items() if value is not None})
    path = f"{base_path(seen, page)}/{page if target is None else target}"
    link = f"{parts.scheme or 'http'}://{bracketed}{port}{path}{'?' if query else ''}{query}"
    command = f"python -m viz_app class --port {(number or _PORT) % _MAX_PORT + 1}"
    return ShareLink(link, not private and not is_loopback(host), command)


def base_path(seen: str, page: str) -> str:
    """Return the prefix of the paths of all pages, "" or such as "/headlight", from the address of one of them.

    Args:
        seen: Address of this page as the browser has it.
        page: Path of the page, "" for the home.
    """
    try:
        path = urlsplit(seen).path.rstrip("/")
    except ValueError:  # no address of a page, so not from a browser
        return ""
    # Streamlit gives the home page without the last slash; only the page's own name can be taken off.
    return path.removesuffix(f"/{page}") if page else path


def lan_address() -> str | None:
    """Address of this machine in its network; None without one. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ANYWHERE, 9))
            address: str = probe.getsockname()[0]
        except OSError:
            return None
    return None if is_loopback(address) or address == "0.0.0.0" else address


@lru_cache(maxsize=64)
def qr_rows(link: str) -> tuple[str, ...] | None:
    """Return a link as rows of a QR code, "1" for a dark module, without quiet zone; None for one too long."""
    import segno

    try:
        code = segno.make(link, micro=False, error="l", boost_error=True)
    except segno.DataOverflowError:
        return None
    return tuple("".join("1" if dark else "0" for dark in row) for row in code.matrix)
