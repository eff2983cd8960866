"""Train and score the rows of Table 3 (Section 6.2) at reduced size.

All widths are divided by one number, the number of layers by another. All rows read the same text in the same order,
for the same number of steps and with the same learning rate: the paper's schedule, then a linear cooldown to 0 over
the last third. Perplexity is per token of the validation set, </s> included, without label smoothing. BLEU uses the
paper's beam and alpha and the last weights, rounded as by `average --last 1`. OUT gets variations.json with all
numbers, and one folder per training, as `train` writes it.

All rows are trained with the first seed, then with the second. After a stop the same command continues;
with other rows or seeds it adds them.

Rows:

Example:
  python -m transformer_core variations --data data --valid valid.tsv --out table3 --seeds 1 2 3
"""

from __future__ import annotations

import hashlib
import logging
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import (
    Options,
    Parser,
    UsageError,
    select_device,
    write_summary,
    write_table,
)
from transformer_core.cli.training.run_settings import RunSettings
from transformer_core.config import TrainingConfig
from transformer_core.paper.presets import preset
from transformer_core.paper.table3 import (
    ROWS,
    TRAINING,
    Results,
    Run,
    Spread,
    changes,
    common_training,
    reduced_row,
    row_training,
)
from transformer_core.storage.files import TOKENIZER_FILE, atomic_write_bytes, exclusive, recover_interrupted_writes

if TYPE_CHECKING:
    from transformer_core.data import Corpus
    from transformer_core.evaluation.evaluate import TestSet

log = logging.getLogger(__name__)

RESULTS_FILE = "variations.json"
_OF_ROWS = ("seed", "label_smoothing")  # set by --seeds and by the rows
_OF_STEPS = ("steps", "cooldown_steps")  # set by --steps


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage(
        "--data DIR --valid FILE --out DIR [--rows NAME ...] [--seeds N ...] [--steps N]\n"
        "           [--reduce N] [--reduce-layers N] [--training.OPTION V]"
    )
    parser.add_list({row: preset(row).about for row in ROWS})
    parser.add_path("--data", "Text prepared by `prepare`.", form="DIR", required=True)
    parser.add_path("--valid", "Validation set, not a test set.", required=True, parallel=True)
    parser.add_argument("--out", required=True, metavar="DIR", help="Folder of the results.")
    parser.add_argument("--rows", nargs="+", default=[], metavar="NAME", help="Some of the rows above. [all]")
    parser.add_argument(
        "--seeds", type=int, nargs="+", default=[1], metavar="N", help="Seeds; each row is trained once with each."
    )
    parser.add_number("--steps", TRAINING.steps, "Steps of each training run.")
    parser.add_argument("--reduce", type=int, default=8, metavar="N", help="Divide all widths by N.")
    parser.add_argument("--reduce-layers", type=int, default=2, metavar="N", help="Divide the number of layers by N.")
    parser.add_batch(64)
    parser.add_machine()
    parser.add_config(TrainingConfig, "training", skip=(*_OF_ROWS, *_OF_STEPS))
    values = {name: value for name, value in TRAINING.to_dict().items() if name not in (*_OF_ROWS, *_OF_STEPS)}
    parser.set_defaults(**{f"training.{name}": value for name, value in values.items()})


def run(options: Options) -> int:
    """Train and score the rows that are still missing."""
    rows = options.rows or list(ROWS)
    for row in rows:
        reduced_row(row, options.reduce, options.reduce_layers)
    training = common_training(options.steps, options.training)
    data = Path(options.data)
    out, file = Path(options.out), Path(options.out) / RESULTS_FILE
    device = select_device(options.device, options.threads)

    from transformer_core.data import Corpus
    from transformer_core.evaluation.evaluate import TestSet

    corpus, test = Corpus(data), TestSet.read(options.valid)
    results = _load_results(file, _about(options, corpus, test, training))
    out.mkdir(parents=True, exist_ok=True)
    results.save(file)
    for seed in dict.fromkeys(options.seeds):
        for row in rows:
            if results.find(row, seed):
                log.info("%s, seed %d: done before", row, seed)
                continue
            log.info("%s, seed %d", row, seed)
            settings = RunSettings(
                preset=row,
                model=reduced_row(row, options.reduce, options.reduce_layers, len(corpus.tokenizer)),
                training=row_training(row, training, seed),
                data=str(data),
                corpus=corpus.meta,
                valid=(options.valid,),
            )
            results = results.with_run(_train_row(out / "runs" / f"{row}-seed{seed}", settings, device, options, test))
            results.save(file)
    _write_table(results)
    return 0


