"""Model that learns to reverse words in half a minute, which needs encoder, attention and positions.

Model, loss, optimizer and learning rate come from `transformer_core`; only their size and the task are small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from transformer_core.config import ModelConfig, SpecialIds, TrainingConfig
from transformer_core.data import Batch, make_batch
from transformer_core.hooks.points import capture
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer
from transformer_core.training.loss import output_loss
from transformer_core.training.schedule import learning_rate

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST, LONGEST = 3, 9  # letters of a word
SPECIAL = SpecialIds()
MODEL = ModelConfig(vocab_size=len(LETTERS) + 4, d_model=64, d_ff=128, num_layers=1, num_heads=2, dropout=0.0)
TRAINING = TrainingConfig(
    steps=500, learning_rate_factor=0.45, warmup_steps=150, batch_tokens=64 * LONGEST, label_smoothing=0.0, seed=1
)
WORDS = TRAINING.batch_tokens // LONGEST  # in a batch

_CROSS = "decoder.layers.0.cross_attention.weights"
_FIRST = 4  # id of the first letter; before it stand the special ones


@dataclass(frozen=True, eq=False)
class ProbeResult:
    """Output and attention of a model for a word at one moment.

    Args:
        guess: What it generates greedily, from `<s>` alone; "." for the end.
        attention: (heads, letters + 1, letters + 1) encoder-decoder weights times 255: a row for each place of the
            output, a column for each letter that was read and the end.
    """

    guess: str
    attention: npt.NDArray[np.uint8]


class ReversalTrainer:
    """Model in training.

    Args:
        seed: Draws the weights and all words.
    """

    def __init__(self, seed: int = TRAINING.seed) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.model = Transformer(MODEL)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), betas=(TRAINING.beta1, TRAINING.beta2), eps=TRAINING.adam_epsilon
        )
        self.steps = 0
        self._generator = torch.Generator().manual_seed(seed)

    def step(self) -> float:
        """Train one step on unseen words. Returns the loss before it, nats per letter and end."""
        self.steps += 1
        batch = self._batch()
        mask = padding_mask(batch.source, SPECIAL.pad)
        vectors = self.model.decode(batch.inputs, self.model.encode(batch.source, mask), mask)
        loss = output_loss(
            vectors, self.model.embedding.weight, batch.outputs, pad=SPECIAL.pad, smoothing=TRAINING.label_smoothing
        )
        self.optimizer.zero_grad()
        torch.autograd.backward(loss.smoothed / loss.tokens)
        self.optimizer.param_groups[0]["lr"] = learning_rate(
            self.steps,
            d_model=MODEL.d_model,
            warmup_steps=TRAINING.warmup_steps,
            factor=TRAINING.learning_rate_factor,
        )
        self.optimizer.step()
        return float(loss.nll / loss.tokens)

    def weights(self) -> dict[str, torch.Tensor]:
        """Copy all current weights."""
        return {name: weight.detach().clone() for name, weight in self.model.state_dict().items()}

    def _batch(self) -> Batch:
        lengths = torch.randint(SHORTEST, LONGEST + 1, (WORDS,), generator=self._generator)
        letters = torch.randint(_FIRST, MODEL.vocab_size, (WORDS, LONGEST), generator=self._generator)
        words = [word[:length] for word, length in zip(letters.tolist(), lengths.tolist(), strict=True)]
        return make_batch(words, [word[::-1] for word in words], SPECIAL)


class AttentionProbe:
    """Probe of a model on words, with the weights of any moment of its training."""

    def __init__(self) -> None:
        with torch.random.fork_rng(devices=[]):
            self._model = Transformer(MODEL).eval()

    def probe(self, word: str, moments: Iterable[dict[str, torch.Tensor]]) -> list[ProbeResult]:
        """Probe the word at each moment."""
        ids = [_FIRST + LETTERS.index(letter) for letter in word]
        source = torch.tensor([[*ids, SPECIAL.eos]])
        results = []
        for weights in moments:
            self._model.load_state_dict(weights)
            written = [SPECIAL.bos]
            with torch.no_grad(), capture(self._model, "cross") as seen:
                for _ in range(len(word) + 1):
                    logits = self._model(source, torch.tensor([written]), padding_mask(source, SPECIAL.pad))[0, -1]
                    logits[SPECIAL.never_generated] = -torch.inf
                    written.append(int(logits.argmax()))
            letters, end, _ = "".join(map(_letter, written[1:])).partition(".")
            results.append(ProbeResult(letters + end, (seen[_CROSS][0] * 255).round().to(torch.uint8).numpy()))
        return results


def _letter(number: int) -> str:
    return LETTERS[number - _FIRST] if number >= _FIRST else "."
