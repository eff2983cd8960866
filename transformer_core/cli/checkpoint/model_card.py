"""Model card in Markdown: shape, scores, training."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

from transformer_core.cli.arguments import counted
from transformer_core.cli.training.run_settings import RunSettings

_HEADING, _UNSCORED = "## Scores", "This model has not been evaluated."
_HEADS = "## Do the heads look?"
_PENALISED = " The model was trained with a penalty on resting heads and fixed offsets (`head_penalty`)."
_COLUMNS = "| set | part | sentences | BLEU | chrF | nll |"
_BRACKETING_COLUMNS = (
    "| set | part | sentences | search | F1 | 95 % | precision | recall | exact match | well formed | "
    "right-branching F1 |"
)
_HEAD_COLUMNS = (
    "| attention | heads | look | rest | fixed offset | survive the control | look, by layer | rest, by layer |"
)
_KINDS = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "encoder-decoder"}
# By what a row of attention stands for: what stands between the name of the head that aligns best and its error.
_ALIGNS_BEST = {"output": r" \(layer\.head, from 1\)\s+aligns\s+words\s+best,", "input": r"\s+is\s+best,"}
_ITEMS = r"(\bOf )[0-9,]+( items, )[0-9.]+( %\s+are\s+correct)"
_PARSING = "--task parsing "
_MARKUP = str.maketrans({"|": r"\|", "\n": " "})


def model_card(
    title: str, about: str, settings: RunSettings, metrics: dict[str, Any], changed: dict[str, dict[str, Any]]
) -> str:
    """Return the card.

    Args:
        title: Its title.
        about: Markdown that follows the title; may be empty.
        settings: Settings of the training.
        metrics: Contents of `metrics.json`, with `training` and `scores`.
        changed: Options in which the training differs from its preset, by group.
    """
    model, facts = settings.model, metrics["training"]
    task = _task(metrics["scores"])
    start = Path(settings.init_from).name  # the folder's name, no place on somebody's machine
    steps = "--best" if _is_best(facts) else f"--last {len(facts['averaged_steps'])}"
    options = ", ".join(
        f"`{group}.{name} = {json.dumps(value)}`" for group, given in changed.items() for name, value in given.items()
    )
    parts = [
        f"# {title}",
        about,
        f"* {model.num_layers} + {model.num_layers} layers, {counted(model.num_heads, 'head')}, "
        f"d_model {model.d_model}, d_ff {model.d_ff}, vocabulary of {model.vocab_size:,} tokens, "
        f"{facts['parameters']:,} parameters.\n"
        f"* Preset `{settings.preset}`{f' with {options}' if options else ''}.\n"
        "* Float16 on disk, float32 in use; all scores are measured on the rounded weights.",
        *_scores(metrics["scores"]),
        *_heads(metrics.get("heads", {}), task, settings.training.head_penalty > 0),
        "## Training",
        f"    python -m transformer_core prepare {task}"
        "--train TEXT --tokenizer CHECKPOINT/tokenizer.model --out data\n"
        "    python -m transformer_core train --recipe CHECKPOINT/recipe.toml "
        f"{f'--init-from {start} ' if start else ''}--data data --valid VALID --out run\n"
        f"    python -m transformer_core ship run {steps} --valid VALID --out my-model",
        _training(facts, start),
        "`journal.json` has loss, learning rate and gradient norm of every recorded step.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def with_scores(card: str, scores: dict[str, Any]) -> str:
    """Replace the scores of a card. Raises ValueError when its table has not the form of `ship`."""
    section = "\n\n".join(_scores(scores))
    if card.count(_UNSCORED) == 1:
        return card.replace(_UNSCORED, section)
    before, heading, rest = card.partition(f"{_HEADING}\n\n")
    summary, training, after = rest.partition("\n\n## ")
    tables = (_COLUMNS, _BRACKETING_COLUMNS)
    if not heading or not any(table in summary for table in tables) or _HEADING in rest:
        raise ValueError(f"has no section {_HEADING!r} with the table that `ship` writes")
    return f"{before}{section}{training}{after}"


def with_heads(card: str, heads: dict[str, Any], *, penalised: bool) -> str:
    """Replace the counts of heads of a card; `penalised`: whether the model was trained with a head penalty.

    Raises:
        ValueError: It has neither that section nor `## Training`, which it stands before.
    """
    section = "\n\n".join(_heads(heads, _PARSING if _PARSING in card else "", penalised))
    before, heading, rest = card.partition(f"{_HEADS}\n\n")
    if heading:
        _, following, after = rest.partition("\n\n## ")
        return f"{before}{section}{following}{after}"
    before, heading, after = card.partition("## Training\n")
    if not heading:
        raise ValueError("has no section '## Training' that the heads could stand before")
    return f"{before}{section}\n\n{heading}{after}"


def with_prose_numbers(card: str, metrics: dict[str, Any]) -> str:
    """Replace the numbers in the prose of a card; all words stay.

    These are the heads that align best, and the answers to contrastive questions. A row may cover several groups, as
    `event` covers `event/chaos` and `event/order`.
    """
    for convention, words in _ALIGNS_BEST.items():
        if table := metrics.get("alignment", {}).get("aer", {}).get(convention):
            error, layer, head = min((e, layer, head) for layer, row in enumerate(table) for head, e in enumerate(row))
            named = rf"\g<1>{layer + 1}.{head + 1}\g<2>{error:.2f}"
            card = re.sub(rf"(\bhead )\d+\.\d+({words}\s+with\s+)\d\.\d\d", named, card)
    probes = metrics.get("probes", {})
    if whole := probes.get("contracat"):
        card = re.sub(_ITEMS, rf"\g<1>{whole['asked']:,}\g<2>{100 * whole['right']:.1f}\g<3>", card)
    groups = {name: each for one in probes.values() for name, each in one["groups"].items()}

    def row(match: re.Match[str]) -> str:
        name = match[1]
        mine = [each for group, each in groups.items() if f"{group}/".startswith(f"{name}/")]
        asked = sum(each["asked"] for each in mine)
        if not asked:
            return match[0]
        right = sum(each["right"] * each["asked"] for each in mine) / asked
        return f"| `{name}` | {asked:,} | {100 * right:.1f} |"

    return re.sub(r"^\| `([^`]+)` \| [0-9,]+ \| [0-9.]+ \|$", row, card, flags=re.MULTILINE)


def _heads(heads: dict[str, Any], task: str, penalised: bool) -> list[str]:
    if not heads:
        return []
    rows = [
        f"| {name} | {one['heads']} | {one['looking']} | {one['resting']} | {one['fixed_offset']} | "
        f"{one.get('surviving', '')} | {_by_layer(one['looking_by_layer'])} | {_by_layer(one['resting_by_layer'])} |"
        for kind, name in _KINDS.items()
        if (one := heads[kind])
    ]
    each = heads["sentences"] // len(heads["sets"])
    about = (
        f"On {counted(heads['sentences'], 'sentence pair')} of {', '.join(heads['sets'])}. A head looks when its keys "
        "depend on the query (information above 0.15), and rests when more than half of its weight is on `<s>`, "
        "`</s>` and punctuation. At a fixed offset, 80 % of its queries look most at a token equally far away. "
        "A head survives the control when its mean output in its place costs more log-probability than a random vector "
        "as long as this change (paired t-test over sentences, corrected over all heads)."
        f"{_PENALISED if penalised else ''}"
    )
    return [
        _HEADS,
        textwrap.fill(about, 120, break_on_hyphens=False),
        "\n".join([_HEAD_COLUMNS, "|---|---:|---:|---:|---:|---:|---|---|", *rows]),
        f"    python -m transformer_core evaluate {task}--checkpoint CHECKPOINT --test FILE "
        f"--heads {each} --head-effects {each}",
    ]


def _by_layer(counts: list[int]) -> str:
    return " ".join(map(str, counts))


def _scores(scores: dict[str, Any]) -> list[str]:
    if not scores:
        return [_UNSCORED]
    command = f"    python -m transformer_core evaluate {_task(scores)}--checkpoint CHECKPOINT --test FILE"
    if all("bracketing" in one for one in scores.values()):
        return [_HEADING, *_bracketing(scores), command]
    rows = [
        f"| {name.translate(_MARKUP)} | {one['part']} | {one['sentences']:,} | {one['bleu']:.1f} | {one['chrf']:.1f} | "
        f"{'' if one['nll'] is None else format(one['nll'], '.3f')} |"
        for name, one in scores.items()
    ]
    any_one = next(iter(scores.values()))
    return [
        _HEADING,
        f"sacreBLEU, beam {any_one['beam']}, alpha {any_one['alpha']}; nll is the mean negative log-likelihood of a "
        "reference translation, in nats per token.",
        "\n".join([_COLUMNS, "|---|---|---:|---:|---:|---:|", *rows]),
        f"    BLEU {any_one['signature']}\n    chrF {any_one['chrf_signature']}",
        command,
    ]


def _task(scores: dict[str, Any]) -> str:
    """Return the option that commands need for a parser."""
    return _PARSING if any("bracketing" in one for one in scores.values()) else ""


def _bracketing(scores: dict[str, Any]) -> list[str]:
    """Return the table of a parser's sets; BLEU of brackets would mean nothing."""
    any_one = next(iter(scores.values()))
    about = (
        f"Beam {any_one['beam']}, alpha {any_one['alpha']}. Labelled bracketing in percent, as evalb counts it with "
        "COLLINS.prm, with a 95 % bootstrap interval over sentences. Search: whether it could generate only trees over "
        "the words, or any sequence, as the paper's search can. Well formed: the share of sequences that were trees "
        "without repair. Right-branching trees need no model."
    )
    rows = [
        _bracketing_row(name, one, one[key], constrained=key == "bracketing" and one.get("constrained", False))
        for name, one in scores.items()
        for key in ("bracketing", "free")
        if key in one
    ]
    return [
        textwrap.fill(about, 120, break_on_hyphens=False),
        "\n".join([_BRACKETING_COLUMNS, "|---|---|---:|---|---:|---|---:|---:|---:|---:|---:|", *rows]),
    ]


