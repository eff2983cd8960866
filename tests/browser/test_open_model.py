"""Open a model in a real browser: open a folder, read what was recognised, look at its heads, take it away again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.app_driver import params, sideways, wait_for_params
from tests.browser.conftest import APP, CheckAccessibility, OpenPage, Serve
from tests.browser.rest import settled, wait_for_value
from transformer_core.model_export.exporting import export_model
from viz_app.text import texts
from viz_app.text.examples import examples_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

MINUTE = 60_000
STRANGE = "<img src=x onerror=alert(1)>"  # a folder


@pytest.fixture(scope="module")
def folders(random_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder from which the server's owner lets models be opened."""
    place = tmp_path_factory.mktemp("models")
    theirs = place / "opus-mt-ko-en"
    export_model(random_checkpoint, theirs, "transformers")
    config = (theirs / "config.json").read_text(encoding="utf-8")
    (theirs / "config.json").write_text(config.replace('"relu"', '"gelu"'), encoding="utf-8")
    (theirs / "README.md").write_text("---\nlicense: apache-2.0\n---\n", encoding="utf-8")
    (place / STRANGE).mkdir()
    (place / STRANGE / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    return place


@pytest.fixture
def url(serve: Serve, random_checkpoint: Path, folders: Path) -> str:
    return serve(APP, HEADLIGHT_CHECKPOINT=str(random_checkpoint), HEADLIGHT_MODELS=str(folders))


def top_of(box: Locator) -> float:
    return float(box.evaluate("(box) => box.getBoundingClientRect().top"))


def open_folder(page: Page, name: str) -> None:
    box = page.get_by_role("combobox", name=texts("en")("open_model.folder"))
    box.scroll_into_view_if_needed()
    reached = top_of(box)
    settled(page)  # scrolling closes the list
    assert abs(top_of(box) - reached) < 20, "what is drawn above it later on has moved it"
    box.click()
    page.get_by_role("option", name=name, exact=True).click()
    settled(page)
    page.get_by_role("button", name=texts("en")("open_model.open"), exact=True).click()


def test_a_folder_that_is_no_model_then_one_to_its_heads_and_away_again(
    url: str, open_page: OpenPage, check_accessibility: CheckAccessibility
) -> None:
    t = texts("en")
    page = open_page(f"{url}/model?lang=en")
    page.get_by_role("heading", name=t("open_model.title")).wait_for()
    open_folder(page, STRANGE)
    problem = page.get_by_text("'llama', which is not supported")
    problem.wait_for(timeout=MINUTE)
    page.get_by_role("button", name=t("open_model.dismiss")).click()
    problem.wait_for(state="detached")

    open_folder(page, "opus-mt-ko-en")
    page.get_by_text(t("open_model.step_done", name="opus-mt-ko-en")).wait_for(timeout=MINUTE)
    report = page.get_by_test_id("stExpander")
    for said in ("Marian / OPUS-MT (transformers)", "Korean → English", "apache-2.0", "not measured yet"):
        report.get_by_text(said, exact=True).wait_for()
    report.get_by_role("listitem").filter(has_text="activation is gelu; in the paper relu.").wait_for()
    check_accessibility(page)

    page.get_by_role("button", name=t("open_model.use", name="opus-mt-ko-en")).click()
    wait_for_params(page, model="opus-mt-ko-en")
    page.get_by_role("link", name=t("nav.translate"), exact=True).click()
    field = page.get_by_role("textbox", name=texts("en", source="ko")("translate.input"))
    wait_for_value(field, examples_of("ko")["word_order"])
    page.get_by_role("gridcell").first.wait_for(timeout=MINUTE)
    assert page.locator(".explorer .words").get_attribute("lang") == "en"

    page.get_by_role("link", name=t("nav.model"), exact=True).click()
    page.get_by_role("button", name=t("open_model.remove", name="opus-mt-ko-en")).click()
    page.get_by_role("heading", name=t("open_model.opened")).wait_for(state="detached")
    settled(page)
    assert "model" not in params(page)


@pytest.mark.slow
def test_a_folder_of_the_server_with_its_languages_on_a_phone(
    url: str, folders: Path, open_page: OpenPage, check_accessibility: CheckAccessibility
) -> None:
    from tests.core.conversion.language_twins import language_folder

    language_folder(folders / "m2m", "m2m")
    t = texts("ko")
    page = open_page(f"{url}/model?lang=ko", width=390, height=844, dark=True)
    page.get_by_role("textbox", name=t("open_model.source")).fill("en")
    page.get_by_role("textbox", name=t("open_model.target")).fill("ko")
    page.keyboard.press("Tab")
    settled(page)
    page.get_by_role("button", name=t("open_model.open"), exact=True).click()
    page.get_by_text(t("open_model.step_done", name="m2m")).wait_for(timeout=MINUTE)
    page.get_by_test_id("stExpander").get_by_text(re.compile("^영어 → 한국어")).wait_for()
    assert not sideways(page)
    check_accessibility(page)
    page.get_by_role("button", name=t("open_model.remove", name="m2m")).click()
    page.get_by_role("heading", name=t("open_model.opened")).wait_for(state="detached")
