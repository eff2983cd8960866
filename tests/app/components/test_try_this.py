"""The cards of *Try this*: the same markup for app and site, with numbers of the models that ship."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.app.components.try_this_numbers import numbers
from viz_app.components.try_this import strip_html, strip_style
from viz_app.components.try_this.thumbnails import CARDS, NUMBERS, thumbnail
from viz_app.text import LANGUAGES, texts

MAX_BYTES = 60_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_card_is_a_link_or_says_that_it_needs_the_app(language: str) -> None:
    markup = strip_html(language, {"game": "broken.html?a=1&b=2"})
    strip = ElementTree.fromstring(markup)
    cards = strip.findall("div/*")
    assert [card.get("href") for card in cards] == ["broken.html?a=1&b=2" if name == "game" else None for name in CARDS]
    assert [card.find("em") is None for card in cards] == [name == "game" for name in CARDS]
    assert len((markup + strip_style()).encode()) < MAX_BYTES
    assert "style=" not in markup  # a policy forbids it on a page of the site


def test_a_tile_is_as_opaque_as_its_head_is_strong() -> None:
    shares = json.loads(NUMBERS.read_text())["plural"]["recovered"]
    svg = ElementTree.fromstring(thumbnail("plural"))
    tiles = [float(each.get("fill-opacity", 0)) for each in svg.iter("rect") if each.get("fill-opacity")]
    assert len(tiles) == 144
    assert int(np.argmax(tiles)) == int(np.argmax(np.ravel(shares)))
    labels = [each.text for each in svg.iter("text")]
    assert labels == [f"cross.6.3: {np.max(shares):.0%}"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_name_the_number_of_the_picture(language: str) -> None:
    share = max(max(row) for kind in json.loads(NUMBERS.read_text())["plural"]["recovered"] for row in kind)
    assert f"{100 * share:.0f}" in texts(language)("try_this.about_plural")


@pytest.mark.slow
def test_the_numbers_are_those_of_the_shipped_models() -> None:
    recorded = json.loads(NUMBERS.read_text())
    for card, computed in json.loads(json.dumps(numbers())).items():
        assert recorded[card].keys() == computed.keys()
        for name, values in computed.items():
            if name in ("source", "tokens", "loss"):
                assert recorded[card][name] == values
            else:
                np.testing.assert_allclose(recorded[card][name], values, atol=0.011)
