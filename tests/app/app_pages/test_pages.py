"""The pages through Streamlit's own test runner: what they say, what they hand to the browser."""

from __future__ import annotations

import html
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import MAIN, Serve
from tests.app.mounted import address, header, mounted, opened, visible
from transformer_core.storage.measurements import json_file
from transformer_core.translator import Translator
from viz_app.serving.input_validation import MAX_CHARACTERS, MAX_TOKENS
from viz_app.serving.models import registry
from viz_app.text import texts
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE
from viz_app.text.glossary import definitions
from viz_app.ui import error_boundary, sentence_field
from viz_app.ui.escape_markdown import escape_markdown
from viz_app.ui.model import own_model


def damaged_copy(checkpoint: Path, folder: Path) -> Path:
    """Copy a checkpoint without the last byte of its weights; returns the file that is damaged."""
    shutil.copytree(checkpoint, folder)
    shard = next(folder.glob("*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:-1])
    return shard


def type_text(app: AppTest, text: str) -> AppTest:
    return app.text_area(key="text").set_value(text).run()


@pytest.mark.parametrize("text", ["", "x" * (MAX_CHARACTERS + 1)])
def test_it_opens_with_an_example_translated(app: AppTest, random_checkpoint: Path, text: str) -> None:
    """An address with a text that is longer than anybody reads is refused with a message."""
    app.query_params.update({"text": text} if text else {})
    app.run()
    assert bool(text) == any(f"{MAX_CHARACTERS + 1:,}" in each.value for each in app.warning)
    assert app.text_area(key="text").value == EXAMPLES[FIRST_EXAMPLE]
    expected = Translator.load(random_checkpoint).translate(EXAMPLES[FIRST_EXAMPLE], beam=4)
    actual = header(app)
    assert actual["axes"]["outputs"]["tokens"] == list(expected.attention.outputs.tokens)
    assert [step[0] for step in actual["steps"]] == pytest.approx(
        [2.718281828459045**s for s in expected.scores], rel=1e-5
    )
    assert texts("en")("translate.unmeasured") in visible(app)
    best = actual["selection"]  # `metrics.json` and arrays count from 0, the address from 1
    assert (best["kind"], best["layer"], best["head"]) == ("cross", 1, 2)
    assert address(app)["head"] == "cross.2.3"


@pytest.mark.parametrize(("sessions", "pause"), [(0, 50), (1, 50), (3, 150), (30, 250)])
def test_each_key_is_answered_while_few_share_the_server(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, sessions: int, pause: int
) -> None:
    monkeypatch.setattr(sentence_field, "connected_sessions", lambda: sessions)
    assert mounted(app.run())["headlight_sentence_field"] == {"pause": pause}
    assert mounted(app.switch_page("app_pages/lab.py").run())["headlight_sentence_field"] == {"pause": 250}


def test_a_link_restores_the_state_which_survives_languages_and_pages(app: AppTest) -> None:
    link = {"text": "The dog.", "head": "decoder.1.4", "unit": "words", "lang": "en", "off": "decoder.1.4"}
    opened(app, **link)
    selection = header(app)["selection"]
    assert (selection["kind"], selection["layer"], selection["head"], selection["unit"]) == ("decoder", 0, 3, "words")
    assert header(app)["off"] == "decoder.1.4" and {name: address(app)[name] for name in link} == link
    for off in ("decoder.1.4", None):
        app.session_state["explorer"] = {"selection": dict(selection), "off": off}
        app.run()
        assert address(app)["off"] == off
    type_text(app, "The bus.")
    app.segmented_control(key="lang").set_value("ko").run()
    assert app.text_area(key="text").value == "The bus."
    assert header(app)["texts"] == texts("ko").table("explorer")
    app.switch_page("app_pages/model.py").run()
    stays = {"lang": "ko", "text": "The bus.", "head": "decoder.1.4", "unit": "words"}
    assert {name: value for name, value in address(app).items() if value} == stays
    app.switch_page("app_pages/translate.py").run()
    assert app.text_area(key="text").value == "The bus."
    assert app.segmented_control(key="lang").value == "ko"


MARKUP = ("<script>alert(1)</script>", "**bold** {x} $x$ :red[a]", "../../etc/passwd", "\x00\x07")


def test_what_is_typed_is_translated_or_answered(app: AppTest, random_checkpoint: Path, language: str) -> None:
    t, long = texts(language, source=""), "dog " * (MAX_TOKENS + 1)
    tokens = len(Translator.load(random_checkpoint).tokenizer.encode(long.strip()))
    opened(app, lang=language)
    for text, expected in (
        ("나는 학교에 간다", t("translate.korean")),
        (long, t("translate.long", tokens=tokens, limit=MAX_TOKENS, over=tokens - MAX_TOKENS)),
        ("  ", t("translate.empty")),
    ):
        type_text(app, text)
        assert expected in visible(app) and "headlight_explorer" not in mounted(app)
        assert text != long or app.text_area(key="text").value == long, "what was typed is kept"
    type_text(app, "a b " * MAX_CHARACTERS)
    counts = {"characters": f"{4 * MAX_CHARACTERS:,}", "limit": f"{MAX_CHARACTERS:,}"}
    assert texts(language)("frame.too_long", **counts) in [each.value for each in app.warning]
    assert app.text_area(key="text").value == "  ", "the sentence before it comes back"
    assert "a b a b" not in repr(app.session_state), "the session keeps nothing of it"
    app.button(key="take-passive").click().run()
    assert app.text_area(key="text").value == EXAMPLES["passive"]
    assert "headlight_explorer" in mounted(app)
    type_text(app, "The ☃ is big.")
    assert f"{t('translate.unknown')} **☃**" in html.unescape(visible(app))
    for text in MARKUP:
        type_text(app, text)
        as_code = {code.value for code in app.code}  # the command holds the sentence, as plain text
        assert text not in "\n".join(line for line in visible(app).split("\n") if line not in as_code)


def press_tool(app: AppTest, name: str, number: int) -> AppTest:
    """Choose a tool in the menu of the explorer, as the browser reports it."""
    app.session_state["explorer"] = {**app.session_state["explorer"], "tool": {"name": name, "id": number}}
    return app.run()


def test_a_tool_of_the_menu_costs_nothing_until_it_is_chosen(app: AppTest) -> None:
    app.session_state["tool"] = None
    app.run()
    assert not app.get("download_button") and not app.code
    press_tool(app, "share", 1)
    assert not app.get("download_button") and "&head=cross.2.3" in visible(app), "the link"
    assert not press_tool(app, "<script>", 2).exception, "a tool that is not there"
    labels = [button.proto.label for button in press_tool(app, "download", 3).get("download_button")]
    assert labels[:3] == ["PDF", "SVG", "PNG"] and labels[-1] == texts("en")("translate.everything")
    assert {*labels[3:-1]} == {"CSV", "GIF", "JSON", "NPZ", "TikZ", texts("en")("translate.page")}
    assert len(labels) == len(set(labels))


def test_a_checkpoint_that_is_missing_or_damaged_is_named(
    app: AppTest, language: str, random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "checkpoints" / "nothing-here"
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(folder))
    opened(app, lang=language)
    t = texts(language)
    assert folder.name in visible(app) and str(tmp_path) not in visible(app)
    assert t("errors.checkpoint_title") in visible(app) and t("errors.checkpoint_own") in visible(app)
    assert not any("git checkout" in code.value for code in app.code), "Git does not have it"
    assert "Traceback" not in visible(app)
    with monkeypatch.context() as tracked:
        for module in (registry, error_boundary):
            tracked.setattr(module, "ROOT", tmp_path)
        tracked.setattr(error_boundary, "is_tracked", lambda missing: missing == folder)
        app.run()
        assert t("errors.checkpoint_way_out") in visible(app) and t("errors.checkpoint_own") not in visible(app)
        assert "git checkout -- checkpoints/nothing-here" in [code.value for code in app.code]
    shard = damaged_copy(random_checkpoint, folder)
    assert shard.name in visible(app.run())
    shutil.copy(random_checkpoint / shard.name, shard)
    assert "headlight_explorer" in mounted(app.run()), "once the file is back, a reload is enough"


def test_an_unusable_setting_is_named(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_THREADS", "many")
    app.run()
    assert "HEADLIGHT_THREADS" in visible(app)


def test_nobody_sees_a_stack_trace(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    text = texts("en")("errors.unexpected")
    monkeypatch.setattr("viz_app.ui.edit_links.edit_in_figures", fail)
    app.run()
    app.button(key="edit-in-figures").click().run()
    assert text in visible(app) and "secret detail" not in visible(app)
    assert text not in visible(app.run()), "a click that fails leaves the session usable"
    monkeypatch.setattr("viz_app.serving.models.loader.get_translation_service", fail)
    for page in ("translate", "model", "figures"):
        opened(app, page)
        assert text in visible(app) and "secret detail" not in visible(app), page


def test_the_page_model_of_a_model_of_which_nothing_was_measured(
    app: AppTest, random_checkpoint: Path, language: str
) -> None:
    """Its card, what its scores would mean, and the commands of the README, which its own test runs."""
    t = texts(language)
    opened(app, "model", lang=language)
    assert t("model.unmeasured") in visible(app) and t("atlas.none") in visible(app)
    assert t("roles.penalty") not in visible(app)
    assert "headlight_atlas" not in mounted(app)
    assert "This model is not trained." in visible(app)
    assert "![" not in visible(app), "an image in a card would be fetched from somewhere else"
    parameters = sum(p.numel() for p in Translator.load(random_checkpoint).model.parameters())
    assert t("model.millions", count=f"{parameters / 1e6:.1f}") in [metric.value for metric in app.metric]
    (bleu,) = [each for each in app.metric if each.label == t("model.everyday")]
    assert definitions()[language]["bleu"][1] in bleu.help
    readme = (MAIN.parents[1] / "README.md").read_text(encoding="utf-8")
    shown = [code.value for code in app.code]
    assert own_model.TRAIN in shown and own_model.TRAIN in readme
    assert own_model.OPEN in shown and own_model.OPEN in readme
    assert t("own.title") in [header.value for header in app.header]


@pytest.mark.parametrize(
    ("language", "scores", "weak"),
    [
        ("en", {"test": {"bleu": 31.5}}, False),
        ("en", {"my *set*": {"bleu": 18.2}}, True),
        ("ko", {"valid": {"bleu": 25.0, "part": "validation"}}, False),
        ("ko", {"<b>x</b>": {"bleu": 12.0}}, True),
    ],
    ids=str,
)
def test_a_model_of_ones_own_is_shown_by_the_set_that_it_was_evaluated_on(
    scores: dict[str, dict[str, float]], weak: bool, app: AppTest, serve: Serve, language: str
) -> None:
    """Not only by tatoeba, which is a set of the shipped models."""
    serve({"scores": scores})
    t, ((name, score),) = texts(language), scores.items()
    values = {"bleu": f"{score['bleu']:.1f}", "set": escape_markdown(name)}
    opened(app, lang=language)
    assert t("translate.weak" if weak else "translate.evaluated", **values) in visible(app)
    assert t("translate.unmeasured") not in visible(app)
    opened(app, "model")
    assert t("model.unmeasured") not in visible(app)
    assert (t("model.weak", **values) in visible(app)) == weak
    (shown,) = [each.value for each in app.metric if each.label == t("model.bleu_of", set=values["set"])]
    assert shown == values["bleu"]


def test_answers_to_contrastive_tests_count_as_an_evaluation(app: AppTest, serve: Serve) -> None:
    serve({"probes": {"lingeval": {"groups": {"np_agreement": {"right": 0.9, "asked": 100}}}}})
    assert texts("en")("translate.unmeasured") not in visible(app.run())
    assert texts("en")("model.unmeasured") not in visible(opened(app, "model"))


BROKEN = {
    "tokens are not a number": {"training": {"max_tokens": float("nan")}},
    "endless": {"scores": {"tatoeba": {"bleu": 10**400}}, "alignment": {"best_head": None}},
    "lists": {name: [1] for name in ("languages", "training", "scores", "alignment", "probes")},
}


@pytest.mark.parametrize("metrics", BROKEN.values(), ids=BROKEN)
def test_no_page_breaks_on_metrics_of_another_form(app: AppTest, serve: Serve, metrics: dict[str, Any]) -> None:
    serve(metrics)
    app.query_params["text"] = "The dog."
    for page in ("translate", "figures", "model"):
        assert texts("en")("errors.unexpected_title") not in visible(opened(app, page)) and not app.error
    named = [warning.value for warning in app.warning if "metrics.json" in warning.value]
    assert len(named) == ("max_tokens" not in str(metrics)), "a fact that is no plain value is left out, as lists are"


def test_what_was_measured_of_another_model_is_not_shown(app: AppTest, serve: Serve, language: str) -> None:
    serve(None, {"scores.json": json_file({"tatoeba-test": {"bleu": 38.0}})}, weights_hash="0" * 64)
    opened(app, "model", lang=language)
    assert "tatoeba-test" not in "".join(table.value.to_csv() for table in app.table)
    before, _ = texts(language)("model.not_derived", problem="|").split("|")
    assert [warning.value for warning in app.warning if before in warning.value and "000000000000" in warning.value]


def test_the_model_page_tells_what_was_measured(app: AppTest, serve: Serve, language: str) -> None:
    counts = {"heads": 4, "looking": 3, "resting": 2, "fixed_offset": 1}
    metrics = {
        "scores": {
            "tatoeba-test": {"bleu": 38.0, "part": "test"},
            "<b>own</b> *set*": {"bleu": 1.0},
            "newstest2013": {"bleu": 7.0, "part": "validation"},
        },
        "heads": {"cross": {**counts, "information": [[0.4, 0.2], [-0.1, 0.3]]}, "sentences": 80},
        "alignment": {"aer": {"output": [[0.9, 0.8], [0.7, 0.55]]}, "sentences": 100},
        "probes": {"lingeval": {"groups": {"np_agreement.mt": {"right": 0.75, "asked": 4}}}},
        "training": {"steps": 7500, "<i>own</i>": "*value*", "head_penalty": 0.5},
    }
    serve(metrics)
    opened(app, "model", lang=language)
    t = texts(language)
    assert t("roles.penalty") in visible(app)
    tests, development, heads, probes, _, training = (table.value.to_csv(index=False) for table in app.table)
    assert f"{t('model.set_everyday')} · tatoeba-test,38.0" in tests
    assert "&#60;b&#62;own&#60;/b&#62; &#42;set&#42;,1.0" in tests
    assert t("model.development_set") in development and f"{t('model.set_news')} · newstest2013,7.0" in development
    assert f"{t('model.probe_np_agreement')},75.0,50.0,4" in probes
    assert f'{t("model.fact_steps")},"7,500"' in training and "&#42;value&#42;" in training and "<i>" not in training
    assert f"{t('explorer.kind_cross')},4,3,2,1" in heads
    assert t("model.look_sentences", count=80) in [caption.value for caption in app.caption]
    information, rates = (block.proto.body for block in app.get("html") if 'class="rates"' in block.proto.body)
    assert '<td style="--share: 60%">40</td>' in information and '<td style="--share: 0%">-10</td>' in information
    assert rates.count("<td") == 4
    assert '<td class="best" style="--share: 60%">55</td>' in rates
    assert '<td style="--share: 0%">90</td>' in rates
    app.button("open-aligners").click().run()
    assert address(app) | {"zoom": "heads", "order": "alignment", "head": "cross.2.2"} == address(app)
