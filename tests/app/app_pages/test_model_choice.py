"""The visitor's choice among models, through Streamlit's own test runner: what changes with it, and what stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.app_pages.test_figures import command
from tests.app.app_pages.test_pages import damaged_copy
from tests.app.mounted import address, headers, opened, visible
from transformer_core.translator import Translator
from viz_app.text import texts
from viz_app.text.examples import first_example

TEXT = "The little dog."
CHOICE = "model_choice"


@pytest.fixture
def app(app: AppTest, french_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(french_checkpoint))
    app.query_params.update(text=TEXT, lang="en")
    return app


def choose(app: AppTest, name: str) -> AppTest:
    return app.selectbox(key=CHOICE).set_value(name).run()


def said(app: AppTest) -> list[bool]:
    """Whether the run says what is typed and chosen: that would undo what a visitor does meanwhile."""
    return [app.text_area(key="text").proto.set_value, app.selectbox(key=CHOICE).proto.set_value]


def outputs(folder: Path) -> list[str]:
    return list(Translator.load(folder).translate(TEXT, beam=4).attention.outputs.tokens)


def test_another_model_speaks_and_the_rest_stays(
    app: AppTest, random_checkpoint: Path, french_checkpoint: Path
) -> None:
    app.query_params["head"] = "decoder.2.4"
    app.run()
    choice = app.selectbox(key=CHOICE)
    assert (choice.options, choice.value) == (["random", "English → French"], "random")
    assert address(app)["model"] is None
    (header,) = headers(app)
    assert header["axes"]["outputs"]["tokens"] == outputs(random_checkpoint)
    assert header["languages"] == {"source": "", "target": ""}, "it does not tell"

    choose(app, "french")
    assert said(app) == [False, False]
    (header,) = headers(app)
    assert header["axes"]["outputs"]["tokens"] == outputs(french_checkpoint)
    assert header["languages"] == {"source": "en", "target": "fr"}
    called = {"random": "random", "french": "English → French"}
    about = {"text": TEXT, "source": TEXT, "model": "french", "own": "french", "models": ["random"], "titles": called}
    assert header["about"] == about
    stays = {name: address(app)[name] for name in ("model", "text", "lang", "head")}
    assert stays == {"model": "french", "text": TEXT, "lang": "en", "head": "decoder.2.4"}
    made = command(app)
    assert "--checkpoint=french" in made
    assert "--head=decoder.2.2" in made, "two heads in a layer: the fourth becomes the second"

    choose(app, "random")
    assert address(app)["model"] is None
    assert headers(app)[0]["axes"]["outputs"]["tokens"] == outputs(random_checkpoint)

    app.text_area(key="text").set_value(first_example("en")).run()
    choose(app, "french")
    assert said(app) == [False, False], "the example is the same in both"


def test_the_choice_is_kept_on_all_pages(app: AppTest, french_checkpoint: Path) -> None:
    opened(app, model="french")
    assert app.selectbox(key=CHOICE).value == "french"
    parameters = sum(p.numel() for p in Translator.load(french_checkpoint).model.parameters())
    for page in ("model", "lessons", "figures", "translate"):
        app.switch_page(f"app_pages/{page}.py").run()
        assert app.selectbox(key=CHOICE).value == "french", page
        assert address(app)["model"] == "french", page
        if page == "model":
            assert f"{parameters / 1e6:.1f} M" in [metric.value for metric in app.metric]
        if page == "figures":
            assert any(code.value.startswith("python -m viz_app export --checkpoint=french ") for code in app.code)
    assert headers(app)[0]["axes"]["outputs"]["tokens"] == outputs(french_checkpoint)
    assert "--checkpoint=french" in command(app)


def test_the_figure_follows_the_model(app: AppTest, random_checkpoint: Path) -> None:
    app.query_params.update({"model": "french", "branch": "2", "head": "cross.3.2", "width": "80"})
    app.switch_page("app_pages/figures.py").run()
    assert (address(app)["branch"], address(app)["head"], address(app)["width"]) == ("2", "cross.3.2", "80")
    choose(app, "random")
    params = address(app)
    assert (params["model"], params["width"]) == (None, "80")
    assert params["head"] == "cross.2.2", "the nearest that this model has"
    assert params["branch"] is None, "a branch belongs to a search"
    assert any("--checkpoint=random " in code.value for code in app.code)


@pytest.mark.parametrize("wanted", ["../french", "french/", "<b>x</b>"])
def test_a_name_that_is_not_there_is_told_and_never_a_path(
    app: AppTest, random_checkpoint: Path, french_checkpoint: Path, wanted: str
) -> None:
    opened(app, model=wanted)
    assert texts("en")("models.missing", requested="@", now="@").split("@")[0] in visible(app)
    assert "<b>" not in visible(app)
    assert headers(app)[0]["axes"]["outputs"]["tokens"] == outputs(random_checkpoint)
    assert address(app)["model"] is None
    choose(app, "french")
    assert texts("en")("models.missing", requested="@", now="@").split("@")[0] not in visible(app)


def test_a_damaged_model_is_told_and_the_other_goes_on(
    app: AppTest, french_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "damaged"
    shard = damaged_copy(french_checkpoint, damaged)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(damaged))
    app.run()
    choose(app, "damaged")
    t = texts("en")
    for page in ("translate", "model", "figures"):
        app.switch_page(f"app_pages/{page}.py").run()
        assert t("errors.checkpoint_title") in visible(app) and shard.name in visible(app)
        assert t("errors.checkpoint_other") in visible(app) and t("errors.checkpoint_own") in visible(app)
        assert not any("git checkout" in code.value for code in app.code), "Git does not have it"
        assert app.selectbox(key=CHOICE).value == "damaged", page
    choose(app, "random")
    assert t("errors.checkpoint_title") not in visible(app)
    assert address(app)["model"] is None


def test_one_model_alone_says_who_it_is(
    random_checkpoint: Path, french_checkpoint: Path, monkeypatch: pytest.MonkeyPatch, app: AppTest
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(french_checkpoint))
    app.run()
    assert CHOICE not in {each.key for each in app.selectbox}
    assert "English → French" in visible(app)
    app.segmented_control(key="lang").set_value("ko").run()
    assert "영어 → 프랑스어" in visible(app)


def test_models_of_one_name_are_told_apart(
    app: AppTest, random_checkpoint: Path, french_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twins = [tmp_path / name for name in ("a", "b")]
    for twin in twins:
        shutil.copytree(french_checkpoint, twin)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", os.pathsep.join(map(str, [french_checkpoint, *twins])))
    app.run()
    choice = app.selectbox(key=CHOICE)
    assert choice.options == [
        "random", "English → French (french)", "English → French (a)", "English → French (b)"
    ]  # fmt: skip
    choice.set_value("b").run()
    assert (address(app)["model"], headers(app)[0]["about"]["own"]) == ("b", "b")


def test_models_are_compared_in_both_directions_and_change_sides(app: AppTest) -> None:
    own, other = "random", "french"
    opened(app, model=own, against="cross.2.1", vsmodel=other)
    shown, compared = headers(app)
    assert (shown["about"]["model"], shown["about"]["models"]) == (own, [other])
    assert (compared["about"]["model"], compared["about"]["own"]) == (other, own)
    choose(app, other)
    assert len(headers(app)) == 1, "until the browser has reported its selection"
    app.session_state["explorer"]["selection"] = dict(app.session_state["explorer"]["selection"]) | {"vsmodel": own}
    app.run()
    shown, compared = headers(app)
    assert (shown["about"]["model"], compared["about"]["model"]) == (other, own)
    assert address(app)["vsmodel"] == own


def test_two_models_of_different_tokens_make_one_figure(app: AppTest) -> None:
    link = {"model": "french", "figure": "compare", "against": "cross.1.1", "vsmodel": "random"}
    app.query_params.update(link)
    app.switch_page("app_pages/figures.py").run()
    (command,) = (code.value for code in app.code if code.value.startswith("python -m viz_app export"))
    assert "--checkpoint=random" in command and "--other-checkpoint=french" in command
