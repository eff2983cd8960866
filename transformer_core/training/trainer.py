"""The training loop (Section 5): updates, validation, checkpoints, a clean stop and an exact resume."""

from __future__ import annotations

import json
import logging
import math
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from transformer_core.config import ConfigError, ModelConfig, TrainingConfig
from transformer_core.data import Batch, Corpus, plan_epoch
from transformer_core.model import Transformer
from transformer_core.progress import progress_bar
from transformer_core.training.schedule import learning_rate
from transformer_core.training.state import (
    Progress,
    StateError,
    forget_partial_steps,
    load_state,
    save_state,
    step_folders,
)
from transformer_core.training.validation import ValidationSet, batch_loss, greedy_bleu, validation_loss

log = logging.getLogger(__name__)

_PLATEAU_WINDOW = 100  # updates whose mean loss tells whether training left the plateau


class TrainingFailed(RuntimeError):
    """Training cannot go on: the loss is not a number, or sits on its plateau."""


def _check_positions(model: ModelConfig, training: TrainingConfig) -> None:
    """A sentence of max_pieces and its `<s>` or `</s>` must find a position, or training stops in the midst of it."""
    if model.longest is not None and training.max_pieces >= model.longest:
        raise ConfigError(
            f"max_pieces is {training.max_pieces}, but must be below max_positions ({model.longest}), "
            "since positions are learned"
        )


