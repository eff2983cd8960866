"""HTML that a page of the app begins as: Streamlit's, with the app's style and what a search engine reads."""

from __future__ import annotations

from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from streamlit.file_util import get_static_dir

from viz_app.serving.web.page_addresses import page_addresses
from viz_app.text import texts


def page_routes(base: str, style: Path) -> list[Route]:
    """Return the routes of the pages for `streamlit.App`.

    Args:
        base: Prefix of every path, as in `server.baseUrlPath`.
        style: A file of CSS. It stands at the end, after the styles that Streamlit's scripts make, and nothing moves
            when they start.
    """
    html = (Path(get_static_dir()) / "index.html").read_text(encoding="utf-8")
    css = style.read_text(encoding="utf-8")
    about = escape(texts("en")("frame.about"))
    head = f'<title>Headlight</title><meta name="description" content="{about}">'
    html = html.replace("<title>Streamlit</title>", head)
    html = html.replace("</body>", f"<style>{css}</style></body>")

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse(html, headers={"cache-control": "no-cache"})

    async def robots(_: Request) -> PlainTextResponse:
        return PlainTextResponse("User-agent: *\nAllow: /\n")

    prefix = f"/{base.strip('/')}" if base.strip("/") else ""
    pages = [Route(f"{prefix}/{name}", page) for name in set(page_addresses().values())]
    return [*pages, Route(f"{prefix}/robots.txt", robots)]
