"""Description of a model for the browser that runs it; models that it does not run are refused here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformer_core.model.transformer import count_parameters
from transformer_core.model_export.refusals import ExportError, check_options
from transformer_core.parsing.vocabulary import generates_trees
from transformer_core.storage.files import TOKENIZER_FILE
from transformer_core.storage.tensor_files import weight_map
from transformer_core.text.bpe_model import check_bpe
from transformer_core.text.tokenizer import Tokenizer, TokenizerError
from transformer_core.translator import Translator
from viz_app.components.buffer import split_buffer
from viz_app.explorer_view.snapshot import branch_payload
from viz_app.export.provenance import checkpoint_record
from viz_app.serving.input_validation import MAX_CHARACTERS, MAX_TOKENS
from viz_app.serving.models.translation_service import BEAM, TranslationService
from viz_app.text import Texts

MAX_PARAMETERS = 100_000_000  # of a model in a browser: 400 MB of float32
BROWSER = "the browser"

ANSWERS = {"force": True, "flow": True, "needed": True}  # of a page that runs the model

# Parts of a payload that do not depend on the sentence, or only say where the explorer starts.
_FIXED = ("version", "languages", "colours", "texts", "alignment", "follow", "defaults", "opens", "selection", "gloss")


def check_live(translator: Translator) -> None:
    """Raise ExportError for a model that the browser does not run; the message says why."""
    config, tokenizer = translator.config, translator.tokenizer
    if generates_trees(tokenizer):
        raise ExportError(f"{BROWSER} runs translators only, but this model generates trees")
    check_options(
        BROWSER,
        config,
        norm="post",
        activation="relu",
        positions="sinusoidal",
        embedding_norm=False,
        attention="dot-product",
        causal=True,
        residual=True,
        window=0,
        source_vocab_size=0,
    )
    if type(tokenizer) is not Tokenizer or tokenizer.separate:
        raise ExportError(f"{BROWSER} reads only one SentencePiece vocabulary for both languages")
    try:
        check_bpe(tokenizer.model)
    except TokenizerError as error:
        raise ExportError(f"{BROWSER} does not read this vocabulary: {error}") from error
    if (parameters := count_parameters(translator.model)) > MAX_PARAMETERS:
        raise ExportError(f"the model has {parameters:,} parameters, but {BROWSER} runs at most {MAX_PARAMETERS:,}")


def live_model(service: TranslationService, t: Texts) -> dict[str, Any]:
    """Return all that the browser knows of a model beside its files: `LiveModel` of translator.js.

    Args:
        service: A model from a checkpoint.
        t: Labels in the reader's language.

    Raises:
        ExportError: The browser does not run this model.
    """
    translator = service.translator
    check_live(translator)
    header, _ = split_buffer(opening_payload(service, t))
    return {
        "model": translator.config.to_dict(),
        "weights": {name: list(weight.shape) for name, weight in translator.model.named_parameters()},
        "special_ids": translator.tokenizer.special.to_dict(),
        "decoding": translator.decoding.replace(beam=BEAM).to_dict(),
        "limits": {"characters": MAX_CHARACTERS, "tokens": min(MAX_TOKENS, translator.max_tokens)},
        "reads": service.source_language,
        "words": _refusals(service, t),
        "trained": service.card.trained_tokens,
        "header": {name: header[name] for name in (*_FIXED, "about")},
        "files": {file.name: file.stat().st_size for file in model_files(translator)},
    }


def opening_payload(service: TranslationService, t: Texts) -> bytes:
    """Return the payload of the first example, with which the page opens before it has loaded the model."""
    text = service.first_example
    best = service.translate("live", text)
    return branch_payload(t, service, (text, 0), best, best, answers=ANSWERS | checkpoint_record(service.translator))


def model_files(translator: Translator) -> list[Path]:
    """Return the files of a model that the browser reads: weights and tokenizer."""
    assert translator.checkpoint is not None
    folder = translator.checkpoint.folder
    return [folder / name for name in (*sorted(set(weight_map(folder).values())), TOKENIZER_FILE)]


def _refusals(service: TranslationService, t: Texts) -> dict[str, str]:
    """Return why a sentence is not translated, by its status, and two warnings, as the page Translate says them."""
    empty = t("translate.empty" if service.examples else "translate.empty_alone")
    korean = f"{t('translate.korean')} {empty}"
    messages = {name: t.table("translate")[name] for name in ("long", "unknown", "untrained")}
    return {"empty": empty, "korean": korean, "refused": t.table("frame")["too_long"], **messages}
