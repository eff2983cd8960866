"""Options that are not the paper's, with the lines of docs/fidelity.md that a reader finds there."""

from __future__ import annotations

import pytest

from transformer_core.config import ModelConfig
from viz_app.model_card.paper_options import COMPARED, FIDELITY, fidelity_line, options_beyond_paper

SIZES = {"vocab_size", "d_model", "d_ff", "num_layers", "num_heads", "d_k", "d_v", "max_positions"}
TRAINING = {"dropout", "attention_dropout", "activation_dropout"}


def test_every_option_is_compared_or_a_size_or_of_training() -> None:
    assert {*COMPARED, *SIZES, *TRAINING} == set(ModelConfig.__dataclass_fields__)


@pytest.mark.parametrize("name", COMPARED)
def test_every_option_has_its_line(name: str) -> None:
    line = fidelity_line(name, None)
    assert name in line and line in FIDELITY.read_text(encoding="utf-8")


def test_the_base_model_differs_in_nothing_and_sizes_do_not_count() -> None:
    assert options_beyond_paper(ModelConfig().to_dict()) == ()
    assert options_beyond_paper(ModelConfig(d_model=1024, num_heads=16, num_layers=24, d_ff=8192).to_dict()) == ()


def test_a_published_shape() -> None:
    """NLLB: pre-norm, positions of fairseq, biases."""
    config = ModelConfig(norm="pre", positions="tensor2tensor", first_position=2, attention_biases=True)
    found = {each.name: each for each in options_beyond_paper(config.to_dict())}
    assert list(found) == ["norm", "positions", "first_position", "attention_biases"]
    assert (found["norm"].value, found["norm"].paper) == ("pre", "post")
    assert (found["attention_biases"].value, found["attention_biases"].paper) == ("true", "false")
    assert found["norm"].said.startswith('`norm = "pre"`: x + Sublayer(LayerNorm(x))')
    assert found["positions"].said.startswith('`positions = "concatenated"`')
    assert '`"tensor2tensor"`' in found["positions"].said
