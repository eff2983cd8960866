"""The flow in the explorer: what it draws and says is what the finding says; by mouse, keyboard and table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.app_driver import WORKED
from tests.browser.explorer_driver import ENGLISH, MAPS, Open, announced, patch, press, read_table, settle, shown, state
from tests.browser.file_explorer import sample_maps
from tests.browser.flow_samples import flow_of, give
from tests.browser.rest import quickest, until
from viz_app.text import fill, texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import CheckAccessibility

FLOW = flow_of(MAPS)
AT = 3  # "Hund"
TOKENS = [shown(token) for token in MAPS.outputs.tokens]


def number(value: float, digits: int = 1) -> str:
    text = f"{abs(value):.{digits}f}"
    return f"\u2212{text}" if value < 0 and float(text) else text


def opened(open_explorer: Open, *, name: str = "sentence", flow: Any = FLOW, **options: Any) -> Page:
    page = open_explorer(name, **{"still": True, **options})
    give(page, "flow", flow)
    patch(page, form="flow", pin=None)
    return page


def caption(page: Page) -> str:
    return page.locator("figure.head .caption").inner_text()


def hit(page: Page, **place: Any) -> Any:
    """Where something of the unfolded picture is on its canvas: an edge by its index, or a state."""
    return page.locator(".explorer").evaluate(
        """(root, { edge, stack, layer, position }) => {
          const places = root.explorer.figure.flow.canvas.unfolded;
          if (edge === undefined) return { x: places.frames[stack].x[position], y: places.y(stack, layer) };
          const way = places.way(places.edges[edge]);
          return { x: (way[6] + way[8]) / 2, y: (way[7] + way[9]) / 2 };
        }""",
        place,
    )


def test_the_folded_picture_by_mouse_keyboard_and_table(open_explorer: Open) -> None:
    page = opened(open_explorer)
    assert caption(page) == ENGLISH["flow_all"]
    table = page.locator(".beside > button.tool")
    table.click()
    columns, rows, cells = read_table(page)
    assert rows == TOKENS
    tokens = [shown(token) for token in (*MAPS.source.tokens, *MAPS.inputs.tokens)]
    assert columns == [ENGLISH["flow_logit"], *tokens, ENGLISH["flow_biases"]]
    for position, (word, row) in enumerate(zip(FLOW["words"], cells, strict=True)):
        inputs = [number(value) if i <= position else "" for i, value in enumerate(word["inputs"])]
        source = [number(value) for value in word["source"]]
        assert row == [number(word["logit"]), *source, *inputs, number(word["biases"])]
    table.click()

    # The chosen word says its parts and their sum.
    page.locator(f'.words [data-index="{AT}"]').click()
    settle(page)
    word = FLOW["words"][AT]
    names = [shown(token) for token in (*MAPS.source.tokens, *MAPS.inputs.tokens[: AT + 1])]
    parts = sorted(zip(names, (*word["source"], *word["inputs"]), strict=False), key=lambda part: -abs(part[1]))
    others = word["logit"] - word["biases"] - sum(value for _, value in parts[:4])
    expected = fill(
        ENGLISH["flow_word"],
        word=TOKENS[AT],
        parts=", ".join(f"{name} {number(value)}" for name, value in parts[:4]),
        others=number(others),
        biases=number(word["biases"]),
        logit=number(word["logit"]),
    )
    assert caption(page) == announced(page) == expected

    # It is compared with another token, until another word is chosen.
    page.locator(".flow-versus").select_option("▁der")
    settle(page)
    assert state(page, "versus") == "▁der"
    assert caption(page) == ENGLISH["flow_waiting"]
    contrast = flow_of(MAPS, seed=9, against="▁der", at=AT)
    give(page, "contrast", contrast)
    settle(page)
    assert caption(page).startswith(fill(ENGLISH["flow_pair"], word=TOKENS[AT], against="der"))
    assert number(contrast["words"][AT]["logit"]) in caption(page)
    press(page, ".flow", "ArrowRight")
    assert (state(page, "versus"), state(page, "pin")) == (None, f"q{AT + 1}")
    assert number(FLOW["words"][AT + 1]["logit"]) in caption(page)

    press(page, ".flow", "ArrowLeft", "Enter")
    assert (state(page, "pin"), state(page, "unfold")) == (f"q{AT}", True)
    assert page.locator(".flow").get_attribute("data-unfolded") == "true"
    assert page.locator(".flow-unfold").inner_text() == ENGLISH["flow_fold"]
    for pin, unfold in ((f"q{AT}", False), (None, False)):
        page.keyboard.press("Escape")
        settle(page)
        assert (state(page, "pin"), state(page, "unfold"), state(page, "form")) == (pin, unfold, "flow")
    press(page, ".flow", "ArrowRight")
    assert state(page, "pin") == "q0"


def test_the_unfolded_picture_leads_to_states_heads_and_maps(open_explorer: Open) -> None:
    page = opened(open_explorer)
    patch(page, pin=f"q{AT}", unfold=True)
    word = FLOW["words"][AT]
    page.locator(".flow canvas").click(position=hit(page, stack="decoder", layer=3, position=AT))
    settle(page)
    text = page.locator(".flow-detail").inner_text()
    assert number(word["states"]["decoder"][3][AT], 2) in text
    assert fill(ENGLISH["flow_lens"], lens=shown(FLOW["lens"][3][AT])) in text
    assert fill(ENGLISH["flow_neurons"], neurons="41: 1.50, 8: \u22120.50") in text

    kind, layer, query, key = word["ways"][:4]
    page.locator(".flow canvas").click(position=hit(page, edge=0))
    settle(page)
    heads = page.locator(".flow-detail .flow-head")
    name = f"{('encoder', 'decoder', 'cross')[kind]}.{layer + 1}."
    flow = word["flows"][0]
    assert heads.all_inner_texts() == [f"{name}1\u2002{number(flow / 2)}", f"{name}4\u2002{number(flow / 4)}"]
    heads.nth(1).click()
    settle(page)
    assert (state(page, "form"), state(page, "layer"), state(page, "head")) == ("map", layer, 3)
    assert state(page, "pin") == f"q{query}"
    assert {name: state(page, "cursor")[name] for name in ("query", "key")} == {"query": query, "key": key}

    # How many edges carry a share, and its table; a tile leads to its map too.
    patch(page, form="flow", kind="cross", pin=f"q{AT}", unfold=True)
    for share in (80, 50):
        patch(page, share=share)
        total, count = 0.0, 0
        while total < share / 100 * word["total"]:
            total += abs(word["flows"][count])
            count += 1
        percent = f"{round(100 * total / word['total'])}\u202f%"
        expected = fill(
            ENGLISH["flow_graph"], word=TOKENS[AT], count=f"{count:,}", all=f"{word['count']:,}", share=percent
        )
        assert caption(page) == expected
    page.locator(".beside > button.tool").click()
    settle(page)
    assert page.locator(".table tbody tr").count() == min(count, 40)
    page.locator('.tile[data-head="2.3"]').click()
    settle(page)
    assert (state(page, "form"), state(page, "layer"), state(page, "head")) == ("map", 1, 2)
    assert page.locator(".map").is_visible() and not page.locator(".flow").is_visible()


def test_until_the_flow_is_there_the_picture_says_so_and_a_model_without_one_has_the_map(open_explorer: Open) -> None:
    page = open_explorer("other", still=True)
    give(page, "flow", FLOW)  # of another sentence
    patch(page, form="flow")
    assert caption(page) == ENGLISH["flow_waiting"]
    give(page, "flow", flow_of(sample_maps("other")))
    assert until(page, lambda: caption(page) == ENGLISH["flow_all"])
    whole = flow_of(sample_maps("other"))
    parts = ("logit", "source", "inputs", "biases")
    give(page, "flow", {**whole, "words": [{name: word[name] for name in parts} for word in whole["words"]]})
    patch(page, pin="q1", unfold=True)
    assert caption(page) == ENGLISH["flow_waiting"] and page.locator(".flow").get_attribute("data-unfolded") == "false"
    give(page, "flow", whole)
    assert until(page, lambda: page.locator(".flow").get_attribute("data-unfolded") == "true")
    give(page, "flow", None)
    page.locator(".map").wait_for()
    assert not page.locator(".flow").is_visible() and not page.locator(".form-flow").is_visible()
    assert page.locator(".form-map").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_everybody_can_read_and_save_it(
    open_explorer: Open,
    check_accessibility: CheckAccessibility,
    tmp_path: Path,
    language: str,
    width: int,
    dark: bool,
) -> None:
    page = opened(open_explorer, language=language, width=width, dark=dark)
    patch(page, pin=f"q{AT}")
    with page.expect_download() as download:
        page.locator(".explorer").evaluate("(root) => root.explorer.files.save('head', 'svg')")
    download.value.save_as(tmp_path / "flow.svg")
    svg = (tmp_path / "flow.svg").read_text(encoding="utf-8")
    assert (svg.count("mix-blend-mode: screen") > 20) == dark, "light adds up, ink does not"
    assert all(f">{token}</text>" in svg for token in TOKENS if not token.startswith("<"))
    check_accessibility(page, "dark", "light")
    patch(page, unfold=True)
    page.locator(".flow canvas").click(position=hit(page, edge=0))
    check_accessibility(page, "dark", "light")
    table = texts(language).table("explorer")
    assert table["flow_is_not"] in page.locator(".flow-about").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    stacked = page.locator(".explorer").evaluate(
        """(root) => {
          const { encoder, decoder } = root.explorer.figure.flow.canvas.unfolded.frames;
          return decoder.foot < encoder.top;
        }"""
    )
    assert stacked == (width < 560)


def test_forty_tokens_are_drawn_within_fifty_milliseconds_and_growing_ends_with_the_whole(open_explorer: Open) -> None:
    page = opened(open_explorer, name="40", flow=flow_of(sample_maps("40"), at=30), still=False)
    explorer, canvas = page.locator(".explorer"), page.locator(".flow canvas")
    milliseconds = """(root) => {
      const start = performance.now();
      root.explorer.figure.flow.canvas.draw();
      return performance.now() - start;
    }"""
    moving = "(root) => root.explorer.figure.flow.canvas.motion !== null"
    for unfold in (False, True):
        patch(page, pin="q30", unfold=unfold, share=80)
        assert until(page, lambda: not explorer.evaluate(moving))
        assert quickest(lambda: explorer.evaluate(milliseconds), 50) < 50
    whole = canvas.evaluate("(canvas) => canvas.toDataURL()")
    page.locator(".flow-grow").click()
    page.mouse.move(2, 2)
    page.wait_for_timeout(300)
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") != whole
    assert until(page, lambda: not explorer.evaluate(moving))
    settle(page)
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") == whole
