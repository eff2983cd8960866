"""The row of other views in a real browser: BertViz draws, offline and contained; Plotly shows the selected head."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import pytest

from tests.browser import explorer_samples as samples
from tests.browser.app_driver import WORKED, params, press_tool, sideways, wait_for_params
from tests.browser.conftest import ROOT
from tests.browser.explorer_driver import MAPS
from tests.browser.rest import until
from transformer_core.attention_maps import Axis, Kind
from viz_app.components.bertviz_frame.document import LABEL_WIDTH, bertviz_document
from viz_app.figures.model.figure import display_label
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Page

    from tests.browser.conftest import OpenPage

View = Literal["head", "model"]
FRAME = ROOT / "viz_app" / "components" / "bertviz_frame" / "frame"
SHOWN = ".frame iframe:not(.waiting)"
OPACITY = "(lines) => lines.map((line) => +line.getAttribute('stroke-opacity'))"
INKS = {
    "light": ["rgb(26, 29, 36)", "rgb(255, 255, 255)"],
    "dark": ["rgb(242, 244, 248)", "rgb(14, 17, 23)"],
}
COLOURS = """() => [getComputedStyle(document.querySelector("svg text")).fill,
                    getComputedStyle(document.body).backgroundColor]"""
CODE = [(FRAME.with_suffix(suffix)).read_text(encoding="utf-8") for suffix in (".js", ".css")]
SHOW = """async ([code, style, data]) => {
    document.body.innerHTML = '<style></style><div class="frame"><p class="failed" role="alert" hidden></p></div>';
    document.querySelector("style").textContent = style;
    const { default: show } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    show({ data, parentElement: document.body });
}"""
ATTACK = """<!DOCTYPE html><title>attack</title><script>
const tried = [];
for (const reach of [
  () => parent.document.body, () => { top.location = "about:blank"; }, () => localStorage.x, () => document.cookie,
  () => { if (!open("about:blank")) throw new Error("no window"); },
]) {
  try { reach(); tried.push("reached"); } catch (error) { tried.push("refused"); }
}
parent.postMessage({ height: 1e9, tried }, "*");
parent.postMessage("text", "*");
parent.postMessage(null, "*");
window.tried = tried;
</script><p>attack</p>"""
PLOTLY = ".js-plotly-plot .heatmaplayer image"


def displayed(view: View, *axes: Axis) -> list[str]:
    """The tokens as a view of BertViz writes them."""
    return [display_label(token, LABEL_WIDTH[view]) for axis in axes for token in axis.tokens]


def drawn(page: Page) -> Frame:
    """The frame with BertViz' drawing, once it is there."""
    page.locator(".frame[data-state=drawn] iframe:not(.waiting)").wait_for()
    return page.frames[-1]


def check_sandbox(page: Page, frame: Frame) -> None:
    """The frame has no origin and no way out."""
    assert page.locator(".frame iframe").get_attribute("sandbox") == "allow-scripts"
    assert frame.evaluate("() => self.origin") == "null"
    reach = """(what) => { try { return String(eval(what)); } catch (error) { return error.name; } }"""
    for what in ("parent.document", "top.document.title", "localStorage.length", "document.cookie"):
        answer = frame.evaluate(reach, what)
        assert answer in ("SecurityError", "EvalError"), f"{what} gives {answer}"


def shown(page: Page, document: str) -> Frame:
    """The frame of a document on a page without anything else."""
    page.evaluate(SHOW, [*CODE, {"document": document, "title": "BertViz", "failed": "failed"}])
    return drawn(page)


