"""Train a model. Writes config.json, metrics.jsonl and the last saved steps to OUT.

Ctrl-C saves and stops; --resume with the same OUT continues exactly there. Options override the recipe,
and the recipe overrides the preset. A recipe is TOML with the same keys; its paths are relative to the
current directory:

  preset = "en-de"
  data = "data"
  valid = ["valid.tsv"]
  out = "run"

  [training]
  steps = 20000

Presets (train --preset NAME --help shows the values of one):

Example:
  python -m transformer_core train --preset en-de --data data --valid valid.en-de.tsv.xz --out run
  python -m transformer_core train --resume --out run --training.steps 200000
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli import PROGRAM
from transformer_core.cli.arguments import (
    Options,
    Parser,
    UsageError,
    check_new_folder,
    existing,
    existing_text,
    select_device,
    small_text,
)
from transformer_core.cli.training.prepare import add_training_text, prepare_text
from transformer_core.cli.training.run_settings import CONFIG_FILE, RunSettings, merged_model, prepared_text, resumed
from transformer_core.config import ConfigError, DecodingConfig, ModelConfig, TrainingConfig
from transformer_core.paper.presets import PRESETS, preset
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.storage.files import TOKENIZER_FILE, exclusive, recover_interrupted_writes

if TYPE_CHECKING:
    import torch

    from transformer_core.checkpoint import Checkpoint
    from transformer_core.data import Corpus
    from transformer_core.model.transformer import Transformer
    from transformer_core.text.tokenizer import Tokenizer
    from transformer_core.training.distributed import ProcessGroup
    from transformer_core.training.state import Progress
    from transformer_core.training.validation import ValidationSet

log = logging.getLogger(__name__)

_DEFAULT_PRESET = "base"
_LISTS = ("train", "valid")
_FILES = ("data", "tokenizer", "init_from", *_LISTS)
_GROUPS = ("model", "training")
_TOO_SLOW = 2.0  # time in bfloat16 over time in float32; about 0.5 on processors with bfloat16 instructions


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage(
        "[--recipe FILE.toml] --preset NAME (--data DIR | --train FILE ...) --valid FILE ...\n"
        "           --out DIR [--resume | --init-from CHECKPOINT] [--model.OPTION V] [--training.OPTION V]"
    )
    parser.add_list({name: each.about for name, each in PRESETS.items()})
    parser.add_path("--recipe", "TOML with any of these options.")
    parser.add_path("--data", "Text prepared by `prepare`.", form="DIR")
    add_training_text(parser)
    parser.add_path("--valid", "Validation sets, in the formats of --train.", many=True, parallel=True)
    parser.add_argument("--out", metavar="DIR", help="Folder of this training; must be new or empty, unless --resume.")
    parser.add_argument("--resume", action="store_true", help="Continue from the newest saved step in OUT.")
    parser.add_path("--init-from", "Start from the weights of a checkpoint.", form="DIR", read=find_checkpoint)
    parser.add_machine()
    parser.add_preset("One of the presets above. (default: base)", _DEFAULT_PRESET)


def run(options: Options) -> int:
    """Train."""
    explicit = options.explicit
    if "recipe" in explicit:
        parser = PROGRAM.parser("train")
        explicit = overridden(read_recipe(explicit["recipe"], parser), explicit)
        files = {name: explicit[name] for name in _FILES if name in explicit}  # the command line may have replaced some
        explicit |= parser.options(parser.as_arguments(files)).explicit
    if "out" not in explicit:
        raise UsageError("missing: --out DIR")
    threads = explicit.get("threads", 0)
    device = select_device(explicit.get("device", "auto"), threads)
    _validation(explicit.get("valid", ()))  # fails here rather than after an hour of preparing

    import torch

    from transformer_core.training.distributed import join_process_group, local_device
    from transformer_core.training.journal import require_tensorboard

    if explicit.get("training", {}).get("tensorboard"):
        require_tensorboard()  # before the text is prepared
    with join_process_group(torch.device(local_device(device))) as group:
        out = Path(explicit["out"])
        settings = _settings(out, explicit, group)
        with exclusive(out, waits=False) if group.is_main else nullcontext():
            done = train_run(out, settings, group, threads, resume=bool(explicit.get("resume")))
        if done.step >= settings.training.steps or done.best.is_stale(settings.training.patience):
            which = "--best" if done.best.overfits_since else "--last 5"
            log.info(
                "done: %d steps; next: python -m transformer_core average %s %s --out MODEL", done.step, out, which
            )
    return 0


def _settings(out: Path, explicit: dict[str, Any], group: ProcessGroup) -> RunSettings:
    """Return the settings of a training, equal in every process; the main process prepares the text if necessary."""
    if explicit.get("resume"):
        settings = _resume(out, explicit, group.size)
        group.barrier()  # all have read before the main process writes
        return settings
    if group.is_main:
        _start(out, explicit, group.size).save(out, str(group.device), explicit.get("threads", 0))
    group.barrier()
    return RunSettings.load(out)


def read_recipe(path: str, options: Parser) -> dict[str, Any]:
    """Read the options of a recipe. Raises UsageError that names an unknown key."""
    try:
        values = tomllib.loads(small_text("--recipe", path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"--recipe: {path} is not valid TOML: {error}") from error
    for name in _LISTS:
        files = [values[name]] if isinstance(values.get(name), str) else values.get(name, [])
        if not (isinstance(files, list) and all(isinstance(file, str) for file in files)):
            raise UsageError(f"--recipe: {path}: {name} is {files!r}, but must be a list of file names")
        if name in values:
            values[name] = files
    for name in _GROUPS:
        if not isinstance(values.get(name, {}), dict):
            raise UsageError(f"--recipe: {path}: {name} is {values[name]!r}, but must be a table: [{name}]")
    values = {name.replace("-", "_"): value for name, value in values.items()}
    files = {name: values.pop(name) for name in _FILES if name in values}
    try:
        checked: dict[str, Any] = options.options(options.as_arguments(values)).explicit
    except ConfigError as error:
        raise UsageError(f"--recipe: {path}: {error}") from error
    if "recipe" in checked:
        raise UsageError(f"--recipe: {path}: a recipe cannot include another one")
    return checked | files


def overridden(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Merge two sets of options; the second overrides the first."""
    groups = {name: {**below.get(name, {}), **above.get(name, {})} for name in _GROUPS}
    return {**below, **above, **{name: group for name, group in groups.items() if group}}


