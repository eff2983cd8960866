"""Count the parameters of a model, and the operations and memory of its training.

Prints a table, then one line of JSON. One FLOP is one multiplication or addition; only matrix products
are counted, backward passes included. Memory is an estimate for one batch. For base and big the paper's
own estimate is shown too: time x GPUs x 9.5 TFLOPS, what the machines could have computed in that time.
A recipe is one of `train`; the vocabulary is that of its prepared text (`data`), if that is there.

Example:
  python -m transformer_core count --preset big --model.attention_biases true
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transformer_core.cli import PROGRAM
from transformer_core.cli.arguments import Options, Parser, write_summary, write_table
from transformer_core.cli.training import train
from transformer_core.cli.training.run_settings import merged_model
from transformer_core.config import ModelConfig, TrainingConfig
from transformer_core.paper.flops import (
    PAPER_RUNS,
    Work,
    memory_by_part,
    multiply_adds_by_part,
    parameters_by_part,
    training_flops,
)
from transformer_core.paper.presets import preset
from transformer_core.storage.manifest import read_object
from transformer_core.storage.measurements import MAX_METRIC_BYTES

_DEFAULT_PRESET = "base"
_WHY_NOT_65 = (
    "The paper says 65 M: with a vocabulary of 40,960 and attention_biases, as in tensor2tensor; see docs/fidelity.md."
)


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("[--recipe FILE.toml] --preset NAME [--length N] [--model.OPTION V] [--training.OPTION V]")
    parser.add_path("--recipe", "TOML as for `train`; options override it.")
    parser.add_number("--length", 30, "Tokens of a sentence on each side, `</s>` included.")
    parser.add_preset("A preset of `train`. (default: base)", _DEFAULT_PRESET)


def run(options: Options) -> int:
    """Count."""
    explicit, length = options.explicit, options.length
    if options.recipe:
        explicit = train.overridden(train.read_recipe(options.recipe, PROGRAM.parser("train")), explicit)
    name = explicit.get("preset", _DEFAULT_PRESET)
    base = preset(name)
    model = merged_model(base.model, {**_vocabulary(explicit), **explicit.get("model", {})})
    training = TrainingConfig.from_dict({**base.training.to_dict(), **explicit.get("training", {})})
    paper = PAPER_RUNS[name].flops if name in PAPER_RUNS else None
    summary = _summary(model, training, length) | {"preset": name, "paper_flops": paper}
    write_table(_rows(summary))
    if name == _DEFAULT_PRESET and model == base.model:
        write_table([(_WHY_NOT_65,), ("",)])
    write_summary(summary)
    return 0


def _vocabulary(options: dict[str, Any]) -> dict[str, int]:
    """Return the sizes of the vocabulary of the prepared text, which `train` takes too."""
    file = Path(options.get("data", "")) / "meta.json"
    meta = read_object(file, MAX_METRIC_BYTES) if "data" in options and file.is_file() else {}
    return {name: meta[name] for name in ("vocab_size", "source_vocab_size") if name in meta}


def _summary(model: ModelConfig, training: TrainingConfig, length: int) -> dict[str, Any]:
    work = Work(sentences=training.batch_tokens / length, source_length=length, target_length=length)
    counts, operations = parameters_by_part(model), multiply_adds_by_part(model, work)
    step = training_flops(model, work) * training.accumulate
    return {
        "parameters": sum(counts.values()),
        "parameters_by_part": counts,
        "flops_per_step": step,
        "flops_per_step_by_part": {part: 6 * training.accumulate * value for part, value in operations.items()},
        "steps": training.steps,
        "flops_per_run": step * training.steps,
        "memory_bytes": memory_by_part(model, work, training.precision),
        "length": length,
        "batch_tokens": training.batch_tokens * training.accumulate,
    }


def _rows(summary: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    counts, operations = summary["parameters_by_part"], summary["flops_per_step_by_part"]
    yield "part", "parameters", "FLOPs per step"
    for part, count in counts.items():
        yield part, f"{count:,}", f"{operations[part]:.3e}" if part in operations else ""
    yield "total", f"{summary['parameters']:,}", f"{summary['flops_per_step']:.3e}"
    yield ("",)
    yield f"run of {summary['steps']:,} steps", "", f"{summary['flops_per_run']:.3e}"
    if summary["paper_flops"]:
        yield "the paper's own estimate", "", f"{summary['paper_flops']:.3e}"
    yield ("",)
    yield "memory", "GB"
    for part, size in summary["memory_bytes"].items():
        yield part, f"{size / 1e9:.2f}"
    yield "total", f"{sum(summary['memory_bytes'].values()) / 1e9:.2f}"
    yield ("",)
