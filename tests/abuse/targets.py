"""What the fuzzing feeds: every reader of something that a stranger made, with what it may raise and what must hold.

A case is a value that JSON can hold, so that one that breaks something becomes a line of `corpus/`. A check raises for
a fault only; the errors that the reader documents are caught there.
"""

from __future__ import annotations

from tests.abuse import cluster_messages, figure_files, model_files, web_input, web_requests

TARGETS = (
    *web_input.TARGETS,
    *web_requests.TARGETS,
    *cluster_messages.TARGETS,
    *figure_files.TARGETS,
    *model_files.TARGETS,
)
