"""The translator in a worker of a real browser, under a strict content policy, says what Python says."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.browser.conftest import ROOT
from transformer_core.translator import Translator
from viz_app.components.buffer import split_buffer
from viz_app.components.explorer.weights import pack_weights
from viz_app.components.live import worker_code
from viz_app.explorer_view.live_model import live_model
from viz_app.serving.models.search_tree import search_tree
from viz_app.serving.models.translation_service import BEAM, TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.text import texts
from viz_app.text.examples import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SMALL = ROOT / "checkpoints" / "en-fr-small"
PAGE = """<!DOCTYPE html><title>live</title><meta http-equiv="Content-Security-Policy"
content="default-src 'none'; script-src blob: 'wasm-unsafe-eval'; worker-src blob:">"""
_START = """([code, message]) => new Promise((resolve) => {
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const answers = new Map();
  window.loaded = [];
  worker.onmessage = ({ data }) => {
    if ("loaded" in data) window.loaded.push(data.loaded);
    else answers.get(data.request)?.(data);
  };
  worker.onerror = (error) => resolve({ failed: error.message });
  let request = 0;
  window.ask = (message) => new Promise((answered) => {
    answers.set(++request, answered);
    worker.postMessage({ request, ...message });
  });
  window.ask(message).then(resolve);
})"""
_TRANSLATE = """async (text) => {
  const { payload, ...answer } = await window.ask({ do: "translate", text });
  let letters = "";
  for (const byte of payload ?? []) letters += String.fromCharCode(byte);
  return { ...answer, payload: btoa(letters) };
}"""


def test_a_worker_translates_as_python_does(browser: Browser, tmp_path: Path) -> None:
    translator = Translator.load(SMALL)
    live = live_model(TranslationService(translator, RequestQueue(1), name="small"), texts("en", source="en"))
    files = {name: {"base64": base64.b64encode((SMALL / name).read_bytes()).decode()} for name in live["files"]}
    (tmp_path / "page.html").write_text(PAGE)
    page = browser.new_page()
    try:
        page.goto((tmp_path / "page.html").as_uri())
        message = {"do": "open", "live": json.loads(json.dumps(live)), "files": files}
        assert page.evaluate(_START, [worker_code(), message]) == {"request": 1, "ready": True, "kernel": True}
        loaded: list[int] = page.evaluate("window.loaded")
        assert loaded == sorted(loaded) and loaded[-1] == sum(live["files"].values())
        for text in EXAMPLES.values():
            answer: dict[str, Any] = page.evaluate(_TRANSLATE, text)
            found = translator.translate(text, beam=BEAM)
            assert answer["translation"] == found.text
            header, data = split_buffer(base64.b64decode(answer["payload"]))
            wanted = search_tree(found, translator.tokenizer, translator.decoding.replace(beam=BEAM), 0)
            for part in ("tokens", "parent", "step", "token", "status", "leaves", "hypotheses"):
                assert header["beam"][part] == wanted[part], part
            assert header["beam"]["total"] == pytest.approx(wanted["total"], abs=1e-3)
            packed = pack_weights(found.attention)
            levels = [np.frombuffer(each, "<u2").astype(int) for each in (data, packed.data.data)]
            assert np.abs(levels[0] - levels[1]).max() <= 1
    finally:
        page.close()