# --- a new training ---------------------------------------------------------------------------------------------------


def _start(out: Path, explicit: dict[str, Any], processes: int) -> RunSettings:
    """Return the settings of a new training; prepare its text if necessary."""
    for name in ("data", CONFIG_FILE):
        recover_interrupted_writes(out, name)
    is_run = (out / CONFIG_FILE).is_file()
    check_new_folder(out, "add --resume to continue there, or choose a new folder" if is_run else prepared_text(out))
    if ("data" in explicit) == ("train" in explicit):
        raise UsageError("give either --data DIR (prepared text) or --train FILE ... (text to prepare)")
    name = explicit.get("preset", _DEFAULT_PRESET)
    base, changes = preset(name), explicit.get("model", {})
    if "data" in explicit and (extra := [name for name in ("tokenizer", "typo_rate") if name in explicit]):
        raise UsageError(f"--{extra[0].replace('_', '-')} belongs to --train; the text in --data is already prepared")
    if "tokenizer" in explicit and ("init_from" in explicit or "vocab_size" in changes):
        raise UsageError("--tokenizer sets the vocabulary, and so do --init-from and --model.vocab_size; give only one")
    training = TrainingConfig.from_dict({**base.training.to_dict(), **explicit.get("training", {})})
    model = merged_model(base.model, changes)
    initial = _initial(explicit.get("init_from", ""))
    if initial:
        model = merged_model(initial.model.config, changes)
        _check_initial(initial, model)
    corpus, data = _text(out, explicit, model, training.seed)
    tokenizer = corpus.tokenizer
    sizes = {
        "vocab_size": len(tokenizer),
        "source_vocab_size": len(tokenizer.source) if tokenizer.separate else 0,
    }
    for option, size in sizes.items():
        if changes.get(option, size) != size:
            raise UsageError(f"model.{option} is {changes[option]}, but the vocabulary of {data} has {size}")
    if initial and initial.tokenizer.sha256 != corpus.tokenizer.sha256:
        raise UsageError(
            f"--init-from: {explicit['init_from']} and {data} have different vocabularies; "
            f"prepare the text with --tokenizer {explicit['init_from']}/{TOKENIZER_FILE}"
        )
    model = merged_model(model, sizes)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(out / TOKENIZER_FILE)
    return RunSettings(
        preset=name,
        model=model,
        training=training,
        data=str(data),
        corpus=corpus.meta,
        train=tuple(explicit.get("train", ())),
        valid=tuple(explicit.get("valid", ())),
        init_from=explicit.get("init_from", ""),
        processes=processes,
    )


def _text(out: Path, explicit: dict[str, Any], model: ModelConfig, seed: int) -> tuple[Corpus, Path]:
    """Return the prepared text and its folder."""
    from transformer_core.data import Corpus, is_treebank

    data = Path(explicit["data"]) if "data" in explicit else out / "data"
    if "train" in explicit:
        tokenizer = explicit.get("tokenizer")
        if not tokenizer and explicit.get("init_from"):
            tokenizer = str(Path(explicit["init_from"]) / TOKENIZER_FILE)
        # The vocabulary that is learned from trees is that of the words; the symbols are those that occur.
        of_words = model.source_vocab_size if all(map(is_treebank, explicit["train"])) else 0
        prepare_text(
            explicit["train"],
            data,
            tokenizer=tokenizer,
            vocab_size=of_words or model.vocab_size,
            source_vocab_size=0 if of_words else model.source_vocab_size,
            typo_rate=explicit.get("typo_rate", 0.0),
            seed=seed,
        )

    return Corpus(data), data


