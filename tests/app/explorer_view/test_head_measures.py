"""Orders and filters of the explorer's tiles: from an atlas, or from roles that were measured on a few sentences."""

from __future__ import annotations

import numpy as np
import pytest

from tests.atlas_samples import drawn_atlas, head_atlas, with_controls
from transformer_core.atlas.measures import measures
from transformer_core.attention_maps import KINDS
from viz_app.explorer_view.head_measures import head_measures, likeliest_filters, order_name, role_filters
from viz_app.serving.measurements.head_atlas import HeadAtlas
from viz_app.text import texts
from viz_app.text.role_words import role_words


def test_the_numbers_are_those_of_the_atlas_in_the_unit_of_the_label(language: str) -> None:
    atlas, t = drawn_atlas(), texts(language)
    shown = {each["name"]: each for each in head_measures(head_atlas(atlas), t)}
    assert list(shown) == [order_name(each.name) for each in measures(atlas)] + ["atlas-role"]
    for measure in measures(atlas):
        each = shown[order_name(measure.name)]
        assert each["label"] == t(f"atlas.measure_{measure.name.replace('-', '_')}")
        factor = 100 if measure.unit in ("share", "points") else 1
        for kind, numbers in measure.kinds.items():
            for name in ("value", "low", "high", "baseline"):
                given = np.array([np.nan if v is None else v for v in each["kinds"][kind][name]])
                np.testing.assert_allclose(given, factor * getattr(numbers, name).ravel(), atol=1e-5)


def test_the_order_by_role_groups_heads_and_puts_the_best_first() -> None:
    result = head_atlas(drawn_atlas())
    by_role = head_measures(result, texts("en"))[-1]
    filters = [each["label"] for each in role_filters(result, texts("en"))["filters"]]
    for kind in KINDS:
        heads = [head for head in result.roles if head[0] == kind]
        ranks = by_role["kinds"][kind]["rank"]
        assert [rank is None for rank in ranks] == [not result.roles[head] for head in heads]
        ranked = sorted((rank, result.roles[head][0]) for rank, head in zip(ranks, heads, strict=True) if rank)
        places = [(filters.index(role.label), -role.value) for _, role in ranked]
        assert places == sorted(places)


@pytest.mark.parametrize("controlled", [False, True])
def test_a_filter_is_named_and_has_the_heads_that_were_tested(controlled: bool, language: str) -> None:
    atlas, t = drawn_atlas(), texts(language)
    if controlled:
        atlas = with_controls(atlas)
    result = head_atlas(atlas)
    shown = role_filters(result, t)
    words = {each["label"]: each["words"] for each in shown["filters"]}
    assert words["significant"] == t("atlas.survives" if controlled else "atlas.significant")
    assert words["none"] == t("atlas.no_role")
    assert atlas.effects
    for kind in KINDS:
        passed = atlas.effects.q["mean/random-mean" if controlled else "mean"][kind] <= 0.05
        if controlled:
            passed &= atlas.effects.differences["mean/random-mean"][kind].value > 0
        labels = shown["labels"][kind]
        assert ["significant" in each for each in labels] == passed.ravel().tolist()
        heads = [head for head in result.roles if head[0] == kind]
        for head, each in zip(heads, labels, strict=True):
            roles = result.roles[head]
            assert [label for label in each if label != "significant"] == ([role.label for role in roles] or ["none"])
            assert all(role.label in words for role in roles)
    links = [label for label in words if label.startswith("link ")]
    assert links and list(words)[-len(links) :] == links, "relations come last"
    role = next(role for roles in result.roles.values() for role in roles if role.name == "link")
    assert words[role.label] == role_words(t, "encoder", role)


def test_an_atlas_without_effects_has_no_such_filter() -> None:
    from msgspec.structs import replace

    shown = role_filters(head_atlas(replace(drawn_atlas(), effects=None)), texts("en"))
    assert "significant" not in [each["label"] for each in shown["filters"]]


def test_a_model_without_an_atlas_is_filtered_by_the_roles_that_were_found() -> None:
    heads = {"cross": [[{"role": "aligner", "standing": "named"}, {"role": "self", "standing": "leans"}]]}
    shown = likeliest_filters(heads, texts("en"))  # type: ignore[arg-type]
    assert shown["labels"] == {"cross": [["aligner"], ["none"]]}
    assert [each["label"] for each in shown["filters"]] == ["none", "aligner"]
    assert head_measures(HeadAtlas(), texts("en")) == []
