"""Pictures of lessons on the page Figures, through Streamlit's own test runner."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.app_pages.test_figures import TEXT, address, command, downloads, opened, words
from transformer_core.cli import main
from viz_app.cli import PROGRAM
from viz_app.figures import Style
from viz_app.lessons import load_lesson
from viz_app.serving.scheduling.request_queue import Superseded
from viz_app.state.session import FIGURE_SPEC_KEY
from viz_app.text import texts
from viz_app.ui.figures.style_controls import StyleControls

T = texts("en")
WAVES = {"lesson": "positions", "scene": "waves", "with": "at:3,part:cos"}
ATTENTION = ("figure", "kind", "layer", "head", "unit")


@pytest.fixture
def app(app: AppTest) -> AppTest:
    app.query_params.update(text=TEXT, lang="en")
    return app


def labels(app: AppTest) -> set[str]:
    widgets = [*app.selectbox, *app.number_input, *app.get("button_group"), *app.slider]
    return {str(widget.label) for widget in widgets}


def test_a_link_opens_the_picture_of_a_lesson(app: AppTest, language: str) -> None:
    t = texts(language)
    opened(app, **WAVES, lang=language, size="acl-column", parts="title,caption,legend", dpi="600")
    app.segmented_control(key="lang").set_value(language).run()
    assert not app.error
    assert len(app.get("image")) == 1
    assert {**WAVES, "size": "acl-column", "dpi": "600", "text": TEXT}.items() <= address(app).items()
    assert not set(ATTENTION) & set(address(app))
    visible_words = words(app)
    assert t("figures_page.of_lesson", lesson=load_lesson("positions", language).title) in visible_words
    assert load_lesson("positions", language).scenes[0].title in visible_words
    assert t("figures_page.frames_still", count=46) in visible_words and "77 × " in visible_words
    assert {"PDF", "SVG", "PNG", "TikZ", "GIF", "CSV", "NPZ", "JSON", t("figures_page.bundle")} == set(downloads(app))
    made = shlex.split(command(app))
    assert made[3:7] == ["lesson", made[4], "--lesson=positions", "--scene=waves"]
    assert "--with=at:3,part:cos" in made and "--preset=acl-column" in made
    assert ("--language=ko" in made) == (language == "ko")
    assert app.code[0].value and app.code[1].value, "a caption and an alternative text"
    # Curves have no colours of cells, no labels of tokens and no panels.
    assert not {
        t("figures_page.scale"),
        t("figures_page.range"),
        t("figures_page.rotation"),
        *(texts(language)(f"figures_page.{name}") for name in ("kind", "layer")),
    } & labels(app)
    assert {t("figures_page.size"), t("figures_page.font"), t("figures_page.parts"), t("figures_page.theme")} <= labels(
        app
    )


def test_the_command_on_the_page_makes_the_file(
    app: AppTest, random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(app, **{**WAVES, "scene": "clocks", "with": "k:4"})
    app.selectbox(key="figures-en-scene-size").set_value("neurips").run()
    app.number_input(key="figures-en-scene-font").set_value(7.0).run()
    monkeypatch.chdir(random_checkpoint.parent)
    out = tmp_path / "a.pdf"
    assert main([*shlex.split(command(app))[3:-1], f"--out={out}"], PROGRAM) == 0
    assert out.read_bytes().startswith(b"%PDF-")
    assert b"--preset=neurips" in out.read_bytes() or "neurips" in command(app)


def test_a_matrix_has_its_own_range(app: AppTest) -> None:
    opened(app, lesson="positions", scene="clocks")
    assert {T("figures_page.range"), T("figures_page.number_mapping")} <= labels(app)
    assert T("figures_page.scale") not in labels(app), "numbers with two ends have their own colours"
    app.selectbox(key="figures-en-scene-range").set_value("own").run()
    app.number_input(key="figures-en-scene-range_far").set_value(0.5).run()
    assert address(app)["range"] == "-0.5,0.5" and "--value-range=-0.5,0.5" in command(app)
    app.button(key="figures-attention").click().run()
    assert "range" not in address(app), "weights are on another scale"


def test_attention_in_a_lesson_has_the_controls_of_attention(app: AppTest) -> None:
    opened(app, lesson="heads", scene="tour")
    assert {T("figures_page.scale"), T("figures_page.range"), T("figures_page.rotation")} <= labels(app)
    app.selectbox(key="figures-en-scene-scale").set_value("viridis").run()
    assert "--scale=viridis" in command(app) and "lesson" in command(app)


def test_there_is_a_way_back_to_attention_and_to_the_lesson(app: AppTest) -> None:
    opened(app, **WAVES, size="neurips")
    app.button(key="figures-attention").click().run()
    assert len(app.get("image")) == 1
    assert {"figure": "head", "kind": "cross", "size": "neurips"}.items() <= address(app).items()
    assert "lesson" not in address(app) and "with" not in address(app)
    assert "viz_app export" in command(app)
    app.selectbox(key="figures-en-view").set_value("lines").run()
    assert address(app)["figure"] == "lines"


def test_the_way_to_attention_is_open_while_the_first_figure_is_drawn(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(self: StyleControls, style: Style) -> Style:
        raise Superseded

    with monkeypatch.context() as first:
        first.setattr(StyleControls, "draw", stopped)
        opened(app, **WAVES, size="neurips")
        assert FIGURE_SPEC_KEY not in app.session_state, "the run ended before the page had its draft"
    app.button(key="figures-attention").click().run()
    assert T("errors.unexpected") not in words(app)
    assert {"figure": "head", "size": "neurips"}.items() <= address(app).items()
    assert "lesson" not in address(app)


def test_from_a_lesson_to_the_figure_and_back(app: AppTest) -> None:
    app.query_params["text"] = "나"
    app.run()
    app.session_state["text"] = TEXT
    app.session_state["lesson_open"] = "positions"
    app.switch_page("app_pages/lessons.py").run()
    app.button(key="edit-in-figures").click().run()
    assert {"lesson": "positions", "scene": "waves", "text": TEXT}.items() <= address(app).items()
    app.button(key="figures-to-lesson").click().run()
    assert address(app)["lesson"] == "positions" and "figures-add" not in {b.key for b in app.button}


def test_a_scene_without_a_figure_says_so(app: AppTest) -> None:
    opened(app, lesson="positions", scene="predict")
    assert T("figures_page.no_scene_figure") in words(app) and not app.get("image")
    app.button(key="figures-attention").click().run()
    assert len(app.get("image")) == 1


@pytest.mark.parametrize(
    ("params", "told", "figures"),
    [
        ({"lesson": "../../etc"}, "refused_lesson", "export"),
        ({"lesson": "positions", "scene": "<b>x</b>"}, "refused_scene", "export"),
        ({"lesson": "positions", "scene": "waves", "with": "at:<script>"}, "refused_settings", "lesson"),
        ({"lesson": "positions", "scene": "waves", "with": "at:1" + ",b:2" * 400}, "", "lesson"),
        ({"lesson": "positions", "scene": "clocks", "with": "k:1e8", "range": "-inf,3", "size": "$x$"}, "", "lesson"),
        ({"lesson": "positions", "scene": "clocks", "range": "-1e-12,1e-12"}, "", "lesson"),
        ({"range": "-5,-3"}, "", "export"),
    ],
)
def test_hostile_addresses(app: AppTest, params: dict[str, str], told: str, figures: str) -> None:
    opened(app, **params)
    assert not app.error
    assert len(app.get("image")) == 1 and f"viz_app {figures}" in command(app)
    assert not told or T(f"figures_page.{told}") in words(app)
    assert not any("<b>" in str(part.value) or "<script>" in str(part.value) for part in [*app.markdown, *app.warning])
    if told:
        scope = "scene-" if figures == "lesson" else ""
        app.selectbox(key=f"figures-en-{scope}size").set_value("a4").run()
        assert T(f"figures_page.{told}") not in words(app), "told until something is changed"


def test_a_sentence_that_is_none_and_a_hostile_one(app: AppTest) -> None:
    opened(app, **WAVES)
    app.text_input(key="text").set_value("나는 학교에 간다").run()
    assert texts("en", source="")("figures_page.korean") in words(app) and not app.get("image")
    app.text_input(key="text").set_value("<script>alert(1)</script> $x$ **b**").run()
    assert len(app.get("image")) == 1


def test_pictures_of_lessons_are_collected_too(app: AppTest) -> None:
    opened(app, **WAVES)
    app.button(key="figures-add").click().run()
    assert T("figures_page.collection", count=1, most=24) in words(app)
    assert load_lesson("positions", "en").title in words(app)
    app.button(key="figures-attention").click().run()
    app.button(key="figures-add").click().run()
    assert T("figures_page.collection", count=2, most=24) in words(app)
