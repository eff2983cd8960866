"""A model with hundreds of heads in a real browser: it opens by layer, and nothing of it lies beyond the window."""

from __future__ import annotations

from tests.browser import explorer_samples as samples
from tests.browser.app_driver import sideways
from tests.browser.explorer_driver import ENGLISH, Open, patch
from tests.browser.file_explorer import sample, show_next
from tests.browser.rest import rest
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.explorer_view.snapshot import MAX_SIDE_BY_SIDE, opening_view

LAYERS, HEADS = 24, 9


def test_it_opens_by_layer_and_all_its_heads_are_one_press_away(open_payload: Open) -> None:
    assert LAYERS * HEADS > MAX_SIDE_BY_SIDE
    maps = samples.long_sample(6, layers=LAYERS, heads=HEADS)
    start = Selection(kind="cross", view=opening_view(LAYERS, HEADS))
    deep, small = pack(maps, steps=None, texts=ENGLISH, selection=start), sample("sentence")
    page = open_payload(deep)
    tiles = page.locator(".explorer .tile")
    assert tiles.count() == HEADS
    box = page.locator(".explorer .overview").bounding_box()
    assert box is not None
    for button in page.locator(".explorer .choice-group.layer button").all():
        place = button.bounding_box()
        assert place is not None
        assert place["x"] + place["width"] <= box["x"] + box["width"]
    page.locator(".explorer .layer-23").click()
    page.get_by_text('"layer": 23').wait_for()

    # How a model opens is its own; what is chosen stays.
    for payload, count in ((small, samples.LAYERS * samples.HEADS), (deep, HEADS)):
        show_next(page, payload)
        rest(page)
        assert tiles.count() == count
    show_next(page, small)
    patch(page, view="layer")
    for payload, count in ((deep, HEADS), (small, samples.HEADS), (deep, HEADS)):
        show_next(page, payload)
        rest(page)
        assert tiles.count() == count

    page.get_by_role("button", name=ENGLISH["view_heads"]).click()
    page.set_viewport_size({"width": 390, "height": 844})
    rest(page)
    assert tiles.count() == LAYERS * HEADS
    assert sideways(page) <= 0
    page.get_by_role("button", name=ENGLISH["view_layer"]).click()
    rest(page)
    assert tiles.count() == HEADS
    assert sideways(page) <= 0
