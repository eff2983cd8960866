"""The widget: its selection is Python's to read and set, and Python's answers are the model's."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

pytest.importorskip("anywidget")

from tests.app.conftest import OTHER, SENTENCE
from tests.foreign_maps import RAGGED, encoder_only
from transformer_core.analysis.ablation import translate_without
from transformer_core.translator import Translator
from viz_app import ExplorerWidget
from viz_app.components.buffer import split_buffer
from viz_app.components.explorer.selection import Selection
from viz_app.serving.models.translation_service import BEAM
from viz_app.standalone import document


def report(widget: Any, **values: Any) -> None:
    """What the browser sends."""
    widget.set_state(values)


def header(widget: Any) -> dict[str, Any]:
    return split_buffer(widget._payload)[0]


def test_python_observes_and_sets_the_selection(translator: Translator) -> None:
    widget = ExplorerWidget(translator.translate(OTHER))
    seen: list[Selection] = []
    widget.observe(lambda change: seen.append(change.new), "selection")
    chosen = dataclasses.replace(widget.selection, kind="encoder", layer=1, head=3)
    report(widget, selection=chosen.to_dict())
    assert widget.selection == chosen and seen == [chosen]
    widget.selection = dataclasses.replace(chosen, layer=77, head=0)
    assert widget.selection.layer == translator.config.num_layers - 1
    assert widget.get_state("selection")["selection"] == widget.selection.to_dict()


@pytest.mark.parametrize("wrong", [None, {}, "x", {"kind": "cross"}, {**Selection().to_dict(), "kind": "<b>"}])
def test_a_report_without_sense_changes_nothing(wrong: object, translator: Translator) -> None:
    widget = ExplorerWidget(translator.translate(OTHER))
    before = widget.selection
    report(widget, selection=wrong)
    assert widget.selection == before


def test_branches_and_heads_off_are_the_model_s(translator: Translator) -> None:
    best = translator.translate(SENTENCE, beam=BEAM)
    widget = ExplorerWidget(best)
    report(widget, selection=dataclasses.replace(widget.selection, branch=1).to_dict())
    tokens = translator.tokenizer.tokens(best.hypotheses[1].ids)
    assert header(widget)["beam"]["shown"] == 1
    assert header(widget)["axes"]["outputs"]["tokens"][: len(tokens)] == list(tokens)
    report(widget, _off="cross.0.1")
    expected = translate_without(translator, best, [("cross", 0, 1)], beam=BEAM)
    assert widget._findings["off"]["after"] == pytest.approx(expected.log_probability)
    report(widget, _off=None)
    assert widget._findings["off"] is None


def test_an_example_that_is_pressed_is_translated(translator: Translator) -> None:
    widget = ExplorerWidget(translator.translate(OTHER))
    report(widget, _sentence={"name": SENTENCE, "id": "1"})
    assert header(widget)["about"]["text"] == SENTENCE
    tokens = header(widget)["axes"]["outputs"]["tokens"]
    best = translator.translate(SENTENCE, beam=BEAM)
    assert tokens[: len(best.tokens)] == list(best.tokens)


def test_each_widget_has_its_own_key(translator: Translator) -> None:
    first, second = (ExplorerWidget(translator.translate(OTHER)) for _ in range(2))
    assert first._key == header(first)["key"] != header(second)["key"] == second._key


def test_any_model_s_maps_need_no_answers() -> None:
    widget = ExplorerWidget(encoder_only(), language="ko")
    assert widget.selection.kind == "encoder" and header(widget)["about"]["answers"] == {"off": False, "branches": [0]}
    report(widget, selection=dataclasses.replace(widget.selection, layer=2, head=0).to_dict())
    assert RAGGED[widget.selection.layer] > 0
    data, _ = widget._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/svg+xml"} <= set(data)


def test_too_large_maps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 100)
    with pytest.raises(document.PageTooLarge):
        ExplorerWidget(encoder_only())
