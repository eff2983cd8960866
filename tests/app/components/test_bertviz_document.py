"""BertViz' views as documents: complete in themselves, true to the maps, and closed to hostile tokens."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.app.read_html import Page
from tests.browser.explorer_samples import OTHER, SENTENCE, sample, unequal_sample
from tests.hostile import LONE, STRINGS
from transformer_core.attention_maps import KINDS, AttentionMaps, Axis, Kind
from viz_app.components.bertviz_frame import document as module
from viz_app.components.bertviz_frame.document import (
    BERTVIZ_VIEWS,
    LABEL_WIDTH,
    BertvizChangedError,
    BertvizView,
    bertviz_document,
)
from viz_app.figures.model.figure import display_label

VENDOR = Path(module.__file__).parent / "vendor"
# Of the published files, which tests/test_security.py compares with these.
SHA256 = {
    name: digest for digest, name in (line.split() for line in (VENDOR / "SHA256SUMS").read_text("ascii").splitlines())
}
HOSTILE = [
    *STRINGS,
    LONE,
    "PYTHON_PARAMS",
    "const params = {}; // HACK: ",
    "]]>-->",
    "\n</script>\n",
    "\x00\x07\x7f",
    "",
]


def maps_of(tokens: list[str]) -> AttentionMaps:
    count = len(tokens)
    axis = Axis(tuple(tokens), tuple(range(count)), (False,) * count)
    weights = np.full((2, 3, count, count), 1 / count, np.float32)
    return AttentionMaps(encoder=weights, decoder=weights, cross=weights, source=axis, inputs=axis, outputs=axis)


@pytest.fixture(scope="module")
def maps() -> AttentionMaps:
    return sample(*SENTENCE)


@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_it_needs_nothing_else_and_its_policy_names_every_script(maps: AttentionMaps, view: BertvizView) -> None:
    text = bertviz_document(maps, view, kind="encoder", theme="dark")
    page = Page(text)
    names = [tag for tag, _ in page.tags]
    assert set(names) <= {
        "html", "head", "meta", "title", "style", "body", "div", "span", "select", "script"
    }  # fmt: skip
    allowed = {"lang", "charset", "http-equiv", "content", "id", "type"}
    assert {name for _, attributes in page.tags for name in attributes} <= allowed
    jquery, d3, *rest = page.scripts
    published = [hashlib.sha256(each.encode()).hexdigest() for each in (jquery, d3)]
    assert published == [SHA256["jquery-3.7.1.min.js"], SHA256["d3-5.16.0.min.js"]] and len(rest) == 2
    assert set(re.findall(r"https?://[\w./-]+", text.replace(jquery, "").replace(d3, ""))) <= {
        # In the head comment of BertViz' script.
        "https://github.com/tensorflow/tensor2tensor/blob/master/tensor2tensor/visualization/attention.js"
    }

    def hashes(texts: list[str]) -> list[str]:
        return [f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts]

    assert page.policy == {
        "default-src": ["'none'"],
        "script-src": hashes(page.scripts),
        "style-src": hashes([text for tag, _, text in page.texts if tag == "style"]),
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    assert names[:4] == ["html", "head", "meta", "meta"], "the policy stands before everything that it is about"
    assert "\r" not in text, "a browser would change it, and with it the hash"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_weights_and_labels_are_those_of_the_kind(maps: AttentionMaps, view: BertvizView, kind: Kind) -> None:
    (entry,) = Page(bertviz_document(maps, view, kind=kind)).data["attention"]
    np.testing.assert_allclose(np.asarray(entry["attn"]), maps.weights(kind), atol=0.5e-4 + 1e-9)
    assert entry["left_text"] == [display_label(token) for token in maps.queries(kind).tokens]
    assert entry["right_text"] == [display_label(token) for token in maps.keys(kind).tokens]


def test_rows_are_named_after_what_is_read_or_written(maps: AttentionMaps) -> None:
    """Handed both at once, BertViz takes one list for the rows of two kinds: the decoder's inputs."""
    encoder, decoder, cross = Page(bertviz_document(maps, "model")).data["attention"]
    assert [entry["name"] for entry in (encoder, decoder, cross)] == ["Encoder", "Decoder", "Cross"]
    assert decoder["left_text"][0] == decoder["right_text"][0] == "<s>"
    assert (cross["left_text"][0], cross["left_text"][-1], cross["right_text"][-1]) == ("Ein", "</s>", "</s>")
    np.testing.assert_allclose(np.asarray(cross["attn"]), maps.cross, atol=0.5e-4 + 1e-9)


