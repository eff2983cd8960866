"""average against the mean of saved steps; evaluate, align and contrast against sacreBLEU and the library."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
import torch
from safetensors.torch import load_file

from tests.core.cli.workplace import TRAIN, Call, Workplace, one_line_error
from transformer_core import Translator, load_checkpoint
from transformer_core.analysis.alignment import head_alignment_errors, read_gold
from transformer_core.analysis.attention_sinks import sink_shares
from transformer_core.analysis.method_alignment import ALIGNERS, OF_OUTPUTS, SLOW, compare, method_counts
from transformer_core.atlas.controls import survivor_report
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import head_named
from transformer_core.training.state import average_weights, step_folders


def test_average_is_the_mean_of_the_last_steps_in_float16(made: Workplace) -> None:
    loaded = dict(load_checkpoint(made.checkpoint).model.named_parameters())
    assert [folder.name for folder in step_folders(made.run)] == ["step-00000010", "step-00000020"]
    for name, mean in average_weights(step_folders(made.run)).items():
        assert torch.equal(loaded[name], mean.half().float())


def test_average_tells_how_the_model_came_about(made: Workplace, call: Call, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text('{"training": {"hardware": "x"}, "valid": {"bleu": 3.0}}', encoding="utf-8")
    (tmp_path / "card.md").write_text("# Karte\n", encoding="utf-8")
    said = call(
        *("average", made.run, "--last", "1", "--out", tmp_path / "new"),
        *("--metrics", tmp_path / "metrics.json", "--card", tmp_path / "card.md"),
    )
    checkpoint = load_checkpoint(tmp_path / "new")
    assert json.loads(said.out)["checkpoint_hash"] == checkpoint.weights_hash
    assert checkpoint.metrics["valid"] == {"bleu": 3.0}
    training = checkpoint.metrics["training"]
    assert (training["hardware"], training["steps"], training["averaged_steps"]) == ("x", 20, [20])
    assert training["parameters"] == sum(p.numel() for p in checkpoint.model.parameters())
    assert (tmp_path / "new" / "README.md").read_text(encoding="utf-8") == "# Karte\n"


@pytest.fixture
def overfitted(made: Workplace, tmp_path: Path) -> Path:
    """The run as it were, had step 10 been better than step 20."""
    run = tmp_path / "overfitted"
    shutil.copytree(made.run, run)
    shutil.rmtree(run / "best-00000020")
    shutil.copytree(run / "step-00000010", run / "best-00000010")
    for folder in ("best-00000010", "step-00000020"):
        file = run / folder / "state.json"
        state = json.loads(file.read_text(encoding="utf-8"))
        state["best"] |= {"step": 10, "score": 4.5, "overfits_since": 20, "metric": "valid.nll"}
        file.write_text(json.dumps(state), encoding="utf-8")
    return run


def test_the_best_step_is_taken_instead_of_a_mean(overfitted: Path, call: Call, tmp_path: Path) -> None:
    said = call("average", overfitted, "--best", "--out", tmp_path / "best")
    loaded = dict(load_checkpoint(tmp_path / "best").model.named_parameters())
    for name, weight in load_file(overfitted / "step-00000010" / "model.safetensors").items():
        assert torch.equal(loaded[name], weight.half().float())
    facts = json.loads(said.out)
    assert (facts["steps"], facts["averaged_steps"], facts["best_step"]) == (10, [10], 10)
    assert facts["best_metric"] == "valid.nll"
    assert call("ship", overfitted, "--best", "--out", tmp_path / "shipped").status == 0
    card = (tmp_path / "shipped" / "README.md").read_text(encoding="utf-8")
    assert "ship run --best --valid" in card
    assert "* Weights: those of step 10, the best by valid.nll." in card


@pytest.mark.parametrize(("last", "later"), [("1", "20"), ("2", "20")])
def test_steps_after_the_best_are_named(
    overfitted: Path, call: Call, tmp_path: Path, caplog: pytest.LogCaptureFixture, last: str, later: str
) -> None:
    assert call("average", overfitted, "--last", last, "--out", tmp_path / "mean").status == 0
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning == (
        f"steps {later} come after the best, step 10 (valid.nll 4.5), and the model overfits from step 20 on; "
        "--best takes that one: compare them"
    )


def test_average_without_warning(made: Workplace, call: Call, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its newest step is its best one."""
    assert call("average", made.run, "--last", "2", "--out", tmp_path / "mean").status == 0
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


