"""End of a process together with the one that started it, even if that is killed: on every system a pipe ends."""

from __future__ import annotations

import os
import signal
import threading
import time

ENDS_WITH_INPUT = "HEADLIGHT_ENDS_WITH_INPUT"  # the input is a pipe of the parent
_LAST_SECONDS = 10.0


def end_with_parent() -> None:
    """End this process soon after its input ends, if its parent has asked for that."""
    if os.environ.pop(ENDS_WITH_INPUT, None):
        threading.Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    while os.read(0, 1):  # not sys.stdin, whose lock would be held when Python ends
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_LAST_SECONDS)
    os._exit(1)
