"""A translator with drawn weights."""

from __future__ import annotations

import pytest

from tests.core.analysis.models import make_translator
from transformer_core import Tokenizer, Translator
from transformer_core.analysis import minimal_pairs


@pytest.fixture
def translator(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Translator:
    """A translator of the shape that `of_shapes` asks for, else of the paper's; it generates three tokens too many."""
    made = make_translator(tokenizer, **getattr(request, "param", {}))
    made.decoding = made.decoding.replace(extra_length=3)  # drawn weights generate up to the limit
    return made


@pytest.fixture
def any_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn weights tell the sentences of a minimal pair apart only a little."""
    monkeypatch.setattr(minimal_pairs, "MIN_DIFFERENCE", 0.0)
