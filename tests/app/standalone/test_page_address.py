"""The address of an explorer's page: what it writes is read by Python as the app's, and what it reads is checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from viz_app.components.explorer.selection import Selection
from viz_app.state.query_params import selection_from_params

PAGE = "https://example.org/courses/en/model-en-fr-small.html"
SELECTIONS = [
    Selection(kind="cross", layer=5, head=7),
    Selection(kind="encoder", zoom="heads", view="kinds", form="lines", unit="words"),
    Selection(kind="decoder", layer=11, head=10, view="layer", form="flow", unfold=True, step=12, pin="q3"),
    Selection(kind="cross", zoom="token", pin="k0"),
]
IMPORT = (
    f"globalThis.location = {{ href: {json.dumps(PAGE + '?text=old#pin=q9')} }};"
    'const { pageAddress, readAddress } = await import("./standalone/js/page_address.js");'
)


def test_what_a_page_writes_is_read_as_the_apps_address(javascript: Callable[[str], Any]) -> None:
    text = "“Où est” a+b & c=d #e 강아지"
    told = [each.to_dict() for each in SELECTIONS]
    links, back = javascript(
        f"{IMPORT} const links = {json.dumps(told)}.map((each) => pageAddress({json.dumps(text)}, each));"
        "console.log(JSON.stringify([links, links.map(readAddress)]));"
    )
    for selection, link, read in zip(SELECTIONS, links, back, strict=True):
        page, _, params = link.partition("#")
        assert page == PAGE and not urlsplit(link).query, "no server hears of the sentence"
        named = dict(parse_qsl(params))
        assert named.pop("text") == text == read["text"]
        other = Selection(kind="encoder", form="map", zoom="head")
        assert selection_from_params(named, other) == selection
        assert replace(other, **read["selection"]) == selection


@pytest.mark.parametrize(
    ("address", "text", "selection"),
    [
        ("?text=Dogs+bark.", "Dogs bark.", {}),
        ("?text=a#text=b", "b", {}),
        ("#content", None, {}),
        ("?text=%20", None, {}),
        (f"#text={'a' * 2100}", "a" * 2000, {}),
        ("#view=all&zoom=HEAD&form=&step=0&pin=q0&head=cross.0.1&unfold=1", None, {}),
        ("#head=cross.6.100&pin=q10000&step=1e3", None, {}),
        ("#view=kinds&constructor=x&__proto__=y&layer=3", None, {"view": "kinds"}),
    ],
)
def test_what_makes_no_sense_is_left_out(
    address: str, text: str | None, selection: dict[str, Any], javascript: Callable[[str], Any]
) -> None:
    href = json.dumps(PAGE + address)
    assert javascript(f"{IMPORT} console.log(JSON.stringify(readAddress({href})));") == {
        "text": text,
        "selection": selection,
    }
