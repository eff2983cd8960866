"""Redirect of a page's address that is written another way, such as /translate, /Lessons or /class/."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse

from viz_app.text import LANGUAGES, texts

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HOME = "translate"


def page_addresses() -> dict[str, str]:
    """Return the path of each page, "" for the home, by its name and by its label in the navigation, in lower case."""
    labels = {name: name for name in texts(LANGUAGES[0]).table("nav")}
    labels |= {label.lower(): name for language in LANGUAGES for name, label in texts(language).table("nav").items()}
    return {label: "" if name == HOME else name for label, name in labels.items()}


class PageAddresses:
    """Middleware that redirects to a page's path and keeps the query string; other requests pass.

    Streamlit answers "Page not found" to a name in capitals, and to the name of its home page.

    Args:
        app: The application behind it.
        base: Prefix of every path, as in `server.baseUrlPath`, such as "headlight".
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self._app = app
        self._pages = page_addresses()
        self._base = f"/{base.strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        path = scope["path"] if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else ""
        asked = path.removeprefix(self._base) if path.startswith(f"{self._base}/") else ""
        page = self._pages.get(asked.rstrip("/")[1:].lower())
        if page is None or asked == f"/{page}":
            await self._app(scope, receive, send)
            return
        # Relative, since a proxy may put a prefix before the path: each slash at the end is one folder to leave.
        query = scope.get("query_string", b"").decode("latin-1")
        up = "../" * (len(asked) - len(asked.rstrip("/")))
        await RedirectResponse(f"{up or './'}{page}{query and '?' + query}", 307)(scope, receive, send)
