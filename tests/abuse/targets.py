"""What the fuzzing feeds: every reader of something that a stranger made, with what it may raise and what must hold.

A case is a value that JSON can hold, so that one that breaks something becomes a line of `corpus/`. A check raises for
a fault only; the errors that the reader documents are caught here.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.abuse.damage import NUMBERS, TEXTS, damaged, damaged_json, damages, edited, edits, leaves, values
from transformer_core.attention_maps import KINDS, AttentionMaps, Axis
from transformer_core.config import ConfigError, DecodingConfig, ModelConfig
from transformer_core.files import CheckpointError
from transformer_core.history import History
from transformer_core.manifest import MANIFEST_FILE, Manifest, read_object
from transformer_core.model import Transformer
from transformer_core.tensor_files import INDEX_FILE, load_shards
from transformer_core.tokenizer import Tokenizer, TokenizerError
from viz_app.components.explorer.selection import CHOICES, Selection
from viz_app.export import file_bytes
from viz_app.export.figure_request import ForwardResult
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.lesson_figure_spec import LessonFigureSpec, invalid_part
from viz_app.figure_editor.rendering import make_figure
from viz_app.figures import VIEWS, HeatmapFigure
from viz_app.figures.layout import MAX_LABEL
from viz_app.figures.model.spec import HeatmapPanel, display_label
from viz_app.lessons.catalogue import LESSONS
from viz_app.lessons.stage.state import (
    MOST_LETTERS,
    MOST_SETTINGS,
    LessonState,
    settings_from_param,
    settings_to_param,
    unreadable_parts,
)
from viz_app.model_card.card import training_facts
from viz_app.model_card.head_snapshot import HeadSnapshot
from viz_app.serving.input_validation import MAX_CHARACTERS, MAX_PIECES, validate_sentence
from viz_app.serving.metrics import ModelCard
from viz_app.state.query_params import other_view_from_params, selection_from_params, selection_to_params, text_to_param
from viz_app.state.share_link import share_link

SMALL = Path(__file__).parents[2] / "checkpoints" / "small"
SECONDS = 10.0  # of processor time that one case may take
MEGABYTES = 300  # that one case may add to the largest memory so far

Params = dict[str, str]


class OutOfBounds(AssertionError):
    """A case took too much time or memory."""


@dataclass(frozen=True)
class Target:
    """A reader.

    Args:
        name: Of the reader, and of its file in `corpus/`.
        cases: What it is fed.
        check: Feeds it; raises when it breaks its promises.
    """

    name: str
    cases: SearchStrategy[Any]
    check: Callable[[Any], None]

    def run(self, case: Any) -> None:
        """Check a case within the bounds of time and memory."""
        started, memory = time.process_time(), _peak()
        self.check(case)
        seconds, megabytes = time.process_time() - started, _peak() - memory
        if seconds > SECONDS or megabytes > MEGABYTES:
            raise OutOfBounds(f"took {seconds:.1f} s and {megabytes:.0f} MB more")

    @property
    def corpus(self) -> list[Any]:
        """Cases that broke something once, and some made by hand."""
        path = Path(__file__).parent / "corpus" / f"{self.name}.json"
        found: list[Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def _peak() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


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


@cache
def _document(name: str) -> Any:
    return json.loads((SMALL / name).read_text(encoding="utf-8"))


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer.load(SMALL / "base" / "tokenizer.model")


@cache
def _history() -> History:
    return History.load(SMALL / "history" / "base")


@cache
def _maps() -> AttentionMaps:
    """Uniform attention of 2 layers with 2 heads over 3 tokens."""
    axis = Axis(("▁a", "▁b", "</s>"), (0, 1, 2), (False, False, True))
    inputs = Axis(("<s>", "▁a", "▁b"), (0, 1, 2), (True, False, False))
    full = np.full((2, 2, 3, 3), 1 / 3, dtype=np.float32)
    causal = np.tril(np.ones((3, 3), dtype=np.float32))
    decoder = np.broadcast_to(causal / causal.sum(-1, keepdims=True), (2, 2, 3, 3)).copy()
    return AttentionMaps(encoder=full, decoder=decoder, cross=full, source=axis, inputs=inputs, outputs=axis)


# Addresses.

_LONG = st.builds(lambda text, times: text * times, st.text(max_size=3), st.sampled_from((1, 100, 100_000)))
_PAGES = ("http://[", "http://localhost:99999/lessons", "https://[::1]:8501/a", "http://h:x/")
_WORDS = (
    "on",
    "off",
    "q3",
    "k9999",
    "cross.99.1",
    "shared",
    "0,1",
    "1e400,nan",
    "title,legend",
    "none",
    "at:5",
    "x:%FF",
)
_CHOICES = tuple(choice for choices in CHOICES.values() for choice in choices)
_LESSONS = tuple(entry.name for entry in LESSONS)
_KNOWN = st.sampled_from((*_PAGES, *_WORDS, *_CHOICES, *_LESSONS, *VIEWS, *TEXTS, *map(str, NUMBERS)))
_OTHERS = ("other", "text", "seen", "threshold", "special", "pin", "grown_head", "grown_text", "grown_at")
_NAMES = st.sampled_from((*_OTHERS, *CHOICES, *FigureSpec().to_query()))


def _check_address(params: Params) -> None:
    selection = selection_from_params(params, Selection())
    nobody = Selection(layer=12_345)
    assert Selection.from_state(selection.to_dict(), default=nobody) == selection, "a report may not hold it"
    written = selection_to_params(selection)
    assert selection_to_params(selection_from_params(_present(written), Selection())) == written
    other_view_from_params(params)
    text_to_param(params.get("text", ""))
    spec = FigureSpec.from_query(params, FigureSpec())
    query = spec.to_query()
    assert FigureSpec.from_query(_present(query), FigureSpec()).to_query() == query
    assert all(20 <= width <= 2000 for width in (spec.style.width_mm,) if width is not None)
    _check_figure(spec)
    assert (LessonFigureSpec.from_query(params) is None) == (
        "lesson" not in params or invalid_part(params) in ("lesson", "scene")
    )
    assert HeadSnapshot.from_query(params, _history())._exists(_history())
    share_link(params.get("seen", "http://localhost:8501/lessons"), "127.0.0.1", "lessons", written, "192.0.2.7")


def _present(params: dict[str, str | None]) -> Params:
    return {name: value for name, value in params.items() if value is not None}


def _check_figure(spec: FigureSpec) -> None:
    """What fits the maps can be made into a figure, or is refused in words."""
    fitted = spec.fitted(_maps())
    try:
        make_figure(fitted, "en", ForwardResult(_maps(), {}, None))
    except ValueError as error:
        assert str(error)


# Settings of a lesson.

_SETTING = st.builds("{}:{}".format, st.text("abz_09", max_size=5), st.text("ab1.-+~%Fe,:ü", max_size=12) | _KNOWN)


def _check_settings(text: str) -> None:
    settings = settings_from_param(text)
    assert len(settings) <= MOST_SETTINGS
    assert all(len(value) <= MOST_LETTERS for value in settings.values() if isinstance(value, str))
    assert all(math.isfinite(value) for value in settings.values() if not isinstance(value, str))
    state = LessonState(settings=settings).as_in_address
    assert state.as_in_address == state and settings_to_param(state.settings) == settings_to_param(settings)
    assert all(part in text for part in unreadable_parts(text))


# Sentences, and the labels of their figures.


def _check_text(text: str) -> None:
    try:
        sentence = validate_sentence(text, _tokenizer())
    except ValueError:
        assert len(text) > MAX_CHARACTERS
        return
    assert len(text) <= MAX_CHARACTERS
    assert sentence.pieces <= MAX_PIECES or sentence.status == "long"
    if sentence.status != "good":
        return
    encoding = _tokenizer().encode(sentence.text)
    assert all(0 <= begin <= end <= len(sentence.text) for begin, end in encoding.spans)
    _tokenizer().decode(encoding.ids)
    tokens = encoding.pieces[:6]
    assert all(len(display_label(token, MAX_LABEL)) <= MAX_LABEL for token in tokens)
    weights = np.full((len(tokens), len(tokens)), 1 / len(tokens), dtype=np.float32)
    panel = HeatmapPanel(weights=weights, query_labels=tokens, key_labels=tokens)
    figure = HeatmapFigure(panels=(panel,), query_title="Query", key_title="Key")
    assert b"\\write18" not in file_bytes(figure, "tex")
    for row in csv.DictReader(io.StringIO(file_bytes(figure, "csv").decode("utf-8"))):
        assert (row["query_label"] or "").lstrip("\ufeff \u200b")[:1] not in ("=", "+", "-", "@")
    if hashlib.sha256(text.encode(errors="replace")).digest()[0] < 4:  # drawing takes a second
        assert file_bytes(figure, "svg").startswith(b"<?xml")


# Options of a model.


def _check_config(case: dict[str, Any]) -> None:
    config = _document("base/config.json")
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
    path.write_bytes(damaged_json(_document("base/manifest.json"), case))
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
    assert all(aligner.rates[layer][head] <= 1 for aligner in card.aligners.values() for layer, head in [aligner.best])
    assert card.trained_pieces is None or card.trained_pieces > 0
    assert all(isinstance(fact, str) for fact in training_facts(card).values())
    assert card.everyday_bleu is None or math.isfinite(card.everyday_bleu)
    json.dumps(card.unreadable).encode()


@cache
def _metrics() -> Any:
    checkpoint = SMALL.parent / "en-de"
    parts = [checkpoint / "metrics.json"]
    found = json.loads(parts[0].read_text(encoding="utf-8"))
    for part in ("scores", "alignment", "probes"):
        found[part] = json.loads((checkpoint / "derived" / f"{part}.json").read_text(encoding="utf-8"))
    return found


def _check_history(case: dict[str, Any]) -> None:
    folder = _folder("history/base")
    weights = _with_header((SMALL / "history/base/attention.safetensors").read_bytes(), case["weights"])
    facts = edited(_document("history/base/history.json"), case["facts"]["edits"])
    if isinstance(facts, dict) and "attention_sha256" in facts:  # as somebody would who makes both files
        facts["attention_sha256"] = hashlib.sha256(weights).hexdigest()
    (folder / "attention.safetensors").write_bytes(weights)
    (folder / "history.json").write_bytes(damaged(json.dumps(facts).encode(), case["facts"]))
    try:
        history = History.load(folder)
    except CheckpointError:
        return
    start = HeadSnapshot.start(history)
    assert start._exists(history)
    for kind in KINDS:
        assert history.sentences[0].decoded(kind, 0).max(initial=0) <= 1
    assert HeadSnapshot.from_query(_present(start.to_query(history)), history) == start


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
    (folder / INDEX_FILE).write_bytes(damaged_json(_document(f"base/{INDEX_FILE}"), case["index"]))
    try:
        weights = load_shards(folder)
    except CheckpointError:
        return
    try:
        Transformer.from_weights(ModelConfig.from_dict(_document("base/config.json")["model"]), weights)
    except ValueError as error:
        assert str(error)


def _check_vocabulary(case: dict[str, Any]) -> None:
    try:
        tokenizer = Tokenizer(damaged(_tokenizer().model, case))
    except TokenizerError:
        return
    encoding = tokenizer.encode("A small test, isn't it?")
    tokenizer.decode(encoding.ids)
    assert len(encoding.pieces) == len(encoding.ids)


# What components report.


def _check_report(case: dict[str, Any]) -> None:
    report = edited(Selection(against="cross.0.1", pin="q0", step=2).to_dict(), case["edits"])
    default = Selection(layer=1)
    selection = Selection.from_state(report, default=default)
    assert selection is default or selection.to_dict() == report
    fitted = selection.fitted(_maps())
    assert fitted.layer < 2 and fitted.head < 2
    _check_figure(FigureSpec().follow_explorer(selection))
    for value in (report, case["other"]):
        state = LessonState.from_report(value)
        assert state is None or len(state.settings) <= MOST_SETTINGS
        if state is not None:
            assert state.as_in_address.as_in_address == state.as_in_address
            state.number("at", 1.0, 0.0, 5.0)
        snapshot = HeadSnapshot.from_report(value, _history())
        assert snapshot is None or snapshot._exists(_history())


_FLIPS = st.fixed_dictionaries(
    {"flips": st.lists(st.tuples(st.integers(0, 2**19), st.integers(0, 255)), max_size=8)},
    optional={"length": st.integers(0, 2**19)},
)
_LESSON_REPORTS = st.fixed_dictionaries(
    {"scene": st.text("abz_0", max_size=4) | leaves, "settings": st.dictionaries(st.text("abz_0", max_size=4), values)}
)

TARGETS = (
    Target("addresses", st.dictionaries(_NAMES, _KNOWN | _LONG, max_size=8), _check_address),
    Target("settings", st.lists(_SETTING, max_size=14).map(",".join) | _LONG, _check_settings),
    Target("texts", st.text(max_size=60) | _LONG | _KNOWN, _check_text),
    Target("configs", st.fixed_dictionaries({"model": _options, "decoding": edits}), _check_config),
    Target("manifests", damages, _check_manifest),
    Target("metrics", damages, _check_metrics),
    Target("histories", st.fixed_dictionaries({"facts": damages, "weights": damages}), _check_history),
    Target("weights", st.fixed_dictionaries({"weights": damages, "index": damages}), _check_weights),
    Target("vocabularies", _FLIPS, _check_vocabulary),
    Target("reports", st.fixed_dictionaries({"edits": edits, "other": _LESSON_REPORTS | values}), _check_report),
)
