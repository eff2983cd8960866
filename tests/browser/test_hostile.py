"""Hostile strings as input, in the address and in a vocabulary: shown as they are, and nothing of them runs.

Besides what these tests look at, every page that they open is watched: a request to another machine, an error on the
console, an exception or a dialog fails the test (conftest.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from tests.browser import explorer_samples as samples
from tests.browser.conftest import APP, OpenPage, Serve
from tests.browser.explorer_driver import ENGLISH, choose, patch, press, read_table, settle
from tests.browser.rest import wait_for_value, wait_until_idle
from tests.hostile import LONE, SAFE, STRINGS
from tests.random_model import save_random_model
from transformer_core.attention_maps import KINDS, WORD_BOUNDARY
from transformer_core.translator import Translator
from viz_app import show
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.standalone.document import PageSentence, explorer_page
from viz_app.standalone.origin import Origin
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from transformer_core.text.tokenizer import Tokenizer

PARAMETERS = (
    *("kind", "layer", "head", "step", "unit", "view", "zoom", "form", "order", "average", "scale", "special"),
    *("threshold", "pin", "against", "branch", "vs", "lang", "\u2028<b>", "__proto__"),
)
MAX = 250  # tokens in one field, below the page's limit
READ = "(root) => root.explorer.translation.axes.source.tokens"


def check(page: Page, *, title: str | None = None) -> None:
    """Nothing ran, nothing was framed."""
    owned, result, frames = page.evaluate(SAFE)
    assert owned is None and frames == 0
    assert title is None or result == title


def literal(token: str) -> str:
    """As the explorer shows a token; the browser reads a lone half as the replacement character."""
    return token.replace(WORD_BOUNDARY, "").replace("\ud83d", "\ufffd")


def tokens(page: Page) -> list[str]:
    answer: list[str] = page.locator(".token").evaluate_all(
        "(all) => all.map((one) => one.textContent.toWellFormed?.() ?? one.textContent)"
    )
    return answer


def test_as_tokens_of_a_page_or_a_notebook_they_are_shown_literally(tmp_path: Path, open_page: OpenPage) -> None:
    strings = [WORD_BOUNDARY + text for text in (*STRINGS, STRINGS[0], LONE)]
    sources, targets = ([*side, *strings] for side in samples.HOSTILE)
    maps, title = samples.sample(sources, targets), STRINGS[0]
    packed = pack(maps, steps=samples.confidences(maps), texts=ENGLISH, selection=Selection())
    sentence, origin = PageSentence(text=title, branches=[packed]), Origin(record={"command": title})
    document = tmp_path / "page.html"
    document.write_bytes(explorer_page([sentence], language="en", origin=origin))
    page = open_page(document.as_uri())
    page.locator(".token").first.wait_for()
    check(page, title=f"{title} · Headlight")
    assert page.locator(".page-title").text_content() == title
    sources, targets = ([*map(literal, side), "</s>"] for side in (sources, targets))
    assert tokens(page) == targets
    choose(page, ".token >> nth=3")
    assert page.locator(".candidate.chosen bdi").text_content() == targets[3]
    page.keyboard.press("Escape")
    for unit in ("words", "tokens"):
        for kind in KINDS:
            patch(page, unit=unit, form="map")
            choose(page, f".kind-{kind}")
            press(page, ".map", "ArrowDown", "ArrowRight")
    page.locator("button.plain", has_text=ENGLISH["table"]).first.click()
    settle(page)
    columns, rows, _ = read_table(page)  # of the encoder-decoder attention
    assert [literal(column) for column in columns] == sources[: len(columns)]
    assert [literal(row) for row in rows] == targets[: len(rows)]
    assert min(len(rows), len(columns)) >= 20
    assert page.locator(".explorer img, .explorer script, .explorer i").count() == 0
    check(page)

    html = show(maps, title=title).html
    document.write_text(f'<!doctype html><meta charset="utf-8">{html}', encoding="utf-8", errors="replace")
    page.goto(document.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(".token").first.wait_for()
    assert inside.locator(".page-title").text_content() == title
    owned, _, frames = page.evaluate(SAFE)
    assert owned is None and frames == 1
    (frame,) = page.frames[1:]
    assert frame.evaluate("() => [window.owned ?? null, window.origin]") == [None, "null"]


def batches(tokenizer: Tokenizer) -> list[list[str]]:
    """Strings that together stay below the page's limit; without the one that is nothing but long."""
    rows: list[list[str]] = [[]]
    for text in (each for each in STRINGS if len(each) < MAX / 2):
        if len(tokenizer.source.encode(" ".join((*rows[-1], text)))) > MAX:
            rows.append([])
        rows[-1].append(text)
    return rows


