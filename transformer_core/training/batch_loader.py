"""The batches of each step for one process, from any position in the data, loaded ahead of a GPU."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from transformer_core.config import ConfigError, ModelConfig, TrainingConfig
from transformer_core.data import Batch, Corpus, bucket_widths, plan_epoch
from transformer_core.devices import backend
from transformer_core.training.distributed import ProcessGroup

_AHEAD = 4  # steps loaded while a GPU computes


@dataclass(frozen=True)
class StepBatches:
    """The batches of one step.

    Args:
        batches: Of this process, in memory of the host; each with whether it counts.
        tokens: Target tokens of all processes.
        epoch: Completed passes over the data after this step.
        batch: Batches of that epoch used after this step.
    """

    batches: list[tuple[Batch, bool]]
    tokens: int
    epoch: int
    batch: int


class BatchLoader:
    """Loads the batches of one process of a training.

    Args:
        corpus: Prepared text.
        model: Shape of the model, which may limit the length of sentences.
        config: How to train: the size of batches, the seed.
        group: The processes that train together.
        device: Where batches will go.
        bucketed: Whether batches come in few shapes.

    Raises:
        ConfigError: Sentences may be longer than the model has positions for.
    """

    def __init__(
        self,
        corpus: Corpus,
        model: ModelConfig,
        config: TrainingConfig,
        group: ProcessGroup,
        device: torch.device,
        bucketed: bool,
    ) -> None:
        _check_positions(model, config)
        self.corpus, self.config, self.group, self.backend = corpus, config, group, backend(device)
        widths = bucket_widths(min(config.max_tokens + 1, config.batch_tokens)) if bucketed else []
        self.widths = sorted({min(width, model.max_length or width) for width in widths})

    def steps(self, epoch: int, batch: int) -> Iterator[StepBatches]:
        """Yield the batches of one step after the other, from a position in the data."""
        steps = self._steps(epoch, batch)
        return _loaded_ahead(steps) if self.backend.is_asynchronous else steps

    def _steps(self, epoch: int, batch: int) -> Iterator[StepBatches]:
        config = self.config
        while True:
            plan = plan_epoch(
                self.corpus.lengths, config.batch_tokens, config.max_tokens, config.seed, epoch, self.widths
            )
            while batch < len(plan):
                batches = plan[batch : batch + config.accumulate * self.group.size]
                batch += len(batches)
                mine = [(self.batch(pairs), counts) for pairs, counts in self.group.share(batches)]
                tokens = sum(int(self.corpus.lengths[pairs, 1].sum()) + len(pairs) for pairs in batches)  # with </s>
                yield StepBatches(mine, tokens, epoch, batch)
            epoch, batch = epoch + 1, 0

    def batch(self, pairs: npt.NDArray[np.integer]) -> Batch:
        """Return the batch of some pairs, on the host; padded to one of few shapes if batches are bucketed."""
        shape = None
        if self.widths:
            longest = int(self.corpus.lengths[pairs].max()) + 1
            width = next(width for width in self.widths if width >= longest)
            shape = max(1, self.config.batch_tokens // width), width
        batch = self.corpus.batch(pairs, shape)
        return batch.pin_memory() if self.backend.pins_memory else batch


def _loaded_ahead(steps: Iterator[StepBatches]) -> Iterator[StepBatches]:
    """Yield the same steps, of which a thread loads the next few meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="batches") as thread:
        loading = deque(thread.submit(next, steps) for _ in range(_AHEAD))
        while True:
            yield loading.popleft().result()
            loading.append(thread.submit(next, steps))


def _check_positions(model: ModelConfig, training: TrainingConfig) -> None:
    """Require room for a sentence of max_tokens and its `<s>` or `</s>`, or training would fail when it comes."""
    if model.max_length is not None and training.max_tokens >= model.max_length:
        raise ConfigError(
            f"max_tokens is {training.max_tokens}, but must be below max_positions ({model.max_length}), "
            "since positions are learned"
        )
