"""A folder in, a checkpoint out, and what was recognised."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from transformer_core.config import ConfigError, ModelConfig
from transformer_core.conversion.foreign_folder import ConversionError, ForeignFolder
from transformer_core.conversion.plan import Plan
from transformer_core.conversion.recognise import recognise
from transformer_core.conversion.writing import write
from transformer_core.flops import parameters
from transformer_core.listed_tokenizer import ListedTokenizer
from transformer_core.tokenizer import TokenizerError

_CARD_FILE = "README.md"
_MOST_CARD_BYTES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Converted:
    """What a conversion did.

    Args:
        family: What the folder was taken for.
        model: Options of the model.
        parameters: How many it has.
        licence: As its model card states it; empty where that says nothing.
        languages: That it can be asked for, sorted.
        notes: What was not carried over, in words.
    """

    family: str
    model: ModelConfig
    parameters: int
    licence: str
    languages: tuple[str, ...]
    notes: tuple[str, ...]


def convert(
    source: Path,
    out: Path,
    *,
    source_language: str | None = None,
    target_language: str | None = None,
    on_progress: Callable[[int], object] = lambda weights: None,
) -> Converted:
    """Turn a model of another program into a checkpoint folder; it replaces an existing one only when all is done.

    Args:
        source: The foreign folder.
        out: The checkpoint.
        source_language: Of sources, as a default of models that have a choice.
        target_language: Of translations, as a default of models that have a choice.
        on_progress: Called with the number of weights just read.

    Raises:
        ConversionError: It is of no supported family, damaged or unsafe; the message says what it was taken for.
    """
    folder = ForeignFolder(source)
    try:
        plan = recognise(folder)
    except ConfigError as error:
        raise ConversionError(f"{source}: {error}") from error
    plan = _in_languages(plan, source_language, target_language)
    licence = _licence(folder)
    result = Converted(
        family=plan.family,
        model=plan.model,
        parameters=parameters(plan.model),
        licence=licence,
        languages=tuple(sorted(plan.tokenizer.vocabulary.languages)),
        notes=plan.notes,
    )
    write(folder, plan, out, metrics=_metrics(result, plan), card=_card(source.name, result), on_progress=on_progress)
    return result


def _in_languages(plan: Plan, source: str | None, target: str | None) -> Plan:
    try:
        tokenizer = plan.tokenizer.with_languages(source, target)
    except TokenizerError as error:
        raise ConversionError(f"taken for {plan.family}: {error}") from error
    assert isinstance(tokenizer, ListedTokenizer)
    return replace(plan, tokenizer=tokenizer)


def _licence(folder: ForeignFolder) -> str:
    """What the model card of the folder states in its head."""
    if not folder.has(_CARD_FILE):
        return ""
    text = folder.contents(_CARD_FILE, _MOST_CARD_BYTES).decode("utf-8", "replace")
    head = re.match(r"---\s*\n(.*?)\n---\s*\n", text, re.DOTALL)
    stated = re.search(r"^license:[ \t]*([\w.+-]{1,80})[ \t]*$", head[1], re.MULTILINE) if head else None
    return stated[1] if stated else ""


def _metrics(result: Converted, plan: Plan) -> dict[str, Any]:
    vocabulary = plan.tokenizer.vocabulary
    chosen = {"source": vocabulary.source_language, "target": vocabulary.target_language}
    languages = {side: language for side, language in chosen.items() if language}
    return {
        **({"languages": languages} if languages else {}),
        "converted": {"family": result.family, "licence": result.licence, "notes": list(result.notes)},
    }


def _card(name: str, result: Converted) -> str:
    model = result.model
    title = re.sub(r"[^\w.-]", " ", name)[:100]
    lines = [
        f"# {title}",
        "",
        f"Converted from {result.family}. Not measured yet; `python -m transformer_core derived` does that.",
        "",
        f"* {model.num_layers} + {model.num_layers} layers, {model.num_heads} heads, width {model.d_model}, "
        f"inner width {model.d_ff}, {result.parameters:,} parameters",
        f"* Licence: {f'`{result.licence}`, as its files state it' if result.licence else 'its files state none'}",
        *([f"* Languages: {', '.join(f'`{each}`' for each in result.languages[:300])}"] if result.languages else []),
        *(f"* {note}" for note in result.notes),
    ]
    return "\n".join(lines) + "\n"
