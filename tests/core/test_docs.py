"""README and docs show the truth: commands exist, code runs, links lead somewhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import transformer_core as tc
from transformer_core import cli as core
from transformer_core.analysis.attribution import METHODS
from transformer_core.cli import main
from transformer_core.config import DecodingConfig, ModelConfig, TrainingConfig
from transformer_core.data import Corpus
from transformer_core.paper.flops import Work, training_flops
from transformer_core.paper.presets import preset
from transformer_core.training.state import step_folders
from viz_app.cli import PROGRAM

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PROGRAMS = {"transformer_core": core.PROGRAM, "viz_app": PROGRAM}
MAIN_PAGES = [ROOT / "README.md", ROOT / "docs" / "training.md", ROOT / "docs" / "evaluation.md"]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def run_python(*page: str) -> dict[str, Any]:
    """The names that the Python of a page leaves behind."""
    scope: dict[str, Any] = {}
    for code in blocks(ROOT.joinpath(*page), "python"):
        exec(code.replace("checkpoints/en-de", (ROOT / "checkpoints" / "en-de").as_posix()), scope)
    return scope


def shown_commands() -> list[str]:
    texts = [text for page in MAIN_PAGES for text in blocks(page, "bash")]
    return [line for text in texts for line in text.splitlines() if re.search(r"-m (transformer_core|viz_app) ", line)]


@pytest.mark.parametrize("line", shown_commands())
def test_shown_commands_and_options_exist(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    package, *words = line.split("-m ")[1].split(" < ")[0].split()  # python or torchrun stands before
    commands = PROGRAMS[package].commands
    name, arguments = next((words[:n], words[n:]) for n in (2, 1) if " ".join(words[:n]) in commands)
    assert main([*name, "--help"], PROGRAMS[package]) == 0
    help_text = capsys.readouterr().out
    for option in (argument for argument in arguments if argument.startswith("--")):
        assert f"{option} " in help_text, option


@pytest.mark.parametrize("page", MAIN_PAGES, ids=lambda page: page.name)
def test_options_named_in_prose_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = set()
    for program in PROGRAMS.values():
        for command in program.commands:
            main([*command.split(), "--help"], program)
            known |= set(re.findall(r"--[a-z_.-]+", capsys.readouterr().out))
    named = re.findall(r"`(--[a-z_.-]+)", page.read_text(encoding="utf-8"))
    assert set(named) <= known


def test_configuration_options_named_by_the_fidelity_table_exist() -> None:
    text = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    fields = {*ModelConfig.__dataclass_fields__, *TrainingConfig.__dataclass_fields__}
    fields |= set(DecodingConfig.__dataclass_fields__)
    told = set(re.findall(r"`([a-z_]+)[` ]", text))
    # What the paper itself names needs no line; everything else does.
    model = {"norm", "activation", "positions", "max_positions", "tie", "attention_biases", "output_bias", "d_k", "d_v"}
    model |= {"attention", "window", "source_vocab_size", "scaled", "causal", "residual"}
    model |= {"first_position", "scaled_embeddings", "embedding_norm", "early_stopping"}
    model |= {"attention_dropout", "activation_dropout", "layer_norm_epsilon", "num_layers", "dropout"}
    training = {"learning_rate_factor", "max_gradient_norm", "max_tokens", "precision", "smoothing", "length_penalty"}
    assert model | training <= told & fields


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        if "://" not in link:
            assert (page.parent / link).exists(), link


def test_names_of_papers_lead_to_functions_and_headings() -> None:
    page = ROOT / "docs" / "names.md"
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`tc\.(\w+)", text):
        assert hasattr(tc, name), name
    code = "\n".join(each.read_text(encoding="utf-8") for part in PROGRAMS for each in (ROOT / part).rglob("*.py"))
    for name in re.findall(r"`(\w+)[`(]", text):
        assert re.search(rf"\bdef {name}\b|\"{name}\"", code), name
    for file, anchor in re.findall(r"\]\((\w+\.md)#(.+?)\)", text):
        titles = re.findall(r"^#+ (.+)$", (page.parent / file).read_text(encoding="utf-8"), re.M)
        assert anchor in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}, anchor
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20 and rows == sorted(rows, key=str.lower)


def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope = run_python("README.md")
    config = scope["model"].config
    assert scope["weights"].shape[1] == config.num_heads
    assert scope["maps"].cross.shape[:2] == (config.num_layers, config.num_heads)
    assert isinstance(scope["without_one_head"], str)
    (picture,) = tmp_path.iterdir()
    assert picture.read_bytes().startswith(b"%PDF")


def test_the_hooks_pages_python_runs() -> None:
    scope = run_python("docs", "hooks.md")
    assert scope["weights"].shape[-1] == len(scope["without"].attention.source)
    assert len(scope["loss"]) == 8
    assert scope["without"].log_probability != scope["likely"]


def test_the_interpretability_pages_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = ROOT / "docs" / "interpretability.md"
    scope = run_python("docs", page.name)
    output = capsys.readouterr().out
    assert "the translation needs cross." in output and "rank agreement" in output
    assert scope["lens"].rank.shape == (scope["translator"].config.num_layers + 1, len(scope["found"].run.tokens))
    # Every method has its row, and its paper.
    named = re.findall(r"^\| (`.+?) \| .+ \| (.+\d{4}) \|$", page.read_text(encoding="utf-8"), re.M)
    assert {name for names, _ in named for name in re.findall(r"`(.+?)`", names)} == set(METHODS)


def test_training_page(corpus: Corpus, pairs_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(corpus.folder, tmp_path / "data")
    lines = pairs_file.read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "valid.tsv").write_text("".join(lines[:3]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(ROOT / "docs" / "training.md", "python")
    exec(code.replace('"en-de"', '"tiny"').replace("20_000", "2"), {})
    assert [folder.name for folder in step_folders(tmp_path / "run")] == ["step-00000002"]


def test_computed_times_and_costs_follow_from_the_operations() -> None:
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)` \| ([\d,]+) \| (\S+e\d+) \| (.+), (\d+e12) \| (.+) \| (.+) \| \$(.+) \|$", text, re.M
    )
    assert len(rows) == 6
    prices = {"RTX 4090": 0.4, "A100": 1.5, "H100 or H200": 2.5}
    for name, steps, operations, gpu, peak, slow, fast, cost in rows:
        chosen = preset(name)
        work = Work(sentences=25_000 / 30, source_length=30, target_length=30)
        run = training_flops(chosen.model, work) * chosen.training.steps
        assert chosen.training.batch_tokens * chosen.training.accumulate == 25_000
        assert f"{chosen.training.steps:,}" == steps
        assert float(operations) == pytest.approx(run, rel=1e-3)
        hours = run / (3600 * float(peak))
        assert float(slow) == pytest.approx(hours / 0.2, abs=0.06)
        assert float(fast) == pytest.approx(hours / 0.4, abs=0.06)
        assert float(cost) == pytest.approx(hours / 0.4 * prices[gpu], abs=0.06)


def test_the_recipe_shown_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformer_core.cli.training.train import read_recipe

    options = core.PROGRAM.parser("train")
    (text,) = blocks(ROOT / "docs" / "training.md", "toml")
    (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "valid.tsv").touch()
    monkeypatch.chdir(tmp_path)  # the files that it names must be there
    recipe = read_recipe(str(tmp_path / "recipe.toml"), options)
    assert recipe["preset"] == "en-de"
    assert recipe["model"] == {"dropout": 0.2}


def test_every_environment_variable_has_a_row_in_the_settings() -> None:
    code = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("transformer_core", "viz_app", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
    )
    read = set(re.findall(r'"(HEADLIGHT_\w+)"', code))
    settings = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `(HEADLIGHT_\w+)` \|", settings, re.MULTILINE))
    assert len(read) > 4
    assert read <= rows
