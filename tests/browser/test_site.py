"""The site from a web server below a path: offline after a visit, from lesson to lesson, and figures as files."""

from __future__ import annotations

import csv
import struct
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.browser.app_driver import press_tool
from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.rest import until
from tests.browser.test_standalone import is_drawn
from transformer_core.translator import Translator
from viz_app.lessons import load_lesson
from viz_app.notebook.embedded import show
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SMALL = Path(__file__).resolve().parents[2] / "checkpoints" / "small" / "learned-positions"
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
SCALE = 3  # pixels of a PNG for each CSS pixel


@pytest.fixture
def blank(open_page: OpenPage, tmp_path: Path) -> Page:
    """A page that has not gone anywhere yet."""
    (tmp_path / "blank.html").touch()
    return open_page((tmp_path / "blank.html").as_uri(), still=True)


KEPT = """async () => {
  const keys = await caches.open(location.href.replace(/[^/]*[/][^/]*$/, "")).then((cache) => cache.keys());
  return keys.map(({ url }) => url.replace(/^.*heads[/]|[?].*$/g, ""));
}"""


def rests(page: Page) -> bool:
    """Whether nothing more is kept for two seconds."""
    before = page.evaluate(KEPT)
    page.wait_for_timeout(2_000)
    return bool(page.evaluate(KEPT) == before)


def test_what_was_visited_and_the_next_stop_open_offline(
    server: ThreadingHTTPServer, blank: Page, check_accessibility: CheckAccessibility
) -> None:
    url = f"http://127.0.0.1:{server.server_port}/courses/heads"
    page = blank
    page.goto(f"{url}/")
    page.wait_for_url(f"{url}/en/index.html")  # the reader's language
    check_accessibility(page)
    page.goto(f"{url}/en/masks.html")
    assert until(page, lambda: page.evaluate("navigator.serviceWorker.controller !== null"))
    pages = {"index.html", "en/masks.html", "en/subwords.html"}  # the start, and the next stop of the route
    assert until(page, lambda: pages <= set(page.evaluate(KEPT)))
    assert until(page, lambda: rests(page)), "what these pages name is kept after them"
    kept = page.evaluate(KEPT)
    assert not {"en/questions.html", "ko/masks.html"} & set(kept)
    assert not [path for path in kept if path.endswith(".weights")]
    server.shutdown()
    server.server_close()

    page.reload()
    assert is_drawn(page, ".lesson canvas")
    lesson = page.locator(".lesson")
    last = lesson.evaluate("(root) => root.lesson.lesson.scenes.at(-1).name")
    page.goto(f"{url}/en/masks.html?scene={last}")  # a scene that was never opened
    assert is_drawn(page, ".lesson canvas") and lesson.evaluate("(root) => root.lesson.name") == last
    page.locator(".lesson .next").click()
    page.wait_for_url(f"{url}/en/subwords.html")
    assert is_drawn(page, ".lesson canvas")
    page.evaluate("navigator.serviceWorker.getRegistration().then((found) => found.unregister())")


def test_all_pages_are_kept_where_the_reader_asks_for_them(server: ThreadingHTTPServer, blank: Page) -> None:
    url, t, page = f"http://127.0.0.1:{server.server_port}/courses/heads", texts("en"), blank
    page.goto(f"{url}/en/index.html")
    page.get_by_role("button", name=t("site.keep")).click()
    page.get_by_role("button", name=t("site.kept")).wait_for(timeout=120_000)
    server.shutdown()
    server.server_close()
    for address, drawn in (
        ("en/masks.html?scene=exam", ".lesson canvas"),
        ("ko/model-random.html", ".tiles canvas"),  # the example is there, and the model only once it is asked for
    ):
        page.goto(f"{url}/{address}")
        assert is_drawn(page, drawn)
    page.evaluate("navigator.serviceWorker.getRegistration().then((found) => found.unregister())")


def test_the_menu_of_models_closes_on_escape(server: ThreadingHTTPServer, blank: Page) -> None:
    page = blank
    page.goto(f"http://127.0.0.1:{server.server_port}/courses/heads/en/questions.html")
    menu = page.locator(".site-nav details")
    menu.locator("summary").press("Enter")
    assert menu.get_by_role("link").first.is_visible()
    menu.get_by_role("link").first.press("Escape")
    assert not menu.get_by_role("link").first.is_visible()
    assert menu.locator("summary").evaluate("(summary) => summary === document.activeElement")


