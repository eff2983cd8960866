"""The page Figures through Streamlit's own test runner: every view, its address, what it takes over from Translate."""

from __future__ import annotations

import html
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app import mounted
from tests.app.mounted import opened
from viz_app.figures import VIEWS
from viz_app.text import texts
from viz_app.text.glossary import definitions

TEXT = "The dog."


@pytest.fixture
def app(app: AppTest) -> AppTest:
    app.query_params.update(text=TEXT, lang="en")
    return app


def figures(app: AppTest, **params: str) -> AppTest:
    return opened(app, "figures", **params)


def words(app: AppTest) -> str:
    parts = [*app.markdown, *app.caption, *app.warning, *app.info, *app.error, *app.code]
    return html.unescape("\n".join(str(part.value) for part in parts))


def address(app: AppTest) -> dict[str, Any]:
    return {name: value for name, value in mounted.address(app).items() if value is not None}


def command(app: AppTest) -> str:
    """The one that makes the figure again; links and the site are code, too."""
    return next(str(code.value) for code in app.code if str(code.value).startswith("python -m viz_app export "))


def downloads(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.slow), "ko"])
def test_every_view_in_both_languages(app: AppTest, language: str) -> None:
    figures(app)
    app.segmented_control(key="lang").set_value(language).run()
    t = texts(language)
    for view in (name for name, each in VIEWS.items() if not each.of_parsers and not each.of_atlas):
        app.selectbox(key=f"figures-{language}-view").set_value(view).run()
        assert not app.error, view
        assert len(app.get("image")) == 1, view
        assert address(app)["figure"] == view
        assert f"--view={view}" in command(app)
        assert downloads(app)[-1] == t("figures_page.bundle")
        assert t("figures_page.fine") in words(app) or app.warning
        assert app.code[0].value and app.code[1].value, "a caption and an alternative text"


def test_controls_are_explained_and_sentences_that_cannot_be_translated_answered(app: AppTest, language: str) -> None:
    known, t = definitions()[language], texts(language, source="")
    figures(app, lang=language)
    controls = {each.label: each.help for each in (*app.button_group, *app.selectbox)}
    for name, term in (("layer", "layer"), ("head", "head"), ("kind", "cross_attention")):
        assert known[term][1] in controls[t(f"figures_page.{name}")]
    for text, expected in (("", "figures_page.empty"), ("나는 학교에 간다", "figures_page.korean")):
        app.text_area(key="text").set_value(text).run()
        assert t(expected) in words(app)
        assert not app.get("image")
    app.text_area(key="text").set_value(TEXT).run()
    assert len(app.get("image")) == 1


def test_a_link_restores_the_state(app: AppTest) -> None:
    link = {"figure": "lines", "head": "encoder.1.1", "heads": "1,3", "size": "acl-column", "theme": "dark"}
    figures(app, **link)
    assert not app.error
    assert {name: address(app)[name] for name in link} == link
    assert app.selectbox(key="figures-en-size").value == "acl-column"
    for option in ("--heads=1,3", "--preset=acl-column", "--theme=dark"):
        assert option in command(app)


def test_size_colors_and_parts_reach_the_figure_with_its_warnings(app: AppTest) -> None:
    t = texts("en")
    figures(app, font="4")
    messages = "".join(html.unescape(w.value) for w in app.warning)
    assert t("figures.warn_small", points="", least="").split("  ")[0] in messages
    assert t("figures_page.fine") not in words(app)
    app.selectbox(key="figures-en-size").set_value("own").run()
    app.number_input(key="figures-en-width").set_value(50.0).run()
    app.selectbox(key="figures-en-scale").set_value("viridis").run()
    app.selectbox(key="figures-en-range").set_value("own").run()
    assert t("figures_page.measures", width="50", height="").split("×")[0] in words(app)
    assert {"width": "50", "colours": "viridis", "range": "0,0.5"}.items() <= address(app).items()
    assert "--width-mm=50" in command(app) and "--scale=viridis" in command(app)


