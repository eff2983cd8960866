"""More silent connections than the usual limit of open files: others are still served."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

if os.name != "posix":
    pytest.skip("needs limits of files", allow_module_level=True)

LIMIT = """
import resource
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
from viz_app.serving.web.open_files import MOST, raise_open_files
raise_open_files()
files = [open("/dev/null") for _ in range(min(1_000, hard - 100))]
soft, after = resource.getrlimit(resource.RLIMIT_NOFILE)
assert (soft, after) == (min(MOST, hard), hard)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
raise_open_files()
assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard, "never lowered"

set_limit = resource.setrlimit
set_limit(resource.RLIMIT_NOFILE, (256, hard))
def as_on_macos(number, limits):
    if limits[0] > 10_240:  # the most of one process, though the hard limit is higher
        raise ValueError("current limit exceeds maximum limit")
    set_limit(number, limits)
resource.setrlimit = as_on_macos
raise_open_files()
assert min(5_121, hard) <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= 10_240
"""


def test_the_soft_limit_of_open_files_is_raised() -> None:
    subprocess.run([sys.executable, "-c", LIMIT], check=True)