class Trainer:
    """Trains one model on one corpus, and leaves everything in one folder.

    Args:
        model: On the device that it shall train on.
        corpus: Prepared training text.
        config: How to train.
        run: Folder for saved steps and `metrics.jsonl`.
        validation: Sets to watch.
        resume: Continue from the newest saved step in `run`.

    Raises:
        StateError: `run` holds saved steps that are not to be resumed, or that cannot be read.
        ConfigError: Sentences may be longer than the model has positions for.
    """

    def __init__(
        self,
        model: Transformer,
        corpus: Corpus,
        config: TrainingConfig,
        run: Path,
        validation: Sequence[ValidationSet] = (),
        resume: bool = False,
    ) -> None:
        _check_positions(model.config, config)
        self.model, self.corpus, self.config, self.run_folder = model, corpus, config, run
        self.validation = list(validation)
        self.device = next(model.parameters()).device
        self.dtype = torch.bfloat16 if config.precision == "bfloat16" else torch.float32
        self.optimizer = torch.optim.Adam(
            model.parameters(), betas=(config.beta1, config.beta2), eps=config.adam_epsilon, fused=True
        )
        self.progress = Progress()
        self._losses: deque[float] = deque(maxlen=_PLATEAU_WINDOW)
        self._stop = False
        saved = step_folders(run)
        if saved and not resume:
            raise StateError(f"{run} already holds a training; resume it, or name another folder")
        if saved:
            self.progress = load_state(saved[-1], model, self.optimizer)
            log.info("resumed at step %d", self.progress.step)
        run.mkdir(parents=True, exist_ok=True)
        forget_partial_steps(run)
        self._forget_metrics_after(self.progress.step)

    def train(self) -> Progress:
        """Train until the configured step, Ctrl-C or SIGTERM; the last state is always saved.

        Raises:
            TrainingFailed: The loss is not a number, or did not leave its plateau.
        """
        config, progress = self.config, self.progress
        last_save = time.monotonic()
        with self._stop_on_signals(), progress_bar(unit="step", total=config.steps, done=progress.step) as bar:
            updates = self._updates()
            while progress.step < config.steps and not self._stop:
                report = self._update(next(updates))
                bar.update()
                bar.set_postfix_str(f"loss={report['nll']:.2f}", refresh=False)
                if progress.step % config.log_every == 0 or progress.step == config.steps:
                    self._write(report)
                self._check(report)
                if progress.step % config.validate_every == 0 or progress.step == config.steps:
                    self._write({"step": progress.step, "validation": self.validate()})
                due_by_time = 0 < config.checkpoint_minutes * 60 <= time.monotonic() - last_save
                due_by_step = config.checkpoint_every and progress.step % config.checkpoint_every == 0
                if due_by_time or due_by_step or progress.step == config.steps:
                    self._save()
                    last_save = time.monotonic()
            if self._stop:
                self._save()
                log.warning("stopped at step %d; --resume continues from there", progress.step)
        return progress

    def validate(self) -> dict[str, dict[str, float]]:
        """Perplexity per piece and greedy BLEU of every validation set."""
        self.model.eval()
        scores = {}
        try:
            for data in self.validation:
                nll, pieces = validation_loss(
                    self.model, data.pairs, self.corpus.tokenizer, self.config.batch_tokens, self.dtype
                )
                scores[data.name] = {"nll": nll / pieces, "perplexity": math.exp(min(nll / pieces, 50.0))}
                fixed = data.pairs[: self.config.validation_sentences]
                if fixed:
                    score, translations = greedy_bleu(self.model, fixed, self.corpus.tokenizer)
                    scores[data.name]["bleu"] = score
                    log.info(
                        "%s: nll %.3f, BLEU %.1f, %r -> %r",
                        data.name,
                        nll / pieces,
                        score,
                        fixed[0][0],
                        translations[0],
                    )
        finally:
            self.model.train()
        return scores

    def _updates(self) -> Iterator[list[Batch]]:
        """Batches of one update after the other, from where the progress stands."""
        config, progress = self.config, self.progress
        while True:
            plan = plan_epoch(self.corpus.lengths, config.batch_tokens, config.max_pieces, config.seed, progress.epoch)
            while progress.batch < len(plan):
                chosen = plan[progress.batch : progress.batch + config.accumulate]
                batches = [self.corpus.batch(indices).to(self.device) for indices in chosen]
                progress.batch += len(chosen)
                yield batches
            progress.epoch, progress.batch = progress.epoch + 1, 0

    def _update(self, batches: list[Batch]) -> dict[str, Any]:
        """One step of Adam on the mean loss over all target pieces of the batches."""
        started = time.monotonic()
        config, pad = self.config, self.corpus.special.pad
        self.model.train()
        pieces = sum(int((batch.outputs != pad).sum()) for batch in batches)
        smoothed = nll = 0.0
        for batch in batches:
            loss = batch_loss(self.model, batch, smoothing=config.label_smoothing, pad=pad, dtype=self.dtype)
            torch.autograd.backward(loss.smoothed / pieces)
            smoothed, nll = smoothed + float(loss.smoothed.detach()), nll + float(loss.nll)
        limit = config.max_gradient_norm or math.inf
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), limit)
        step = self.progress.step + 1
        rate = learning_rate(
            step,
            d_model=self.model.config.d_model,
            warmup_steps=config.warmup_steps,
            factor=config.learning_rate_factor,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if math.isfinite(float(norm)):
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        seconds = time.monotonic() - started
        self.progress.step = step
        self.progress.target_pieces += pieces
        self.progress.seconds += seconds
        return {
            "step": step,
            "epoch": self.progress.epoch,
            "loss": smoothed / pieces,
            "nll": nll / pieces,
            "gradient_norm": float(norm),
            "learning_rate": rate,
            "tokens_per_second": pieces / seconds,
            "target_pieces": self.progress.target_pieces,
            "seconds": round(self.progress.seconds, 1),
        }

    def _check(self, report: dict[str, Any]) -> None:
        """Stop loudly when there is no point in going on."""
        if not (math.isfinite(report["loss"]) and math.isfinite(report["gradient_norm"])):
            raise TrainingFailed(
                f"step {report['step']}: loss {report['loss']}, gradient norm {report['gradient_norm']}; "
                "lower learning_rate_factor, raise warmup_steps, or train in float32"
            )
        self._losses.append(report["nll"])
        config = self.config
        mean = sum(self._losses) / len(self._losses)
        if (
            0 < config.plateau_steps <= report["step"]
            and len(self._losses) == _PLATEAU_WINDOW
            and mean > config.plateau_loss
        ):
            raise TrainingFailed(
                f"step {report['step']}: the loss still sits at {mean:.2f} nats per piece, above plateau_loss "
                f"({config.plateau_loss}); lower learning_rate_factor, raise warmup_steps, or use smaller batches"
            )

    def _save(self) -> None:
        save_state(self.run_folder, self.model, self.optimizer, self.progress, self.config.keep_checkpoints)

    def _write(self, line: dict[str, Any]) -> None:
        with (self.run_folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _forget_metrics_after(self, step: int) -> None:
        """Drop the lines of updates that a resumed run does again."""
        path = self.run_folder / "metrics.jsonl"
        if path.exists():
            # A line without its end was cut off when the run was killed.
            whole = path.read_text(encoding="utf-8").split("\n")[:-1]
            kept = [line for line in whole if json.loads(line)["step"] <= step]
            path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")

    @contextmanager
    def _stop_on_signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM end the running update, save, and return; only the main thread can listen to them."""

        def stop(*_: object) -> None:
            self._stop = True

        try:
            previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:
            yield
            return
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
