"""What the model page reads out of a checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from transformer_core.translator import Translator
from viz_app.services import card

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def test_scores_are_found_wherever_they_stand() -> None:
    metrics = {
        "training": {"steps": 10},
        "scores": {
            "tatoeba-test": {"bleu": 21.5, "chrf": 44.0, "signature": SIGNATURE, "chrf_signature": "other"},
            "NTREX-128": {"bleu": 8, "signature": SIGNATURE},
            "newstest2013": {"bleu": {"value": 9.25, "signature": SIGNATURE}, "part": "validation"},
        },
    }
    assert card.scores(metrics) == (
        card.Score("tatoeba-test", 21.5, 44.0, SIGNATURE),
        card.Score("NTREX-128", 8.0, None, SIGNATURE),
        card.Score("newstest2013", 9.25, None, SIGNATURE, development=True),
    )
    assert card.everyday_bleu(metrics) == 21.5


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("tatoeba-test", "everyday"),
        ("tatoeba-test-unseen", "everyday"),
        ("NTREX-128", "news"),
        ("newstest2013", "news"),
        ("multi30k-val", "captions"),
        ("my own set", None),
    ],
)
def test_known_sets_say_what_they_hold(name: str, holds: str | None) -> None:
    score = card.Score(name, 1.0, None, "")
    assert score.holds == holds
    assert score.unseen == (name == "tatoeba-test-unseen")


@pytest.mark.parametrize("metrics", [{}, {"scores": {}}, {"scores": {"multi30k": {"bleu": 30.0}}}, {"bleu": True}])
def test_nobody_has_measured_everyday_sentences(metrics: dict[str, object]) -> None:
    assert card.everyday_bleu(metrics) is None


def test_the_longest_sentence_of_the_training_is_recorded_or_follows_from_the_preset() -> None:
    assert card.trained_pieces({"training": {"preset": "en-de", "max_pieces": 300}}) == 300
    assert card.trained_pieces({"training": {"preset": "en-de"}}) == 128
    assert card.trained_pieces({"training": {"preset": "of somebody else"}}) is None
    assert card.trained_pieces({}) is None and card.trained_pieces({"training": "long ago"}) is None


def test_training_facts_are_plain() -> None:
    facts = card.training_facts({"training": {"steps": 120_000, "hours": 2.5, "hardware": "2 cores", "curve": [1, 2]}})
    assert facts == {"steps": "120,000", "hours": "2.5", "hardware": "2 cores"}
    assert card.training_facts({"training": "long ago"}) == {}


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
    files = [file for file in random_checkpoint.iterdir() if file.is_file()]
    assert size.megabytes == pytest.approx(sum(file.stat().st_size for file in files) / 1e6)


def test_prose_has_no_title_no_header_and_no_pictures(tmp_path: Path) -> None:
    text = "---\nlicense: mit\n---\n# Title\n\nWords ![alt](https://example.org/a.png) and # no title.\n"
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    assert card.prose(tmp_path) == "Words [alt](https://example.org/a.png) and # no title."
    assert card.prose(tmp_path / "nothing") == ""
