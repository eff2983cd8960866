"""Write the explorer of some sentences as one HTML file that needs neither Python nor network.

It shows every head of each sentence, with its search, the cards of the heads and comparisons. With --heads-off
each head can also be switched off, which takes some minutes for each sentence. The file works from a disk, in a
learning platform or beside a paper. It holds its command, the hash of the model and all licences.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.arguments import Options, Parser, UsageError, counted
from transformer_core.storage.files import atomic_write_bytes
from viz_app.export.figure_arguments import validate_text
from viz_app.text import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viz_app.serving.input_validation import Sentence
    from viz_app.serving.models.translation_service import TranslationService

log = logging.getLogger(__name__)


def parser() -> Parser:
    """Return the options of this command."""
    result = Parser(
        "page",
        package="viz_app",
        description=__doc__,
        example=(
            '  python -m viz_app page --checkpoint checkpoints/en-de --text "A man rides a bicycle." \\\n'
            "      --out page.html"
        ),
    )
    result.add_checkpoint()
    result.add_argument("--text", action="append", metavar="TEXT", help="A sentence; may be given again.")
    result.add_path("--texts", "More sentences, one per line.")
    result.add_number("--branches", 4, "Branches of each search, the best first.", most=1000)
    off = "Translate each sentence without each head."
    result.add_argument("--heads-off", type=bool, nargs="?", const=True, default=False, metavar="true|false", help=off)
    result.add_choice("--language", LANGUAGES, "Language of the page.", default="en", form="CODE")
    result.add_output("The page to write, ending with .html.", ".html")
    return result


def run(options: Options) -> int:
    """Write the page."""
    import torch

    from transformer_core.progress import progress_bar
    from transformer_core.translator import Translator
    from viz_app.serving.models.translation_service import TranslationService
    from viz_app.serving.scheduling.request_queue import RequestQueue
    from viz_app.standalone.sentences import PageTooLarge, all_heads, map_bytes, render_sentences

    logging.getLogger("viz_app.serving").setLevel(logging.WARNING)  # it logs every request to the model
    torch.set_num_threads(1)  # the same command gives the same bytes
    translator = Translator.load(options.checkpoint, device="cpu")
    service = TranslationService(translator, RequestQueue(1), name=Path(options.checkpoint).resolve().name)
    sentences = list(_sentences(options, service))
    size = 0.4 + 0.7e-6 * map_bytes(service, sentences, options.branches)
    log.info("%s, about %.1f MB", counted(len(sentences), "sentence"), size)
    heads = len(list(all_heads(service))) * len(sentences) if options.heads_off else 0
    with progress_bar(unit="head", total=heads, shown=bool(heads)) as bar:
        try:
            page = render_sentences(
                service,
                sentences,
                options.language,
                branches=options.branches,
                heads_off=options.heads_off,
                each_head=bar.update,
            )
        except PageTooLarge as error:
            raise UsageError(f"{error}; write fewer sentences or --branches") from error
    atomic_write_bytes(options.out, page)
    log.info("%s: %.2f MB", options.out, len(page) / 1e6)
    return 0


def _given(options: Options) -> Iterator[tuple[str, str]]:
    """Yield the given texts, each with its origin for an error. Raises UsageError for a line that is no text."""
    from viz_app.cli.batch import EMPTY, read_lines

    yield from (("--text", validate_text("--text", text)) for text in options.text or ())
    for line in read_lines(Path(options.texts)) if options.texts else ():
        if line.problem not in ("", EMPTY):
            raise UsageError(f"--texts: line {line.number} {line.problem}")
        if not line.problem:
            yield f"--texts, line {line.number}", line.text


def _sentences(options: Options, service: TranslationService) -> Iterator[Sentence]:
    """Yield the sentences, each once. Raises UsageError for one that the model cannot translate, and for too many."""
    from viz_app.standalone.sentences import MAX_SENTENCES

    found: dict[str, Sentence] = {}
    for option, text in _given(options):
        try:
            sentence = service.validate(text)
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from error
        if sentence.status == "long":
            raise UsageError(f"{option}: {sentence.tokens} tokens, but the limit is {sentence.limit}")
        if sentence.status != "good":
            raise UsageError(f"{option}: no sentence that this model reads")
        found[sentence.text] = sentence
        if len(found) > MAX_SENTENCES:
            raise UsageError(f"a page holds at most {MAX_SENTENCES} sentences")
    if not found:
        raise UsageError("missing: --text (a sentence), or --texts (a file with one sentence per line)")
    yield from found.values()
