"""Errors as a visitor sees them: one sentence in the visitor's language, and no stack trace."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from viz_app.text import texts


def raising(error: str, language: str) -> None:
    from viz_app.serving.cluster.remote_decoder import ModelServerAway, OtherModel
    from viz_app.serving.decoding.worker_processes import WorkerLost
    from viz_app.text import texts
    from viz_app.ui.error_boundary import error_boundary

    kinds = {"worker_lost": WorkerLost, "model_server_away": ModelServerAway, "other_model": OtherModel}
    with error_boundary(texts(language)):
        raise kinds[error]("at 10.0.0.1")


@pytest.mark.parametrize("error", ["worker_lost", "model_server_away", "other_model"])
def test_a_lost_decoder_has_a_sentence_of_its_own(error: str, language: str) -> None:
    app = AppTest.from_function(raising, args=(error, language)).run()
    (shown,) = app.error
    assert shown.value == texts(language)(f"errors.{error}")
    assert "10.0.0.1" not in shown.value
