"""The row of other views in a real browser: BertViz draws, offline and contained; Plotly shows the selected head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

import pytest

from tests.browser import explorer_samples as samples
from tests.browser.app_driver import WORKED, params, sideways, wait_for_params
from tests.browser.explorer_driver import MAPS, PAGE, Open
from tests.browser.rest import until, wait_until_idle
from transformer_core.attention_maps import Axis, Kind
from viz_app.components.bertviz_frame.document import LABEL_WIDTH
from viz_app.figures.model.figure import display_label
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Page

    from tests.browser.conftest import OpenPage, Serve

View = Literal["head", "model"]
EN = texts("en")
SHOWN = ".frame iframe:not(.waiting)"
OPACITY = "(lines) => lines.map((line) => +line.getAttribute('stroke-opacity'))"
INKS = {
    "light": ["rgb(26, 29, 36)", "rgb(255, 255, 255)"],
    "dark": ["rgb(242, 244, 248)", "rgb(14, 17, 23)"],
}
COLOURS = """() => [getComputedStyle(document.querySelector("svg text")).fill,
                    getComputedStyle(document.body).backgroundColor]"""
PLOTLY = ".js-plotly-plot .heatmaplayer image"


def displayed(view: View, *axes: Axis) -> list[str]:
    """The tokens as a view of BertViz writes them."""
    return [display_label(token, LABEL_WIDTH[view]) for axis in axes for token in axis.tokens]


def drawn(page: Page) -> Frame:
    """The frame with BertViz' drawing, once it is there."""
    page.locator(".frame[data-state=drawn] iframe:not(.waiting)").wait_for()
    return page.frames[-1]


def labels(frame: Frame, side: str) -> list[str]:
    """The tokens on one side of the head view."""
    result: list[str] = frame.locator(f"#{side} text").all_text_contents()
    return result


def check_sandbox(page: Page, frame: Frame) -> None:
    """The frame has no origin and no way out."""
    assert page.locator(".frame iframe").get_attribute("sandbox") == "allow-scripts"
    assert frame.evaluate("() => self.origin") == "null"
    reach = """(what) => { try { return String(eval(what)); } catch (error) { return error.name; } }"""
    for what in ("parent.document", "top.document.title", "localStorage.length", "document.cookie"):
        answer = frame.evaluate(reach, what)
        assert answer in ("SecurityError", "EvalError"), f"{what} gives {answer}"


def test_closed_until_opened_then_plotly_then_bertviz(open_bare: Open) -> None:
    page = open_bare("views")
    page.get_by_text("opened: None").wait_for()
    assert page.locator(".js-plotly-plot").count() == 0 and len(page.frames) == 1
    page.get_by_text(EN("other.title"), exact=True).click()
    page.locator(PLOTLY).wait_for()
    page.get_by_text("opened: plotly").wait_for()
    page.get_by_text(EN("other.head"), exact=True).click()
    frame = drawn(page)
    page.get_by_text("opened: head").wait_for()
    assert frame.locator("line").count() == samples.HEADS * len(MAPS.outputs) * len(MAPS.source)
    page.get_by_text(EN("other.title"), exact=True).click()
    page.get_by_text("opened: None").wait_for()
    page.wait_for_function("() => window.frames.length === 0")  # what is no longer drawn goes when the run has ended
    too_long = open_bare("views", other="model", sample=128)
    too_long.get_by_text("Weights to draw").wait_for()
    assert len(too_long.frames) == 1 and too_long.locator(".js-plotly-plot").count() == 0


def test_the_head_view_draws_the_selected_head_and_follows(open_bare: Open) -> None:
    page = open_bare("views", other="head", head="cross.2.3")
    frame = drawn(page)
    check_sandbox(page, frame)
    assert labels(frame, "left") == displayed("head", MAPS.queries("cross"))
    assert labels(frame, "right") == displayed("head", MAPS.keys("cross"))
    assert frame.locator("#layer").input_value() == "2", "layers count from 1"
    assert frame.evaluate(COLOURS) == INKS["light"]
    opacity = frame.locator("line").evaluate_all(OPACITY)
    weights = MAPS.weights("cross")[1]
    expected = [0.0 if head != 2 else round(float(w), 4) for head in range(8) for w in weights[head].ravel()]
    assert opacity == pytest.approx(expected, abs=1e-9)
    frame.locator("#layer").select_option("6")
    changed = frame.locator("line").evaluate_all(OPACITY)
    assert max(changed) == pytest.approx(float(MAPS.weights("cross")[5, 2].max()), abs=1e-4)

    # The old picture stays until the new one is there.
    page.evaluate(
        """() => {
          window.empty = 0;
          const place = document.querySelector(".frame") ?? [...document.querySelectorAll("*")]
            .map((node) => node.shadowRoot?.querySelector(".frame")).find(Boolean);
          new MutationObserver(() => {
            window.empty += place.querySelector("iframe:not(.waiting)") ? 0 : 1;
          }).observe(place, { childList: true, subtree: true, attributes: true });
        }"""
    )
    page.get_by_text("another head").click()
    page.frame_locator(SHOWN).locator("#left text", has_text="<s>").wait_for()
    frame = drawn(page)
    assert labels(frame, "left") == displayed("head", MAPS.merged_to_words().inputs)
    assert frame.locator("#layer").input_value() == "1"
    assert page.evaluate("() => window.empty") == 0