def test_a_run_without_validation_has_no_best_step(made: Workplace, call: Call, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert call("train", *TRAIN, "--training.steps", "2", "--data", made.data, "--out", run).status == 0
    error = one_line_error(call("average", run, "--best", "--out", tmp_path / "best"))
    assert "has no best step; train with --valid, or use --last" in error


def test_evaluate_ends_with_one_line_of_json(made: Workplace, call: Call) -> None:
    said = call("evaluate", "--checkpoint", made.checkpoint, "--test", made.valid, "--greedy", "--per-sentence")
    assert said.status == 0
    table, _, last = said.out.rstrip("\n").rpartition("\n")
    scores = json.loads(last)
    rows = [line.split("\t") for line in table.split("\n\n")[0].splitlines()]
    assert rows[0] == ["number", "bleu", "chrf", "source", "translation", "reference 1"]
    sources, translations, references = ([row[column] for row in rows[1:]] for column in (3, 4, 5))
    translator = Translator.load(made.checkpoint)
    assert translations == [translator.translate(source, beam=1).text for source in sources]
    for row in rows[1:]:
        assert float(row[1]) == pytest.approx(sacrebleu.sentence_bleu(row[4], [row[5]]).score, abs=0.051)
        assert float(row[2]) == pytest.approx(sacrebleu.sentence_chrf(row[4], [row[5]]).score, abs=0.051)
    logs = [log for s, r in zip(sources, references, strict=True) for log in translator.teacher_force(s, r).scores]
    assert scores["perplexity"] == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-4)
    assert scores["tokens"] == len(logs)
    assert scores["nats_per_character"] == pytest.approx(-sum(logs) / len("".join(references)), rel=1e-4)
    assert scores["bleu"] == pytest.approx(sacrebleu.corpus_bleu(translations, [references]).score)
    assert scores["chrf"] == pytest.approx(sacrebleu.corpus_chrf(translations, [references]).score)
    assert scores["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp")
    assert (scores["sentences"], scores["beam"], scores["not_translated"]) == (9, 1, 0)
    assert scores["checkpoint_hash"] == translator.checkpoint_hash


def test_evaluate_tells_whether_the_heads_look(made: Workplace, call: Call, tmp_path: Path) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_text("The man sees a house.\tDer Mann sieht ein Haus.\t0-0 1-1 2-2 3-3 4-4\n", encoding="utf-8")
    common = ["evaluate", "--checkpoint", made.checkpoint, "--test", made.valid, "--greedy"]
    said = call(*common, "--heads", "3", "--gold", gold)
    heads = json.loads(said.out.splitlines()[-1])["heads"]
    rows = [line.split("\t") for line in made.valid.read_text(encoding="utf-8").splitlines()[:3]]
    pairs = [(row[0], row[1]) for row in rows]
    translator = Translator.load(made.checkpoint)
    maps = [translator.teacher_force(source, target).attention for source, target in pairs]
    assert heads["sentences"] == 3
    kinds: tuple[Kind, ...] = ("encoder", "cross")
    for kind in kinds:
        shares = np.mean([sink_shares(each, kind) for each in maps], axis=0)
        assert heads[kind]["resting_by_layer"] == (shares > 0.5).sum(axis=1).tolist()
        assert f"heads.{kind}.looking" in said.out
    aligned = json.loads(call("align", "--checkpoint", made.checkpoint, "--gold", gold).out.splitlines()[-1])["best"]
    assert (heads["best_head"], heads["best_head_by_input"]) == (aligned["output"], aligned["input"])
    assert json.loads(call(*common, "--heads", "0").out.splitlines()[-1])["heads"] == {}
    counted = json.loads(call(*common, "--heads", "0", "--head-effects", "3").out.splitlines()[-1])["heads"]
    report = survivor_report(translator, pairs)
    names = "surviving", "surviving_by_layer"
    assert counted == {kind: {name: report[kind][name] for name in names} for kind in KINDS} | {"effect_sentences": 3}


