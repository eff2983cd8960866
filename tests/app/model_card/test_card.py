"""The card of a model: what it says, and the options that differ from the paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from transformer_core.config import ModelConfig
from transformer_core.storage.files import sha256
from transformer_core.storage.manifest import Manifest
from transformer_core.translator import Translator
from viz_app.model_card import card
from viz_app.model_card.paper_options import COMPARED, FIDELITY, fidelity_line, options_beyond_paper
from viz_app.serving.measurements.model_card import ModelCard


def test_training_facts_are_plain() -> None:
    metrics = {"training": {"steps": 120_000, "hours": 2.5, "hardware": "2 cores", "curve": [1, 2]}}
    facts = card.training_facts(ModelCard.from_metrics(metrics))
    assert facts == {"steps": "120,000", "hours": "2.5", "hardware": "2 cores"}
    assert card.training_facts(ModelCard.from_metrics({"training": "long ago"})) == {}


def test_size(random_checkpoint: Path) -> None:
    translator = Translator.load(random_checkpoint)
    config = translator.config
    d, layers = config.d_model, config.num_layers
    attention, forward, norm = 4 * d * d, 2 * d * config.d_ff + config.d_ff + d, 2 * d
    by_hand = config.vocab_size * d + layers * (attention + forward + 2 * norm) + layers * (
        2 * attention + forward + 3 * norm
    )  # fmt: skip
    size = card.size(translator)
    assert size.parameters == by_hand
    files = [file for file in random_checkpoint.rglob("*") if file.is_file()]
    assert size.megabytes == pytest.approx(sum(file.stat().st_size for file in files) / 1e6)


def test_prose_has_no_title_no_header_and_no_pictures(tmp_path: Path) -> None:
    text = "---\nlicense: mit\n---\n# Title\n\nWords ![alt](https://example.org/a.png) and # no title.\n"
    (tmp_path / "README.md").write_text(text, encoding="utf-8", newline="")
    Manifest(files={"README.md": sha256(tmp_path / "README.md")}).write(tmp_path)
    assert card.prose(tmp_path) == "Words &#33;[alt](https://example.org/a.png) and # no title."
    assert card.prose(tmp_path / "nothing") == ""


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
    values = {each.name: each for each in options_beyond_paper(config.to_dict())}
    assert list(values) == ["norm", "positions", "first_position", "attention_biases"]
    assert (values["norm"].value, values["norm"].paper) == ("pre", "post")
    assert (values["attention_biases"].value, values["attention_biases"].paper) == ("true", "false")
    assert values["norm"].said.startswith('`norm = "pre"`: x + Sublayer(LayerNorm(x))')
    assert values["positions"].said.startswith('`positions = "concatenated"`')
    assert '`"tensor2tensor"`' in values["positions"].said
