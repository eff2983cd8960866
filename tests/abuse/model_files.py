"""Files of a model folder: its options, manifest, metrics, history, weights and vocabulary."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.abuse.damage import damaged, damaged_json, damages, edited, edits, leaves
from tests.abuse.samples import SMALL, document, tokenizer
from tests.abuse.target import Target
from transformer_core import ConfigError, DecodingConfig, ModelConfig, Transformer
from transformer_core.attention_maps import KINDS
from transformer_core.history.snapshots import History
from transformer_core.storage.files import CheckpointError
from transformer_core.storage.manifest import MANIFEST_FILE, Manifest, read_object
from transformer_core.storage.tensor_files import INDEX_FILE, load_shards
from transformer_core.text.tokenizer import Tokenizer, TokenizerError
from viz_app.explorer_view.training_snapshot import first_selection
from viz_app.model_card.card import training_facts
from viz_app.serving.measurements.model_card import ModelCard


@cache
def _folder(name: str) -> Path:
    """A copy of a folder of checkpoints/small, for this process; its files are written anew for each case."""
    copy = Path(tempfile.mkdtemp(prefix="headlight-abuse-")) / Path(name).name
    shutil.copytree(SMALL / name, copy)
    return copy


def remove_copies() -> None:
    """Remove what `_folder` has made."""
    for name in ("base", "history/base"):
        shutil.rmtree(_folder(name).parent, ignore_errors=True)
    _folder.cache_clear()


# Options of a model.


def _check_config(case: dict[str, Any]) -> None:
    config = document("base/config.json")
    with suppress(ConfigError):
        DecodingConfig.from_dict(edited(config["decoding"], case["decoding"]))
    try:
        model = ModelConfig.from_dict(edited(config["model"], case["model"]))
    except ConfigError:
        return
    assert ModelConfig.from_dict(model.to_dict()) == model
    try:
        Transformer.from_weights(model, {})
    except ValueError as error:
        assert str(error)


_options = st.lists(st.tuples(st.lists(st.integers(0, 40), min_size=1, max_size=1), st.tuples(leaves)), max_size=3)


# Files of a model folder.


def _check_manifest(case: dict[str, Any]) -> None:
    folder = _folder("base")
    path = folder / MANIFEST_FILE
    path.write_bytes(damaged_json(document("base/manifest.json"), case))
    try:
        manifest = Manifest.read(folder)
    except CheckpointError:
        return
    for name in manifest.files:
        try:
            manifest.check(folder, name)
        except CheckpointError as error:
            assert str(error) and error.in_folder


def _check_metrics(case: dict[str, Any]) -> None:
    path = _folder("base") / "metrics.json"
    path.write_bytes(damaged_json(_metrics(), case))
    try:
        metrics = read_object(path, 10**6)
    except CheckpointError:
        return
    card = ModelCard.from_metrics(metrics)
    assert all(0 <= score.bleu <= 100 for score in card.scores)
    assert all(0 <= answer.right <= 1 and answer.asked > 0 for answer in card.answers)
    assert all(each.rates[each.best.layer][each.best.head] <= 1 for each in card.aligners.values())
    assert card.trained_tokens is None or card.trained_tokens > 0
    assert all(isinstance(fact, str) for fact in training_facts(card).values())
    assert (card.main_score is None) == (not card.scores)
    json.dumps(card.unreadable).encode()


@cache
def _metrics() -> Any:
    checkpoint = SMALL.parent / "en-de"
    parts = [checkpoint / "metrics.json"]
    data = json.loads(parts[0].read_text(encoding="utf-8"))
    for part in ("scores", "alignment", "probes"):
        data[part] = json.loads((checkpoint / "derived" / f"{part}.json").read_text(encoding="utf-8"))
    return data


def _check_history(case: dict[str, Any]) -> None:
    folder = _folder("history/base")
    weights = _with_header((SMALL / "history/base/attention.safetensors").read_bytes(), case["weights"])
    facts = edited(document("history/base/history.json"), case["facts"]["edits"])
    if isinstance(facts, dict) and "attention_sha256" in facts:  # as somebody would who makes both files
        facts["attention_sha256"] = hashlib.sha256(weights).hexdigest()
    (folder / "attention.safetensors").write_bytes(weights)
    (folder / "history.json").write_bytes(damaged(json.dumps(facts).encode(), case["facts"]))
    try:
        history = History.load(folder)
    except CheckpointError:
        return
    start = first_selection(history)
    assert start.layer < history.model["layers"] and start.head < history.model["heads"]
    for kind in KINDS:
        assert history.sentences[0].decoded(kind, 0).max(initial=0) <= 1


def _with_header(data: bytes, case: dict[str, Any]) -> bytes:
    """A safetensors file with another header: eight bytes of its length, then JSON."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps(edited(json.loads(data[8:end]), case["edits"])).encode()
    head = damaged(len(header).to_bytes(8, "little") + header, {"flips": case.get("flips", [])})
    return (head + data[end:])[: case.get("length")]


def _check_weights(case: dict[str, Any]) -> None:
    folder = _folder("base")
    name = "model-00001-of-00001.safetensors"
    (folder / name).write_bytes(_with_header((SMALL / "base" / name).read_bytes(), case["weights"]))
    (folder / INDEX_FILE).write_bytes(damaged_json(document(f"base/{INDEX_FILE}"), case["index"]))
    try:
        weights = load_shards(folder)
    except CheckpointError:
        return
    try:
        Transformer.from_weights(ModelConfig.from_dict(document("base/config.json")["model"]), weights)
    except ValueError as error:
        assert str(error)


def _check_vocabulary(case: dict[str, Any]) -> None:
    try:
        damaged_one = Tokenizer(damaged(tokenizer().model, case))
    except TokenizerError:
        return
    encoding = damaged_one.encode("A small test, isn't it?")
    damaged_one.decode(encoding.ids)
    assert len(encoding.tokens) == len(encoding.ids)


_FLIPS = st.fixed_dictionaries(
    {"flips": st.lists(st.tuples(st.integers(0, 2**19), st.integers(0, 255)), max_size=8)},
    optional={"length": st.integers(0, 2**19)},
)

TARGETS = (
    Target("configs", st.fixed_dictionaries({"model": _options, "decoding": edits}), _check_config),
    Target("manifests", damages, _check_manifest),
    Target("metrics", damages, _check_metrics),
    Target("histories", st.fixed_dictionaries({"facts": damages, "weights": damages}), _check_history),
    Target("weights", st.fixed_dictionaries({"weights": damages, "index": damages}), _check_weights),
    Target("vocabularies", _FLIPS, _check_vocabulary),
)