def test_evaluate_tells_the_length_penalty(made: Workplace, call: Call) -> None:
    common = ["evaluate", "--checkpoint", made.checkpoint, "--test", made.valid, "--beam", "1"]
    assert json.loads(call(*common).out.splitlines()[-1])["length_penalty"] == "gnmt"
    said = call(*common, "--length-penalty", "power")
    assert json.loads(said.out.splitlines()[-1])["length_penalty"] == "power"


def test_evaluate_takes_columns_and_more_references(made: Workplace, call: Call, tmp_path: Path) -> None:
    test = tmp_path / "test.tsv"
    test.write_text("The man sees.\tIgnoriert.\tDer Mann sieht.\tEin Mann sieht.\n" * 2, encoding="utf-8")
    common = ["evaluate", "--checkpoint", made.checkpoint, "--test", test, "--beam", "1"]
    said = call(*common, "--target-column", "3", "--references", "2")
    scores = json.loads(said.out.splitlines()[-1])
    assert scores["references"] == 2
    assert scores["signature"].startswith("nrefs:2|")
    assert json.loads(call(*common, "--references", "all").out.splitlines()[-1])["references"] == 3


def test_evaluate_against_another_checkpoint(made: Workplace, call: Call, tmp_path: Path) -> None:
    """Against itself there is no gain; against an earlier step the numbers equal two separate calls."""
    common = ["evaluate", "--test", made.valid, "--beam", "1"]
    said = call(*common, "--checkpoint", made.checkpoint, "--compare", made.checkpoint)
    assert "compared.bleu.p " in said.out
    itself = json.loads(said.out.splitlines()[-1])["compared"]
    assert itself["chrf"]["gain"] == 0.0
    assert itself["chrf"]["p"] == 1.0
    earlier = tmp_path / "earlier"
    assert call("average", made.run, "--last", "1", "--out", earlier).status == 0
    alone = json.loads(call(*common, "--checkpoint", earlier).out.splitlines()[-1])
    both = json.loads(call(*common, "--checkpoint", made.checkpoint, "--compare", earlier).out.splitlines()[-1])
    compared = both["compared"]
    assert compared["chrf"]["baseline"] == pytest.approx(alone["chrf"])
    assert compared["chrf"]["gain"] == pytest.approx(both["chrf"] - alone["chrf"])
    assert compared["perplexity"] == alone["perplexity"]
    assert compared["nats_per_character"] == alone["nats_per_character"]
    assert compared["checkpoint_hash"] == alone["checkpoint_hash"] != both["checkpoint_hash"]
    assert "bs:1000" in compared["bleu"]["signature"]


