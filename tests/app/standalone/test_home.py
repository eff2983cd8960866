"""The home: its sentences are the model's own translations, and it has what it shows."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

from tests.app.read_html import Page
from transformer_core.attention_maps import KINDS
from viz_app.components.buffer import split_buffer
from viz_app.lessons.index import Stop
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone.home import render_home
from viz_app.text import texts

ROUTES = {"on": [Stop("masks", "Masks & more", "", 4)], "short": [Stop("masks", "Masks & more", "", 2)]}
LESSONS = {name: Stop(name, "A <slow> start", "Why & how") for name in ("warmup", "heads", "broken")}


def home(live: dict[str, tuple[TranslationService, str]]) -> Page:
    return Page(render_home(texts("en"), live, LESSONS, ROUTES, "3 MB").decode())


def payload(page: Page, name: str) -> tuple[dict[str, Any], bytes]:
    (packed,) = [text for _, attributes, text in page.texts if attributes.get("id") == name]
    header, data = split_buffer(gzip.decompress(base64.b64decode(packed)))
    return header, bytes(data)


def test_the_sentences_are_what_the_model_makes_of_them(service: TranslationService) -> None:
    page = home({"model-random": (service, "../assets/x.weights")})
    assert page.data["sentences"]
    for number, sentence in enumerate(page.data["sentences"]):
        translation = service.translator.translate(sentence["text"], beam=4)
        header, data = payload(page, f"s{number}")
        assert header["axes"]["outputs"]["tokens"] == list(translation.attention.outputs.tokens)
        shape = header["kinds"]["cross"]
        weights = np.frombuffer(data, "<u2", translation.attention.cross.size, shape["offset"]) / 65535
        np.testing.assert_allclose(weights, translation.attention.cross.ravel(), atol=1e-5)
        assert len(sentence["words"]) == len(translation.attention.outputs)
        for word in sentence["words"]:  # the parts that the light shows are all that there is
            assert sum((*word["source"], *word["inputs"], word["biases"])) == pytest.approx(word["logit"], abs=0.05)
    heads = sum(translation.attention.weights(kind)[..., 0, 0].size for kind in KINDS)
    assert f"{heads} heads" in page.text and "Transformer" in page.text


def test_of_models_with_one_language_the_first_translates(service: TranslationService) -> None:
    page = home({"model-small": (service, "../assets/a.weights"), "model-large": (service, "../assets/b.weights")})
    assert [(each["page"], each["url"]) for each in page.data["models"]] == [
        ("model-small.html", "../assets/a.weights")
    ]
    assert {"live0", "worker"} <= {str(each.get("id")) for _, each in page.tags} and "live1" not in str(page.tags)


def test_without_a_model_that_the_browser_runs_the_home_leads_on() -> None:
    page = home({})
    assert "stage" not in str(page.tags) and not page.scripts
    policies = [str(each["content"]) for tag, each in page.tags if each.get("http-equiv") == "Content-Security-Policy"]
    assert ["script-src;" in each for each in policies] == [True], "to which a site adds its own files"
    assert {"warmup.html", "masks.html", "broken.html", "heads.html", "gpt.html"} == {
        str(each["href"]).partition("?")[0] for tag, each in page.tags if tag == "a"
    }
    assert "A <slow> start" in page.text and "Why & how" in page.text and "Masks & more" in page.text
    assert [tag for tag, _ in page.tags].count("h1") == 1


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_font_has_every_letter_of_the_page(site: Path, language: str) -> None:
    page = Page((site / language / "index.html").read_text("utf-8"))
    (style,) = [str(each["href"]) for _, each in page.tags if re.search(r"/[0-9a-f]{16}\.css", str(each.get("href")))]
    (font,) = re.findall(r'url\("(\w+\.woff2)"\)', (site / language / style).read_text("utf-8"))
    known = TTFont(site / "assets" / font).getBestCmap()
    data = {text for _, attributes, text in page.texts}
    shown = page.text
    for each in data:
        shown = shown.replace(each, "")
    assert not [letter for letter in {*shown} if letter.isprintable() and ord(letter) not in known]
    assert (site / "assets" / font).stat().st_size < 120_000
