"""The command `headlight`: one program for the app and the model, and its completion in a shell."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import transformer_core
from tests.missing import skip_or_fail
from transformer_core import cli as core
from transformer_core.cli import main
from viz_app.cli import HEADLIGHT, PROGRAM
from viz_app.cli.app import run_server

ROOT = Path(__file__).resolve().parents[3]
EVERY_HELP = """
import sys
from transformer_core.cli import main
from viz_app.cli import HEADLIGHT
for command in ([], *(name.split() for name in HEADLIGHT.commands)):
    assert main([*command, "--help"], HEADLIGHT) == 0, command
print("imported:", *sorted({"torch", "streamlit", "safetensors.torch"} & set(sys.modules)))
"""
# Asks the completion for the last word of a command line, as the shell does, and prints its offers.
ASK = """
eval "$(cat "$1")"
shift
function=$(complete -p headlight | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=(headlight "$@")
COMP_CWORD=$#
"$function" headlight "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
echo "${COMPREPLY[@]}"
"""


def test_all_commands_of_both_packages_are_there_once() -> None:
    names = [name for commands in HEADLIGHT.packages.values() for name in commands]
    assert len(names) == len(set(names))
    assert {*core.COMMANDS, *PROGRAM.commands} < set(names)


def test_every_help_has_one_style_and_imports_neither_torch_nor_streamlit() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EVERY_HELP], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    shown = done.stdout
    assert shown.splitlines()[-1].strip() == "imported:"
    for name in HEADLIGHT.commands:
        assert f"usage: headlight {name} " in shown, name
    assert shown.count("\nExample:\n\n") == len(HEADLIGHT.commands)
    # Of the modules that are run otherwise only Streamlit and torchrun are left.
    assert "python -m transformer_core" not in shown
    assert "python -m viz_app" not in shown


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"], HEADLIGHT) == 0
    assert capsys.readouterr().out == f"Headlight {transformer_core.__version__}\n"


def test_an_unknown_command_and_an_error_name_the_way_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fly"], HEADLIGHT) == 2
    assert "unknown command fly; the commands are app, " in capsys.readouterr().err
    assert main(["translate"], HEADLIGHT) == 2
    assert capsys.readouterr().err == "error: missing: --checkpoint (more: headlight translate --help)\n"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """The servers that would have been started: command line and environment."""
    calls: list[tuple[list[str], dict[str, str]]] = []

    def record(command: list[str], environment: dict[str, str]) -> int:
        calls.append((command, environment))
        return 0

    for module in ("app", "class_"):
        monkeypatch.setattr(f"viz_app.cli.{module}.run_server", record)
    return calls


def test_the_app_starts_with_its_options_and_hands_on_those_of_streamlit(
    started: list[tuple[list[str], dict[str, str]]], random_checkpoint: Path
) -> None:
    options = ["--port", "8600", "--checkpoint", str(random_checkpoint), "--server.headless", "true", "--debug"]
    assert main(["app", *options], HEADLIGHT) == 0
    ((command, environment),) = started
    main_file = str(ROOT / "viz_app" / "main.py")
    assert command[1:] == ["-m", "streamlit", "run", main_file, "--server.port=8600", *options[4:]]
    assert environment["HEADLIGHT_CHECKPOINT"] == str(random_checkpoint)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to send to a process")
@pytest.mark.process
def test_sigterm_ends_the_server_as_well() -> None:
    before = signal.getsignal(signal.SIGTERM)

    def terminate() -> None:
        while signal.getsignal(signal.SIGTERM) is before:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=terminate, daemon=True).start()
    assert run_server([sys.executable, "-c", "import time; time.sleep(60)"], os.environ) == 0
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """Offers of bash for the last of some words after `headlight`."""
    bash = shutil.which("bash")
    if bash is None or sys.platform == "win32":
        skip_or_fail("bash is missing, so its completion cannot be tried")
    folder = tmp_path_factory.mktemp("completion")
    code = "import sys; from viz_app.cli import headlight; sys.argv[1:] = ['completion', 'bash']; sys.exit(headlight())"
    script = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=120, check=True).stdout
    (folder / "headlight.bash").write_bytes(script)
    (folder / "models").mkdir()

    def offered(*words: str) -> list[str]:
        command = [bash, "--norc", "-c", ASK, "ask", "headlight.bash", *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30, check=True)
        return done.stdout.split()

    return offered


def test_the_shell_completes_commands_options_choices_and_folders(ask: Callable[..., list[str]]) -> None:
    assert ask("tr") == ["translate", "train"]
    assert ask("translate", "--ch") == ["--checkpoint"]
    assert ask("analyse", "at") == ["attention", "attribute"]
    assert ask("analyse", "attribute", "--me") == ["--method"]
    assert ask("translate", "--length_penalty", "") == ["gnmt", "power"]
    assert ask("translate", "--checkpoint", "m") == ["models"]
    assert "--server.port" not in ask("app", "--")
    assert {"--port", "--checkpoint"} <= set(ask("app", "--"))
