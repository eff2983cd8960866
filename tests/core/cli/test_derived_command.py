"""derived: what it rebuilds is what the commands measure; what lacks its data is named and skipped."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.cli.workplace import Call, Workplace
from transformer_core.analysis.attribution import METHODS
from transformer_core.attention_maps import KINDS
from transformer_core.checkpoint import load_checkpoint
from transformer_core.cli.checkpoint.measurements import BUILDERS
from transformer_core.cli.checkpoint.model_card import with_heads, with_prose_numbers, with_scores
from transformer_core.storage.manifest import Manifest
from transformer_core.storage.measurements import read_metrics
from transformer_core.training.head_penalty import is_penalised

CHECKPOINTS = Path(__file__).resolve().parents[3] / "checkpoints"


@pytest.fixture
def folder(made: Workplace, call: Call, tmp_path: Path) -> Path:
    """A shipped training without scores."""
    said = call("ship", made.run, "--last", "2", "--out", tmp_path / "model")
    assert said.status == 0, said.err
    return tmp_path / "model"


def summary(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text.splitlines()[-1])
    return value


def test_scores_equal_evaluate_and_reach_the_card(made: Workplace, call: Call, folder: Path, tmp_path: Path) -> None:
    before = load_checkpoint(folder)
    said = call("derived", "--checkpoint", folder, "--valid", made.valid)
    assert said.status == 0, said.err
    told = summary(said.out)
    assert (
        told["made"] == ["scores", "heads", "forced", "methods", "card"]
        and told["checkpoint_hash"] == before.weights_hash
    )
    assert told["skipped"] == {
        "alignment": "needs --gold",
        "probes": "needs --lingeval or --contracat",
        "history": "needs --run, --sentences",
        "atlas": "needs --atlas",
    }
    after = load_checkpoint(folder)
    assert after.weights_hash == before.weights_hash
    common = ["evaluate", "--checkpoint", folder, "--test", made.valid]
    evaluated = summary(call(*common).out)
    scores = after.metrics["scores"]["valid"]
    for name in ("bleu", "signature", "chrf", "chrf_signature", "tokens", "sentences", "beam", "alpha"):
        assert scores[name] == evaluated[name], name
    for name, causal in (("masked", "true"), ("unmasked", "false")):
        expected = math.log(summary(call(*common, "--causal", causal).out)["perplexity"])
        assert after.metrics["forced"]["valid"][name] == pytest.approx(expected), name
    heads = after.metrics["heads"]
    assert (heads["sets"], heads["sentences"]) == (["valid"], 9)
    for kind in ("encoder", "decoder", "cross"):
        assert evaluated["heads"][kind].items() <= heads[kind].items()
        information = np.array(heads[kind]["information"])
        assert heads[kind]["surviving"] == sum(heads[kind]["surviving_by_layer"])
        assert heads[kind]["looking"] == (information > 0.15).sum() and information.shape == (2, 4)
    agreed = after.metrics["methods"]["agreement"]
    assert set(agreed["tau"]) == set(METHODS) - {"integrated-gradients", "leave-one-out"}
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert f"| valid | validation | 9 | {scores['bleu']:.1f} |" in card and "has not been evaluated" not in card
    for kind, name in (("encoder", "encoder self-attention"), ("cross", "encoder-decoder")):
        one = heads[kind]
        assert f"| {name} | 8 | {one['looking']} | {one['resting']} | {one['fixed_offset']} | " in card
    # Another set is added, and the first keeps its scores.
    again = shutil.copy(made.valid, tmp_path / "again.tsv")
    assert call("derived", "--checkpoint", folder, "--only", "scores", "--test", again).status == 0
    both = read_metrics(folder)["scores"]
    assert both["valid"] == scores and both["again"] == {**scores, "part": "test"}
    assert (folder / "README.md").read_text(encoding="utf-8") == card


def test_alignment_and_probes_equal_their_commands(made: Workplace, call: Call, folder: Path, tmp_path: Path) -> None:
    gold, questions = tmp_path / "gold.tsv", tmp_path / "questions.tsv"
    lines = "the red dog\tder rote Hund\t0-0 1-1 2-2\nThe man sees a house\tDer Mann sieht ein Haus\t0-0 1-1 2-2 4-4\n"
    gold.write_text(lines, encoding="utf-8")
    questions.write_text("agreement\tthe dog\tder Hund\tdie Hund\n", encoding="utf-8")
    said = call("derived", "--checkpoint", folder, "--gold", gold, "--lingeval", questions)
    assert said.status == 0, said.err
    assert summary(said.out)["made"] == ["alignment", "methods", "probes"]
    assert summary(said.out)["skipped"]["card"] == "the checkpoint has no scores"
    metrics = read_metrics(folder)
    aligned = summary(call("align", "--checkpoint", folder, "--gold", gold).out)
    assert metrics["alignment"]["aer"] == aligned["aer"]
    assert metrics["alignment"]["best_head"] == aligned["best"]["output"] and metrics["alignment"]["sentences"] == 2
    methods = metrics["methods"]["alignment"]
    assert methods["sentences"] == 2 and set(methods["aer"]) == set(METHODS) - {"integrated-gradients"}
    assert set(metrics["methods"]) == {"alignment", "norm_minus_attention"}, "no sentences to agree on"
    assert metrics["methods"]["norm_minus_attention"] == aligned["norm_minus_attention"]
    asked = summary(call("analyse", "contrast", "--checkpoint", folder, "--test", questions).out)
    assert metrics["probes"] == {"lingeval": {name: asked[name] for name in ("right", "groups", "asked")}}


def test_without_data_everything_is_skipped(call: Call, folder: Path) -> None:
    assert call("derived", "--checkpoint", folder).status == 0
    assert not (folder / "derived").exists()


def test_a_checkpoint_of_format_1_is_named_first(made: Workplace, call: Call, folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest["files"]), encoding="utf-8")
    identity = load_checkpoint(folder).weights_hash
    said = call("derived", "--checkpoint", folder, "--only", "forced", "--valid", made.valid)
    assert said.status == 0, said.err
    assert load_checkpoint(folder).weights_hash == Manifest.read(folder / "derived").weights_hash == identity
    assert "valid" in read_metrics(folder)["forced"]


def test_no_two_builders_write_the_same_file() -> None:
    files = [file for each in BUILDERS.values() for file in each.files]
    assert len(files) == len(set(files))


@pytest.mark.parametrize("folder", sorted(path.parent for path in CHECKPOINTS.glob("**/metrics.json")), ids=str)
def test_the_shipped_cards_tell_the_shipped_scores(folder: Path) -> None:
    card, metrics = (folder / "README.md").read_text(encoding="utf-8"), read_metrics(folder)
    scores = metrics["scores"]
    assert with_prose_numbers(card, metrics) == card, "best heads, and answers to contrastive questions"
    again = with_scores(card, scores)
    before, after = (text.partition("## Scores") for text in (card, again))
    assert before[0] == after[0] and before[2].partition("\n## ")[2] == after[2].partition("\n## ")[2] != ""
    rows, rows_again = (re.findall(r"(?m)^(?:\||    BLEU|    chrF).*", text[2]) for text in (before, after))
    assert rows == rows_again and len(rows) >= len(scores) + 4
    first = next(iter(scores))
    one = scores[first]
    told = {"bracketing": {**one["bracketing"], "f1": 77.7}} if "bracketing" in one else {"bleu": 77.7}
    other = with_scores(card, {**scores, first: {**one, **told}})
    changed = [(a, b) for a, b in zip(again.splitlines(), other.splitlines(), strict=True) if a != b]
    assert len(changed) == 1 and changed[0][1].startswith(f"| {first} |") and "| 77.7 |" in changed[0][1]


@pytest.mark.parametrize("name", ["en-de", "en-fr", "en-fr-small"])
def test_the_shipped_cards_tell_which_heads_look(name: str) -> None:
    """As the counts are recorded; a section that is there is replaced, one that is not comes before the training."""
    folder = CHECKPOINTS / name
    card, heads = (folder / "README.md").read_text(encoding="utf-8"), read_metrics(folder)["heads"]
    penalised = " ".join(card.split()).count("trained with a penalty on resting heads and fixed offsets") == 1
    assert penalised <= is_penalised(folder, read_metrics(folder)["training"])
    assert with_heads(card, heads, penalised=penalised) == card
    before, _, rest = card.partition("## Do the heads look?")
    without = f"{before}## Training{rest.partition('## Training')[2]}"
    assert "look" not in without.partition("## Scores")[2]
    assert with_heads(without, heads, penalised=penalised) == card
    other = with_heads(card, {**heads, "cross": {**heads["cross"], "looking": 7}}, penalised=penalised)
    changed = [line for line in other.splitlines() if line not in card.splitlines()]
    assert len(changed) == 1 and changed[0].startswith("| encoder-decoder | 48 | 7 | ")
    with pytest.raises(ValueError, match="no section '## Training'"):
        with_heads("# A card\n", heads, penalised=True)


def test_a_card_names_what_its_heads_were_counted_by() -> None:
    """The control, and the penalty of its training."""
    one = {"heads": 8, "looking": 7, "resting": 1, "fixed_offset": 0, "looking_by_layer": [7], "resting_by_layer": [1]}
    heads = {kind: {**one, "surviving": 5} for kind in KINDS} | {"sentences": 3, "sets": ["a"]}
    for penalised in (False, True):
        result = " ".join(with_heads("# A card\n\n## Training\n", heads, penalised=penalised).split())
        assert "| fixed offset | survive the control | look, by layer |" in result
        assert "random vector as long as this change" in result
        assert "| encoder-decoder | 8 | 7 | 1 | 0 | 5 | 7 | 1 |" in result
        assert ("trained with a penalty on resting heads and fixed offsets" in result) == penalised


def test_numbers_in_the_prose_of_a_card_are_renewed_and_its_words_stay() -> None:
    card = (
        "For tokens that it generates, head 6.4 (layer.head, from 1)\naligns words best, with 0.52. For those that it\n"
        "reads, head 4.5 is best,\nwith 0.36. Of 33,093 items, 39.3 % are\ncorrect. Version 4.5 is best.\n\n"
        "| `step/event` | 9 | 92.4 |\n| `verbs` | 7 | 1.0 |\n| `other` | 5 | 5.0 |\n"
    )
    metrics = {
        "alignment": {"aer": {"output": [[0.6, 0.5], [0.7, 0.4549]], "input": [[0.5, 0.4], [0.3, 0.31]]}},
        "probes": {
            "contracat": {
                "asked": 1500,
                "right": 0.41,
                "groups": {
                    "step/event/chaos": {"right": 1.0, "asked": 1000},
                    "step/event/order": {"right": 0.5, "asked": 500},
                    "step/events": {"right": 0.0, "asked": 10},
                },
            },
            "lingeval": {"asked": 7, "right": 0.5, "groups": {"verbs": {"right": 0.857, "asked": 7}}},
        },
    }
    assert with_prose_numbers(card, metrics) == (
        "For tokens that it generates, head 2.2 (layer.head, from 1)\naligns words best, with 0.45. For those that it\n"
        "reads, head 2.1 is best,\nwith 0.30. Of 1,500 items, 41.0 % are\ncorrect. Version 4.5 is best.\n\n"
        "| `step/event` | 1,500 | 83.3 |\n| `verbs` | 7 | 85.7 |\n| `other` | 5 | 5.0 |\n"
    )
    assert with_prose_numbers(card, {}) == card