def _initial(folder: str) -> Checkpoint | None:
    if not folder:
        return None
    from transformer_core.checkpoint import load_checkpoint

    return load_checkpoint(folder)


def _check_initial(initial: Checkpoint, model: ModelConfig) -> None:
    """Raise UsageError when more than dropout differs from the checkpoint that provides the weights."""
    old, new = initial.model.config.to_dict(), model.to_dict()
    changed = [name for name in new if new[name] != old[name] and not name.endswith("dropout")]
    if changed:
        differences = ", ".join(f"model.{name} is {new[name]!r}, the checkpoint has {old[name]!r}" for name in changed)
        raise UsageError(f"--init-from: the weights in {initial.folder} do not fit this model: {differences}")


# --- resuming ---------------------------------------------------------------------------------------------------------


def _resume(out: Path, explicit: dict[str, Any], processes: int) -> RunSettings:
    """Return the settings of a resumed training."""
    if "init_from" in explicit:
        raise UsageError("--resume continues in OUT, --init-from starts a new training; give only one")
    existing("--out", str(out), folder=True)
    return resumed(RunSettings.load(out), explicit, processes)


# --- training ---------------------------------------------------------------------------------------------------------


def _validation(specs: Sequence[str]) -> list[ValidationSet]:
    from transformer_core.training.validation import ValidationSet

    return [ValidationSet.read(existing_text("--valid", spec)) for spec in specs]


def train_run(out: Path, settings: RunSettings, group: ProcessGroup, threads: int, resume: bool) -> Progress:
    """Train with these settings in their folder, or resume. Returns the progress."""
    import torch

    from transformer_core.data import Corpus
    from transformer_core.model.transformer import count_parameters
    from transformer_core.training.trainer import Trainer

    corpus = Corpus(Path(settings.data))
    if corpus.meta != settings.corpus:
        raise UsageError(f"{settings.data} does not match the data this run was started with (see {out / CONFIG_FILE})")
    if not settings.valid:
        log.warning("no --valid: translation quality will not be measured")
    validation = _validation(settings.valid)
    if group.is_main:
        recover_interrupted_writes(out, CONFIG_FILE)
        settings.save(out, str(group.device), threads)
    torch.manual_seed(settings.training.seed)  # the same weights in every process
    model = _model(settings, group.device)
    parameters, where = count_parameters(model), f"{group.device} x {group.size}" if group.size > 1 else group.device
    log.info("%s, %d parameters, %d pairs, on %s", settings.preset, parameters, len(corpus), where)
    _warn_if_bfloat16_is_slow(settings.training, group.device)
    score = partial(_score_heads, tokenizer=corpus.tokenizer)
    trainer = Trainer(model, corpus, settings.training, out, validation, resume=resume, group=group, score_heads=score)
    return trainer.train()


def _score_heads(model: Transformer, pairs: Sequence[tuple[str, str]], tokenizer: Tokenizer) -> dict[str, Any]:
    """Count the heads that look, over the first pairs of a validation set; log the counts."""
    from transformer_core.analysis.head_scores import HEAD_PAIRS, head_counts, score_heads_of
    from transformer_core.translator import Translator

    counts = head_counts(score_heads_of(Translator(model, tokenizer, DecodingConfig()), pairs[:HEAD_PAIRS]))
    by_kind = (
        f"{kind} {each['looking']} look, {each['resting']} rest of {each['heads']}" for kind, each in counts.items()
    )
    log.info("heads: %s", "; ".join(by_kind))
    return counts


def _warn_if_bfloat16_is_slow(training: TrainingConfig, device: torch.device) -> None:
    """Warn when bfloat16, the default, makes training slower rather than faster, as on many laptops."""
    from transformer_core.training.precision_probe import bfloat16_time_ratio

    if training.precision == "bfloat16" and device.type == "cpu" and (ratio := bfloat16_time_ratio()) > _TOO_SLOW:
        log.warning(
            "matrix products in bfloat16 take %.0f times as long as in float32 on this processor; "
            "--training.precision float32 is faster",
            ratio,
        )


def _model(settings: RunSettings, device: str | torch.device) -> Transformer:
    """Return a model with new weights, or with a checkpoint's; a resumed training overwrites them."""
    from transformer_core.model.transformer import Transformer, load_weights

    model = Transformer(settings.model)
    if settings.init_from and (initial := _initial(settings.init_from)):
        load_weights(model, dict(initial.model.named_parameters()))
    return model.to(device)
