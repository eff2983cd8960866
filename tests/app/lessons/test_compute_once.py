"""Questions of lessons to a model are computed once, however many visitors open a scene at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.app.serving.scheduling.test_request_queue import PATIENCE
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import OnPosition, RequestQueue, Ticket

SCENES = [
    ("architecture", "stations"),
    ("broken", "a"),
    ("broken", "predict"),
    ("dot_product", "real"),
    ("heads", "one"),
    ("heads", "predict"),
    ("masks", "exam"),
    ("positions", "swap"),
    ("positions", "predict"),
    ("regularisation", "dropout"),
]


class CountingGate(RequestQueue):
    """Count the turns."""

    turns = 0

    @contextmanager
    def slot(self, ticket: Ticket, on_position: OnPosition | None = None) -> Iterator[None]:
        """As ever."""
        with super().slot(ticket, on_position):
            self.turns += 1
            yield


def _service(checkpoint: Path) -> tuple[TranslationService, CountingGate]:
    gate = CountingGate(1)
    return TranslationService(Translator.load(checkpoint), gate), gate


def _data(lesson: str, scene: str, service: TranslationService, session: str) -> StageData:
    context = LessonContext("The dog is fast.", LessonState(scene), "en", lambda: service, session)
    result = lesson_module(lesson).data(context)
    assert result is not None
    return result


@pytest.mark.parametrize(("lesson", "scene"), SCENES)
def test_visitors_at_once_compute_no_more_than_one_alone(lesson: str, scene: str, random_checkpoint: Path) -> None:
    alone, gate_alone = _service(random_checkpoint)
    wanted = _data(lesson, scene, alone, "one")
    assert any("translation" not in str(key) for key in alone.cache._values), "the lesson computes something of its own"
    service, gate = _service(random_checkpoint)
    rows: list[StageData] = []
    threads = [
        threading.Thread(target=lambda n=n: rows.append(_data(lesson, scene, service, f"visitor {n}")))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(rows) == 4 and gate.turns == gate_alone.turns
    for data in rows:
        assert data.values == wanted.values
        for name, array in wanted.arrays.items():
            np.testing.assert_array_equal(data.arrays[name], array)
    with gate.ticket("busy") as busy, gate.slot(busy):  # nobody else gets a turn
        late: list[StageData] = []
        thread = threading.Thread(target=lambda: late.append(_data(lesson, scene, service, "late")), daemon=True)
        thread.start()
        thread.join(PATIENCE)
        assert late and late[0].values == wanted.values
