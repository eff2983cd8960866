"""Checkpoints in CTranslate2: the probability of each token, and the texts of greedy and beam search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.core.conversion.families import TWINS
from tests.core.conversion.twins import Twin, sources
from tests.core.model_export.peers import CHECKPOINTS, searched, sentences
from transformer_core.decoding.beam import Hypothesis
from transformer_core.model_export import export_model
from transformer_core.translator import Translator

SHIPPED = ("en-de", "en-fr-small", "en-tree")
CONVERTED = [name for name in TWINS if name.startswith(("marian", "native"))]


class Peer:
    """A folder that CTranslate2 has loaded, beside the translator that it was written from."""

    def __init__(self, translator: Translator, folder: Path) -> None:
        import ctranslate2

        self.translator = translator
        self.theirs: Any = ctranslate2.Translator(str(folder), intra_threads=1)

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        side = self.translator.tokenizer.source
        return [list(side.tokens(self.translator.encode(text).ids)) for text in texts]

    def furthest(self, texts: Sequence[str], found: Sequence[Hypothesis]) -> float:
        """The largest difference of a token's log-probability."""
        targets = [list(self.translator.tokenizer.tokens(each.ids)) for each in found]
        scores = self.theirs.score_batch(self._tokens(texts), targets)
        pairs: list[tuple[float, float]] = [
            (ours, theirs)
            for each, score in zip(found, scores, strict=True)
            for ours, theirs in zip(each.log_probabilities, score.log_probs, strict=False)
        ]
        assert len(pairs) >= sum(len(each.ids) for each in found)
        return max(abs(ours - theirs) for ours, theirs in pairs)

    def different(self, texts: Sequence[str], *, beam: int, alpha: float, longest: int = 200) -> list[str]:
        """Sentences whose translations differ, without ties: other tokens that score the same to 1e-4.

        With a beam nothing is forbidden: CTranslate2 raises the scores of all other tokens then.
        """
        tokenizer, special = self.translator.tokenizer, self.translator.tokenizer.special
        twin = self.translator.with_languages()
        twin.decoding = twin.decoding.replace(
            length_penalty="power", alpha=alpha, early_stopping=alpha > 0, min_length=0
        )
        never = [[tokenizer.token(each)] for each in special.never_generated if each != special.unk and beam == 1]
        results = self.theirs.translate_batch(
            self._tokens(texts),
            beam_size=beam,
            length_penalty=alpha,
            min_decoding_length=0,
            max_decoding_length=longest,
            disable_unk=beam == 1,
            suppress_sequences=never,
            return_scores=True,
        )
        ours = searched(twin, texts, beam)
        if beam > 1:
            assert all(abs(mine.score - each.scores[0]) < 1e-4 for mine, each in zip(ours, results, strict=True))
        return [
            text
            for text, mine, theirs in zip(texts, ours, results, strict=True)
            if list(tokenizer.tokens(mine.ids)) != theirs.hypotheses[0]
            and mine.finished
            and (beam == 1 or abs(mine.score - theirs.scores[0]) > 1e-4)
        ]


@pytest.fixture(scope="module")
def shipped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Peer:
    out = tmp_path_factory.mktemp("export") / request.param
    export_model(CHECKPOINTS / request.param, out, "ctranslate2")
    return Peer(Translator.load(CHECKPOINTS / request.param), out)


@pytest.mark.parametrize("shipped", SHIPPED, indirect=True)
def test_shipped_models(shipped: Peer) -> None:
    _compare(shipped, sentences(16))


@pytest.mark.slow
@pytest.mark.parametrize("shipped", SHIPPED, indirect=True)
def test_shipped_models_on_many_sentences(shipped: Peer) -> None:
    _compare(shipped, sentences(200))


def _compare(peer: Peer, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), 20):
        some = texts[start : start + 20]
        assert peer.furthest(some, searched(peer.translator, some, 1)) < 1e-3
        for beam, alpha in ((1, 0.0), (4, 0.0), (4, 1.0)):
            assert peer.different(some, beam=beam, alpha=alpha) == []


@pytest.mark.parametrize("name", CONVERTED)
def test_converted_models(name: str, twins: Callable[[str], Twin], tmp_path: Path) -> None:
    """Pre-norm, three matrices, a bias of the output, Marian's angles: CTranslate2 has them all."""
    twin = twins(name)
    export_model(twin.folder.parent / "ours", tmp_path / "out", "ctranslate2")
    peer = Peer(twin.converted, tmp_path / "out")
    texts = sources(24)
    assert peer.furthest(texts, searched(twin.converted, texts, 1)) < 1e-3
    assert peer.different(texts, beam=1, alpha=0.0) == []


@pytest.mark.parametrize(
    "options",
    [
        {"positions": "learned", "max_positions": 40},
        {"positions": "none"},
        {"scaled": False},
        {"norm": "pre", "embedding_norm": True, "activation": "gelu"},
        {"layer_norm_epsilon": 1e-2},
    ],
    ids=str,
)
def test_other_options(options: dict[str, Any], drawn_checkpoint: partial[Path], tmp_path: Path) -> None:
    folder = drawn_checkpoint(**options)
    export_model(folder, tmp_path / "out", "ctranslate2")
    translator = Translator.load(folder)
    texts = ["a b c", "d", "h g f e d c b a"]
    assert Peer(translator, tmp_path / "out").furthest(texts, searched(translator, texts, 1)) < 1e-3
