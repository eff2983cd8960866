r"""Write everything of one sentence as a .zip.

It holds one head, all heads of the three kinds and the beam search, each as .pdf, .svg and .png with its numbers,
caption and command; index.html shows them. The page Translate offers the same file. Numbers of all heads are left
out of a very long sentence.

Example:
  python -m viz_app sentence --checkpoint checkpoints/en-de --text "A man rides a bicycle." \
      --head cross.4.6 --out bicycle.zip
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from transformer_core.attention_maps import AttentionMaps
from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.files import atomic_write_bytes
from viz_app.cli.batch import parse_head
from viz_app.export.figure_arguments import add_language, add_sentence, sentence_from_options
from viz_app.export.figure_request import ModelRunner
from viz_app.figures.options import UNITS, Unit

if TYPE_CHECKING:
    from transformer_core.translator import Translator
    from viz_app.components.explorer.selection import Selection

log = logging.getLogger(__name__)


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    add_sentence(parser)
    about = "Such as cross.4.6, from 1; one that looks unless given."
    parser.add_argument("--head", metavar="HEAD", help=about)
    parser.add_choice("--unit", UNITS, "Labels of the axes.", default="tokens")
    add_language(parser)
    parser.add_output("The file to write, ending with .zip.", ".zip")


def run(options: Options) -> int:
    """Write the file."""
    if options.text is None:
        raise UsageError("--text is missing")
    sentence = sentence_from_options(options, options.text)

    from transformer_core.translator import SourceTooLong
    from viz_app.explorer_view.sentence_bundle import sentence_bundle

    runner = ModelRunner()
    try:
        seen = runner.run(sentence)
    except SourceTooLong as error:
        raise UsageError(f"--text: {error}") from error
    selection = _selection(options.head, options.unit, runner.translator(sentence.checkpoint), seen.maps)
    atomic_write_bytes(options.out, sentence_bundle(seen, selection, options.language))
    log.info("%s", options.out)
    return 0


def _selection(name: str | None, unit: Unit, translator: Translator, maps: AttentionMaps) -> Selection:
    """Return the head of --head. Raises UsageError for a head that the model lacks."""
    from viz_app.components.explorer.selection import Selection
    from viz_app.explorer_view.snapshot import best_head
    from viz_app.serving.models.translation_service import TranslationService
    from viz_app.serving.scheduling.request_queue import RequestQueue

    if name is None:
        return replace(best_head(TranslationService(translator, RequestQueue(1)).card, maps), unit=unit)
    kind, layer, head = parse_head(name, *maps.cross.shape[:2])
    return Selection(kind=kind, layer=layer, head=head, unit=unit)
