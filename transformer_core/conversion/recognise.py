"""Recognition of the family of a foreign folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from transformer_core.conversion import bart, many_languages, marian
from transformer_core.conversion.foreign_folder import ConversionError, ForeignFolder
from transformer_core.conversion.plan import Plan

SUPPORTED = "Marian / OPUS-MT, M2M-100, NLLB-200 (dense), mBART-50 and BART"
_FAMILIES: dict[str, Callable[[ForeignFolder, Mapping[str, Any]], Plan]] = {
    "marian": marian.plan,
    "m2m_100": many_languages.plan_m2m_100,
    "mbart": many_languages.plan_mbart,
    "bart": bart.plan,
}


def recognise(folder: ForeignFolder) -> Plan:
    """Recognise the family of a folder and plan its conversion.

    Raises:
        ConversionError: The family is not supported; the message names it.
    """
    if not folder.has("config.json"):
        raise ConversionError(f"{folder.path}: has no config.json; supported are {SUPPORTED}")
    config = folder.json("config.json")
    if "format_version" in config and "model" in config:
        raise ConversionError(f"{folder.path}: is a checkpoint of this program already")
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in _FAMILIES:
        taken = f"a transformers model of type {str(kind)[:40]!r}" if kind else "no model that transformers wrote"
        raise ConversionError(f"{folder.path}: taken for {taken}, which is not supported; supported are {SUPPORTED}")
    return _FAMILIES[kind](folder, config)
