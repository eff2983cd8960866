"""The benchmarks: each runs in its short form; their arithmetic by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import (
    agreement,
    batching,
    browser_translator,
    capture,
    circuit,
    code_size,
    convert,
    data,
    data_set,
    decode,
    export,
    length,
    open_model,
    optimizer,
    parse,
    serve,
    train,
)
from benchmarks.peers.search_difference import first_difference
from benchmarks.server import abuse, classroom, cluster, memory, soak
from benchmarks.server.cluster_parts import find_nginx
from transformer_core import DecodingConfig, ModelConfig, Translator
from transformer_core.analysis.attribution import METHODS, attribute, faithfulness
from transformer_core.analysis.attribution import agreement as attribution_agreement
from transformer_core.data import Corpus
from transformer_core.decoding.beam import Node, SearchResult, Status
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.text.tokenizer import Encoding
from viz_app.serving.decoding.decoding_limits import same_bucket

NEEDS_RAY = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: pip install 'headlight[cluster]'")
NEEDS_NGINX = pytest.mark.skipif(find_nginx() is None, reason="needs nginx: apt-get install nginx-light")
PAIR = ("alti", "leave-one-out")
CONFIG = ModelConfig(vocab_size=10, d_model=4, d_ff=6, num_layers=1, num_heads=2)


@pytest.mark.parametrize(
    ("benchmark", "key", "options"),
    [
        pytest.param(decode, "decode", ["--rounds", "1"], marks=pytest.mark.slow),
        pytest.param(decode, "decode", ["--rounds", "1", "--maps"], marks=pytest.mark.slow),
        (train, "train", ["--rounds", "1"]),
        (capture, "capture", []),
        pytest.param(browser_translator, "browser_translator", [], marks=pytest.mark.slow),
        (length, "length", ["--window", "4"]),
        pytest.param(convert, "conversion", [], marks=pytest.mark.slow),
        pytest.param(open_model, "open_model", [], marks=pytest.mark.slow),
        pytest.param(export, "export", [], marks=pytest.mark.slow),
        (optimizer, "optimizer", []),
        pytest.param(circuit, "circuit", [], marks=pytest.mark.slow),
        (batching, "batching", ["--sentences", "checkpoints/sentences.txt", "--rounds", "1"]),
        (data_set, "data_set", ["--sentences", "checkpoints/sentences.txt", "--rounds", "1"]),
        pytest.param(memory, "memory", [], marks=pytest.mark.slow),
        pytest.param(abuse, "abuse", ["--attacks", "huge text", "huge figure"], marks=pytest.mark.slow),
        pytest.param(serve, "serve", [], marks=pytest.mark.slow),
        pytest.param(soak, "soak", [], marks=pytest.mark.slow),
        pytest.param(classroom, "classroom", [], marks=pytest.mark.slow),
        pytest.param(cluster, "cluster", [], marks=[pytest.mark.slow, NEEDS_RAY, NEEDS_NGINX]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.process
def test_each_runs_and_ends_with_one_line_of_json(
    benchmark: ModuleType,
    key: str,
    options: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [key, "--quick", "--clock", "cpu", *options])
    benchmark.main()
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer[key]
    assert answer["machine"]["quick"] is True
    if key == "decode":  # all have the same weights, so they write the same tokens
        for entry in answer["decode"]:
            assert entry["same_tokens"]["marian"] > 0.9
            assert entry["same_tokens"].get("ctranslate2", 1.0) > 0.9
    if key == "batching":
        for mix in answer["batching"]["equality"].values():
            assert mix["same_text"] == mix["sentences"] == 8
            assert mix["beyond"]["attention"] == 0
            far = {kind: float(value) for kind, value in mix["largest"].items()}
            # What float32 rounds alone is no finer: it depends on the model whether a score stays within 1e-5.
            assert far["together from float64"] < 2 * far["alone from float64"] + 1e-5
            assert max(far.values()) < 1e-4
        assert [entry["batch"] for entry in answer["batching"]["throughput"]] == [1, 4]
        for entry in answer["batching"]["throughput"]:
            assert entry.get("ctranslate2_equals", {"ours": 4})["ours"] == 4
    if key == "open_model":
        result = answer["open_model"]
        assert result["cross shape"][:2] == [2, 4]  # the same maps on both sides, or it would have failed
        assert min(result[peer][name] for peer in ("ours", "transformers") for name in result["ratio"]) > 0
    if key == "export":
        assert all(entry["identical"] for entry in answer["export"])
        assert answer["concurrent"]["own"] == answer["concurrent"]["different"] == 4
    if key == "abuse":
        assert set(answer["abuse"]) == {"no attack", "huge text", "huge figure"}
        assert all(0 < result["median"] <= result["worst"] < 60 for result in answer["abuse"].values())
    if key == "serve":
        assert answer["serve"]["wrong"] == {"this": 0}
    if key == "soak":
        assert answer["soak"]["wrong"] == 0 and not answer["soak"]["failures"] and answer["soak"]["killed"] > 0
    if key == "classroom":
        (counted,) = answer["classroom"]["counts"]["this"]["answers"]
        assert len(counted) == 4 and 0 < max(counted) <= 5
        assert answer["classroom"]["errors"] == {"this": {}}
    if key == "length":
        assert set(answer["length"]) == {"full", "window 4"}


def test_a_parser_beside_a_translator_that_generates_as_much(
    parser_checkpoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["parse", "--quick", "--clock", "cpu", f"--checkpoint={parser_checkpoint}"])
    parse.main()
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["machine"]["quick"] is True
    assert [entry["beam"] for entry in answer["parse"]] == [1, 2]
    for entry in answer["parse"]:
        assert entry["well_formed"]["constrained"] == entry["sentences"] == 2
        assert set(entry["per_second"]) == {"free", "constrained", "translator"}
        assert min(entry["per_second"].values()) > 0
    # A sentence has a symbol for each word, a bracket on either side at least, and </s>.
    words = sum(len(each) for each in parse.read_lines(parse.SENTENCES, 2))
    assert all(entry["steps"]["constrained"] >= words + 2 * 3 for entry in answer["parse"])


def test_a_parser_needs_sentences(tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(SystemExit, match="holds no sentence"):
        parse.read_lines(str(tmp_path / "none.txt"), 2)


def test_agreement_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    sentences = ["A man rides a bicycle.", "Two dogs play in the snow."]
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{text}\t-\n" for text in ("Too short.", *sentences)), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["agreement", "--quick", "--sentences", str(file)])
    agreement.main()
    result = json.loads(capsys.readouterr().out.splitlines()[-1])["agreement"]
    assert set(result) == set(METHODS) - {"integrated-gradients"} and result["alti"]["sentences"] == 2
    translator = Translator.load(find_checkpoint("checkpoints/en-de"))
    taus, drops = [], []
    for text in sentences:
        alti, yardstick = (attribute(translator, text, method=method) for method in METHODS if method in PAIR)
        taus.append(attribution_agreement(alti, yardstick))
        drops.append(float(faithfulness(translator, alti, words=1).first))
    assert result["alti"]["tau"] == pytest.approx(sum(taus) / 2, abs=1e-3)
    assert result["alti"]["drop"]["first"] == pytest.approx(sum(drops) / 2, abs=1e-3)
    assert result["leave-one-out"]["tau"] == 1.0


@pytest.mark.slow
def test_attribution_equals_inseqs(tmp_path: Path) -> None:
    """In an environment of its own, which the benchmark makes."""
    command = [sys.executable, "-m", "benchmarks.peers.inseq_peer", "--quick", "--clock", "cpu", "--environment"]
    said = subprocess.run(
        [*command, str(tmp_path)], capture_output=True, text=True, timeout=600, cwd=Path(__file__).parents[2]
    )
    assert said.returncode == 0, said.stderr
    values = {entry["method"]: entry for entry in json.loads(said.stdout.splitlines()[-1])["inseq_peer"]}
    assert set(values) == {"attention", "gradient", "grad-x-input", "integrated-gradients"}
    for method in ("attention", "gradient", "grad-x-input"):
        assert float(values[method]["difference"]) < 1e-5


def test_lines_of_code_by_hand() -> None:
    documented = ['"""A module."""', "", "# why", 'VALUE = """', "", '"""  # three lines', "def one() -> int:"]
    text = "\n".join([*documented, '    """Return 1."""', "    return 1", ""])
    assert code_size.python_lines(text) == 3 + 2
    assert code_size.javascript_lines("/** @type {number}\n */\nconst a = 1; // one\n\n// two\nexport { a };\n") == 2


@pytest.mark.skipif(not (code_size.ROOT / ".git").exists(), reason="needs a checkout")
def test_code_is_that_of_its_rooms(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(code_size, "FOLDERS", {"benchmarks": "benchmarks"})
    monkeypatch.setattr(sys, "argv", ["code_size"])
    code_size.main()
    data = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert data["code"]["benchmarks"] == sum(data["rooms"].values()) > 2_000


def test_bytes_captured_by_hand() -> None:
    # Two heads: 3 x 3 in the encoder, 2 x 2 in the decoder, 2 x 3 between them.
    assert capture.computed_bytes(CONFIG, 5, source=3, target=2) == 4 * 5 * 2 * (9 + 4 + 6)


def test_exponent_of_a_power_law() -> None:
    lengths = [16, 32, 64, 128, 256]
    assert length.exponent(lengths, [3e-6 * n**1.5 for n in lengths]) == pytest.approx(1.5)
    # A constant that dominates short lengths does not spoil it much.
    assert length.exponent(lengths, [1e-3 + 1e-6 * n**2 for n in lengths]) == pytest.approx(2, abs=0.15)


def test_agreement_counts_positions() -> None:
    assert decode.agreement([[1, 2], [3, 4]], [[1, 2], [4, 4]]) == 0.75
    assert decode.agreement([[1, 2]], [[1]]) == 0.5


def test_a_batch_takes_those_along_that_fit_in_their_order() -> None:
    encodings = [Encoding(tuple(range(n)), (), (), ()) for n in (20, 5, 40, 41, 6)]
    together = batching.batches_of(encodings, iter([2, 8, 8]), same_bucket)
    # 5 and 6 count as 12: 20 is less than twice as long, 40 more.
    assert together == [[0, 1], [2, 3], [4]]


def candidate(parent: int, step: int, token: int, total: float, status: Status) -> Node:
    return Node(parent, step, token, total, total, status, ())


def test_where_two_searches_part_by_hand() -> None:
    decoding = DecodingConfig(beam=1, alpha=0.0)
    first = [candidate(-1, 1, 7, -1.0, "kept"), candidate(-1, 1, 8, -1.5, "pruned")]
    turned = [candidate(-1, 1, 8, -1.0, "kept"), candidate(-1, 1, 7, -1.5, "pruned")]
    alone = SearchResult((), (*first, candidate(0, 2, 2, -2.0, "finished"), candidate(0, 2, 9, -2.25, "kept")))
    # The candidates of both ranks are 0.5 apart in the search alone.
    assert first_difference(alone, SearchResult((), tuple(turned)), decoding) == ("step", 0.5)
    longer = SearchResult((), (*alone.history, candidate(3, 3, 9, -3.0, "kept")))
    # The one went on although the finished hypothesis was better by 0.25.
    assert first_difference(alone, longer, decoding) == ("end", 0.25)


def test_it_ends_with_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(data, "PAIRS_PER_SHARD", 400)
    data.write_corpus(tmp_path, 1000)
    assert len(Corpus(tmp_path)) == 1000
    monkeypatch.setattr(sys, "argv", ["data", "--folder", str(tmp_path), "--seconds", "1"])
    data.main()
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["pairs"] == 1000
    assert answer["batches"] == answer["batches_of_the_epoch"] > 0
    assert answer["target_tokens_per_second"] > 0
    assert answer["resident_peak_mb"] >= answer["resident_before_mb"] > 0
