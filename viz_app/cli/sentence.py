"""sentence: everything of one sentence as one zip."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.attention_maps import KINDS
from transformer_core.cli.arguments import Parser, UsageError
from transformer_core.storage.files import atomic_write_bytes
from viz_app.export.figure_arguments import add_sentence, sentence_from_options, validate_choice, validate_text
from viz_app.figures.options import UNITS
from viz_app.text import LANGUAGES

if TYPE_CHECKING:
    from transformer_core.attention_maps import AttentionMaps
    from transformer_core.translator import Translator
    from viz_app.components.explorer import Selection
    from viz_app.figures.options import Unit

log = logging.getLogger(__name__)

_HEAD = re.compile(r"(\w+)\.([1-9]\d{0,3})\.([1-9]\d{0,3})")


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "sentence",
        package="viz_app",
        usage="--checkpoint DIR --text TEXT [--head KIND.LAYER.HEAD] --out FILE.zip",
        description=(
            "Write everything of a sentence as one .zip: one head, all heads of the three kinds, the beam search,\n"
            "each as .pdf, .svg and .png with its numbers, caption and command; index.html shows them. The page\n"
            "Translate offers the same file. Numbers of all heads are left out of a very long sentence."
        ),
        example=(
            '  python -m viz_app sentence --checkpoint checkpoints/en-de --text "A man rides a bicycle." \\\n'
            "      --head cross.4.6 --out bicycle.zip"
        ),
    )
    add_sentence(result)
    add = result.add_argument
    add("--head", type=str, metavar="HEAD", help="Such as cross.4.6, from 1; one that looks unless given.")
    add("--unit", type=str, default="tokens", metavar="UNIT", help=f"{', '.join(UNITS)}.")
    add("--language", type=str, default="en", metavar="CODE", help=f"{', '.join(LANGUAGES)}.")
    add("--out", type=str, required=True, metavar="FILE", help="The file to write, ending with .zip.")
    add("--force", action="store_true", help="Replace the file if it exists.")
    return result


def run(arguments: Sequence[str]) -> int:
    """Write the file."""
    options = parser().options(arguments)
    validate_choice("--language", options.language, LANGUAGES)
    validate_choice("--unit", options.unit, UNITS)
    out = Path(options.out)
    if out.suffix != ".zip":
        raise UsageError(f"--out is {options.out!r}, but must end with .zip")
    if out.exists() and (out.is_dir() or not options.force):
        raise UsageError(f"--out: {out} already exists; add --force to replace it, or name another file")
    if not out.parent.is_dir():
        raise UsageError(f"--out: there is no folder {out.parent}")
    if options.text is None:
        raise UsageError("--text is missing")
    sentence = sentence_from_options(options, validate_text("--text", options.text))

    from transformer_core.translator import SourceTooLong
    from viz_app.explorer_view.sentence_bundle import sentence_bundle
    from viz_app.export.figure_request import ModelRunner

    runner = ModelRunner()
    try:
        seen = runner.run(sentence)
    except SourceTooLong as error:
        raise UsageError(f"--text: {error}") from error
    selection = _selection(options.head, options.unit, runner.translator(sentence.checkpoint), seen.maps)
    atomic_write_bytes(out, sentence_bundle(seen, selection, options.language))
    log.info("%s", out)
    return 0


def _selection(name: str | None, unit: Unit, translator: Translator, maps: AttentionMaps) -> Selection:
    """The head of --head. Raises UsageError for one that the model does not have."""
    from dataclasses import replace

    from viz_app.components.explorer import Selection
    from viz_app.explorer_view.snapshot import best_head
    from viz_app.serving.models.translation_service import TranslationService
    from viz_app.serving.scheduling.request_queue import RequestQueue

    if name is None:
        return replace(best_head(TranslationService(translator, RequestQueue(1)).card, maps), unit=unit)
    parts = _HEAD.fullmatch(name)
    if parts and parts[1] in KINDS:
        wanted = Selection(kind=parts[1], layer=int(parts[2]) - 1, head=int(parts[3]) - 1, unit=unit)
        fitted = wanted.fitted(maps)
        if (fitted.layer, fitted.head) == (wanted.layer, wanted.head):
            return wanted
    layers, heads = maps.cross.shape[:2]
    raise UsageError(
        f"--head is {name!r}, but must be encoder, decoder or cross with a layer from 1 to {layers} and a head "
        f"from 1 to {heads}, such as cross.1.{heads}"
    )
