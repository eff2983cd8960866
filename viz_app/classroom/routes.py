"""Address for students, `/join/K7MQ2P`, and the requests of its page.

The page is small and keeps no connection open: a class of phones on a school's network loads it at once, and it
reconnects by itself.

    GET  join/CODE           the page
    GET  join/CODE/state     the poll, as this browser may see it
    POST join/CODE/answer    {"poll": 3, "option": 1}
    POST join/CODE/control   {"state": "closed"}: the teacher's browser only
    GET  join/app.js, app.css
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from viz_app.classroom.questions import question_view
from viz_app.components.modules import join_modules
from viz_app.components.styles import join_styles
from viz_app.serving.browser_cookie import browser_name
from viz_app.serving.checked_json import READ_ERRORS
from viz_app.serving.classes.class_store import class_store
from viz_app.serving.classes.classrooms import AnswerRefused, ClassView, NoSuchClass, NotTheTeacher, is_code
from viz_app.serving.classes.polls import State
from viz_app.serving.classes.remote_classrooms import ClassServerAway
from viz_app.serving.request_origin import same_origin
from viz_app.serving.scheduling.rate_limit import RateLimit
from viz_app.serving.web.cookie_middleware import cookie_header
from viz_app.text import LANGUAGE_NAMES, LANGUAGES, Texts, best_language, texts

MAX_BODY_BYTES = 200
# Of one address: a school's network may hide a course of 500 behind one, whose phones ask every two seconds.
REQUESTS_PER_SECOND = 400
REQUEST_BURST = 2_000
# Of one browser, so that it cannot use up what its class has: a teacher's board and page ask once a second each.
BROWSER_REQUESTS_PER_SECOND = 4
BROWSER_REQUEST_BURST = 40

_FOLDER = Path(__file__).parent
_NO_STORE = {"cache-control": "no-store"}
# Stricter than that of the other pages, which Streamlit writes; a browser keeps to both.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)

_limit = RateLimit(REQUESTS_PER_SECOND, REQUEST_BURST)
_limit_of_browser = RateLimit(BROWSER_REQUESTS_PER_SECOND, BROWSER_REQUEST_BURST)


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    poll: int
    option: int


class _Control(msgspec.Struct, forbid_unknown_fields=True):
    state: State


def class_routes(base: str = "") -> list[Route]:
    """Return the routes for `streamlit.App`.

    Args:
        base: Prefix of every path, as in `server.baseUrlPath`, such as "headlight".
    """
    prefix = f"/{base.strip('/')}/join" if base.strip("/") else "/join"
    return [
        Route(f"{prefix}/app.js", _script),
        Route(f"{prefix}/app.css", _style),
        Route(f"{prefix}/{{code}}", _page),
        Route(f"{prefix}/{{code}}/state", _state),
        Route(f"{prefix}/{{code}}/answer", _answer, methods=["POST"]),
        Route(f"{prefix}/{{code}}/control", _control, methods=["POST"]),
    ]


async def _page(request: Request) -> Response:
    t, code = _texts(request), request.path_params["code"].upper()
    other = next(language for language in LANGUAGES if language != t.language)
    data = {"code": code if is_code(code) else "", "language": t.language, "texts": t.table("classroom")}
    page = (_FOLDER / "join.html").read_text(encoding="utf-8")
    values = {
        "language": t.language,
        "title": t("classroom.page_title", code=data["code"]),
        "other": other,
        "other_name": LANGUAGE_NAMES[other],
        "data": json.dumps(data, ensure_ascii=True),
    }
    for name, value in values.items():
        page = page.replace(f"{{{{{name}}}}}", escape(value))
    return Response(page, media_type="text/html", headers={**_NO_STORE, "content-security-policy": _POLICY})


async def _state(request: Request) -> Response:
    def look(code: str, browser: str) -> Mapping[str, Any]:
        return _plain(class_store().look(code, browser), _texts(request))

    browser = _admitted(request)
    return browser if isinstance(browser, Response) else await _done(request, browser, look)


async def _answer(request: Request) -> Response:
    def answer(code: str, browser: str, message: _Answer) -> None:
        class_store().answer(code, browser, message.poll, message.option, _address(request))

    return await _post(request, _Answer, answer)


async def _control(request: Request) -> Response:
    return await _post(
        request, _Control, lambda code, browser, message: class_store().set_state(code, browser, message.state)
    )


async def _post(request: Request, form: type[Any], act: Callable[[str, str, Any], None]) -> Response:
    """Read a small body of a form, act, and answer with the new state."""
    browser = _admitted(request)
    if isinstance(browser, Response):
        return browser
    if "origin" in request.headers and not same_origin(request.headers):
        return _refusal(403, "origin")
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return _refusal(413, "size")
        message = msgspec.json.decode(body, type=form)
    except (*READ_ERRORS, ClientDisconnect):
        return _refusal(400, "form")

    def act_and_look(code: str, browser: str) -> Mapping[str, Any]:
        act(code, browser, message)
        return _plain(class_store().look(code, browser), _texts(request))

    return await _done(request, browser, act_and_look)


async def _done(request: Request, browser: str, act: Callable[[str, str], Mapping[str, Any]]) -> Response:
    """Act for a browser in a class; an error becomes the name of a sentence in [classroom]."""
    try:
        answer = await run_in_threadpool(act, request.path_params["code"].upper(), browser)
        return JSONResponse(dict(answer), headers=_NO_STORE)
    except NoSuchClass:
        return _refusal(404, "ended")
    except NotTheTeacher:
        return _refusal(403, "not_teacher")
    except AnswerRefused:
        return _refusal(409, "closed")
    except ClassServerAway:
        return _refusal(503, "offline")


def _admitted(request: Request) -> str | Response:
    """Return the name of a browser, or the answer that refuses it, before the request is read.

    A browser without a cookie of this server gets one, unless its address has had too many. It says `given` when it
    comes again; without the cookie even then, it keeps none.
    """
    browser = browser_name(request.cookies)
    if browser is None:
        if "given" in request.query_params:
            return _refusal(400, "cookie")
        cookie = cookie_header(request)
        return _refusal(429, "busy") if cookie is None else _refusal(202, "new", {"set-cookie": cookie})
    if _limit_of_browser.allows(browser) and _limit.allows(_address(request)):
        return browser
    return _refusal(429, "busy")


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"refused": reason}, status_code=status, headers={**_NO_STORE, **(headers or {})})


def _plain(view: ClassView, t: Texts) -> dict[str, Any]:
    """Return a class for the browser, without unrevealed values unless the browser is the teacher's."""
    is_revealed = view.state == "revealed"
    return {
        "teacher": view.is_teacher,
        "students": view.students,
        "poll": view.poll,
        "state": view.state,
        "question": None if view.question is None else question_view(view.question, t, is_revealed=is_revealed),
        "answers": view.answers,
        "mine": view.mine,
        "counts": None if view.counts is None else sorted(view.counts.items()),
        "place": None if view.place is None else msgspec.to_builtins(view.place),
        "moves": view.moves,
    }


def _texts(request: Request) -> Texts:
    accepted = request.headers.get("accept-language", "").split(",")[0]
    return texts(best_language(request.query_params.get("lang"), accepted))


async def _script(_: Request) -> Response:
    return Response(_code(), media_type="text/javascript", headers={"cache-control": "no-cache"})


async def _style(_: Request) -> Response:
    return Response(_rules(), media_type="text/css", headers={"cache-control": "no-cache"})


@cache
def _code() -> str:
    return join_modules(_FOLDER / "js" / "join.js") + "\nstart();\n"


@cache
def _rules() -> str:
    return join_styles(_FOLDER / "join.css", "explained") + (_FOLDER / "poll.css").read_text(encoding="utf-8")
