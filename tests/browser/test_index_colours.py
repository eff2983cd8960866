"""The index of the lessons on pages whose colour is written in any form that CSS knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from viz_app.components.modules import join_modules
from viz_app.lessons import index
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser

KINDS = {"light": {"encoder": "#000001"}, "dark": {"encoder": "#000002"}}
DATA = {"route": [], "others": [], "language": "en", "sentence": "", "kinds": KINDS}
SHOW = """async ([code, paper, data]) => {
    const { default: show } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    document.body.innerHTML = '<div class="index"></div>';
    document.documentElement.style.setProperty("--st-background-color", paper);
    show({ data, parentElement: document.body, setStateValue() {} });
    return document.querySelector(".index").style.getPropertyValue("--encoder");
}"""


PAPERS = {
    "light": ("#ffffff", "rgb(255, 255, 255)", "white", "hsl(0 0% 95%)"),
    "dark": ("#0e1117", "rgb(14, 17, 23)", "#000", "black"),
}


def test_the_kinds_have_the_colors_of_the_page(browser: Browser) -> None:
    code = join_modules(Path(index.__file__).parent / "js" / "main.js")
    data = DATA | {"texts": texts("en").table("index")}
    page = browser.new_page()
    try:
        for theme, papers in PAPERS.items():
            for paper in papers:
                assert page.evaluate(SHOW, [code, paper, data]) == KINDS[theme]["encoder"], paper
    finally:
        page.close()