def _bracketing_row(name: str, one: dict[str, Any], scores: dict[str, Any], *, constrained: bool) -> str:
    low, high = scores["f1_95"]
    names = ("precision", "recall", "exact_match", "well_formed", "right_branching_f1")
    others = " | ".join(f"{scores[each]:.1f}" if each in scores else "" for each in names)
    return (
        f"| {name.translate(_MARKUP)} | {one['part']} | {one['sentences']:,} | "
        f"{'only trees' if constrained else 'any sequence'} | {scores['f1']:.1f} | {low:.1f} to {high:.1f} | {others} |"
    )


def _is_best(facts: dict[str, Any]) -> bool:
    return bool(facts["averaged_steps"] == [facts.get("best_step")])


def _training(facts: dict[str, Any], start: str) -> str:
    files = ", ".join(f"`{name}`" for name in facts["files"])
    steps = [f"{step:,}" for step in facts["averaged_steps"]]
    weights = f"the mean of steps {', '.join(steps)}" if len(steps) > 1 else f"those of step {steps[0]}"
    weights += f", the best by {facts['best_metric']}" if _is_best(facts) else ""
    where = f" on {facts['hardware']}" if "hardware" in facts else ""
    optimizer = "Adam"
    if facts["optimizer"] == "muon":
        optimizer = (
            f"Muon for the matrices of the layers (learning rate times {facts['muon_factor']:g}), Adam for the rest"
        )
    cooldown = facts["cooldown_steps"]
    ending = f", then a linear cooldown to 0 over the last {cooldown:,}" if cooldown else ""
    points = (
        *([f"Start: the weights of `{start}`."] if start else []),
        f"Text: {facts['pairs']:,} pairs of {files}; "
        f"pairs of more than {facts['max_tokens']} tokens a side were skipped.",
        f"Steps: {facts['steps']:,} of at most {facts['batch_tokens']:,} tokens a side, {facts['target_tokens']:,} "
        f"target tokens, {60 * facts['hours']:.0f} minutes{where}.",
        f"Optimizer: {optimizer}; matrix products in {facts['precision']}.",
        f"Learning rate: the paper's schedule with factor {facts['learning_rate_factor']} and "
        f"{counted(facts['warmup_steps'], 'warm-up step')}{ending}.",
        f"Label smoothing {facts['label_smoothing']}, dropout {facts['dropout']}, seed {facts['seed']}.",
        f"Weights: {weights}.",
    )
    return "\n".join(
        textwrap.fill(point, 120, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
        for point in points
    )
