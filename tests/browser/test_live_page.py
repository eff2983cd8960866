"""A page of `headlight page --live`, opened from the disk, says what Python says of anything that is typed."""

from __future__ import annotations

import base64
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.browser.conftest import ROOT, CheckAccessibility, OpenPage
from tests.browser.explorer_driver import WATCH_DRAFTS
from tests.browser.rest import until
from transformer_core.analysis.ablation import translate_without
from transformer_core.cli import main
from transformer_core.head import Head
from transformer_core.translator import Translator
from viz_app.cli import PROGRAM
from viz_app.cli.service import load_service
from viz_app.components.explorer.weights import pack_weights
from viz_app.explorer_view.flow import flow_data
from viz_app.serving.models.search_tree import search_tree
from viz_app.serving.models.translation_service import BEAM
from viz_app.standalone.live import live_document, live_weights
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from transformer_core.translator import Translation

SMALL = ROOT / "checkpoints" / "en-fr-small"
SENTENCE = "She waits for the bus in the rain."
_SHOWN = """(root) => {
  const { about, axes, beam, weights } = root.explorer.translation;
  let letters = "";
  for (const byte of weights.data) letters += String.fromCharCode(byte);
  return { about, tokens: axes.outputs.tokens, beam, data: btoa(letters) };
}"""

