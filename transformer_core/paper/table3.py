"""Table 3 at reduced size (Section 6.2): every width of a row divided by one number, and its layers by another.

What a row changes is defined by its preset; here it is only made smaller. The rows differ from `base` in what the
paper changed and in nothing else: the text, its order, the number of steps and the learning rate are the same.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from transformer_core.config import ConfigError, ModelConfig, TrainingConfig
from transformer_core.paper.presets import TABLE_3, preset
from transformer_core.storage.files import write_json

FORMAT_VERSION = 1
ROWS = ("base", *TABLE_3, "big")  # in the order of the table

# At a peak learning rate of 4.3e-3 a base of 3 + 3 layers and width 64 learns faster than at 2.5e-3; one of 6 + 6
# layers was still on its first plateau after 600 steps.
TRAINING = preset("small").training.replace(
    steps=1_000,
    learning_rate_factor=0.6,
    warmup_steps=300,
    log_every=20,
    checkpoint_every=0,
    checkpoint_minutes=2.0,
    keep_checkpoints=1,
    validation_sentences=0,
)

_WIDTHS = ("d_model", "d_ff", "d_k", "d_v")


class VariationsError(ValueError):
    """A results file that cannot be used; the message names it."""


def reduced(model: ModelConfig, widths: int, layers: int = 1) -> ModelConfig:
    """Return the same model with its widths (d_model, d_ff, d_k, d_v) and its number of layers divided.

    Args:
        model: A model of the paper; it keeps its number of heads.
        widths: Divides every width.
        layers: Divides the number of layers.

    Raises:
        ConfigError: A width is not a multiple of `widths`, or the layers are not a multiple of `layers`.
    """
    divisors = {**dict.fromkeys(_WIDTHS, ("reduce", widths)), "num_layers": ("reduce_layers", layers)}
    for name, (option, by) in divisors.items():
        if by < 1:
            raise ConfigError(f"{option} is {by}, but must be 1 or more")
        if getattr(model, name) % by:
            raise ConfigError(f"{option} is {by}, but must divide {name}, which is {getattr(model, name)}")
    return model.replace(**{name: getattr(model, name) // by for name, (_, by) in divisors.items()})


def reduced_row(row: str, widths: int, layers: int = 1, vocab_size: int = 0) -> ModelConfig:
    """Return the model of a row, reduced, for a vocabulary; 0 for the preset's own.

    Raises:
        ConfigError: Table 3 has no such row, or a number does not divide what it should (see `reduced`).
    """
    if row not in ROWS:
        raise ConfigError(f"row is {row!r}, but must be one of {', '.join(ROWS)}")
    model = reduced(preset(row).model, widths, layers)
    return model.replace(vocab_size=vocab_size) if vocab_size else model


def common_training(steps: int, changed: Mapping[str, Any] | None = None) -> TrainingConfig:
    """Return the training of all rows: the learning rate falls to 0 over the last third of the steps."""
    values = {**TRAINING.to_dict(), **(changed or {}), "steps": steps, "cooldown_steps": steps // 3}
    return TrainingConfig.from_dict({**values, "validate_every": steps})


def row_training(row: str, common: TrainingConfig, seed: int) -> TrainingConfig:
    """Return the training of a row: like all others, except for the label smoothing that two of them change."""
    return common.replace(label_smoothing=preset(row).training.label_smoothing, seed=seed)


def changes(row: str, widths: int, layers: int = 1) -> dict[str, Any]:
    """Return the options in which a row differs from the reduced base, of ModelConfig and TrainingConfig."""
    ours, usual = (reduced_row(name, widths, layers).to_dict() for name in (row, "base"))
    differing = {name: value for name, value in ours.items() if value != usual[name]}
    smoothing = preset(row).training.label_smoothing
    if smoothing != preset("base").training.label_smoothing:
        differing["label_smoothing"] = smoothing
    return differing


@dataclass(frozen=True, kw_only=True)
class Run:
    """One training of one row, and how good the model is.

    Args:
        row: "base", "big" or a name of TABLE_3.
        seed: Of the weights, of the order of the text and of dropout.
        changes: Options in which it differs from the reduced base.
        parameters: Trainable parameters.
        updates: Optimizer steps.
        target_tokens: Target tokens that it was trained on, `</s>` included.
        seconds: Duration of the training.
        perplexity: Per token of the validation set, `</s>` included, without label smoothing.
        bleu: Of the validation set.
        signature: sacreBLEU's.
        versions: Of the programs that trained and scored it.
    """

    row: str
    seed: int
    changes: dict[str, Any]
    parameters: int
    updates: int
    target_tokens: int
    seconds: float
    perplexity: float
    bleu: float
    signature: str
    versions: dict[str, str]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over several seeds.

    Args:
        mean: Of all.
        deviation: Standard deviation of the sample (n - 1); None of one seed.
        count: How many seeds.
    """

    mean: float
    deviation: float | None
    count: int

    @classmethod
    def from_values(cls, values: Iterable[float]) -> Spread:
        """Return mean and deviation of one value or more."""
        scores = list(values)
        return cls(statistics.fmean(scores), statistics.stdev(scores) if len(scores) > 1 else None, len(scores))


@dataclass(frozen=True)
class Results:
    """All runs of one comparison.

    Args:
        about: Facts in common: text, training, validation set, search, versions.
        runs: One for each row and seed, in the order of the table.
    """

    about: Mapping[str, Any]
    runs: tuple[Run, ...] = ()

    def find(self, row: str, seed: int) -> Run | None:
        """Return the run of a row with a seed, if there is one."""
        return next((run for run in self.runs if (run.row, run.seed) == (row, seed)), None)

    def with_run(self, run: Run) -> Results:
        """Return the results with one more run, replacing one of the same row and seed."""
        others = [other for other in self.runs if (other.row, other.seed) != (run.row, run.seed)]
        ordered = sorted([*others, run], key=lambda each: (ROWS.index(each.row), each.seed))
        return Results(self.about, tuple(ordered))

    def spread(self, row: str, field: str) -> Spread | None:
        """Return mean and spread of "bleu", "perplexity" or another number of a row; None where it was not trained."""
        values = [float(getattr(run, field)) for run in self.runs if run.row == row]
        return Spread.from_values(values) if values else None

    def save(self, path: Path) -> None:
        """Write the results as JSON, atomically."""
        write_json(path, {"format_version": FORMAT_VERSION, **self.about, "runs": [asdict(run) for run in self.runs]})

    @classmethod
    def load(cls, path: Path) -> Results:
        """Read what `save` wrote.

        Raises:
            VariationsError: It is missing, damaged or of another format.
        """
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values.pop("format_version", None) != FORMAT_VERSION:
                raise VariationsError(f"{path} does not have format version {FORMAT_VERSION}")
            runs = tuple(_run(entry) for entry in values.pop("runs"))
        except VariationsError:
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise VariationsError(f"{path} cannot be read: {error}") from error
        return cls(values, runs)


def _run(entry: dict[str, Any]) -> Run:
    run = Run(**{field.name: entry[field.name] for field in fields(Run)})
    numbers = (run.parameters, run.updates, run.target_tokens, run.seconds, run.perplexity, run.bleu)
    if run.row not in ROWS or not all(isinstance(number, int | float) for number in numbers):
        raise ValueError(f"{entry} is not a run of a row of Table 3")
    return run
