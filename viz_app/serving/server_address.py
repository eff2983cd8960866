"""Addresses of servers: the model server, and this one."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

MODEL_SERVER_SETTING = "HEADLIGHT_MODEL_SERVER"
PATH = "/model"  # of the model behind Serve's HTTP proxy
CLASSES_PATH = "/classroom"  # of the classes, there as well


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of an address such as http://127.0.0.1:8000. Raises ValueError with the allowed form."""
    allowed = "an address such as http://127.0.0.1:8000"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(allowed) from None
    extra = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if parts.scheme != "http" or not host or port is None or extra:
        raise ValueError(allowed)
    return host, port


def is_loopback(host: str) -> bool:
    """Return whether only this computer can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