_FLOW = """([name, source]) => {
  const finding = globalThis[Symbol.for("headlight.findings")].get(undefined)?.[name];
  return finding?.source === source ? finding : null;
}"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("page") / "live.html"
    assert main(["page", "--live", f"--checkpoint={SMALL}", f"--out={out}"], PROGRAM) == 0
    assert out.stat().st_size <= 1.4 * sum(file.stat().st_size for file in SMALL.glob("*.safetensors"))
    return out.as_uri()


def shown(page: Page, text: str, force: str | None = None) -> dict[str, Any]:
    """What the explorer shows, once it shows this sentence."""
    explorer = page.locator(".explorer")
    about = "(root) => [root.explorer.translation.about.text, root.explorer.translation.about.force ?? null]"
    assert until(page, lambda: explorer.evaluate(about) == [text, force])
    value: dict[str, Any] = explorer.evaluate(_SHOWN)
    return value


def check(result: dict[str, Any], wanted: Translation, translator: Translator) -> None:
    decoding = translator.decoding.replace(beam=BEAM)
    tree = search_tree(wanted, translator.tokenizer, decoding, 0)
    for part in ("tokens", "parent", "step", "token", "status", "leaves", "hypotheses"):
        assert result["beam"][part] == tree[part], part
    assert result["beam"]["total"] == pytest.approx(tree["total"], abs=1e-3)
    packed = pack_weights(wanted.attention)
    levels = [np.frombuffer(each, "<u2").astype(int) for each in (base64.b64decode(result["data"]), packed.data.data)]
    assert np.abs(levels[0] - levels[1]).max() <= 1


def check_flow(page: Page, translation: Translation, translator: Translator) -> None:
    """What every word is made of, and of one compared with a runner-up."""
    flow: Any = until(page, lambda: page.evaluate(_FLOW, ["flow", SENTENCE]))
    expected = flow_data(translator, translation, "en-fr-small")
    assert flow["tokens"] == expected["tokens"] and flow["lens"] == expected["lens"]
    logits = [word["logit"] for word in expected["words"] if word]
    assert [word["logit"] for word in flow["words"]] == pytest.approx(logits, rel=1e-3)
    other = translation.alternatives[2][1][0]
    page.locator(".explorer").evaluate(
        "({ explorer }, versus) => explorer.store.set({ kind: 'cross', pin: 'q2', versus })", other
    )
    contrast: Any = until(page, lambda: page.evaluate(_FLOW, ["contrast", SENTENCE]))
    word = flow_data(translator, translation, "en-fr-small", range(2, 3), other)["words"][2]
    assert word and (contrast["at"], contrast["against"]) == (2, other)
    assert contrast["words"][2]["logit"] == pytest.approx(word["logit"], rel=1e-3)
    page.locator(".explorer").evaluate("({ explorer }) => explorer.store.set({ form: 'map', pin: null, versus: null })")


def test_what_is_typed_and_asked_is_answered_as_python_does(
    written: str, open_page: OpenPage, check_accessibility: CheckAccessibility
) -> None:
    translator = Translator.load(SMALL)
    page = open_page(written, width=390, height=844)
    page.locator(".tiles canvas").first.wait_for()  # the first example, before the model is unpacked
    field = page.get_by_role("textbox", name="Sentence in English")
    explorer = page.locator(".explorer")
    explorer.evaluate(WATCH_DRAFTS)
    long = "The old dog sleeps in the garden, and the cat eats a fish, " * 3 + "because it is cold."
    field.fill(long)
    drafts: Any = until(page, lambda: explorer.evaluate("({ ariaBusy, drafts }) => ariaBusy === 'false' && drafts"))
    assert drafts[0][0] == "true" and len(drafts[0][1].split()) < len(shown(page, long)["tokens"])
    field.fill(SENTENCE)
    original = translator.translate(SENTENCE, beam=BEAM)
    check(shown(page, SENTENCE), original, translator)
    check_flow(page, original, translator)

    for button in (".off-button", ".off-most"):
        page.locator(button).click()
        until(page, lambda: explorer.evaluate("({ explorer }) => explorer.store.state.off !== 'needed'"))
        kind, layer, head = page.locator(".explorer").evaluate(
            "({ explorer }) => [explorer.store.state.kind, explorer.store.state.layer, explorer.store.state.head]"
        )
        wanted = translate_without(translator, original, [Head(kind, layer, head)], beam=BEAM)
        page.locator(".off-line").nth(1).get_by_text(" ".join(word for word, _ in wanted.words)).wait_for()
        page.locator(".off-back").click()

    page.locator(".token").nth(1).click()  # its candidates appear
    page.locator(".force").first.click()
    vocabulary = translator.tokenizer.tokens(range(len(translator.tokenizer)))
    ids = [original.hypotheses[0].ids[0], vocabulary.index(original.alternatives[1][1][0])]
    force = " ".join(translator.tokenizer.tokens(ids))
    check(shown(page, SENTENCE, force), translator.translate(SENTENCE, beam=BEAM, prefix=ids), translator)
    check_accessibility(page, "light", "dark")
    page.locator(".branch-note button").click()
    assert shown(page, SENTENCE)["beam"]["shown"] == 0

    page.locator(".compare-button").click()
    page.locator(".live-example").nth(2).click()
    page.locator(".compare-name").nth(1).get_by_text("The train arrives").wait_for()
    assert page.locator(".compare-name").nth(0).get_by_text(SENTENCE).is_visible()
    t = texts("en", source="en")
    for text, said in (("", t("translate.empty")), ("word " * 300, "over the limit of 256"), ("A \u2603.", "\u2603")):
        field.fill(text)
        page.locator(".page-note").get_by_text(said).wait_for()


def test_weights_beside_the_page_are_loaded_when_asked_for(browser: Browser, tmp_path: Path) -> None:
    service = load_service(str(SMALL))
    (tmp_path / "live.html").write_bytes(live_document(service, "ko", weights="model/weights.bin"))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights.bin").write_bytes(live_weights(service))
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            page.goto(f"http://127.0.0.1:{server.server_port}/live.html")
            page.locator(".tiles canvas").first.wait_for()
            page.get_by_role("textbox").fill(SENTENCE)
            shown(page, SENTENCE)
            assert [url.rsplit("/", 1)[1] for url in asked if url.startswith("http")] == ["live.html", "weights.bin"]
        finally:
            page.close()
            server.shutdown()
