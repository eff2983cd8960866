"""Targets of the fuzzing: every reader of a stranger's work, with what it may raise and what must hold.

A case is a value that JSON can hold, so that one that breaks something becomes a line of `corpus/`. A check raises for
a fault only; the errors that the reader documents are caught there.
"""

from __future__ import annotations

from tests.abuse import cluster_messages, figure_files, model_files, web_input, web_requests

MODULES = (web_input, web_requests, cluster_messages, figure_files, model_files)
TARGETS = tuple(target for module in MODULES for target in module.TARGETS)
