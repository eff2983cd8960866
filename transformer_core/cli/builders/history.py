"""How the heads developed, from the snapshots of the model's training."""

from __future__ import annotations

from pathlib import Path

from transformer_core.cli.builders import Builder, Inputs, SkippedError
from transformer_core.cli.history import build_history, read_probes
from transformer_core.cli.run_settings import RunSettings


def _build(inputs: Inputs) -> dict[str, bytes]:
    from transformer_core.history import FOLDER

    options, run = inputs.options, Path(inputs.options.run)
    settings = RunSettings.load(run)
    if settings.model != inputs.translator.config:
        raise SkippedError(f"{run} trained a model of another shape")
    history = build_history(
        run,
        settings,
        read_probes("--sentences", options.sentences),
        valid=options.valid[0] if options.valid else None,
        valid_sentences=options.valid_sentences,
        gold=options.gold,
        device=inputs.device,
    )
    return {f"{FOLDER}/{name}": data for name, data in history.files().items()}


BUILDER = Builder(
    name="history",
    about="attention at every snapshot of the training",
    needs=(("run",), ("sentences",)),
    files=("history/history.json", "history/attention.safetensors"),
    build=_build,
)