def _about(options: Options, corpus: Corpus, test: TestSet, training: TrainingConfig) -> dict[str, Any]:
    """Return the settings that all runs share, so that they can be compared."""
    common = {name: value for name, value in training.to_dict().items() if name not in _OF_ROWS}
    base = reduced_row("base", options.reduce, options.reduce_layers, len(corpus.tokenizer))
    search = preset("base").decoding
    pairs = "".join(f"{source}\t{each[0]}\n" for source, each in zip(test.sources, test.references, strict=True))
    return {
        "reduced_by": {"widths": options.reduce, "layers": options.reduce_layers},
        "base": base.to_dict(),
        "training": common,
        "text": {name: corpus.meta[name] for name in ("files", "pairs", "vocab_size", "tokenizer_sha256")},
        "validation": {
            "name": Path(options.valid.partition(",")[0]).name.split(".")[0],
            "sentences": len(test.sources),
            "sha256": hashlib.sha256(pairs.encode("utf-8")).hexdigest(),
        },
        "search": {"beam": search.beam, "alpha": search.alpha, "length_penalty": search.length_penalty},
    }


def _load_results(file: Path, about: dict[str, Any]) -> Results:
    """Load the results so far. Raises UsageError when they were made with other settings."""
    recover_interrupted_writes(file.parent, file.name)
    if not file.exists():
        if file.parent.exists() and (not file.parent.is_dir() or any(file.parent.iterdir())):
            raise UsageError(f"--out: {file.parent} is not empty, but has no {file.name}; choose a new folder")
        return Results(about)
    results = Results.load(file)
    for key, value in about.items():
        if (was := results.about.get(key)) != value:
            raise UsageError(f"--out: {file} was made with other settings: {_difference(key, was, value)}")
    return results


def _difference(key: str, was: Any, value: Any) -> str:
    if isinstance(was, dict) and isinstance(value, dict):
        name = next(name for name in {**value, **was} if was.get(name) != value.get(name))
        key, was, value = f"{key}.{name}", was.get(name), value.get(name)
    return f"{key} was {was!r}, is {value!r}"


def _train_row(folder: Path, settings: RunSettings, device: str, options: Options, test: TestSet) -> Run:
    """Train one row, or resume it, and score it. Raises KeyboardInterrupt when a stop was requested."""
    import torch

    from transformer_core.cli.checkpoint.average import average_steps
    from transformer_core.cli.checkpoint.ship import translator_of
    from transformer_core.cli.training.train import train_run
    from transformer_core.evaluation.evaluate import evaluate
    from transformer_core.model.transformer import count_parameters
    from transformer_core.training.distributed import ProcessGroup

    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / TOKENIZER_FILE).exists():
        atomic_write_bytes(folder / TOKENIZER_FILE, (Path(settings.data) / TOKENIZER_FILE).read_bytes())
    group = ProcessGroup(device=torch.device(device))
    with exclusive(folder, waits=False):
        progress = train_run(folder, settings, group, options.threads, resume=True)
    if progress.step < settings.training.steps:
        raise KeyboardInterrupt
    translator = translator_of(average_steps(folder, 1, settings), settings, device)
    result = evaluate(translator, test, batch=options.batch)
    log.info("perplexity %.2f, BLEU %.1f", result.perplexity.value, result.bleu.value)
    return Run(
        row=settings.preset,
        seed=settings.training.seed,
        changes=changes(settings.preset, options.reduce, options.reduce_layers),
        parameters=count_parameters(translator.model),
        updates=progress.step,
        target_tokens=progress.target_tokens,
        seconds=round(progress.seconds, 1),
        perplexity=result.perplexity.value,
        bleu=result.bleu.value,
        signature=result.bleu.signature,
        versions={"python": platform.python_version(), "torch": torch.__version__},
    )


def _write_table(results: Results) -> None:
    """Print the means of each row, then one line of JSON."""
    rows, means = [("row", "seeds", "perplexity", "BLEU", "parameters")], {}
    for row in ROWS:
        perplexity, bleu = results.spread(row, "perplexity"), results.spread(row, "bleu")
        if perplexity and bleu:
            parameters = next(run.parameters for run in results.runs if run.row == row)
            cells = (_format_spread(perplexity, 2), _format_spread(bleu, 1), str(parameters))
            rows.append((row, str(bleu.count), *cells))
            means[row] = {"bleu": bleu.mean, "perplexity": perplexity.mean, "seeds": bleu.count}
    write_table(rows)
    write_summary(means)


def _format_spread(spread: Spread, digits: int) -> str:
    around = "" if spread.deviation is None else f" ± {spread.deviation:.{digits}f}"
    return f"{spread.mean:.{digits}f}{around}"
