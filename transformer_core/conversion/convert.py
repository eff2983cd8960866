"""Conversion of a foreign folder to a checkpoint."""

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
    """Result of a conversion.

    Args:
        family: Recognised family of the folder.
        model: Options of the model.
        parameters: Number of parameters.
        licence: Licence in the model card; empty if it states none.
        languages: Selectable languages, sorted.
        source_language: BCP 47 code of the source language; empty if unknown.
        target_language: BCP 47 code of the target language; empty if unknown.
        notes: Differences from the original, in words.
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
    """Convert a model of another program to a checkpoint folder; an existing one is replaced only on success.

    Args:
        source: The foreign folder.
        out: The checkpoint.
        source_language: Default source language of a multilingual model; for others, their source language if known.
        target_language: Target language, likewise.
        on_progress: Called with the number of weights just read.

    Raises:
        ConversionError: The folder is unsupported, damaged or unsafe; the message names the recognised family.
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
    """Set the default languages of a multilingual model."""
    has_source, has_target = _choices(plan)
    try:
        tokenizer = plan.tokenizer.with_languages(source if has_source else None, target if has_target else None)
    except TokenizerError as error:
        raise ConversionError(f"taken for {plan.family}: {error}") from error
    assert isinstance(tokenizer, ListedTokenizer)
    return replace(plan, tokenizer=tokenizer)


def _choices(plan: Plan) -> tuple[bool, bool]:
    """Return whether the source language and the target language can be chosen."""
    vocabulary = plan.tokenizer.vocabulary
    prefixes = (vocabulary.source_prefix, vocabulary.target_prefix)
    return SOURCE_LANGUAGE in prefixes, TARGET_LANGUAGE in prefixes


def _spoken(folder: ForeignFolder, plan: Plan, *requested: str | None) -> tuple[str, str]:
    """Return the BCP 47 codes of source and target language: chosen, given by the caller, or stated in the files."""
    vocabulary = plan.tokenizer.vocabulary
    codes = (vocabulary.source_language, vocabulary.target_language)
    languages: list[str] = []
    for side, choice, name, fact in zip(("source", "target"), _choices(plan), requested, stated(folder), strict=True):
        if choice:
            languages.append(bcp47(codes[len(languages)]))
        elif name is None:
            languages.append(fact)
        elif code := bcp47(name):
            languages.append(code)
        else:
            raise ConversionError(f"the {side} language is {name[:40]!r}, but must be a code such as ko or kor_Hang")
    return languages[0], languages[1]


def _licence(card: str) -> str:
    """Return the licence in the head of a model card."""
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
