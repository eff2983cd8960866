"""The state of the pruning curves in an address; the heads that are gone from a sentence."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from tests.atlas_samples import drawn_atlas
from transformer_core.analysis.ablation import translate_without
from viz_app.figures.build.atlas import most_left
from viz_app.figures.options import GROUPS, SCORES
from viz_app.model_card.pruned_sentence import removed_heads, translate_pruned
from viz_app.model_card.pruning_state import PruningState, orders
from viz_app.serving.models.translation_service import BEAM, TranslationService

ATLAS = drawn_atlas()

_NAMES = ("prune", "score", "by_order", "left")
names = some.sampled_from([f"atlas_{name}" for name in _NAMES])
nonsense = some.text(max_size=12) | some.sampled_from(
    ("-1", "1e9", "cross.0.1", "cross.1.0", "cross.9.9,cross.1.1", "²", "99999", "all", "random", "greedy", "\ud800")
)


@settings(deadline=None)
@given(some.dictionaries(names, nonsense))
def test_nonsense_in_an_address_is_left_out(params: dict[str, str]) -> None:
    pruning = PruningState.from_query(params, ATLAS)
    assert pruning.group in GROUPS and pruning.score in SCORES and pruning.order in orders(ATLAS, pruning.group)
    assert 0 <= pruning.left <= most_left(ATLAS, pruning.group)


@given(
    group=some.sampled_from(GROUPS), score=some.sampled_from(SCORES), order=some.integers(0, 1), left=some.floats(0, 1)
)
def test_an_address_holds_the_slider(group: str, score: str, order: int, left: float) -> None:
    whole = most_left(ATLAS, group)
    state = PruningState(group=group, score=score, order=orders(ATLAS, group)[order], left=round(left * whole))
    params = {name: value for name, value in state.to_query(ATLAS).items() if value is not None}
    assert PruningState.from_query(params, ATLAS) == state == state.fitted(ATLAS)


def test_states_of_a_larger_model_fit_a_smaller_one() -> None:
    small = drawn_atlas(1, 2)
    state = PruningState(group="cross", score="bleu", order="greedy", left=400).fitted(small)
    assert (state.order, state.left) == ("effect", 2)


def test_the_first_heads_of_the_order_are_gone() -> None:
    assert ATLAS.prune
    (curve,) = (each for each in ATLAS.prune.curves if (each.heads, each.order) == ("decoder", "effect"))
    state = PruningState(group="decoder", score="bleu", order="effect", left=5)
    assert removed_heads(ATLAS, state) == tuple(sorted(curve.removed[:3]))
    assert set(removed_heads(ATLAS, state)) == set(curve.removed) - set(curve.removed[3:])
    whole = PruningState(group="decoder", score="bleu", order="effect", left=8)
    assert removed_heads(ATLAS, whole) == ()


def test_the_sentence_is_translated_with_so_many_heads_left(service: TranslationService) -> None:
    """Against the same change made by hand: nothing that another visitor's slider says may reach it."""
    result = service.translate("me", "The house was built a hundred years ago.")
    state = PruningState(group="all", score="bleu", order="effect", left=10)
    heads = removed_heads(ATLAS, state)
    actual = translate_pruned(service, "me", result, heads)
    expected = translate_without(service.translator, result.translation, heads, beam=BEAM)
    assert actual == expected and actual.log_probability != actual.before
    again = translate_pruned(service, "another", result, heads)
    assert again is actual, "once for all visitors"
    assert translate_pruned(service, "me", result, ()).text == result.translation.text
