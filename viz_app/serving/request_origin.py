"""Origin of a request: its party, the page that sent it, and whether it comes from the server's own computer."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

from viz_app.serving.server_address import is_loopback

_PROXY = ("forwarded", "via", "x-real-ip")
_PROXY_PREFIX = "x-forwarded-"
_NETWORK_BITS = 64  # of an address of version 6: a network, in which one visitor may take any address


def party(address: str) -> str:
    """Return the party that limits count: an address of version 4, a network of version 6, any other text as it is."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        if not ip.is_loopback:
            return str(ipaddress.ip_network((ip, _NETWORK_BITS), strict=False))
    return str(ip)


def same_origin(headers: Mapping[str, str]) -> bool:
    """Return whether a page of this server sent a request: its Origin names the requested Host."""
    host = headers.get("host")
    try:
        return bool(host) and urlsplit(headers.get("origin", "")).netloc == host
    except ValueError:
        return False


def host_of(headers: Mapping[str, str]) -> str:
    """Return the host that a request names, without its port; "" if that is unreadable."""
    try:
        return urlsplit(f"//{headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def is_name_of_computer(host: str) -> bool:
    """Return whether a host is an address or this computer's name. No page of a stranger can have come from there."""
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        name = socket.gethostname().lower()
        return host in (name, f"{name.partition('.')[0]}.local")


def is_own_host(headers: Mapping[str, str]) -> bool:
    """Return whether a request names this computer as its host, and has passed no proxy."""
    return is_loopback(host_of(headers)) and not has_passed_proxy(headers)


def has_passed_proxy(headers: Mapping[str, str]) -> bool:
    """Return whether a proxy has forwarded a request, or its sender says so: it gives no rights."""
    return any(name in _PROXY or name.startswith(_PROXY_PREFIX) for name in map(str.lower, headers))
