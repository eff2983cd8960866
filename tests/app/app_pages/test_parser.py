"""The pages with a parser beside a translator: the sentence stays as typed, and the parser reads its words."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import with_open_menus
from tests.app.mounted import address, header, mounted, opened, visible
from transformer_core.checkpoint import load_checkpoint, save_checkpoint
from transformer_core.constituency_parser import ConstituencyParser
from transformer_core.translator import Translator
from viz_app.serving.input_validation import MAX_CHARACTERS
from viz_app.text import texts
from viz_app.text.examples import TREE_EXAMPLES

HOSTILE = (
    "👨‍👩‍👧 \U0001f600 \u200b",
    "\u202eabc \u05e9\u05dc\u05d5\u05dd",
    "</script><img src=x onerror=alert(1)>",
    "( ) -LRB- (S XX )S",
    "\x00 \x07",
    "` \\ * _ [x](y) $a$ :red[b]",
    "( " * 60,
)


@pytest.fixture
def app(app_with_parser: AppTest, parser_checkpoint: Path) -> AppTest:
    """The address chooses the parser."""
    opened = with_open_menus(app_with_parser)
    opened.query_params.update(model=parser_checkpoint.name, text="The dog doesn't bark.")
    return opened


def source_tokens(app: AppTest) -> str:
    tokens: list[str] = header(app)["axes"]["source"]["tokens"]
    return "".join(tokens[:-1]).replace("\u2581", " ").strip()


def test_the_parser_reads_the_words_and_the_sentence_stays_as_typed(
    app: AppTest, parser_checkpoint: Path, random_checkpoint: Path
) -> None:
    app.run()
    assert source_tokens(app) == "The dog does n't bark ."
    assert app.text_area(key="text").value == address(app)["text"] == "The dog doesn't bark."
    outputs = header(app)["axes"]["outputs"]["tokens"]
    tree = ConstituencyParser(Translator.load(parser_checkpoint)).parse("The dog does n't bark .", beam=4)
    assert tree.translation is not None
    assert outputs == list(tree.translation.attention.outputs.tokens)
    assert sum("XX" in token for token in outputs) == 6
    free, about = mounted(app)["headlight_explorer_findings"]["free"], header(app)["about"]
    assert (about["text"], about["source"]) == ("The dog doesn't bark.", "The dog does n't bark .")
    assert free["source"] == about["source"], "what is computed later belongs to the words that the parser reads"
    assert header(app)["tree"]["constrained"] and {"nodes", "repairs"} <= free.keys()
    app.selectbox(key="model_choice").set_value(random_checkpoint.name).run()
    assert source_tokens(app) == "The dog doesn't bark.", "another model gets the sentence as it was typed"
    assert header(app)["texts"]["translation"] == texts("en")("explorer.translation")


def test_it_is_called_after_its_trees_and_nothing_speaks_of_bleu(app: AppTest, language: str) -> None:
    opened(app, lang=language)
    t = texts(language)
    names = app.selectbox(key="model_choice").options
    assert any(t("languages.zxx") in str(name) for name in names)
    assert "BLEU" not in visible(app)
    assert header(app)["texts"]["translation"] == texts(language, parses=True)("explorer.translation")
    assert "BLEU" not in visible(opened(app, "model")) and t("model.title") in visible(app)


def test_a_session_begun_empty_offers_sentences_that_show_trees(app: AppTest) -> None:
    opened(app, text="")
    labels = [button.label for button in app.button if str(button.key).startswith("take-")]
    assert len(labels) == len(TREE_EXAMPLES)
    assert all(any(text in label for label in labels) for text in TREE_EXAMPLES.values())
    app.button(key="take-garden_path").click().run()
    assert source_tokens(app) == "The old man the boats ."


def test_whatever_is_typed_gives_a_tree_or_a_message(app: AppTest) -> None:
    opened(app, text="a " * (MAX_CHARACTERS // 2))
    assert "2,000" in visible(app) or "2000" in visible(app), "refused before any work"
    app.text_area(key="text").set_value("개가 짖는다").run()
    assert texts("en")("translate.korean") in visible(app)
    for text in HOSTILE:
        app.text_area(key="text").set_value(text).run()
        assert not app.error, text
        assert app.info or header(app)["axes"]["outputs"]["tokens"], text


def test_its_scores_are_told_beside_those_of_the_paper(
    app: AppTest, parser_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    folder = tmp_path / parser_checkpoint.name
    given = load_checkpoint(parser_checkpoint)
    scores = {"f1": 61.5, "f1_95": [60.25, 62.75], "sentences": 245}
    search = {"beam": 21, "alpha": 0.3}
    metrics = {
        "task": "parsing",
        "languages": {"source": "en", "target": "zxx"},
        "scores": {
            "ptb-sample-test": {**search, "bracketing": scores},
            "<b>": {**search, "bracketing": {**scores, "f1": 60.5, "f1_95": [60, 61]}},
        },
    }
    save_checkpoint(folder, given.model.state_dict(), given.model.config, given.tokenizer, metrics=metrics)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    opened(app, lang=language)
    t = texts(language)
    told = t("translate.parses_badly", score="62", count="245", holds=t("model.trees_newspaper"))
    assert told in visible(app)
    app.switch_page("app_pages/model.py").run()
    assert t("model.parsing") in visible(app)
    assert "91.3" in visible(app) and "92.7" in visible(app)
    assert any("61.5 (60.2–62.8)" in table.value.to_string() for table in app.table)
    assert app.metric[2].value == "61.5"