def test_both_views_draw_weights_and_tokens_as_they_are_and_run_nothing(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "empty.html").write_text("<!DOCTYPE html>")
    page = open_page((tmp_path / "empty.html").as_uri())
    frame = shown(page, bertviz_document(MAPS, "head", kind="cross", layer=1, head=2))
    check_sandbox(page, frame)
    for side, axis in (("left", MAPS.queries("cross")), ("right", MAPS.keys("cross"))):
        assert frame.locator(f"#{side} text").all_text_contents() == displayed("head", axis)
    assert frame.locator("#layer").input_value() == "2", "layers count from 1"
    opacity = frame.locator("line").evaluate_all(OPACITY)
    weights = MAPS.weights("cross")[1]
    expected = [0.0 if head != 2 else round(float(w), 4) for head in range(8) for w in weights[head].ravel()]
    assert opacity == pytest.approx(expected, abs=1e-9)
    frame.locator("#layer").select_option("6")
    changed = frame.locator("line").evaluate_all(OPACITY)
    assert max(changed) == pytest.approx(float(MAPS.weights("cross")[5, 2].max()), abs=1e-4)

    frame = shown(page, bertviz_document(MAPS, "model", kind="cross"))
    check_sandbox(page, frame)
    assert frame.locator(".attn_background").count() == samples.LAYERS * samples.HEADS
    assert frame.locator("line").count() == MAPS.cross.size
    frame.locator("#attn_background_0_2 ~ rect").last.dispatch_event("click")
    assert frame.get_by_text("Layer 1, Head 3", exact=True).count() == 1
    assert frame.locator("text.token").all_text_contents() == displayed("model", MAPS.outputs, MAPS.source)

    maps, views = samples.sample(*samples.HOSTILE), (("encoder", "model"), ("decoder", "head"))
    for kind, view in cast("tuple[tuple[Kind, View], ...]", views):
        frame = shown(page, bertviz_document(maps, view, kind=kind, layer=3, head=5))
        if view == "model":
            frame.locator("#attn_background_0_0 ~ rect").last.dispatch_event("click")
        result = frame.locator("text").all_text_contents()
        assert set(displayed(view, maps.queries(kind))) <= set(result)
        assert frame.locator("img, image, iframe, a, foreignObject, script[src], b").count() == 0


def test_the_policy_stops_what_the_sandbox_allows_and_the_frame_the_rest(browser: Browser, app_url: str) -> None:
    """In a context that nobody watches, because a stopped request is an error on the console."""
    context = browser.new_context()
    page = context.new_page()
    answered: list[str] = []
    address = f"{app_url}/_stcore/health"
    page.goto(address)
    frame = shown(page, bertviz_document(MAPS, "head", kind="cross"))
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
    frame = shown(page, ATTACK)
    tried = frame.evaluate("() => window.tried")
    height = page.locator(".frame iframe").evaluate("(frame) => frame.clientHeight")
    title, pages = page.title(), len(context.pages)
    context.close()
    assert tried == ["refused"] * 5
    assert height <= 900, "a height that nobody can want is cut"
    assert title != "attack" and pages == 1


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_the_dialog_opens_for_the_head_and_closes(
    open_page: OpenPage, app_url: str, language: str, width: int, dark: bool
) -> None:
    t = texts(language)
    page = open_page(f"{app_url}/?head=cross.2.1&lang={language}", dark=dark, width=width)
    page.locator(".explorer .tile").first.wait_for()
    assert page.locator(".js-plotly-plot").count() == 0 and len(page.frames) == 1
    press_tool(page, "views")
    page.locator(PLOTLY).wait_for()
    wait_for_params(page, other="plotly")
    assert sideways(page) <= 0

    def check_view(view: str, part: str) -> None:
        page.get_by_text(t(f"other.{view}"), exact=True).click()
        wait_for_params(page, other=view)
        page.frame_locator(SHOWN).locator(part).first.wait_for()  # which the other view lacks
        frame = drawn(page)
        title = page.locator(".frame iframe").get_attribute("title") or ""
        assert t("figures.kind_cross") in title
        assert frame.evaluate(COLOURS) == INKS["dark" if dark else "light"]
        assert sideways(page) <= 0

    check_view("head", "#layer")
    assert drawn(page).locator("#layer").input_value() == "2"

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
    check_view("model", ".attn_background")
    assert page.evaluate("() => window.empty") == 0
    page.keyboard.press("Escape")
    page.wait_for_function("() => window.frames.length === 0")  # what is no longer drawn goes when the run has ended
    assert until(page, lambda: "other" not in params(page))
    page.locator(".explorer .tile[data-head='4.3']").click()
    wait_for_params(page, head="cross.4.3")
    press_tool(page, "views")
    page.get_by_text(t("other.head"), exact=True).click()
    assert until(page, lambda: page.frame_locator(SHOWN).locator("#layer").input_value() == "4")