def test_language_and_theme_are_kept_on_the_device(server: ThreadingHTTPServer, blank: Page) -> None:
    url, page = f"http://127.0.0.1:{server.server_port}/courses/heads", blank
    page.emulate_media(color_scheme="light")
    page.goto(f"{url}/en/masks.html?scene=rows")
    assert is_drawn(page, ".lesson canvas")
    ground, font = (f"getComputedStyle(document.body).{name}" for name in ("backgroundColor", "fontFamily"))
    light, letters = page.evaluate(ground), page.evaluate(font)
    button = page.locator(".site-theme")
    for theme in ("light", "dark"):
        button.click()
        assert button.get_attribute("aria-label") == texts("en")(f"site.{theme}")
    dark = page.evaluate(ground)
    assert dark != light and letters == page.evaluate(font) and is_drawn(page, ".lesson canvas")
    of_canvas = "root.lesson.theme.dark"
    assert page.locator(".lesson").evaluate(f"(root) => {of_canvas}"), "what is drawn follows"
    scene = page.locator(".lesson").evaluate("(root) => root.lesson.name")
    page.locator(".site-languages [lang=ko]").click()
    page.wait_for_url(f"{url}/ko/masks.html?scene={scene}")  # the same scene
    assert page.evaluate(ground) == dark
    page.goto(f"{url}/")
    page.wait_for_url(f"{url}/ko/index.html")
    button.click()
    assert page.evaluate(ground) == light, "as the system is"


def test_gpt_and_bert_show_a_half_each(
    server: ThreadingHTTPServer, blank: Page, check_accessibility: CheckAccessibility
) -> None:
    url, page = f"http://127.0.0.1:{server.server_port}/courses/heads/ko/gpt.html", blank
    page.goto(url)
    assert is_drawn(page, ".tiles canvas")
    kinds = "(root) => Object.keys(root.explorer.translation.kinds)"
    explorer = page.locator(".explorer")
    assert explorer.evaluate(kinds) == ["decoder"]
    check_accessibility(page)
    encoder = page.get_by_role("button", name=texts("ko")("gpt.encoder"))
    encoder.click()
    assert until(page, lambda: explorer.evaluate(kinds) == ["encoder"])
    assert encoder.get_attribute("aria-pressed") == "true"
    page.reload()  # the address names the half
    assert until(page, lambda: explorer.evaluate(kinds) == ["encoder"])


def test_the_way_through_the_lessons_is_kept_and_what_is_odd_in_the_storage_is_not_read(
    server: ThreadingHTTPServer, blank: Page, check_accessibility: CheckAccessibility
) -> None:
    url, page = f"http://127.0.0.1:{server.server_port}/courses/heads/en", blank
    lesson = load_lesson("masks", "en")
    predict = next(scene for scene in lesson.scenes if scene.question)
    choices = predict.question.choices if predict.question else ()
    wrong = next(number for number, each in enumerate(choices) if not each.right)
    page.goto(f"{url}/masks.html?scene={predict.name}")
    assert is_drawn(page, ".lesson canvas")
    page.locator(".lesson .answer").nth(wrong).click()
    page.locator(".lesson .reveal").click()
    page.locator(".lesson .tabs button").first.click()
    kept = "JSON.parse(localStorage.getItem('headlight-site-lesson-masks')).seen.length"
    assert until(page, lambda: page.evaluate(kept) == 2)

    page.goto(f"{url}/lessons.html")
    check_accessibility(page, "light", "dark")
    stop = page.locator(".stop", has_text=lesson.title)
    assert texts("en")("site.seen", count=2, scenes=len(lesson.scenes)) in stop.inner_text()
    assert page.locator(".complete").count() == 0
    page.locator(".index svg [role=button]").first.press("Enter")  # Figure 1
    page.wait_for_url(f"{url}/*.html")
    page.goto(f"{url}/questions.html")
    verdicts = page.locator(".site-predictions p:visible")
    assert verdicts.count() == 1
    assert "✗" in verdicts.inner_text() and texts("en")("questions.right") in verdicts.inner_text()
    check_accessibility(page)

    for odd in (
        "{",
        "7",
        '{"seen":{"a":1},"predicted":{"predict":"<img>"}}',
        '{"predicted":[99,-1]}',
        '"' + "a" * 30_000,
    ):
        page.evaluate("(odd) => localStorage.setItem('headlight-site-lesson-masks', odd)", odd)
        page.evaluate("(odd) => localStorage.setItem('headlight-site-theme', odd)", odd)
        page.goto(f"{url}/lessons.html")
        assert stop.locator(".progress:visible").count() == 0
        page.goto(f"{url}/questions.html")
        assert page.locator(".site-predictions p:visible").count() == 0


