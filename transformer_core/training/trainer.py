"""The training loop (Section 5): steps, validation, checkpoints, a clean stop and an exact resume."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch

from transformer_core.config import TrainingConfig
from transformer_core.data import Corpus
from transformer_core.devices import backend
from transformer_core.model.transformer import Transformer
from transformer_core.progress import progress_bar
from transformer_core.training.activation_checkpointing import checkpoint_activations
from transformer_core.training.batch_loader import BatchLoader, StepBatches
from transformer_core.training.distributed import SINGLE_PROCESS, ProcessGroup, full_tensor, replicated, sharded
from transformer_core.training.failures import PLATEAU_WINDOW, TrainingFailed, check_plateau, save_failure
from transformer_core.training.graphs import graphed, wants_graphs
from transformer_core.training.head_penalty import linear_ramp, separators
from transformer_core.training.journal import Journal
from transformer_core.training.objective import Objective, number_format
from transformer_core.training.optimizer import Optimizer
from transformer_core.training.schedule import scheduled_rate
from transformer_core.training.signals import StopFlag, handle_signals
from transformer_core.training.snapshots import remove_snapshots_after, save_snapshot, snapshot_steps
from transformer_core.training.state import (
    Progress,
    StateError,
    keep_best,
    load_state,
    remove_partial_steps,
    save_best,
    save_state,
    step_folders,
)
from transformer_core.training.step import StepParts, StepReading, TrainingStep
from transformer_core.training.validation import ValidationSet, greedy_bleu, validation_loss

log = logging.getLogger(__name__)

_LINE_SECONDS = 10.0  # of training between two lines of progress where no bar is shown


class Trainer:
    """Trains one model on one corpus, and writes everything to one folder.

    Args:
        model: On the device to train on.
        corpus: Prepared training text.
        config: How to train.
        run: Folder for saved steps and `metrics.jsonl`.
        validation: Validation sets.
        resume: Continue from the newest saved step in `run`.
        group: The processes that train together (see `distributed.py`); each has a Trainer of its own.
        score_heads: Scores the heads, from the model in evaluation mode and the pairs of a validation set.

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
        group: ProcessGroup = SINGLE_PROCESS,
        score_heads: Callable[[Transformer, Sequence[tuple[str, str]]], dict[str, Any]] | None = None,
    ) -> None:
        self._score_heads = score_heads
        self.model, self.corpus, self.config, self.run_folder = model, corpus, config, run
        self.validation, self.group = list(validation), group
        self.device = next(model.parameters()).device
        self.dtype = number_format(config)
        self._reads_late = backend(self.device).is_asynchronous
        saved = step_folders(run)
        if saved and not resume:
            raise StateError(f"{run} already has a training run; resume it, or choose another folder")
        layers = [*model.encoder.layers, *model.decoder.layers]
        if config.activation_checkpointing:
            checkpoint_activations(layers)
        objective = Objective(model, config, corpus.special.pad, separators(corpus.tokenizer, self.device))
        wrapped = sharded(objective, layers, group) if config.parallel == "fsdp" else replicated(objective, group)
        self.optimizer = Optimizer(model, config, group)
        self._step = TrainingStep(wrapped, objective, self.optimizer, config, group)
        self._queued: list[StepBatches] = []  # steps since the last reading
        self.progress = Progress()
        self._stop_flag = StopFlag()
        if group.rank:  # a different dropout seed; the main process continues with the seed of the weights
            torch.manual_seed(int(np.random.SeedSequence((config.seed, group.rank)).generate_state(1)[0]))
        if saved:
            self.progress = load_state(saved[-1], model, self.optimizer, group)
            log.info("resumed at step %d", self.progress.step)
        if self.progress.bucketed is None:
            self.progress.bucketed = config.compile or (not saved and wants_graphs(self._step, config, group))
        self._loader = BatchLoader(corpus, model.config, config, group, self.device, self.progress.bucketed)
        self._same_place_everywhere()
        if group.is_main:
            run.mkdir(parents=True, exist_ok=True)
            remove_partial_steps(run)
            keep_best(run, self.progress.best.step)
            remove_snapshots_after(run, self.progress.step)
        self.journal = Journal(run, group.is_main, self.progress.step, config.tensorboard)
        self._snapshot_steps = frozenset(snapshot_steps(config.snapshots, config.snapshots_from, config.steps))

    def train(self) -> Progress:
        """Train until the configured step, a stop or early stopping; the last state is always saved.

        Ctrl-C or SIGTERM in any process stops all. The last line of the journal says why the training ended.

        Raises:
            TrainingFailed: The loss is not finite, or did not leave its plateau.
        """
        try:
            reason = self._train()
        except TrainingFailed as error:
            self.journal.write({"step": self.progress.step, "ended": f"failed: {error}"})
            raise
        self.journal.write({"step": self.progress.step, "ended": reason})
        return self.progress

    def _train(self) -> str:
        """Train as `train` does; returns why it ended."""
        config, progress = self.config, self.progress
        last_save, saved_step, line_at = time.monotonic(), progress.step, progress.seconds
        progress_shown = progress_bar(unit="step", total=config.steps, done=progress.step, shown=self.group.is_main)
        with handle_signals(self._stop_flag), progress_shown as bar:
            batches, stop = self._loader.steps(progress.epoch, progress.batch), False
            stale = progress.best.is_stale(config.patience)
            self.model.train()
            parts = graphed(self._step, config, self.group, self._loader.widths)
            if progress.step == 0:
                self._save_snapshot()
            started = time.monotonic()
            while progress.step < config.steps and not (stop or stale):
                self._queue(next(batches), parts)
                bar.update()
                last = progress.step == config.steps
                logs = progress.step % config.log_every == 0 or last or progress.step in self._snapshot_steps
                validates = progress.step % config.validate_every == 0 or last
                saves = last or (config.checkpoint_every > 0 and progress.step % config.checkpoint_every == 0)
                due_by_time = 0 < config.checkpoint_minutes * 60 <= time.monotonic() - last_save
                saves_early = self.group.size == 1 and (due_by_time or self._stop_flag.requested)
                if self._reads_late and not (logs or validates or saves or saves_early):
                    continue
                report = self._read(time.monotonic() - started)
                bar.set_postfix_str(f"loss={report['nll']:.2f}", refresh=False)
                if bar.disable and progress.seconds - line_at >= _LINE_SECONDS:
                    line_at = progress.seconds
                    facts = progress.step, config.steps, report["nll"], report["tokens_per_second"]
                    log.info("step %d of %d, nll %.2f, %.0f tokens per second", *facts)
                if logs:
                    self.journal.write({**report, "mean_nll": progress.end_line()})
                check_plateau(progress, config)
                self._save_snapshot()
                is_best = self._validate() if validates else False
                # Clocks, signals and scores differ between processes, but all must do the same.
                due_by_time, stale = due_by_time and self.group.is_main, progress.best.is_stale(config.patience)
                stop, due_by_time, is_best, stale = self.group.any(
                    self._stop_flag.requested, due_by_time, is_best, stale
                )
                if is_best:
                    save_best(self.run_folder, self.model, progress, self.group)
                if due_by_time or saves:
                    self._save()
                    last_save, saved_step = time.monotonic(), progress.step
                started = time.monotonic()
            if saved_step != progress.step:
                self._save()
        if progress.step >= config.steps:
            return "completed"
        if stale:
            reason = f"early stopping: {config.patience} validations without a better score than at {progress.best}"
            log.info("%s; --resume --training.patience 0 continues", reason)
            return reason
        log.warning("stopped at step %d; --resume continues from there", progress.step)
        return "stopped"

    def validate(self) -> dict[str, dict[str, Any]]:
        """Compute perplexity per token, greedy BLEU and heads of every validation set, in the main process only."""
        model = self._whole_model()
        if not self.group.is_main:
            return {}
        model.eval()
        scores: dict[str, dict[str, Any]] = {}
        try:
            for data in self.validation:
                nll, tokens = validation_loss(
                    model, data.pairs, self.corpus.tokenizer, self.config.batch_tokens, self.dtype
                )
                scores[data.name] = {"nll": nll / tokens, "perplexity": math.exp(min(nll / tokens, 50.0))}
                if self._score_heads is not None:
                    scores[data.name]["heads"] = self._score_heads(model, data.pairs)
                fixed = data.pairs[: self.config.validation_sentences]
                if fixed:
                    score, translations = greedy_bleu(model, fixed, self.corpus.tokenizer)
                    scores[data.name]["bleu"] = score
                    facts = data.name, nll / tokens, score, fixed[0][0], translations[0]
                    log.info("%s: nll %.3f, BLEU %.1f, %r -> %r", *facts)
        finally:
            self.model.train()
        return scores

    def _validate(self) -> bool:
        """Validate, log and write the scores; returns whether this step is the best so far, in the main process."""
        progress, scores = self.progress, self.validate()
        is_best = False
        line: dict[str, Any] = {"step": progress.step, "validation": scores}
        if scores:
            name, best = self.validation[0].name, progress.best
            is_best = best.add(progress.step, name, scores[name], self.config.best_metric, progress.recent_mean)
            line |= {"best_step": best.step, "overfits_since": best.overfits_since}
        self.journal.write(line)
        return is_best

    def _same_place_everywhere(self) -> None:
        """Refuse to train when the processes resumed at different steps, as without a shared disk."""
        step = self.progress.step
        if self.group.sum(step)[0] != step * self.group.size:
            raise StateError(
                f"process {self.group.rank} found step {step} in {self.run_folder}, another process a different one"
            )

    def _whole_model(self) -> Transformer:
        """Return the model with full weights; all processes must call this."""
        if self.config.parallel == "ddp":
            return self.model
        weights = {name: full_tensor(parameter.detach()) for name, parameter in self.model.named_parameters()}
        return Transformer.from_weights(self.model.config, weights).to(self.device)

    def _queue(self, batches: StepBatches, parts: StepParts) -> None:
        """Take one step, which the device may do later."""
        config, progress = self.config, self.progress
        if config.head_penalty:
            share = linear_ramp(progress.step, config.head_penalty_start, config.head_penalty_full)
            self._step.inner.set_head_penalty(config.head_penalty * share)
        progress.step += 1
        progress.epoch, progress.batch = batches.epoch, batches.batch
        self._step.take(batches, scheduled_rate(progress.step, self.model.config.d_model, config), parts)
        self._queued.append(batches)

    def _read(self, seconds: float) -> dict[str, Any]:
        """Wait for the queued steps, which took some seconds, and count them; returns a report of the last one."""
        queued, self._queued = self._queued, []
        progress = self.progress
        progress.seconds += seconds
        report: dict[str, Any] = {}
        first = progress.step - len(queued) + 1
        for step, (batches, reading) in enumerate(zip(queued, self._step.read(queued), strict=True), start=first):
            progress.add_step(reading.nll, batches.tokens, PLATEAU_WINDOW)
            report = {
                "step": step,
                "epoch": batches.epoch,
                "loss": reading.loss / batches.tokens,
                "nll": reading.nll / batches.tokens,
                "gradient_norm": reading.gradient_norm,
                "learning_rate": scheduled_rate(step, self.model.config.d_model, self.config),
                "tokens_per_second": sum(each.tokens for each in queued) / seconds,
                "target_tokens": progress.target_tokens,
                "seconds": round(progress.seconds, 1),
            }
            if not reading.is_finite:
                self._fail(batches, reading, report)
        return report

    def _fail(self, batches: StepBatches, reading: StepReading, report: dict[str, Any]) -> NoReturn:
        """Save the batches and raise TrainingFailed; the weights are those before this step."""
        read = [batch for batch, _ in batches.batches]
        folder = save_failure(self.run_folder, read, reading.own_losses, report, self.corpus.tokenizer, self.group.rank)
        self.group.barrier()  # a process that ends early would end the others
        raise TrainingFailed(
            f"step {report['step']}: loss {report['loss']}, gradient norm {report['gradient_norm']}; "
            f"the batches are in {folder}; lower learning_rate_factor, raise warmup_steps, or train in float32"
        )

    def _save_snapshot(self) -> None:
        """Save the weights if a snapshot is due at this step; to be called in every process."""
        if self.progress.step in self._snapshot_steps:
            weights = {name: full_tensor(parameter.detach()) for name, parameter in self.model.named_parameters()}
            if self.group.is_main:
                save_snapshot(self.run_folder, self.progress.step, weights)

    def _save(self) -> None:
        save_state(self.run_folder, self.model, self.optimizer, self.progress, self.config.keep_checkpoints, self.group)
