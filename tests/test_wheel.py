"""The wheel, installed away from the checkout: every file is inside, and `headlight` works offline."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from transformer_core import __version__
from transformer_core.cli import main
from viz_app.cli import HEADLIGHT

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
TEXT = "A man rides a bicycle."
EXPORT = ["export", "--checkpoint", "checkpoints/en-de", "--text", TEXT, "--view", "head"]
EXPORT += ["--kind", "cross", "--layer", "4", "--head", "6"]
SECONDS = 120
# Loaded by every Python of the environment.
NO_NETWORK = """
import socket
def refused(*address, **_):
    raise OSError(f"no network in this test: {address}")
connect = socket.socket.connect
def local(self, address):
    connect(self, address) if self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1") else refused(address)
socket.socket.connect, socket.create_connection = local, refused
"""

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*build, "-w", str(folder), str(ROOT)], check=True)
    (result,) = folder.iterdir()
    return result


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the commands of a fresh environment with the wheel, and with the packages of this one."""
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    paths = sysconfig.get_paths("venv", {"base": str(venv), "platbase": str(venv)})
    packages, bin_folder = Path(paths["purelib"]), Path(paths["scripts"])
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    (packages / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    install = [sys.executable, "-m", "pip", "--python", str(bin_folder / "python"), "install", "-q"]
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True)
    return bin_folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HEADLIGHT_", "PYTHON"))}
    return {**kept, "HOME": str(tmp_path)}  # without anybody's settings of Streamlit


@pytest.fixture
def run(scripts: Path, tmp_path: Path, environment: dict[str, str]) -> Run:
    def run(command: str, *arguments: str, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [str(scripts / command), *arguments],
            cwd=tmp_path,
            env=environment,
            input=input,
            stdout=subprocess.PIPE,
            timeout=SECONDS,
            check=True,
        )

    return run


def test_every_tracked_file_of_packages_and_models_is_inside(wheel: Path) -> None:
    folders = ["transformer_core", "viz_app", "checkpoints"]
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = {re.sub(r"^checkpoints/", "headlight_checkpoints/", name) for name in listed.stdout.splitlines()}
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert tracked - inside == set()
    assert not {name for name in inside if name.endswith((".pyc", ".orig"))}
    assert wheel.stat().st_size < 100_000_000, "PyPI takes no larger one"


def test_it_is_found_where_it_was_installed(run: Run, scripts: Path) -> None:
    code = "import importlib.metadata, viz_app; print(viz_app.__file__, importlib.metadata.version('headlight'))"
    file, version = run("python", "-c", code).stdout.decode().split()
    assert Path(file).is_relative_to(scripts.parent)
    assert version == __version__
    assert run("headlight", "--version").stdout.decode() == f"Headlight {__version__}\n"


def test_it_translates_as_the_checkout_does(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    from transformer_core.storage.bundled_models import SHIPPED
    from transformer_core.translator import Translator

    for name in ("en-de", "en-fr", "en-fr-small", "en-tree"):
        result = run("headlight", "translate", "--checkpoint", f"checkpoints/{name}", input=f"{TEXT}\n".encode())
        assert result.stdout.decode("utf-8") == Translator.load(SHIPPED / name).translate(TEXT).text + "\n"


@pytest.mark.parametrize("format", ["pdf", "json"])
def test_figures_equal_the_checkout(format: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("headlight", *EXPORT, "--out", f"installed.{format}")
    monkeypatch.chdir(ROOT)
    here = tmp_path / f"checkout.{format}"
    assert main([*EXPORT, "--out", str(here)], HEADLIGHT) == 0
    assert (tmp_path / f"installed.{format}").read_bytes() == here.read_bytes()


def test_every_page_opens_without_network(run: Run) -> None:
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "import viz_app.main\n"
        "for page in ('translate', 'lessons', 'figures', 'model'):\n"
        "    app = AppTest.from_file(viz_app.main.__file__, default_timeout=100).run()\n"
        "    app = app.switch_page(f'app_pages/{page}.py').run()\n"
        "    assert not app.exception and not app.error, (page, app.exception, app.error)\n"
    )
    run("python", "-c", code)


@pytest.fixture
def server(scripts: Path, tmp_path: Path, environment: dict[str, str]) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(scripts / "headlight"), "app", "--port", str(port), "--server.headless", "true"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, start_new_session=True)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=SECONDS)


@pytest.mark.skipif(sys.platform == "win32", reason="ends the server with a signal")
def test_the_app_answers_with_its_own_settings_and_fonts(server: str) -> None:
    end = time.monotonic() + SECONDS
    while True:
        try:
            assert urllib.request.urlopen(f"{server}/_stcore/health", timeout=5).read() == b"ok"
            break
        except OSError:
            assert time.monotonic() < end, "it does not answer"
            time.sleep(0.2)
    font = ROOT / "viz_app" / "static" / "fonts" / "PretendardVariable.woff2"
    served = urllib.request.urlopen(f"{server}/app/static/fonts/{font.name}", timeout=5).read()
    assert served == font.read_bytes()
