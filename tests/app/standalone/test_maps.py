"""A page of other programs' attention: its size is said first, and has a bound."""

from __future__ import annotations

import logging

import pytest

from tests.foreign_maps import decoder_only, encoder_decoder
from viz_app.components.explorer.weights import packed_size
from viz_app.standalone import document
from viz_app.standalone import maps as maps_module
from viz_app.standalone.document import MAX_BYTES, PageTooLarge
from viz_app.standalone.maps import render_maps


def test_48_layers_of_32_heads_fit_at_50_tokens(caplog: pytest.LogCaptureFixture) -> None:
    large = decoder_only([f"t{i}" for i in range(50)], layers=48, heads=32)
    assert packed_size(large) < MAX_BYTES / 8
    with caplog.at_level(logging.INFO):
        page = render_maps({"large": large})
    assert "1 sentence, about 3.1 MB" in caplog.text
    assert page == render_maps({"large": large}) and 10**6 < len(page) < 6 * 10**6


def test_more_is_refused_before_anything_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 100)
    monkeypatch.setattr(maps_module, "foreign_payload", lambda *_, **__: pytest.fail("packed"))
    with pytest.raises(PageTooLarge, match="may have 0 MB"):
        render_maps({"a": encoder_decoder()})
    for wrong in ({}, dict.fromkeys(map(str, range(65)), encoder_decoder())):
        with pytest.raises(ValueError, match="a page holds 1 to 64"):
            render_maps(wrong)
