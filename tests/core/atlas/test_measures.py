"""The measures of an atlas against its own numbers; parts that are missing give none."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.atlas_samples import PARTS, drawn_atlas, with_controls
from transformer_core.atlas.checks import check
from transformer_core.atlas.measures import NAMES, Measure, measure_named, measures
from transformer_core.atlas.record import Atlas
from transformer_core.atlas.storage import load_atlas, save_atlas

SHIPPED = Path(__file__).resolve().parents[3] / "checkpoints" / "en-de" / "derived" / "atlas.json"


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    found = drawn_atlas()
    check(found)
    return found


@pytest.fixture(scope="module")
def found(atlas: Atlas) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures(atlas)}


def test_every_part_gives_its_measures(atlas: Atlas, found: dict[str, Measure]) -> None:
    assert tuple(found) == NAMES
    for measure in found.values():
        for numbers in measure.kinds.values():
            for array in (numbers.value, numbers.low, numbers.high, numbers.baseline, numbers.q):
                assert array.shape == (atlas.layers, atlas.heads)
            with np.errstate(invalid="ignore"):
                assert not (numbers.low > numbers.value).any() and not (numbers.high < numbers.value).any()


def test_a_missing_part_gives_no_measure(atlas: Atlas) -> None:
    for part in PARTS:
        names = {measure.name for measure in measures(msgspec.structs.replace(atlas, **{part: None}))}
        gone = set(NAMES) - names
        assert (
            gone
            == {
                "looks": {"entropy", "distance", "weight-separator", "weight-end", "weight-start"},
                "links": {"relation"},
                "align": {"alignment-output", "alignment-input"},
                "effects": {"effect", "effect-zero", "gradient"},
                "flow": {"flow"},
                "decode": {"bleu", "chrf"},
                "prune": set(),
                "resembles": {"nearest"},
                "circuits": set(),
            }[part]
        )
    empty = msgspec.structs.replace(atlas, **dict.fromkeys(PARTS))
    assert measures(empty) == ()
    with pytest.raises(ValueError, match="no measure"):
        measure_named(empty, "")


def test_numbers_are_those_of_the_atlas(atlas: Atlas, found: dict[str, Measure]) -> None:
    assert atlas.effects and atlas.decode and atlas.looks and atlas.align and atlas.resembles
    for kind in ("encoder", "decoder", "cross"):
        effect = found["effect"].kinds[kind]
        np.testing.assert_array_equal(effect.value, atlas.effects.changes["mean"][kind].value)
        np.testing.assert_array_equal(effect.baseline, atlas.effects.changes["random"][kind].value)
        np.testing.assert_array_equal(effect.q, atlas.effects.q["mean"][kind])
    controlled = with_controls(atlas)
    assert controlled.effects
    for name, control in (("effect", "mean/random-mean"), ("effect-zero", "zero/random")):
        numbers = measure_named(controlled, name).kinds["cross"]
        baseline = controlled.effects.changes[control.split("/")[1]]["cross"].value
        np.testing.assert_array_equal(numbers.baseline, baseline)
        np.testing.assert_array_equal(numbers.q, controlled.effects.q[control]["cross"])
    bleu = found["bleu"].kinds["cross"]
    assert bleu.value[1, 3] == atlas.decode.heads["cross"][1][3].bleu - atlas.decode.whole.bleu
    end = found["weight-end"].kinds
    assert set(end) == {"encoder", "cross"}, "no rule of the decoder looks at </s>"
    np.testing.assert_array_equal(end["cross"].low, atlas.looks.kinds["cross"].patterns["end"].weight.low)
    nearest = found["nearest"].kinds["encoder"]
    assert nearest.value[0, 2] == atlas.resembles.kinds["encoder"].nearest[0][2][1].distance, "of this model"
    assert nearest.detail[0][3] == "2.1" and nearest.detail[1][3] == "1.1"


def test_the_gain_is_the_largest_of_all_rules(atlas: Atlas, found: dict[str, Measure]) -> None:
    assert atlas.looks and atlas.links
    for layer in range(atlas.layers):
        for head in range(atlas.heads):
            gains = {
                name: rule.share.value[layer, head] - max(rule.uniform, rule.fixed or 0.0)
                for name, rule in atlas.looks.kinds["encoder"].patterns.items()
            }
            for link in atlas.links.tested:
                if (link.layer, link.head) == (layer, head):
                    at = atlas.links.directions.index(link.direction), atlas.links.relations.index(link.relation)
                    gains[f"link {link.relation} {link.direction}"] = atlas.links.gain.value[(*at, layer, head)]
            best = max(gains, key=gains.__getitem__)
            numbers = found["gain"].kinds["encoder"]
            assert numbers.detail[layer][head] == best
            assert numbers.value[layer, head] == pytest.approx(gains[best], abs=1e-12)


def test_a_rare_relation_does_not_count(atlas: Atlas, found: dict[str, Measure]) -> None:
    assert atlas.links
    numbers = found["relation"].kinds["encoder"]
    np.testing.assert_allclose(numbers.value, atlas.links.gain.value[:, :2].max(axis=(0, 1)))
    assert not any("det" in detail for row in numbers.detail for detail in row)


def test_an_unknown_name_is_refused(atlas: Atlas, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be one of gain, relation, effect"):
        measure_named(atlas, "dreams")
    assert measure_named(atlas, "").name == "gain"
    save_atlas(atlas, tmp_path / "atlas.json")
    assert [measure.name for measure in measures(load_atlas(str(tmp_path / "atlas.json")))] == list(NAMES)
