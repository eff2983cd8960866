"""Pages of sentences: what is in them is what the model says, and their command makes them again."""

from __future__ import annotations

import base64
import gzip
import json
import shlex
from collections.abc import Callable
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from tests.app.conftest import OTHER, SENTENCE
from tests.app.read_html import Page
from tests.page_record import page_record
from transformer_core.analysis.ablation import translate_without
from transformer_core.attention_maps import KINDS
from transformer_core.cli import main
from transformer_core.head import Head, head_named
from transformer_core.translator import Translator
from viz_app.cli import PROGRAM
from viz_app.components.buffer import split_buffer
from viz_app.explorer_view import flow as flow_view
from viz_app.explorer_view.flow import flow_data
from viz_app.serving.models.translation_service import BEAM, TranslationService
from viz_app.standalone import document, origin
from viz_app.standalone import sentences as module
from viz_app.standalone.origin import model_licences
from viz_app.text import texts


def blocks(page: bytes) -> dict[str, bytes]:
    """The data of a page by name, unpacked."""
    values = {}
    for tag, attributes, text in Page(page.decode()).texts:
        if tag == "script" and attributes.get("type") == "application/octet-stream":
            values[str(attributes["id"])] = gzip.decompress(base64.b64decode(text))
    return values


def written(run: Callable[..., int], tmp_path: Path, *options: str) -> bytes:
    out = tmp_path / "page.html"
    assert run("page", *options, "--force", f"--out={out}") == 0
    return out.read_bytes()


def test_the_maps_and_branches_are_those_of_the_model(
    run: Callable[..., int], translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_view, "FILE_WAYS", 20)
    page = written(run, tmp_path, f"--text={SENTENCE}", f"--text={OTHER}", "--branches=2")
    data = blocks(page)
    assert set(data) == {"findings", "s0b0", "s0b1", "s0flow", "s1b0", "s1b1", "s1flow"}
    for number, text in enumerate((SENTENCE, OTHER)):
        best = translator.translate(text, beam=BEAM)
        for branch in range(2):
            header, _ = split_buffer(data[f"s{number}b{branch}"])
            hypothesis = best.hypotheses[branch]
            assert header["beam"]["shown"] == branch
            assert header["about"].items() >= {"text": text, "source": text, "models": []}.items()
            named = {"off": False, "branches": [0, 1], "checkpoint": "random", "flow": False}
            assert header["about"]["answers"].items() >= named.items()
            tokens = translator.tokenizer.tokens(hypothesis.ids)
            assert header["axes"]["outputs"]["tokens"][: len(tokens)] == list(tokens)
        header, weights = split_buffer(data[f"s{number}b0"])
        for kind in KINDS:
            expected = getattr(best.attention, kind)
            packed = header["kinds"][kind]
            assert header["bits"] == 16
            if kind == "decoder":  # the zeros of the mask do not travel
                expected = expected[:, :, *np.tril_indices(expected.shape[2])]
            values = np.frombuffer(weights, "<u2", expected.size, packed["offset"]).reshape(expected.shape)
            np.testing.assert_allclose(values / 65535, expected, atol=1 / 65535)
        flow, expected_flow = json.loads(data[f"s{number}flow"]), flow_data(translator, best, "random")
        assert len(flow["words"]) == len(expected_flow["words"])
        for word, other in zip(flow["words"], expected_flow["words"], strict=True):
            assert other and word["logit"] == pytest.approx(other["logit"], rel=1e-3)
            assert word["flows"] == pytest.approx(other["flows"][:20], rel=1e-3)
            assert [len(word[name]) for name in ("ways", "flows", "heads")] == [80, 20, 20]


def test_heads_off_and_roles_are_in_the_page(run: Callable[..., int], translator: Translator, tmp_path: Path) -> None:
    page = written(run, tmp_path, f"--text={OTHER}", "--heads-off")
    assert "--heads-off=true" in page_record(page)["command"]
    findings = json.loads(blocks(page)["findings"])
    off = findings["sentences"][0]["off"]
    config = translator.config
    assert len(off) == 3 * config.num_layers * config.num_heads
    best = translator.translate(OTHER, beam=BEAM)
    for kind in KINDS:
        expected = translate_without(translator, best, [Head(kind, 0, 1)], beam=BEAM)
        assert off[f"{kind}.1.2"]["after"] == pytest.approx(expected.log_probability)
    assert findings["roles"] is None or findings["roles"]["heads"].keys() == set(KINDS)


