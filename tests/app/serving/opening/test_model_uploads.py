"""The route that takes archives of models: who may send, how much, and what stays when it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from tests.app.serving.opening import zips
from tests.app.serving.opening.test_opened_models import over
from viz_app.serving.browser_cookie import COOKIE, signed
from viz_app.serving.opening import model_uploads as module
from viz_app.serving.opening.opened_models import OpenedModels
from viz_app.serving.scheduling.rate_limit import RateLimit

HOST = "localhost:8501"
GOOD = {"host": HOST, "origin": f"http://{HOST}", "cookie": f"{COOKIE}={signed('0' * 32)}"}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenedModels]:
    place = tmp_path / "place"
    place.mkdir()
    opened = OpenedModels(place)
    monkeypatch.setattr(module, "opened_models", lambda: opened)
    monkeypatch.setattr(module, "_limit", RateLimit(100, 100))
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    yield opened
    opened.close()
    assert list(place.iterdir()) == []


def put(
    body: list[bytes], *, gone: bool = False, query: str = "name=x", base: str = "", pause: float = 0, **headers: str
) -> Any:
    """Send a request; `gone`: the browser leaves before the end; `pause`: seconds before each part.

    Returns status and answer.
    """
    given = {**GOOD, "content-length": str(sum(map(len, body))), **headers}
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": part, "more_body": True} for part in body]
    messages.append({"type": "http.disconnect"} if gone else {"type": "http.request", "body": b"", "more_body": False})
    sent: list[dict[str, Any]] = []
    path = f"{base}/models/upload"
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "PUT",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items() if value],
        "client": ("10.0.0.5", 50_000),
        "server": ("localhost", 8501),
    }

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(pause)
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(dict(message))

    asyncio.run(Starlette(routes=module.upload_routes(base))(scope, receive, send))
    return sent[0]["status"], json.loads(b"".join(each.get("body", b"") for each in sent[1:]) or b"null")


def parts(path: Path, size: int = 50_000) -> list[bytes]:
    data = path.read_bytes()
    return [data[begin : begin + size] for begin in range(0, len(data), size)]


@pytest.mark.parametrize("base", ["", "/headlight"])
def test_an_archive_comes_in_parts_and_is_opened(
    store: OpenedModels, french_checkpoint: Path, tmp_path: Path, base: str
) -> None:
    files = {f"fr/{path.name}": path.read_bytes() for path in french_checkpoint.iterdir() if path.is_file()}
    path = zips.written(tmp_path / "french.zip", files)
    assert put(parts(path), query="name=fran%C3%A7ais&source=&target=", base=base) == (202, {})
    assert over(store).state == "done"
    assert [report.target_language for report in store.models.values()] == ["fr"]


@pytest.mark.parametrize(
    ("headers", "status", "problem"),
    [
        ({"origin": "http://evil.example"}, 403, "not_allowed"),
        ({"origin": ""}, 403, "not_allowed"),
        ({"cookie": ""}, 403, "not_allowed"),
        ({"content_length": ""}, 411, "interrupted"),
        ({"content_length": "-1"}, 411, "interrupted"),
        ({"content_length": "1e9"}, 411, "interrupted"),
        ({"content_length": "9" * 12}, 409, "packed"),
        ({"content_length": "7"}, 409, "interrupted"),
        ({"content_length": "9"}, 409, "interrupted"),
    ],
)
def test_what_is_refused(store: OpenedModels, headers: dict[str, str], status: int, problem: str) -> None:
    if "content_length" in headers:
        headers = {"content-length": headers["content_length"]}
    found, answer = put([b"8 bytes."], **headers)  # type: ignore[arg-type]
    assert (found, answer["problem"]) == (status, problem)


def test_nobody_may_where_the_owner_says_so(store: OpenedModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_MODELS", "off")
    assert put([b"x"]) == (403, {"problem": "not_allowed", "values": {}})
    assert store.opening is None


def test_a_browser_that_leaves_leaves_nothing(store: OpenedModels) -> None:
    assert put([b"x" * 1_000], gone=True, **{"content-length": "5000"})[0] == 400  # type: ignore[arg-type]
    assert store.opening is not None and store.opening.problem == "interrupted"


def test_long_names_and_languages(store: OpenedModels) -> None:
    for query in (f"name={'x' * 201}", f"name=x&source={'x' * 21}", f"name=x&target={'x' * 21}"):
        assert put([b"x"], query=query)[0] == 400
    assert store.opening is None


def test_not_too_often(store: OpenedModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_limit", RateLimit(0.001, 2))
    assert [put([b"x"])[0] for _ in range(3)][2] == 429