def test_figures_are_collected_over_sentences_and_taken_away_together(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    t = texts("en")
    figures(app)
    app.button(key="figures-add").click().run()
    assert app.button(key="figures-add").disabled and app.button(key="figures-add").label == t("figures_page.added")
    app.selectbox(key="figures-en-view").set_value("lines").run()
    app.text_area(key="text").set_value("<b>The</b> train *is* big.").run()
    app.button(key="figures-add").click().run()
    assert t("figures_page.collection", count=2, most=24) in words(app)
    assert "<b>The</b> train *is* big." in words(app)
    assert not any("<b>" in str(part.value) or "*is*" in str(part.value) for part in app.markdown)
    app.text_area(key="text").set_value("").run()
    assert downloads(app) == [t("figures_page.collection_zip", count=2)], "it outlives a sentence that has no figure"
    app.switch_page("app_pages/translate.py").run()
    app.switch_page("app_pages/figures.py").run()
    app.button(key="figures-remove-1").click().run()
    assert downloads(app)[-1] == t("figures_page.collection_zip", count=1)
    app.button(key="figures-clear").click().run()
    assert t("figures_page.collection_clear") not in [button.label for button in app.button]
    monkeypatch.setattr("viz_app.figure_editor.collection.MAX_FIGURES", 0)
    assert app.text_area(key="text").set_value(TEXT).run().button(key="figures-add").disabled
    assert t("figures_page.collection_full", figures=24) in words(app)


def test_the_head_comes_over_from_translate(app: AppTest) -> None:
    opened(app, head="decoder.2.4", unit="words")
    app.switch_page("app_pages/figures.py").run()
    wanted = {"head": "decoder.2.4", "unit": "words", "text": TEXT, "figure": "head"}
    assert wanted.items() <= address(app).items()
    app.text_area(key="text").set_value("The train is big.").run()
    assert address(app)["text"] == "The train is big."
    app.switch_page("app_pages/translate.py").run()
    assert app.text_area(key="text").value == "The train is big."
    app.switch_page("app_pages/figures.py").run()
    assert {**wanted, "text": "The train is big."}.items() <= address(app).items()


def test_edit_in_figures_draws_what_the_explorer_shows(app: AppTest) -> None:
    opened(app, head="encoder.1.2", form="lines", scale="sqrt")
    assert "python -m viz_app export" in command(app)
    app.button(key="edit-in-figures").click().run()
    wanted = {"figure": "lines", "head": "encoder.1.2", "mapping": "sqrt", "text": TEXT}
    assert wanted.items() <= address(app).items()


def test_hostile_text_and_addresses(app: AppTest) -> None:
    figures(app, text="<script>alert(1)</script> **b** $x$", figure="../x", head="cross.99.1", size="<b>")
    assert not app.error
    assert len(app.get("image")) == 1
    shown = [*app.markdown, *app.caption, *app.warning, *app.info]
    assert not any("<script>" in str(part.value) for part in shown)


def test_a_comparison_with_a_sentence_that_is_none(app: AppTest) -> None:
    figures(app, figure="compare", against="cross.1.1", vs="나는 학교에 간다")
    assert texts("en")("translate.not_comparable") in words(app)
    app.text_input(key="figures-en-vs").set_value("The bus.").run()
    assert len(app.get("image")) == 1
    assert "--other-text=The dog." in command(app).replace("'", "")


@pytest.mark.parametrize("view", ["grid", "tree"])
def test_a_view_that_the_model_lacks_is_not_offered(app: AppTest, view: str) -> None:
    choice = figures(app, figure=view).selectbox(key="figures-en-view")
    assert choice.value == "head"
    assert not {texts("en")(f"figures_page.view_{name}") for name in ("grid", "pruning", "tree")} & set(choice.options)
