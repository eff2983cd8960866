"""The heads of the paper's figures: the best of each relation by the atlas, and whether it follows it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from tests.app.lessons.conftest import Visit, place_of
from tests.atlas_samples import head_atlas, real_atlas
from transformer_core.atlas.record import Atlas, Link
from viz_app.lessons.heads import numbers as heads
from viz_app.lessons.heads.paper_heads import RELATIONS, paper_heads


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return real_atlas()


def test_the_best_head_of_each_relation_beside_its_baseline(atlas: Atlas) -> None:
    result, links = paper_heads(head_atlas(atlas)), atlas.links
    assert links is not None
    assert [each.figure for each in result] == [3, 4, 5, 5]
    for each in result[:2]:
        relation, direction = RELATIONS[each.figure]
        gains = links.gain.value[links.directions.index(direction), links.relations.index(relation)]
        assert each.evidence.gain == pytest.approx(gains.max())
        assert each.head[1:] == np.unravel_index(gains.argmax(), gains.shape)
    loose = {"list", "parataxis", "orphan", "goeswith", "reparandum", "punct", "dep"}
    counted = (links.places >= 50) & np.array([name not in loose for name in links.relations])
    gains = np.where(counted[:, :, None, None], links.gain.value, -1.0)
    assert result[2].evidence.gain == pytest.approx(gains.max())
    assert result[2].head != result[3].head
    assert any(each.holds for each in result) == any(link.holds for link in links.tested)


def test_a_head_that_follows_a_relation_comes_before_one_that_only_gains_more(atlas: Atlas) -> None:
    assert atlas.links is not None
    held = Link(relation="xcomp", direction="to_dependent", layer=0, head=0, p=0.0, q=0.001, holds=True)
    changed = msgspec.structs.replace(atlas, links=msgspec.structs.replace(atlas.links, tested=(held,)))
    result = paper_heads(head_atlas(changed))
    assert result[0].verdict == "holds" and result[1].verdict == "none"
    assert (result[0].figure, result[0].head, result[0].holds) == (3, ("encoder", 0, 0), True)
    assert result[2].head == ("encoder", 0, 0) and result[2].holds and not result[1].holds


@pytest.fixture
def measured(visit: Visit, atlas: Atlas) -> Iterator[Visit]:
    """A small model that is said to have the atlas."""
    service = visit("paper").service
    service.head_atlas = head_atlas(atlas)
    yield visit
    del service.head_atlas


def test_rows_and_selection_are_the_same_heads(measured: Visit, atlas: Atlas, language: str) -> None:
    result = paper_heads(head_atlas(atlas))
    context = measured("paper", language=language, row=3)
    rows = heads.data(context).values["paper"]["rows"]
    assert [(row["figure"], row["head"]) for row in rows] == [(e.figure, str(e.head)) for e in result]
    assert [row["baseline"] for row in rows] == pytest.approx([each.evidence.baseline for each in result], abs=1e-5)
    assert place_of(heads.selection("paper", context)) == result[3].head
    assert [row["value"] for row in rows] == pytest.approx([each.evidence.value for each in result], abs=1e-5)


def test_the_scenes_say_whether_the_model_was_trained_with_a_head_penalty(
    visit: Visit, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = visit("tour", language=language)
    for penalised in (True, False):
        monkeypatch.setitem(vars(context.service), "head_penalty", penalised)
        assert heads.data(context).values["penalty"] == (context.t("roles.penalty") if penalised else "")


def test_without_an_atlas_there_is_nothing(visit: Visit) -> None:
    context = visit("paper")
    assert heads.data(context).values["paper"] is None
    assert heads.selection("paper", context) is None