def test_layers_and_heads_count_from_one(maps: AttentionMaps) -> None:
    head = Page(bertviz_document(maps, "head", kind="cross", layer=3, head=5)).data
    assert (head["layer"], head["include_layers"]) == (4, [1, 2, 3, 4, 5, 6])
    assert head["heads"] == [5], "an index into the heads, which BertViz does not number"
    model = Page(bertviz_document(maps, "model", kind="cross")).data
    assert (model["include_layers"], model["include_heads"]) == ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7, 8])
    assert model["display_mode"] == "light"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_encoder_and_decoder_of_different_depth(view: BertvizView, kind: Kind) -> None:
    maps = unequal_sample()
    layers, heads = maps.weights(kind).shape[:2]
    data = Page(bertviz_document(maps, view, kind=kind, layer=layers - 1, head=heads - 1)).data
    assert np.asarray(data["attention"][0]["attn"]).shape == maps.weights(kind).shape
    with pytest.raises(ValueError, match="name one kind"):
        bertviz_document(maps, view)


@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_a_hostile_token_stays_data(view: BertvizView) -> None:
    tokens = [f"{mark}{token}" for token in HOSTILE for mark in ("", "\u2581")]
    clean = Page(bertviz_document(maps_of(["a"] * len(tokens)), view, kind="cross"))
    page = Page(bertviz_document(maps_of(tokens), view, kind="cross"))
    assert page.tags[:2] + page.tags[3:] == clean.tags[:2] + clean.tags[3:]
    assert page.policy == clean.policy
    assert page.scripts == clean.scripts, "no character of a token stands in a script"
    (entry,) = page.data["attention"]
    shown = [display_label(token, LABEL_WIDTH[view]) for token in tokens]
    assert entry["left_text"] == entry["right_text"] == shown


def test_the_data_cannot_end_their_block() -> None:
    text = bertviz_document(maps_of(HOSTILE), "model", kind="encoder")
    (block,) = re.findall(r'<script type="application/json" id="[\w-]+">(.*?)</script>', text, re.DOTALL)
    assert block.isascii() and not set(block) & set("<>&\n")


def test_the_same_arguments_give_the_same_text(maps: AttentionMaps) -> None:
    """A document that differed would be loaded anew at every rerun of the page."""
    assert bertviz_document(maps, "head", kind="cross") == bertviz_document(maps, "head", kind="cross")
    assert bertviz_document(maps, "head", kind="cross") != bertviz_document(sample(*OTHER), "head", kind="cross")


def test_eight_bytes_a_weight(maps: AttentionMaps) -> None:
    short, long = (bertviz_document(m, "model", kind="cross") for m in (sample(*OTHER), maps))
    difference = sample(*OTHER).cross.size - maps.cross.size
    assert 0 < len(short) - len(long) <= 8 * difference


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"view": "neuron"}, "view is 'neuron', but must be one of head, model"),
        ({"layer": 6}, "layer is 6, but must be between 0 and 5"),
        ({"head": -1}, "head is -1"),
        ({"theme": "sepia"}, "theme is 'sepia'"),
    ],
)
def test_an_impossible_wish_says_what_is_allowed(maps: AttentionMaps, wish: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bertviz_document(maps, **{"view": "head", "kind": "cross", **wish})


def test_weights_that_are_no_numbers_are_refused() -> None:
    broken = sample(*SENTENCE)
    broken.cross[0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="not a number"):
        bertviz_document(broken, "head", kind="cross")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("require.min.js", "loader.js"),
        ("const params = ", "const settings = "),
        ("require.config(", "require.setup("),
        ("; // HACK: ", "; "),
        ('<script type="text/javascript">', "<script>"),
    ],
)
def test_another_bertviz_is_refused(maps: AttentionMaps, monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    import bertviz

    real = bertviz.head_view
    monkeypatch.setattr(
        "bertviz.head_view", lambda **options: SimpleNamespace(data=real(**options).data.replace(old, new))
    )
    with pytest.raises(BertvizChangedError, match=r"1\.4\.1"):
        bertviz_document(maps, "head", kind="cross")
