"""A training whose terminal ends, as when a connection to another machine breaks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

# The outer process has the terminal; the inner one trains in it.
_OUTER = """
import os, pty, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests run under nohup
child, terminal = pty.fork()
if not child:
    os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], sys.argv[2]])
while b"ready" not in os.read(terminal, 1000):
    pass
os.close(terminal)
os.waitpid(child, 0)
"""
_INNER = """
import signal, sys, time
from pathlib import Path
from transformer_core.training.signals import StopFlag, handle_signals
flag = StopFlag()
with handle_signals(flag):
    print("ready", file=sys.stderr, flush=True)
    while not flag.requested:
        time.sleep(0.01)
    for number in range(100):
        print("a progress bar", file=sys.stderr, flush=True)
    Path(sys.argv[1]).touch()
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signal")
def test_a_training_is_saved_when_its_terminal_ends(tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    subprocess.run([sys.executable, "-c", _OUTER, _INNER, str(saved)], timeout=60, check=True)
    assert saved.exists()
