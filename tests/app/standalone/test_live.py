"""Pages that run a translator themselves: what is in them, their policy, and models that they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.standalone.test_sentences import blocks
from transformer_core.cli import main
from viz_app.cli import PROGRAM
from viz_app.components.buffer import split_buffer
from viz_app.explorer_view.live_model import model_files
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone import document
from viz_app.standalone.live import live_document, live_weights

SHIPPED = Path(__file__).resolve().parents[3] / "checkpoints"


def test_the_files_of_the_model_are_in_the_page(
    run: Callable[..., int], service: TranslationService, tmp_path: Path
) -> None:
    out = tmp_path / "live.html"
    assert run("page", "--live", "--language=ko", f"--out={out}") == 0
    page = out.read_bytes()
    data = blocks(page)
    assert data["weights"] == b"".join(file.read_bytes() for file in model_files(service.translator))
    live = json.loads(data["live"])
    assert sum(live["files"].values()) == len(data["weights"]) and list(live["files"])[-1] == "tokenizer.model"
    header, _ = split_buffer(data["opening"])
    assert header["about"]["text"] == service.first_example and header["selection"]["form"] == "flow"
    assert json.loads(data["flow"])["source"] == service.first_example
    assert header.items() >= live["header"].items() and header["texts"]["off_back"] == "다시 켜기"


def test_the_policy_lets_the_page_run_its_worker_and_load_only_its_weights(service: TranslationService) -> None:
    def policy(page: bytes) -> dict[str, str]:
        text = page.decode().split('Content-Security-Policy" content="', 1)[1].split('"', 1)[0]
        return dict(each.split(" ", 1) for each in text.split("; "))

    inside, beside = live_document(service, "en"), live_document(service, "en", weights="weights.bin")
    assert policy(inside)["default-src"] == "'none'" and policy(inside)["worker-src"] == "blob:"
    assert policy(inside)["script-src"].endswith(" 'wasm-unsafe-eval'")
    assert "connect-src" not in policy(inside) and policy(beside)["connect-src"] == "'self'"
    assert "weights" not in blocks(beside) and blocks(inside)["weights"] == live_weights(service)


@pytest.mark.parametrize(
    ("checkpoint", "said"),
    [
        ("small/learned-positions", "--live: positions is 'learned', but the browser supports only 'sinusoidal'"),
        ("small/base", "the page has 1 MB of numbers, but may have 1 MB\n"),
    ],
)
def test_what_makes_no_live_page_is_said(
    checkpoint: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 500_001)
    given = [f"--checkpoint={SHIPPED / checkpoint}", "--live", f"--out={tmp_path / 'live.html'}"]
    assert main(["page", *given], PROGRAM) == 2
    assert said in capsys.readouterr().err and not any(tmp_path.iterdir())