def test_a_link_opens_what_it_names(server: ThreadingHTTPServer, blank: Page) -> None:
    url, page = f"http://127.0.0.1:{server.server_port}/courses/heads/en", blank
    read = "(root) => [root.explorer.translation.about.text, root.explorer.store.state]"
    page.goto(f"{url}/model-random.html#text=A+dog.&head=decoder.2.1&pin=q2&zoom=head")
    explorer = page.locator(".explorer")
    assert until(page, lambda: explorer.evaluate(read)[0] == "A dog.")
    state = explorer.evaluate(read)[1]
    assert [state[name] for name in ("kind", "layer", "head", "pin", "form")] == ["decoder", 1, 0, "q1", "map"]
    explorer.evaluate("({ explorer }) => explorer.store.set({ head: 1, form: 'lines' })")
    page.wait_for_url("**head=decoder.2.2*")
    assert "form=lines" in page.url and "text=A+dog." in page.url and "?" not in page.url
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press_tool(page, "qr")
    page.get_by_text(texts("en")("explorer.copied"), exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.goto(f"{url}/masks.html?scene=padding&with=head:2,mask:on")
    assert is_drawn(page, ".lesson canvas")
    lesson = page.locator(".lesson")
    assert lesson.evaluate("(root) => [root.lesson.name, root.lesson.settings().head]") == ["padding", 2]
    linked = lesson.evaluate("(root) => root.lesson.tools.link.button.hidden")
    assert not linked, "which can be copied again"
    first = load_lesson("masks", "en").scenes[0].name
    for scene in ("__proto__", "constructor", "toString"):
        page.goto(f"{url}/masks.html?scene={scene}")
        assert is_drawn(page, ".lesson canvas") and lesson.evaluate("(root) => root.lesson.name") == first


def test_a_file_that_does_not_come_is_told(server: ThreadingHTTPServer, browser: Browser) -> None:
    page = browser.new_context(service_workers="block").new_page()  # nobody watches: errors are what this is about
    for place, drawn in (("masks", ".lesson canvas"), ("model-random", ".tiles canvas")):
        page.route("**/*.bin", lambda route: route.abort())
        page.emulate_media(color_scheme="light")
        page.goto(f"http://127.0.0.1:{server.server_port}/courses/heads/ko/{place}.html")
        told = page.get_by_text(texts("ko")("page.missing"))
        told.wait_for()
        page.unroute("**/*.bin")
        page.emulate_media(color_scheme="dark")  # is drawn anew
        assert is_drawn(page, drawn)
        told.wait_for(state="hidden")
    page.context.close()


def test_a_page_saves_the_head_and_the_tiles_that_it_shows(
    server: ThreadingHTTPServer, blank: Page, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{server.server_port}/courses/heads/en/model-learned-positions.html"
    page = blank
    page.goto(url)
    assert is_drawn(page, ".tiles canvas")
    page.locator(".explorer").evaluate("({ explorer }) => explorer.store.set({ form: 'map' })")
    page.locator(".menu-button").click()

    def saved(row: int, format: str) -> bytes:
        with page.expect_download() as told:
            page.locator(".menu-files").nth(row).get_by_role("button", name=format, exact=True).click()
        assert told.value.suggested_filename.endswith(f".{format.lower()}")
        told.value.save_as(tmp_path / "file")
        return (tmp_path / "file").read_bytes()

    translator = Translator.load(SMALL, device="cpu")
    state = page.locator(".explorer").evaluate("(root) => ({ ...root.explorer.store.state })")
    assert state["kind"] == "cross"
    text = page.locator(".explorer").evaluate("(root) => root.explorer.translation.about.text")
    maps = translator.translate(text, beam=4).attention
    drawing = ElementTree.fromstring(saved(0, "SVG"))
    texts = [each.text for each in drawing.iter(f"{SVG}text")]
    for tokens in (maps.keys("cross").tokens, maps.queries("cross").tokens):
        assert {token.lstrip("\u2581") for token in tokens} <= set(texts)
    caption = page.locator(".figure-top .caption").inner_text()
    assert caption in texts
    images = {row: list(ElementTree.fromstring(saved(row, "SVG")).iter(f"{SVG}image")) for row in (0, 1)}
    assert len(images[0]) == 1 and len(images[1]) == page.locator(".tiles canvas").count()
    assert all(each.get(HREF, "").startswith("data:image/png;base64,") for row in images.values() for each in row)

    width, height = struct.unpack(">II", saved(0, "PNG")[16:24])
    box = [float(value) for value in drawing.get("viewBox", "").split()]
    assert box == pytest.approx([0, 0, width / SCALE, height / SCALE], abs=2)
    table = list(csv.reader(saved(0, "CSV").decode("utf-8-sig").splitlines()))
    weights = np.array([[float(cell or 0) for cell in row[1:]] for row in table[1:]])
    np.testing.assert_allclose(weights, maps.cross[state["layer"], state["head"]], atol=2e-5)
    assert len(list(csv.reader(saved(1, "CSV").decode("utf-8-sig").splitlines()))) == len(images[1]) * len(table)


def test_a_frame_in_a_notebook_saves_files(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_content(show(Translator.load(SMALL, device="cpu").translate("The dog.")).html)
    frame = page.frame_locator("iframe")
    frame.locator(".menu-button").click()
    for name in ("SVG", "PNG", "CSV"):
        with page.expect_download() as told:
            frame.locator(".menu-files").first.get_by_role("button", name=name, exact=True).click()
        assert told.value.suggested_filename.endswith(f".{name.lower()}")
    page.close()