def test_the_model_view_has_a_tile_for_each_head_and_enlarges_it(open_bare: Open) -> None:
    page = open_bare("views", other="model")
    frame = drawn(page)
    check_sandbox(page, frame)
    assert frame.locator(".attn_background").count() == samples.LAYERS * samples.HEADS
    assert frame.locator("line").count() == MAPS.cross.size
    frame.locator("#attn_background_0_2 ~ rect").last.dispatch_event("click")
    assert frame.get_by_text("Layer 1, Head 3", exact=True).count() == 1
    assert frame.locator("text.token").all_text_contents() == displayed("model", MAPS.outputs, MAPS.source)


def test_hostile_tokens_appear_as_they_are_and_run_nothing(open_bare: Open) -> None:
    maps, views = samples.sample(*samples.HOSTILE), (("encoder", "model"), ("decoder", "head"))
    for kind, view in cast("tuple[tuple[Kind, View], ...]", views):
        frame = drawn(open_bare("views", other=view, sample="hostile", head=f"{kind}.4.6"))
        if view == "model":
            frame.locator("#attn_background_0_0 ~ rect").last.dispatch_event("click")
        result = frame.locator("text").all_text_contents()
        assert set(displayed(view, maps.queries(kind))) <= set(result)
        assert frame.locator("img, image, iframe, a, foreignObject, script[src], b").count() == 0


def test_the_policy_stops_what_the_sandbox_allows_and_the_frame_the_rest(browser: Browser, serve: Serve) -> None:
    """In a context that nobody watches, because a stopped request is an error on the console."""
    context = browser.new_context()
    page = context.new_page()
    answered: list[str] = []
    page.goto(f"{serve(PAGE)}/?show=views&other=head")
    frame = drawn(page)
    address = f"{serve(PAGE)}/_stcore/health"
    context.on("response", lambda response: answered.append(response.url))
    stopped = frame.evaluate(
        """async (address) => {
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.body.append(script);
          const handler = document.createElement("div");
          handler.setAttribute("onclick", "window.ran = true");
          document.body.append(handler);
          handler.click();
          const image = new Image();
          const seen = new Promise((done) => {
            image.onload = () => done("loaded");
            image.onerror = () => done("stopped");
          });
          image.src = address + "?image";
          const fetched = await fetch(address + "?fetch", { mode: "no-cors" }).then(() => "loaded", () => "stopped");
          return [window.ran === undefined, await seen, fetched];
        }""",
        address,
    )
    assert stopped == [True, "stopped", "stopped"]
    assert not [url for url in answered if "?image" in url or "?fetch" in url]
    # A document that BertViz did not make is contained by the frame alone.
    page.goto(f"{serve(PAGE)}/?show=views&sample=attack")
    frame = drawn(page)
    tried = frame.evaluate("() => window.tried")
    height = page.locator(".frame iframe").evaluate("(frame) => frame.clientHeight")
    title, pages = page.title(), len(context.pages)
    context.close()
    assert tried == ["refused"] * 5
    assert height <= 900, "a height that nobody can want is cut"
    assert title != "attack" and pages == 1


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_light_dark_and_narrow(open_bare: Open, language: str, width: int, dark: bool) -> None:
    page = open_bare("views", other="plotly", language=language, dark=dark, width=width, height=844)
    page.locator(PLOTLY).wait_for()
    assert sideways(page) <= 0
    for view in ("head", "model"):
        page.get_by_text(texts(language)(f"other.{view}"), exact=True).click()
        page.get_by_text(f"opened: {view}").wait_for()
        wait_until_idle(page)
        own = "#layer" if view == "head" else ".attn_background"  # which the other view lacks
        page.frame_locator(SHOWN).locator(own).first.wait_for()
        frame = drawn(page)
        title = page.locator(".frame iframe").get_attribute("title") or ""
        assert texts(language)("figures.kind_cross") in title
        assert frame.evaluate(COLOURS) == INKS["dark" if dark else "light"]
        assert sideways(page) <= 0


def test_on_the_page_translate_a_link_opens_it_and_the_address_follows(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/?other=head&head=cross.2.1&lang=en")
    frame = drawn(page)
    assert frame.locator("#layer").input_value() == "2"
    page.get_by_text(EN("other.model"), exact=True).click()
    wait_for_params(page, other="model")
    page.frame_locator(SHOWN).locator(".attn_background").first.wait_for()
    page.get_by_text(EN("other.title"), exact=True).click()
    assert until(page, lambda: "other" not in params(page))
    assert params(page)["head"] == "cross.2.1"
