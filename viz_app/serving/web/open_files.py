"""The number of files, and so of connections, that a server may hold open."""

from __future__ import annotations

from contextlib import suppress

MOST = 65_536


def raise_open_files() -> None:
    """Raise the soft limit of open files as far as the system allows; Windows has none.

    With the usual 1,024, about 1,000 connections that say nothing would keep everyone else out.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST if hard == resource.RLIM_INFINITY else min(MOST, hard)
        while soft != resource.RLIM_INFINITY and soft < most:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
                break
            except (OSError, ValueError):  # macOS allows a process fewer than the hard limit says
                most //= 2
