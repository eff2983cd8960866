"""What Windows refuses, imitated on another system, for the code of this program alone.

It has no `fcntl`, no `fork`, no users with numbers and no `SIGKILL`. A file that is open, or mapped into memory, cannot
be renamed, replaced or removed, nor can a folder with such a file. Names have no `:`, do not end in a dot, are not
`aux`, and differ in more than case. A path has 259 characters. What is not imitated: drives, `\\`, line ends.

`python -m pytest -p tests.platforms.windows tests/core/storage` runs any tests so; `imitate()` does it for a process.
"""

from __future__ import annotations

import builtins
import multiprocessing
import multiprocessing.context
import os
import re
import signal
import sys
import threading
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest

OURS = ("transformer_core", "viz_app")
MISSING_MODULES = frozenset(("fcntl", "grp", "pwd", "resource", "termios"))
_MISSING = {
    "os": "chown fork forkpty getegid geteuid getgid getloadavg getpgid getuid killpg mkfifo nice O_NOFOLLOW "
    "O_NONBLOCK pread preadv pwrite register_at_fork sched_getaffinity setsid statvfs sysconf uname wait3 wait4 waitid",
    "signal": "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 alarm pause setitimer sigwait",
}
_MAX_PATH = 259  # without the zero at its end
_NO_NAME = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(aux|con|nul|prn|com[0-9]|lpt[0-9])(\.|$)', re.IGNORECASE)
_SYSTEM = ("/dev/", "/proc/", "/sys/", "/etc/")
_is_on = False
_here = threading.local()


class _Module(ModuleType):
    """A module without what it lacks on Windows."""

    def __init__(self, real: ModuleType, values: Mapping[str, Any]) -> None:
        super().__init__(real.__name__)
        self._real, self._missing = real, frozenset(_MISSING[real.__name__].split())
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        if name in self._missing:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._real, name)


def _kill(pid: int, number: int) -> None:
    assert number not in (0, 1), f"os.kill(pid, {number}) sends Ctrl-C or Ctrl-Break on Windows"
    os.kill(pid, number)


def _open(path: Any, *arguments: Any, **options: Any) -> int:
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", os.fspath(path))
    return os.open(path, *arguments, **options)


REPLACED = {
    "os": _Module(os, {"name": "nt", "kill": _kill, "open": _open}),
    "signal": _Module(signal, {}),
}
_import = builtins.__import__


def _imported(name: str, scope: Any = None, *arguments: Any, **options: Any) -> ModuleType:
    if str((scope or {}).get("__name__", "")).startswith(OURS):
        if name in MISSING_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name in REPLACED:
            return REPLACED[name]
    return _import(name, scope, *arguments, **options)


def no_name(name: str) -> bool:
    """Return whether no file can have this name."""
    return name not in (".", "..") and _NO_NAME.search(name) is not None


def _refused(path: str) -> OSError | None:
    if path.startswith(_SYSTEM):
        return None
    if bad := next(filter(no_name, path.split("/")), None):
        return OSError(22, f"{bad!r} is no name on Windows", path)
    if len(os.path.abspath(path)) > _MAX_PATH:
        return FileNotFoundError(2, f"a path of {len(os.path.abspath(path))} characters on Windows", path)
    return None


def _same_but_case(path: str) -> str | None:
    """Return the name in the same folder that Windows takes for this one."""
    folder, name = os.path.split(os.path.abspath(path))
    try:
        return next((each for each in os.listdir(folder) if each != name and each.lower() == name.lower()), None)
    except OSError:
        return None


def _in_use(path: str) -> str | None:
    """Return a file of this process that is open or mapped at a path or below it."""
    target = os.path.realpath(path)
    places = [os.path.realpath(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")]
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        places += [line.split(None, 5)[5].rstrip("\n") for line in maps if " /" in line]
    return next((each for each in places if f"{each}/".startswith(f"{target}/") and os.path.isfile(each)), None)


_PATHS = {  # of each event: the paths, and the folders that they may be relative to
    "open": ((0,), ()),
    "os.mkdir": ((0,), (2,)),
    "os.remove": ((0,), (1,)),
    "os.rename": ((0, 1), (2, 3)),
    "os.rmdir": ((0,), (1,)),
    "os.symlink": ((1,), (2,)),
}


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _is_on or event not in _PATHS or getattr(_here, "looks", False):
        return
    _here.looks = True  # what is opened here is none of its business
    try:
        _check(event, arguments)
    finally:
        _here.looks = False


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    if not isinstance(arguments[0], str | bytes | os.PathLike):  # a descriptor
        return
    paths = [os.fsdecode(arguments[place]) for place in _PATHS[event][0]]
    for number, place in enumerate(_PATHS[event][1]):
        if isinstance(arguments[place], int) and arguments[place] >= 0:
            paths[number] = f"{os.readlink(f'/proc/self/fd/{arguments[place]}')}/{paths[number]}"
    for path in paths:
        if error := _refused(path):
            raise error
    if event == "os.symlink":
        raise OSError(1314, "A required privilege is not held by the client", paths[0])
    makes = event in ("os.mkdir", "os.rename") or (event == "open" and arguments[2] & os.O_CREAT)
    if makes and (other := _same_but_case(paths[-1])):
        raise AssertionError(f"{paths[-1]} is {other} on a disk without case")
    for path in paths if event in ("os.remove", "os.rename") else ():  # `rmdir` refuses a folder with files anywhere
        if used := _in_use(path):
            raise PermissionError(13, f"{used} is used by another process", path)


def imitate() -> None:
    """Imitate it from now on in this process. Modules of this program that are loaded already see it too."""
    global _is_on
    builtins.__import__ = _imported  # type: ignore[assignment]
    for name, module in list(sys.modules.items()):
        if name.startswith(OURS):
            for each, replacement in REPLACED.items():
                if getattr(module, each, None) is sys.modules[each]:
                    setattr(module, each, replacement)
    if not _is_on:
        multiprocessing.set_start_method("spawn", force=True)
        multiprocessing.get_all_start_methods = lambda: ["spawn"]
        for method in ("fork", "forkserver"):
            multiprocessing.context._concrete_contexts.pop(method)  # type: ignore[attr-defined]
        sys.addaudithook(_audit)
    _is_on = True


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """As a plugin, before anything of this program is imported."""
    imitate()
