"""Results that show themselves: table and figure have the numbers, are small, and closed to hostile text."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.app.components.test_bertviz_document import HOSTILE
from tests.app.conftest import OTHER
from tests.app.read_html import Page
from tests.browser.explorer_samples import sample
from tests.foreign_maps import decoder_only, encoder_only
from tests.hostile import LONE, STRINGS
from transformer_core.analysis import minimal_pairs
from transformer_core.analysis.attribution.attribute import attribute
from transformer_core.analysis.attribution.methods import Contrast
from transformer_core.analysis.circuit import circuit, read_task
from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation
from transformer_core.analysis.effects.direct_effects import direct_effects
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.analysis.effects.part_effects import part_effects
from transformer_core.analysis.flow import flow
from transformer_core.analysis.lens import logit_lens
from transformer_core.analysis.patching import patching
from transformer_core.attention_maps import KINDS
from transformer_core.translator import Translator
from viz_app.figures.model.figure import display_label
from viz_app.notebook.display import MAX_BYTES, mimebundle
from viz_app.notebook.views import view_of

TARGET = "Ein Haus."
PAIRS = read_task("pronoun.en-de")[:2]
SHORT = ("The house.", "A cat is old today.")
RESULTS: dict[str, Callable[[Translator], Any]] = {
    "translation": lambda model: model.translate(OTHER),
    "maps": lambda model: model.translate(OTHER).attention,
    "forced": lambda model: model.teacher_force(OTHER, TARGET),
    "effects": lambda model: head_effects(model, OTHER, TARGET),
    "parts": lambda model: part_effects(model, OTHER, TARGET),
    "removal": lambda model: cumulative_ablation(model, OTHER, TARGET),
    "attribution": lambda model: attribute(model, OTHER, TARGET, method="grad-x-input"),
    "lens": lambda model: logit_lens(model, OTHER, TARGET),
    "heads patched": lambda model: patching(model, *SHORT, answers=("Das Haus.", "Die Katze ist alt.")),
    "circuit": lambda model: circuit(model, PAIRS),
    "faithfulness": lambda model: circuit(model, PAIRS).faithfulness(random_orders=1),
    "flow": lambda model: flow(model, (OTHER, TARGET), position=1),
    "direct": lambda model: direct_effects(model, OTHER, TARGET, position=1),
}


@pytest.fixture(autouse=True)
def any_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random weights tell sentences apart only a little."""
    monkeypatch.setattr(minimal_pairs, "MIN_DIFFERENCE", 0.0)


def rows(bundle: dict[str, str]) -> list[str]:
    """The cells of the table, row after row."""
    table = ElementTree.fromstring(bundle["text/html"].split("<img")[0])
    return [cell.text or "" for cell in table.iter("td")]


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_table_and_a_small_figure(name: str, language: str, translator: Translator) -> None:
    bundle = mimebundle(RESULTS[name](translator), language)
    assert set(bundle) == {"text/html", "image/svg+xml"}
    assert 1_000 < len(bundle["image/svg+xml"].encode()) <= MAX_BYTES
    inside = bundle["text/html"].split(";base64,")[1].split('"')[0]
    assert base64.b64decode(inside).decode() == bundle["image/svg+xml"]
    assert rows(bundle)


def test_the_table_names_the_strongest_heads(translator: Translator) -> None:
    effects = head_effects(translator, OTHER, TARGET)
    values = {
        (f"{kind}.{layer + 1}", str(head + 1)): float(value)
        for kind in KINDS
        for (layer, head), value in np.ndenumerate(effects.effects[kind].sum(dim=2).numpy())
    }
    strongest = sorted(values, key=lambda place: -abs(values[place]))[:5]
    cells = rows(effects._repr_mimebundle_())
    assert [tuple(cells[at : at + 2]) for at in range(0, 15, 3)] == strongest
    assert [float(cells[at + 2]) for at in range(0, 15, 3)] == pytest.approx([values[p] for p in strongest], abs=6e-4)
    np.testing.assert_allclose(
        np.asarray(view_of(effects).figure.values).ravel(),  # type: ignore[attr-defined]
        np.concatenate([effects.effects[kind].sum(dim=2).numpy().ravel() for kind in KINDS]),
        rtol=1e-6,
    )


def test_the_lens_names_the_most_probable_token_in_each_cell(translator: Translator) -> None:
    lens = logit_lens(translator, OTHER, TARGET)
    name = translator.tokenizer.token
    cells = [[name(ids[0]) for ids in layer] for layer in lens.top.tolist()]
    assert view_of(lens).figure.cell_labels == cells  # type: ignore[attr-defined]
    rank = lens.rank.tolist()
    since = [
        next((layer for layer in range(len(rank)) if all(row[at] == 1 for row in rank[layer:])), "-")
        for at in range(len(lens.run.tokens))
    ]
    expected = {(display_label(token), str(layer)) for token, layer in zip(lens.run.tokens, since, strict=True)}
    listed = rows(mimebundle(lens))
    assert {*zip(listed[::2], listed[1::2], strict=True)} <= expected and len(listed) == 2 * min(5, len(since))


def test_a_contrast_has_its_one_row(translator: Translator) -> None:
    result = attribute(translator, OTHER, TARGET, method="gradient", contrast=Contrast(1, 9, 8))
    values = np.asarray(view_of(result).figure.values)  # type: ignore[attr-defined]
    np.testing.assert_allclose(values, result.source.numpy())
    assert len(values) == 1


def test_heads_that_a_model_lacks_are_not_shown() -> None:
    maps = encoder_only()
    assert "image/svg+xml" in maps._repr_mimebundle_()


def test_a_large_figure_becomes_pixels_or_is_left_out() -> None:
    tokens = [f"token{number}" for number in range(40)]
    bundle = mimebundle(decoder_only(tokens, layers=1, heads=1))
    assert "image/svg+xml" not in bundle
    sizes = [len(base64.b64decode(text)) for kind, text in bundle.items() if kind == "image/png"]
    assert sizes and sizes[0] <= MAX_BYTES


def test_without_room_words_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz_app.notebook.display.MAX_BYTES", 100)
    bundle = mimebundle(encoder_only())
    assert set(bundle) == {"text/html"} and "show()" in bundle["text/html"] and "<img" not in bundle["text/html"]


def test_hostile_tokens_stay_text() -> None:
    tokens = [*STRINGS, *HOSTILE, LONE]
    maps = sample(tokens, tokens)
    bundle = mimebundle(maps)
    assert {tag for tag, *_ in Page(bundle["text/html"]).tags} <= {"table", "thead", "tbody", "tr", "th", "td", "img"}
    if "image/svg+xml" in bundle:
        tags = {element.tag.split("}")[-1] for element in ElementTree.fromstring(bundle["image/svg+xml"]).iter()}
        assert not tags & {"script", "foreignObject", "a", "iframe", "animate", "set"}


@pytest.mark.process
def test_the_core_alone_shows_text(random_checkpoint: Path) -> None:
    code = f"""
import sys
import transformer_core as tc
bundle = tc.load({str(random_checkpoint)!r}).translate("A house.")._repr_mimebundle_()
assert set(bundle) == {{"text/plain"}} and bundle["text/plain"].startswith("Translation"), bundle
assert not any(name.split(".")[0] in ("viz_app", "streamlit", "IPython") for name in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_what_has_no_view_shows_text(translator: Translator) -> None:
    bundle = translator.translate(OTHER).attention.source._repr_mimebundle_()
    assert set(bundle) == {"text/plain"}
    with pytest.raises(TypeError, match="int has no view"):
        view_of(3)
