"""Cookie that names a browser: a random name with the server's signature, which says nothing about its user.

The cookie lasts until the browser is closed. No script can read it, and no address contains it, so a photograph of the
screen gives no access.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping

COOKIE = "headlight_browser"
SECRET_BYTES = 32

_VALUE = re.compile(r"[0-9a-f]{64}")
_NAME_DIGITS = 32  # of the value; the others sign them


class _Signature:
    """Secret of this server's cookies; a random one until its start has set the one that lasts."""

    secret = secrets.token_bytes(SECRET_BYTES)


def sign_with(secret: bytes) -> None:
    """Set the secret that signs cookies; those signed with another one no longer count."""
    _Signature.secret = secret


def signed(name: str) -> str:
    """Return the value of a cookie for a name of 32 hexadecimal digits."""
    # Keyed BLAKE2 (RFC 7693) signs in a fifth of the time of HMAC; each request of a phone is checked.
    return name + hashlib.blake2b(name.encode(), key=_Signature.secret, digest_size=_NAME_DIGITS // 2).hexdigest()


def new_cookie() -> str:
    """Return the value of a new browser's cookie."""
    return signed(secrets.token_hex(_NAME_DIGITS // 2))


def browser_name(cookies: Mapping[str, str]) -> str | None:
    """Return the name of a browser for this server, from its cookies; None without a cookie that this server gave.

    It is a hash: the cookie cannot be made from the server's memory or its answers.
    """
    value = cookies.get(COOKIE)
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        return None
    if not hmac.compare_digest(value, signed(value[:_NAME_DIGITS])):
        return None
    return hashlib.sha256(value.encode()).hexdigest()[:32]
