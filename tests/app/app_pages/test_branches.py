"""A branch of the beam search through Streamlit's own test runner: from the address to the maps, and its end."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import address, header, opened
from transformer_core.translator import Translation, Translator
from viz_app.serving.models.search_tree import branch_ends, branch_translation

TEXT, OTHER = "The dog.", "The train is big."


@pytest.fixture
def app(app: AppTest) -> AppTest:
    app.query_params.update(text=TEXT, lang="en")
    return app


def tokens(translation: Translation) -> list[str]:
    return list(translation.attention.outputs.tokens)


@pytest.mark.parametrize("number", [11, 9998])
def test_a_link_opens_a_branch_or_the_best(app: AppTest, translator: Translator, number: int) -> None:
    opened(app, branch=str(number + 1))
    best = translator.translate(TEXT, beam=4)
    shown = number if number < len(branch_ends(best)) else 0
    assert header(app)["beam"]["shown"] == header(app)["selection"]["branch"] == shown
    assert header(app)["axes"]["outputs"]["tokens"] == tokens(branch_translation(best, shown, translator))
    assert address(app)["branch"] == (str(number + 1) if shown else None)


def test_another_sentence_starts_at_its_best_also_while_the_browser_still_names_the_old_branch(
    app: AppTest, translator: Translator
) -> None:
    opened(app, branch="3")
    state = dict(header(app)["selection"])
    app.session_state["explorer"] = {"selection": state}
    app.text_area(key="text").set_value(OTHER).run()
    assert header(app)["axes"]["outputs"]["tokens"] == tokens(translator.translate(OTHER, beam=4))
    app.session_state["explorer"] = {"selection": state}
    app.run()
    assert header(app)["beam"]["shown"] == 0
    for wanted in (0, 2):  # the browser has caught up; then somebody chooses the same number again
        app.session_state["explorer"] = {"selection": {**state, "branch": wanted}}
        app.run()
        assert header(app)["beam"]["shown"] == wanted
    expected = branch_translation(translator.translate(OTHER, beam=4), 2, translator)
    assert header(app)["axes"]["outputs"]["tokens"] == tokens(expected)


@pytest.mark.parametrize("number", [0, 2])
def test_a_link_opens_the_translation_from_a_forced_beginning(
    app: AppTest, translator: Translator, number: int
) -> None:
    """Compare its maps, its search and its branches with `Translator.translate` with that prefix."""
    first = translator.translate(TEXT, beam=4)
    ids = (*first.hypotheses[0].ids[:1], first.hypotheses[0].alternatives[1][1][0])  # the runner-up at step 2
    force = " ".join(translator.tokenizer.tokens(ids))
    opened(app, force=force, branch=str(number + 1))
    expected = branch_translation(translator.translate(TEXT, beam=4, prefix=ids), number, translator)
    assert header(app)["axes"]["outputs"]["tokens"] == tokens(expected) != tokens(first)
    assert header(app)["about"]["force"] == address(app)["force"] == force
    assert header(app)["beam"]["shown"] == number
    app.session_state["explorer"] = {"selection": dict(header(app)["selection"])}
    app.text_area(key="text").set_value(OTHER).run()
    assert header(app)["axes"]["outputs"]["tokens"] == tokens(translator.translate(OTHER, beam=4))
    assert "force" not in header(app)["about"]


@pytest.mark.parametrize("force", ["<s>", "</s> </s>", "a " * 1000])
def test_a_beginning_that_no_translation_has_is_left_out(app: AppTest, translator: Translator, force: str) -> None:
    opened(app, force=force)
    assert header(app)["axes"]["outputs"]["tokens"] == tokens(translator.translate(TEXT, beam=4))
    assert "force" not in header(app)["about"] and address(app)["force"] is None