def test_a_page_has_the_head_that_each_sentence_needs_most(
    run: Callable[..., int], translator: Translator, tmp_path: Path
) -> None:
    page = written(run, tmp_path, f"--text={SENTENCE}", f"--text={OTHER}")
    for text, each in zip((SENTENCE, OTHER), json.loads(blocks(page)["findings"])["sentences"], strict=True):
        needed = each["needed"]
        assert needed["source"] == text and list(each["off"]) == [needed["head"]]
        best = translator.translate(text, beam=BEAM)
        expected = translate_without(translator, best, [head_named(needed["head"])], beam=BEAM)
        assert each["off"][needed["head"]]["after"] == pytest.approx(expected.log_probability)


@pytest.mark.parametrize(
    "options",
    [
        [f"--text={SENTENCE}", "--texts={private}"],
        [f"--text={SENTENCE}", "--texts={private}", "--language=ko", "--branches=1"],
        ["--lesson=masks", f"--text={SENTENCE}", "--language=ko"],
        ["--live", "--language=ko"],
    ],
)
def test_the_page_is_made_again_by_the_command_in_it(
    options: list[str], run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    private = tmp_path / "private.txt"
    private.write_text(f"\ufeff{OTHER}\n\n", encoding="utf-8")
    page = written(run, tmp_path, *(option.format(private=private) for option in options))
    assert b"private" not in page
    record = page_record(page)
    assert record["program"] == "Headlight" and len(record["checkpoint_sha256"]) == 64
    words = shlex.split(record["command"])
    assert words[:4] == ["python", "-m", "viz_app", "page"] and words[-1].startswith("--out=headlight_")
    assert unescape(record["command"]) in unescape(page.decode())
    assert main([*words[3:-1], f"--out={tmp_path / 'again.html'}"], PROGRAM) == 0
    assert (tmp_path / "again.html").read_bytes() == page
    assert main(["reproduce", str(tmp_path / "again.html")], PROGRAM) == 2
    assert "must end with one of .pdf" in capsys.readouterr().err


def test_the_licences_are_in_the_page(run: Callable[..., int], tmp_path: Path) -> None:
    page = written(run, tmp_path, f"--text={OTHER}", "--branches=1").decode()
    assert "Copyright 2010-2026 Mike Bostock" in page


def test_the_table_of_licences_is_taken_from_the_card(
    service: TranslationService, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = {
        "# A\n\n## Data and licences\n\n| a | b |\n|---|---|\n| c | CC0 |\n\nprepared by\n\n## B\nx": "a · b\nc · CC0",
        "## Licence\nMIT.\n\nAll of it.\n\n## B\nx": "MIT.\n\nAll of it.",
        "## Data\nlicence": "",
        "": "",
    }
    for card, expected in cards.items():
        monkeypatch.setattr(origin, "prose", lambda folder, card=card: card)
        assert "".join(model_licences(service, texts("en")).values()) == expected


def test_a_page_has_bounds(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = f"--out={tmp_path / 'page.html'}"
    monkeypatch.setattr(module, "MAX_SENTENCES", 1)
    assert run("page", f"--text={OTHER}", f"--text={SENTENCE}", out) == 2
    assert "a page holds at most 1 sentences" in capsys.readouterr().err
    assert run("page", f"--text={OTHER}", f"--text={OTHER} ", "--branches=1", out, "--force") == 0, "the same one"
    monkeypatch.setattr(document, "MAX_BYTES", 10_000)
    assert run("page", f"--text={OTHER}", out, "--force") == 2
    assert "use shorter or fewer sentences" in capsys.readouterr().err
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"good\n\xff\n")
    assert run("page", f"--texts={bad}", out, "--force") == 2
    assert "--texts: line 2 not UTF-8" in capsys.readouterr().err
