"""Waiting for the thread of a shared job."""

from __future__ import annotations

from typing import TypeVar

from viz_app.lessons.jobs.shared_job import SharedJob

SECONDS = 30.0

Job = TypeVar("Job", bound=SharedJob)


def finished(job: Job) -> Job:
    """The same job once its thread has ended."""
    assert job.thread is not None
    job.thread.join(SECONDS)
    assert not job.thread.is_alive()
    return job
