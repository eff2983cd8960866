"""A page that runs a translator itself: type any sentence, see every head."""

from __future__ import annotations

import json

from viz_app.components.explorer.code import explorer_code, licences
from viz_app.components.explorer.selection import Selection
from viz_app.components.live import worker_code
from viz_app.components.modules import join_modules
from viz_app.explorer_view import findings
from viz_app.explorer_view.flow import flow, shortened
from viz_app.explorer_view.live_model import live_model, model_files, opening_payload
from viz_app.serving.models.registry import display_name
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone.document import FOLDER, check_size, standalone_page
from viz_app.standalone.origin import Origin, page_origin
from viz_app.standalone.sentences import head_cards
from viz_app.text import texts

# The worker comes from the page's own text, and compiles its matrix product.
ALLOWED = {"script-src": "'wasm-unsafe-eval'", "worker-src": "blob:"}


def live_document(service: TranslationService, language: str, *, weights: str | None = None) -> bytes:
    """Return a page that translates what is typed; the same arguments give the same bytes.

    It opens with the first example, so that every head is there before the model.

    Args:
        service: A translator from a checkpoint.
        language: "en" or "ko".
        weights: Relative address of a file with `live_weights(service)`, which the page loads when it is asked to.
            None puts them into the page.

    Raises:
        ExportError: The browser does not run this model.
        PageTooLarge: The weights are too large for a page.
    """
    t = texts(language, source=service.source_language)
    live = live_model(service, t)
    opening = flow(service, "live", service.translate("live", service.first_example), Selection())
    known = {"cards": head_cards(service, t), "roles": findings.roles(service, "live", t)["roles"]}
    blocks = {
        "live": json.dumps(live).encode(),
        "worker": worker_code().encode(),
        "opening": opening_payload(service, t),
        "findings": json.dumps(known, allow_nan=False).encode(),
        "flow": json.dumps(shortened(opening["flow"]), allow_nan=False).encode(),
    }
    allowed = ALLOWED | ({"connect-src": "'self'"} if weights else {})
    if weights is None:
        blocks["weights"] = live_weights(service)
        check_size(len(blocks["weights"]))
    words = {name: t(f"translate.{name}") for name in ("input", "placeholder", "examples", "loading")}
    words |= {name: t.table("page")[name] for name in ("load", "unloaded")}
    about = {
        "text": service.first_example,
        "examples": list(service.examples.values()),
        "words": words,
        "url": weights,
        "size": sum(live["files"].values()),
    }
    origin = page_origin(service, t, [("live", "true")])
    return standalone_page(
        display_name(t, service.name, service.card.languages),
        [explorer_code(), join_modules(FOLDER / "js" / "live_page.js")],
        about,
        blocks,
        language=language,
        origin=Origin(record=origin.record, licences={**licences(), **origin.licences}),
        allowed=allowed,
    )


def live_weights(service: TranslationService) -> bytes:
    """Return the files of a model, one behind the other, as `live_document` reads them."""
    return b"".join(file.read_bytes() for file in model_files(service.translator))