@pytest.fixture(scope="module")
def quick_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights, which write nonsense quickly, with the vocabulary that the shipped model reads."""
    from transformer_core.text.tokenizer import Tokenizer as Vocabulary

    shipped = Vocabulary.load(APP.parents[1] / "checkpoints" / "en-de" / "tokenizer.model")
    return save_random_model(tmp_path_factory.mktemp("checkpoint") / "quick", seed=7, tokenizer=shipped, metrics={})


@pytest.fixture(scope="module")
def hostile_checkpoint(random_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The untrained model with a vocabulary of hostile tokens."""
    from sentencepiece import sentencepiece_model_pb2 as schema

    from transformer_core.checkpoint import load_checkpoint, save_checkpoint
    from transformer_core.text.tokenizer import Tokenizer as Vocabulary

    checkpoint = load_checkpoint(random_checkpoint, "cpu")
    model = schema.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString((random_checkpoint / "tokenizer.model").read_bytes())
    ordinary = [piece for piece in model.pieces if piece.type == piece.NORMAL and len(piece.piece) > 1]
    for piece, text in zip(ordinary, STRINGS, strict=False):
        piece.piece = WORD_BOUNDARY + "".join(text.split())  # a piece holds no white space
        piece.type = piece.USER_DEFINED  # read as one whatever stands around it
    assert len(ordinary) >= len(STRINGS)
    folder = tmp_path_factory.mktemp("checkpoint") / "hostile"
    tokenizer = Vocabulary(model.SerializeToString())
    card = f"# Hostile\n\n{STRINGS[0]} {STRINGS[3]}\n"
    save_checkpoint(folder, checkpoint.model.state_dict(), checkpoint.model.config, tokenizer, metrics={}, card=card)
    return folder


@pytest.fixture
def url(serve: Serve, quick_checkpoint: Path, hostile_checkpoint: Path) -> str:
    """An app with both models."""
    return serve(APP, HEADLIGHT_CHECKPOINT=str(quick_checkpoint), HEADLIGHT_CHECKPOINTS=str(hostile_checkpoint))


def test_as_input_in_the_address_and_in_a_vocabulary(
    open_page: OpenPage, url: str, quick_checkpoint: Path, hostile_checkpoint: Path
) -> None:
    tokenizer = Translator.load(quick_checkpoint).tokenizer
    first, *others = batches(tokenizer)
    query = {"text": " ".join(first), **dict(zip(PARAMETERS, STRINGS, strict=False))}
    page = open_page(f"{url}/?{urlencode(query)}")
    page.locator(".explorer .tile").first.wait_for()
    box = page.get_by_role("textbox").first
    wait_for_value(box, " ".join(first).replace("\n", " "))
    check(page, title="Headlight")
    for batch in others:
        before = page.locator(".explorer").evaluate("(root) => root.explorer.translation.id")
        box.fill(" ".join(batch))
        box.press("Enter")
        page.wait_for_function(
            "([root, before]) => root.explorer.translation.id !== before",
            arg=[page.locator(".explorer").element_handle(), before],
        )
        wait_until_idle(page)
        assert page.locator(".explorer").evaluate(READ)[:-1] == list(
            tokenizer.source.encode(" ".join(" ".join(batch).split())).tokens
        )
        check(page, title="Headlight")

    translator = Translator.load(hostile_checkpoint)
    text = f"{STRINGS[3].replace(' ', '')} {STRINGS[0]}"
    translation = translator.translate(text, beam=4)
    written = [token.replace(WORD_BOUNDARY, "") for token in translation.tokens]
    known = {"".join(string.split()) for string in STRINGS}
    page.goto(f"{url}/?{urlencode({'text': text, 'lang': 'en', 'model': hostile_checkpoint.name})}")
    page.locator(".explorer .tile").first.wait_for()
    assert tokens(page)[: len(written)] == [token or "\u2423" for token in written]
    candidates = {token.replace(WORD_BOUNDARY, "") for step in translation.alternatives for token, _ in step}
    assert known & (set(written) | candidates), "the test must show some of them"
    assert known & {token.replace(WORD_BOUNDARY, "") for token in page.locator(".explorer").evaluate(READ)}
    page.locator(".token").first.focus()
    settle(page)
    check(page, title="Headlight")
    page.get_by_role("link", name=texts("en")("nav.model"), exact=True).click()
    page.get_by_role("heading", name=texts("en")("model.title")).wait_for()
    wait_until_idle(page)
    check(page)
