"""The batches of each step for one process, from any position in the data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch

from transformer_core.config import ConfigError, ModelConfig, TrainingConfig
from transformer_core.data import Batch, Corpus, bucket_widths, plan_epoch
from transformer_core.training.distributed import ProcessGroup
from transformer_core.training.state import Progress

StepBatches = list[tuple[Batch, bool]]  # batches of one step, each with whether it counts


class BatchLoader:
    """Loads the batches of one process of a training.

    Args:
        corpus: Prepared text.
        model: Shape of the model, which may limit the length of sentences.
        config: How to train: the size of batches, the seed, whether batches must come in few shapes.
        group: The processes that train together.
        device: Where batches go.

    Raises:
        ConfigError: Sentences may be longer than the model has positions for.
    """

    def __init__(
        self, corpus: Corpus, model: ModelConfig, config: TrainingConfig, group: ProcessGroup, device: torch.device
    ) -> None:
        _check_positions(model, config)
        self.corpus, self.config, self.group, self.device = corpus, config, group, device
        # A compiled model wants few shapes of batches.
        widths = bucket_widths(min(config.max_tokens + 1, config.batch_tokens)) if config.compile else []
        self.widths = sorted({min(width, model.max_length or width) for width in widths})

    def steps(self, progress: Progress) -> Iterator[StepBatches]:
        """Yield the batches of one step after the other, from the position of `progress`, which they advance."""
        config = self.config
        while True:
            options = (config.batch_tokens, config.max_tokens, config.seed, progress.epoch)
            plan = plan_epoch(self.corpus.lengths, *options, self.widths)
            while progress.batch < len(plan):
                chosen = plan[progress.batch : progress.batch + config.accumulate * self.group.size]
                mine = [(self.batch(pairs), counts) for pairs, counts in self.group.share(chosen)]
                progress.batch += len(chosen)
                yield mine
            progress.epoch, progress.batch = progress.epoch + 1, 0

    def batch(self, pairs: npt.NDArray[np.integer]) -> Batch:
        """Return the batch of some pairs, on the device; padded to one of few shapes if the model is compiled."""
        shape = None
        if self.widths:
            longest = int(self.corpus.lengths[pairs].max()) + 1
            width = next(width for width in self.widths if width >= longest)
            shape = max(1, self.config.batch_tokens // width), width
        return self.corpus.batch(pairs, shape).to(self.device)


def _check_positions(model: ModelConfig, training: TrainingConfig) -> None:
    """Require room for a sentence of max_tokens and its `<s>` or `</s>`, or training would fail when it comes."""
    if model.max_length is not None and training.max_tokens >= model.max_length:
        raise ConfigError(
            f"max_tokens is {training.max_tokens}, but must be below max_positions ({model.max_length}), "
            "since positions are learned"
        )