def test_align_writes_the_errors_of_heads_and_methods(made: Workplace, call: Call, tmp_path: Path) -> None:
    gold = tmp_path / "gold.tsv"
    lines = "The man sees a house.\tDer Mann sieht ein Haus.\t0-0 1-1 2-2 3-3 4-4\nA child.\tEin Kind.\t0-0 1-1\n"
    gold.write_text(lines, encoding="utf-8")
    common = ["align", "--checkpoint", made.checkpoint, "--gold", gold]
    *table, last = call(*common, "--slow").out.splitlines()
    report = json.loads(last)
    translator = Translator.load(made.checkpoint)
    errors = head_alignment_errors(translator, list(read_gold(gold)))
    layer_1 = next(line for line in table if line.startswith("layer 1")).split()[2:]
    assert [float(cell) for cell in layer_1] == pytest.approx((100 * errors["output"][0]).tolist(), abs=0.051)
    assert (report["sentences"], report["checkpoint_hash"]) == (2, translator.checkpoint_hash)
    counts = method_counts(translator, list(read_gold(gold)), aligners=ALIGNERS)
    for rows, methods in report["methods"].items():
        assert np.array(report["aer"][rows]) == pytest.approx(errors[rows], abs=1e-4)
        best = report["best"][rows]
        assert errors[rows][head_named(best["head"])[1:]] == errors[rows].min()
        for name, expected in compare(counts[rows]).items():
            result = methods[name]
            assert result["best"]["aer"] == pytest.approx(expected.best_error, abs=1e-4)
            assert result["two_fold"]["aer"] == pytest.approx(expected.error, abs=1e-4)
            assert any(line.startswith(f"{name} ") for line in table)
        norm = counts[rows]["norm"].minus(counts[rows]["attention"])
        assert report["norm_minus_attention"][rows] == pytest.approx(norm, abs=1e-4)
        assert any(line.startswith(f"norm minus attention, AER in points ({rows}): ") for line in table)
    assert set(report["methods"]["output"]) - set(report["methods"]["input"]) == set(OF_OUTPUTS)
    quick = json.loads(call(*common).out.splitlines()[-1])["methods"]
    assert set(quick["output"]) == set(report["methods"]["output"]) - set(SLOW)
    gold.write_text(lines.splitlines()[0] + "\n", encoding="utf-8")  # one sentence has no halves
    assert json.loads(call(*common).out.splitlines()[-1])["methods"] == {}


def test_a_checkpoint_gets_the_decoding_defaults_of_its_preset(made: Workplace, call: Call, tmp_path: Path) -> None:
    shutil.copytree(made.run, tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "run" / "config.json").write_text(json.dumps({**config, "preset": "parsing-wsj"}), encoding="utf-8")
    assert call("average", tmp_path / "run", "--last", "1", "--out", tmp_path / "parser").status == 0
    decoding = load_checkpoint(tmp_path / "parser").decoding
    assert (decoding.beam, decoding.alpha, decoding.extra_length) == (21, 0.3, 300)


def test_contrast(made: Workplace, call: Call, tmp_path: Path) -> None:
    pairs = [("A dog.", "Ein Hund.", "Eine Hund."), ("Two.", "Zwei.", "Zwei zwei."), ("A cat.", "Katze", "Eine Katze.")]
    file = tmp_path / "pairs.tsv"
    rows = ["\t".join(("articles" if number else "all else", *texts)) for number, texts in enumerate(pairs)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    said = call("analyse", "contrast", "--checkpoint", made.checkpoint, "--test", file)
    assert said.status == 0, said.err
    *table, last = said.out.splitlines()
    summary = json.loads(last)
    translator = Translator.load(made.checkpoint)
    scores = [translator.score([(source, right), (source, wrong)]) for source, right, wrong in pairs]
    right = [first > second for first, second in scores]
    assert summary["right"] == round(sum(right) / 3, 4)
    assert summary["groups"]["articles"] == {"right": round(sum(right[1:]) / 2, 4), "asked": 2}
    assert [line.split()[0] for line in table] == ["phenomenon", "all", "articles", "all"]


@pytest.mark.parametrize(
    ("command", "flag", "message"),
    [("align", "--gold", "has no sentences"), ("analyse contrast", "--test", "has no questions")],
)
def test_an_empty_file(made: Workplace, call: Call, tmp_path: Path, command: str, flag: str, message: str) -> None:
    (tmp_path / "empty.tsv").touch()
    said = call(*command.split(), "--checkpoint", made.checkpoint, flag, tmp_path / "empty.tsv")
    assert message in one_line_error(said, 1)
