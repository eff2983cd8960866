"""Models that read Korean or Arabic: the app's words, examples and checks follow the model."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.app_pages.test_pages import type_text
from tests.app.mounted import headers, mounted, visible
from tests.random_model import save_random_model
from transformer_core.text.tokenizer import Tokenizer
from viz_app.lessons.lab.benches.swap.minimal_pairs import TRANSLATED_PAIRS, minimal_pairs
from viz_app.serving.input_validation import validate_sentence
from viz_app.text import texts
from viz_app.text.examples import EXAMPLES, examples_of

KOREAN = examples_of("ko")
ARABIC = ("الكلب الصغير يلعب في الحديقة.", "أعلم أنه يقرأ كتابا.")
CHOICE = "model_choice"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder, sentences = tmp_path_factory.mktemp("languages"), [*KOREAN.values(), *ARABIC, *EXAMPLES.values()]

    @cache
    def made(source: str) -> Path:
        shape: dict[str, Any] = {"vocab_size": 250, "heads": 2, "extra_length": 4}
        metrics = {"languages": {"source": source, "target": "en"}}
        return save_random_model(folder / f"{source}-en", seed=5, sentences=sentences, metrics=metrics, **shape)

    return made


@pytest.fixture
def start(checkpoint: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    def started(source: str, app: AppTest, *others: str) -> AppTest:
        monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(checkpoint(source)))
        folders = [str(checkpoint(source)), *(str(checkpoint(other)) for other in others)]
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", os.pathsep.join(folders))
        return app.run()

    return started


def choose(app: AppTest, name: str) -> None:
    app.selectbox(key=CHOICE).set_value(name).run()


def test_a_model_that_reads_korean(start: Callable[..., AppTest], app: AppTest, language: str) -> None:
    app.query_params["lang"] = language
    start("ko", app)
    field = app.text_area(key="text")
    assert field.value == KOREAN["word_order"]
    assert field.label == {"en": "Sentence in Korean", "ko": "한국어 문장"}[language]
    (header,) = headers(app)
    assert header["languages"] == {"source": "ko", "target": "en"}
    type_text(app, "")
    assert texts(language, source="ko")("translate.empty") in visible(app)
    assert "English" not in visible(app).replace("→ English", "") and "영어" not in visible(app).replace("→ 영어", "")
    app.button(key="take-passive").click().run()
    assert app.text_area(key="text").value == KOREAN["passive"]
    assert "headlight_explorer" in mounted(app)


def test_a_model_that_reads_arabic_has_no_examples(start: Callable[..., AppTest], app: AppTest) -> None:
    app.query_params["lang"] = "en"
    start("ar", app)
    assert app.text_area(key="text").value == ""
    assert "Type a sentence in Arabic. There are no examples in it." in visible(app)
    type_text(app, "한국어")
    assert "This model does not read Korean." in visible(app)
    guide = (Path(__file__).resolve().parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    (commands,) = (each.value.splitlines() for each in app.code)
    assert len(commands) == 2 and all(command in guide for command in commands)
    type_text(app, ARABIC[0])
    assert "headlight_explorer" in mounted(app)
    app.switch_page("app_pages/lessons.py").run()


def test_examples_follow_the_model_and_own_texts_stay(start: Callable[..., AppTest], app: AppTest) -> None:
    app.query_params["lang"] = "en"
    start("ko", app, "en", "ar")
    field = app.text_area(key="text")
    assert field.value == KOREAN["word_order"]
    choose(app, "en-en")
    assert app.text_area(key="text").value == EXAMPLES["word_order"]
    type_text(app, "The dog reads.")
    choose(app, "ar-en")
    assert app.text_area(key="text").value == "The dog reads."
    type_text(app, "")
    choose(app, "ko-en")
    type_text(app, KOREAN["question"])
    choose(app, "ar-en")
    assert app.text_area(key="text").value == ""


def test_korean_is_refused_by_what_the_model_reads(checkpoint: Callable[[str], Path]) -> None:
    knows = Tokenizer.load(checkpoint("ko") / "tokenizer.model")
    english = Tokenizer.train(list(EXAMPLES.values()), vocab_size=120, threads=1)
    text = KOREAN["negation"]
    assert validate_sentence(text, knows, reads="ko").status == "good"
    assert validate_sentence(text, knows, reads="ko-KR").status == "good"
    assert validate_sentence(text, knows, reads="en").status == "korean"
    assert validate_sentence(text, knows).status == "good", "its vocabulary decides"
    assert validate_sentence(text, english).status == "korean"


def test_pairs_of_the_lab_are_for_models_that_read_english() -> None:
    assert minimal_pairs(False, "en-GB") == minimal_pairs(False, "") == TRANSLATED_PAIRS
    assert minimal_pairs(False, "ko") == minimal_pairs(True, "de") == {}


def test_examples_say_the_same_in_every_language() -> None:
    for language in ("de", "fr", "ko", "de-AT"):
        assert examples_of(language).keys() == EXAMPLES.keys()
        assert not set(examples_of(language).values()) & set(EXAMPLES.values())
    assert examples_of("") is EXAMPLES and examples_of("ja") == {}
