"""What the model page reads out of a checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from transformer_core.storage.files import sha256
from transformer_core.storage.manifest import Manifest
from transformer_core.translator import Translator
from viz_app.model_card import card
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
