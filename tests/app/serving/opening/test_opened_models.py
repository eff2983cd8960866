"""Models that visitors open: made ready in a process of their own, chosen by everybody, and taken away again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.serving.scheduling.test_request_queue import wait_until
from tests.core.conversion.language_twins import language_folder
from tests.core.conversion.marian_twins import marian_folder
from transformer_core.storage.temporary_folders import remove_leftovers
from transformer_core.translator import Translator
from viz_app.serving.models import registry
from viz_app.serving.opening import open_error, opening_process
from viz_app.serving.opening import opened_models as module
from viz_app.serving.opening.model_folders import allowed_root, model_folders
from viz_app.serving.opening.model_places import unused_name
from viz_app.serving.opening.open_error import OpenError
from viz_app.serving.opening.opened_models import MAX_MODELS, OpenedModels

SECONDS = 60
_FORCED = ("forced_bos_token_id",)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of another program, `opus-mt-ko-en`."""
    root = tmp_path_factory.mktemp("foreign")
    marian_folder(root / "opus-mt-ko-en")
    (root / "opus-mt-ko-en" / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    (root / "opus-mt-ko-en" / "README.md").write_text("---\nlicense: apache-2.0\n---\n", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def nllb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another one, of many languages."""
    folder = tmp_path_factory.mktemp("foreign") / "nllb"
    language_folder(folder, "nllb")
    for file, names in (("tokenizer_config.json", ("src_lang", "tgt_lang")), ("generation_config.json", _FORCED)):
        told = json.loads((folder / file).read_text(encoding="utf-8"))
        (folder / file).write_text(json.dumps({k: v for k, v in told.items() if k not in names}), encoding="utf-8")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OpenedModels]:
    place = tmp_path / "place"
    place.mkdir()
    opened = OpenedModels(place)
    yield opened
    opened.close()
    assert list(place.iterdir()) == [], "nothing is left"


def over(store: OpenedModels) -> module.Opening:
    """Wait for the end of the opening."""
    wait_until(lambda: store.opening is not None and store.opening.is_over, SECONDS)
    assert store.opening is not None
    return store.opening


@pytest.mark.process
def test_a_folder_becomes_a_model_and_stays_as_it_was(store: OpenedModels, foreign: Path) -> None:
    before = {path: path.read_bytes() for path in (foreign / "opus-mt-ko-en").iterdir()}
    store.open_folder("opus-mt-ko-en", foreign / "opus-mt-ko-en")
    assert over(store).state == "done"
    ((name, report),) = store.models.items()
    assert name == "opus-mt-ko-en"
    assert (report.family, report.licence) == ("Marian / OPUS-MT (transformers)", "apache-2.0")
    assert (report.source_language, report.target_language, report.measured) == ("ko", "en", False)
    translator = Translator.load(report.folder)
    assert report.parameters == sum(each.numel() for each in translator.model.parameters())
    assert report.options == translator.config.to_dict()
    files = [path for path in Path(report.folder).rglob("*") if path.is_file() and path.name != "manifest.json"]
    assert report.bytes == sum(path.stat().st_size for path in files)
    work = Path(report.folder).parent
    assert [path.name for path in work.iterdir() if path.is_dir() and any(path.iterdir())] == [name]
    store.remove(name)
    assert store.models == {} and not work.exists()
    assert {path: path.read_bytes() for path in (foreign / "opus-mt-ko-en").iterdir()} == before


@pytest.mark.process
def test_a_model_of_many_languages_needs_two(store: OpenedModels, nllb: Path) -> None:
    store.open_folder("nllb", nllb)
    opening = over(store)
    assert (opening.problem, opening.values.get("family")) == ("languages", "NLLB-200"), opening
    assert "deu_Latn" in opening.values["names"]
    store.open_folder("nllb", nllb, "eng_Latn", "deu_Latn")
    assert over(store).state == "done"
    assert (store.models["nllb"].source_language, store.models["nllb"].target_language) == ("en", "de")


@pytest.mark.process
def test_a_checkpoint_is_opened_where_it_lies_and_stays_when_removed(
    store: OpenedModels, french_checkpoint: Path, random_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry lists it by a name of its own."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(random_checkpoint))
    monkeypatch.setattr(registry, "opened_models", lambda: store)
    store.open_folder("random", french_checkpoint)
    assert over(store).state == "done"
    report = store.models["random"]
    assert (Path(report.folder), report.family, report.target_language) == (french_checkpoint, "", "fr")
    assert registry.available_models() == {"random": random_checkpoint, "random (2)": french_checkpoint}
    assert registry.opened_by_visitors() == {"random": "random (2)"}
    assert registry.default_model() == "random"
    store.remove("random")
    assert list(registry.available_models()) == ["random"] and registry.opened_by_visitors() == {}
    assert Translator.load(french_checkpoint).config.to_dict() == report.options


@pytest.mark.process
def test_what_is_no_model_says_so_and_names_no_place(store: OpenedModels, foreign: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(foreign / "opus-mt-ko-en", damaged)
    (damaged / "config.json").write_text(json.dumps({"model_type": "llama"}), encoding="utf-8")
    store.open_folder("damaged", damaged)
    opening = over(store)
    assert opening.problem == "refused" and "'llama', which is not supported" in opening.values["reason"]
    assert str(tmp_path) not in opening.values["reason"] and store.models == {}


def test_a_full_disk_is_noticed_before_anything_is_written(tmp_path: Path) -> None:
    usage = shutil.disk_usage(tmp_path)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OpenError) as error:
        patch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=open_error.SPARE_BYTES + 5_000_000))
        open_error.check_room(tmp_path, 6_000_001)
    assert (error.value.problem, error.value.values) == ("disk", {"needed": "7", "free": "5"})


@pytest.mark.process
def test_one_at_a_time_and_stop(store: OpenedModels, foreign: Path, nllb: Path) -> None:
    store.open_folder("first", foreign / "opus-mt-ko-en")
    with pytest.raises(OpenError, match="busy"):
        store.open_folder("second", nllb)
    store.stop()
    assert store.opening is None
    store.open_folder("second", foreign / "opus-mt-ko-en")
    store.stop()
    assert store.opening is None and store.models == {}
    store.open_folder("third", foreign / "opus-mt-ko-en")
    assert over(store).state == "done" and list(store.models) == ["third"]
    store.dismiss()
    assert store.opening is None


def test_so_many_models_and_no_more(store: OpenedModels, french_checkpoint: Path) -> None:
    for number in range(MAX_MODELS):
        store._reports[str(number)] = opening_process._report(french_checkpoint)
    with pytest.raises(OpenError, match="many"):
        store.open_folder("more", french_checkpoint)


@pytest.mark.process
def test_a_process_that_is_killed(store: OpenedModels, foreign: Path) -> None:
    store.open_folder("x", foreign / "opus-mt-ko-en")
    assert store._attempt is not None and store._attempt.process is not None
    store._attempt.process.kill()
    assert over(store).problem == "ended"


@pytest.mark.process
def test_a_server_that_is_killed_leaves_nothing(nllb: Path, tmp_path: Path) -> None:
    """The process that opens a model outlives its server by a moment, in which it takes everything away."""
    script = (
        "import os, sys, time; from pathlib import Path\n"
        "from viz_app.serving.opening.opened_models import OpenedModels\n"
        f"store = OpenedModels(Path({str(tmp_path)!r})); store.open_folder('x', Path({str(nllb)!r}))\n"
        "print('begun', flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=SECONDS)
    assert done.stdout == b"begun\n" and done.returncode == -9
    wait_until(lambda: not list(tmp_path.iterdir()), SECONDS)


@pytest.mark.process
def test_a_process_that_nobody_hears_any_more_takes_everything_away(nllb: Path, tmp_path: Path) -> None:
    """Its output may be closed a moment before its input, so that it hears of the end of its server by a failure."""
    place = tmp_path / "place"
    (place / "1").mkdir(parents=True)
    job = {"place": str(place), "source": str(nllb), "out": str(place / "1" / "x"), "name": "x"}
    command = [sys.executable, "-m", "viz_app.serving.opening.opening_process"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdout.close()
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(SECONDS) == 1
    wait_until(lambda: not place.exists(), SECONDS)


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_stay(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in (
        f"headlight-models-{gone.pid}-a",
        f"headlight-models-{os.getpid()}-b",
        "headlight-models-x-c",
        "other",
    ):
        (tmp_path / name).mkdir()
    (tmp_path / f"headlight-models-{gone.pid}-link").symlink_to(elsewhere)
    remove_leftovers("headlight-models", tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert f"headlight-models-{gone.pid}-a" not in left and elsewhere.is_dir()
    assert left >= {f"headlight-models-{os.getpid()}-b", "headlight-models-x-c", "other"}


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("opus-mt-ko-en", "opus-mt-ko-en"),
        ("../../etc", "etc"),
        ("", "model"),
        ("한국어 모델", "model"),
        ("a" * 99, "a" * 40),
        ("<script>alert(1)</script>", "script-alert-1-script"),
        (".hidden", "hidden"),
    ],
)
def test_names_are_plain_and_unused(name: str, plain: str) -> None:
    assert unused_name(name, {}) == plain
    assert unused_name(name, {plain: 0, f"{plain}-2": 0}) == f"{plain}-3"


OWN = {"host": "localhost:8501"}


@pytest.mark.parametrize(
    ("setting", "bound", "headers", "allowed"),
    [
        ("", "127.0.0.1", OWN, True),
        ("", "localhost", {"host": "127.0.0.1"}, True),
        ("", "::1", {"host": "[::1]:8501"}, True),
        ("", "0.0.0.0", OWN, False),
        ("", None, OWN, False),
        ("", "", OWN, False),
        ("", "127.0.0.1", {"host": "evil.example"}, False),  # a name that was made to lead here
        ("", "127.0.0.1", {}, False),
        ("", "127.0.0.1", {**OWN, "x-forwarded-for": "10.0.0.7"}, False),
        ("", "127.0.0.1", {**OWN, "forwarded": "for=10.0.0.7"}, False),
        ("off", "127.0.0.1", OWN, False),
        ("OFF", "127.0.0.1", OWN, False),
        ("/no/such/folder", "127.0.0.1", OWN, False),
        ("root", "0.0.0.0", {"host": "school.example", "x-forwarded-for": "10.0.0.7"}, True),
    ],
)
def test_who_may_open_models(
    setting: str,
    bound: str | None,
    headers: dict[str, str],
    allowed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path) if setting == "root" else setting)
    assert allowed_root(bound, headers) == (tmp_path if allowed else None)


def test_folders_that_are_offered(tmp_path: Path) -> None:
    models = ("config.json", "a/config.json", "b/c/config.json", "b/c/d/e/config.json")
    run = ("run/config.json", "run/metrics.jsonl", "run/step-00000100/model.safetensors")
    others = (".git/config.json", "notes/a.md", "figures/bicycle.npz", "figures/bicycle.pdf")
    for name in (*models, *run, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "config.json").write_bytes(b"{}")
    (tmp_path / "link").symlink_to(outside)
    assert model_folders(tmp_path) == {"a": tmp_path / "a", "b/c": tmp_path / "b" / "c"}
    assert model_folders(tmp_path / "missing") == {}
