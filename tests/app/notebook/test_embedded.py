"""show(): the page of the explorer or of a figure, in a frame that it cannot leave."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.app.conftest import OTHER
from tests.app.read_html import Page
from tests.app.standalone.test_sentences import blocks
from tests.browser.explorer_samples import sample
from tests.foreign_maps import encoder_only
from tests.hostile import LONE, STRINGS
from tests.page_record import page_record
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.flow import flow
from transformer_core.attention_maps import KINDS, AttentionMaps
from transformer_core.translator import Translator
from viz_app import show
from viz_app.components.buffer import split_buffer
from viz_app.figures import export
from viz_app.notebook.views import view_of
from viz_app.standalone import document


def framed(html: str) -> tuple[dict[str, str | None], list[str]]:
    """Attributes of the only frame, and the names of all other elements."""
    tags = Page(html).tags
    frames = [attributes for tag, attributes in tags if tag == "iframe"]
    assert len(frames) == 1
    return frames[0], [tag for tag, _ in tags if tag != "iframe"]


def test_a_translation_is_the_page_of_its_maps(translator: Translator) -> None:
    shown = translator.translate(OTHER)
    embedded = show(shown, language="ko", theme="dark", height=700)
    bundle = embedded._repr_mimebundle_()
    assert {"text/plain", "text/html", "image/svg+xml"} == set(bundle)
    frame, _ = framed(bundle["text/html"])
    assert frame["sandbox"] == "allow-scripts allow-downloads" and "height: 700px" in str(frame["style"])
    assert str(frame["srcdoc"]).encode() == embedded.page
    assert b'<html lang="ko">' in embedded.page and b"color-scheme: dark" in embedded.page
    assert b"prefers-color-scheme" not in embedded.page.split(b"</style>")[0]
    header, weights = split_buffer(blocks(embedded.page)["s0b0"])
    for kind in ("encoder", "cross"):
        expected = getattr(shown.attention, kind)
        values = np.frombuffer(weights, "<u2", expected.size, header["kinds"][kind]["offset"])
        np.testing.assert_allclose(values.reshape(expected.shape) / 65535, expected, atol=1 / 65535)
    assert page_record(embedded.page)["checkpoint_sha256"] == translator.checkpoint_hash
    assert header["about"]["answers"] == {"off": False, "branches": [0]}


def test_a_model_without_a_folder_is_shown(translator: Translator) -> None:
    bare = Translator(translator.model, translator.tokenizer)
    page = show(bare.translate(OTHER)).page
    assert page_record(page).get("command", "") == ""


def test_results_and_forced_targets_are_shown(translator: Translator) -> None:
    forced = show(translator.teacher_force(OTHER, "Ein Haus."))
    assert set(KINDS) <= set(split_buffer(blocks(forced.page)["s0b0"])[0]["kinds"])
    effects = show(head_effects(translator, OTHER, "Ein Haus."), theme="dark")
    assert b"<svg" in effects.page and len(effects.page) < 200_000
    frame, _ = framed(effects.html)
    assert str(frame["srcdoc"]).encode() == effects.page
    with pytest.raises(TypeError, match="str has no view"):
        show("text")


def test_a_flow_shows_its_whole_way(translator: Translator) -> None:
    shown = flow(translator, OTHER, 1)
    embedded = show(shown, language="ko")
    way, folded = (each.decode() for each in (embedded.page, export(view_of(shown, "ko").figure, "svg")))
    assert ">인코더<" in way and ">인코더<" not in folded


@pytest.mark.parametrize("title", ["".join(STRINGS), STRINGS[4], LONE])
def test_hostile_text_does_not_leave_the_frame(title: str) -> None:
    tokens = [*STRINGS, LONE]
    embedded = show(sample(tokens, tokens), title=title)
    frame, others = framed(embedded.html)
    assert str(frame["srcdoc"]).encode() == embedded.page
    assert set(others) <= {"noscript", "table", "thead", "tbody", "tr", "th", "td", "img", "p"}
    policy = next(a for tag, a in Page(embedded.page.decode()).tags if a.get("http-equiv"))
    assert str(policy["content"]).startswith("default-src 'none'; script-src 'sha256-")


def test_too_large_maps_are_refused_before_they_are_packed(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = translator.translate(OTHER)
    assert isinstance(shown.attention, AttentionMaps)
    monkeypatch.setattr(document, "MAX_BYTES", 100)
    monkeypatch.setattr("viz_app.notebook.embedded.branch_payload", lambda *_, **__: pytest.fail("packed"))
    monkeypatch.setattr("viz_app.standalone.maps.foreign_payload", lambda *_, **__: pytest.fail("packed"))
    for large in (shown, dataclasses.replace(shown.attention), encoder_only()):
        with pytest.raises(document.PageTooLarge, match="may have 0 MB"):
            show(large)
