"""A translator with drawn weights."""

from __future__ import annotations

import pytest

from tests.core.analysis.models import make_translator
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.translator import Translator


@pytest.fixture
def translator(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Translator:
    """Of the shape that a test asks for with `of_shapes`, else of the paper's; it generates three tokens too many."""
    made = make_translator(tokenizer, **getattr(request, "param", {}))
    made.decoding = made.decoding.replace(extra_length=3)  # drawn weights generate up to the limit
    return made
