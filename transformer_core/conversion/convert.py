"""A folder in, a checkpoint out, and what was recognised."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from transformer_core.config import ConfigError, ModelConfig
from transformer_core.conversion.foreign_folder import ConversionError, ForeignFolder
from transformer_core.conversion.language_codes import bcp47, card_of, stated
from transformer_core.conversion.plan import Plan
from transformer_core.conversion.recognise import recognise
from transformer_core.conversion.writing import write
from transformer_core.paper.flops import parameters
from transformer_core.text.tokenizer import TokenizerError
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer
from transformer_core.text.vocabulary import SOURCE_LANGUAGE, TARGET_LANGUAGE


@dataclass(frozen=True, kw_only=True)
class Converted:
    """What a conversion did.

    Args:
        family: What the folder was taken for.
        model: Options of the model.
        parameters: How many it has.
        licence: As its model card states it; empty where that says nothing.
        languages: That it can be asked for, sorted.
        source_language: BCP 47 code of what it reads; empty where that is unknown.
        target_language: The same of what it generates.
        notes: What was not carried over, in words.
    """

    family: str
    model: ModelConfig
    parameters: int
    licence: str
    languages: tuple[str, ...]
    source_language: str
    target_language: str
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
        source_language: Of sources: a default of models that have a choice; of others what is known about them.
        target_language: Of translations, likewise.
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
    spoken = _spoken(folder, plan, source_language, target_language)
    result = Converted(
        family=plan.family,
        model=plan.model,
        parameters=parameters(plan.model),
        licence=_licence(card_of(folder)),
        languages=tuple(sorted(plan.tokenizer.vocabulary.languages)),
        source_language=spoken[0],
        target_language=spoken[1],
        notes=plan.notes,
    )
    write(folder, plan, out, metrics=_metrics(result), card=_card(source.name, result), on_progress=on_progress)
    return result


def _in_languages(plan: Plan, source: str | None, target: str | None) -> Plan:
    """The plan with these defaults, where its model has a choice of them."""
    has_source, has_target = _choices(plan)
    try:
        tokenizer = plan.tokenizer.with_languages(source if has_source else None, target if has_target else None)
    except TokenizerError as error:
        raise ConversionError(f"taken for {plan.family}: {error}") from error
    assert isinstance(tokenizer, ListedTokenizer)
    return replace(plan, tokenizer=tokenizer)


def _choices(plan: Plan) -> tuple[bool, bool]:
    """Whether a source or a translation can be of several languages."""
    vocabulary = plan.tokenizer.vocabulary
    prefixes = (vocabulary.source_prefix, vocabulary.target_prefix)
    return SOURCE_LANGUAGE in prefixes, TARGET_LANGUAGE in prefixes


def _spoken(folder: ForeignFolder, plan: Plan, *given: str | None) -> tuple[str, str]:
    """BCP 47 codes of what the model reads and generates, from its choice, from the caller, or from its files."""
    vocabulary = plan.tokenizer.vocabulary
    chosen = (vocabulary.source_language, vocabulary.target_language)
    found: list[str] = []
    for side, choice, name, fact in zip(("source", "target"), _choices(plan), given, stated(folder), strict=True):
        if choice:
            found.append(bcp47(chosen[len(found)]))
        elif name is None:
            found.append(fact)
        elif code := bcp47(name):
            found.append(code)
        else:
            raise ConversionError(f"the {side} language is {name[:40]!r}, but must be a code such as ko or kor_Hang")
    return found[0], found[1]


def _licence(card: str) -> str:
    """What the model card of the folder states in its head."""
    head = re.match(r"---\s*\n(.*?)\n---\s*\n", card, re.DOTALL)
    named = re.search(r"^license:[ \t]*([\w.+-]{1,80})[ \t]*$", head[1], re.MULTILINE) if head else None
    return named[1] if named else ""


def _metrics(result: Converted) -> dict[str, Any]:
    spoken = {"source": result.source_language, "target": result.target_language}
    languages = {side: code for side, code in spoken.items() if code}
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
