"""Prepare sentences for a page without Python: the branches of their searches, and what is known of the heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformer_core.analysis.ablation import all_heads
from transformer_core.head import head_named
from transformer_core.progress import tracked
from viz_app.components.explorer.selection import Selection
from viz_app.components.explorer.weights import packed_size
from viz_app.explorer_view import findings
from viz_app.explorer_view.flow import flow, shortened
from viz_app.explorer_view.snapshot import branch_payload
from viz_app.export.provenance import checkpoint_record
from viz_app.serving.input_validation import Sentence
from viz_app.serving.models.search_tree import branch_ends
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.standalone.document import PageSentence, check_size, explorer_page
from viz_app.standalone.origin import page_origin
from viz_app.text import Texts, texts

MAX_SENTENCES = 64
BRANCHES = 4


def render_sentences(
    service: TranslationService,
    sentences: Sequence[Sentence],
    language: str,
    *,
    session: str = "page",
    branches: int = BRANCHES,
    heads_off: bool = False,
) -> bytes:
    """Return a page with the explorer of sentences; the same arguments give the same bytes.

    Args:
        service: The model.
        sentences: Sentences that `service.validate` calls good.
        language: "en" or "ko".
        session: As for `TranslationService.translate`.
        branches: Branches of each search at most.
        heads_off: Whether each sentence is translated without each head.

    Raises:
        PageTooLarge: The maps are too large.
        Superseded: When a newer request of the session took over.
    """
    t = texts(language, parses=service.parses, source=service.source_language)
    check_size(map_bytes(service, sentences, branches, session))
    pages = [_prepared(service, session, t, sentence, branches, heads_off) for sentence in sentences]
    check_size(sum(len(payload) for sentence in pages for payload in sentence.branches))
    options: list[tuple[str, object]] = [("text", sentence.text) for sentence in sentences]
    options += [("branches", branches), *([("heads_off", "true")] if heads_off else [])]
    return explorer_page(
        pages,
        language=language,
        origin=page_origin(service, t, options),
        cards=head_cards(service, t, {sentence.text for sentence in sentences}),
        roles=findings.roles(service, session, t)["roles"],
    )


def map_bytes(
    service: TranslationService, sentences: Sequence[Sentence], branches: int = BRANCHES, session: str = "page"
) -> int:
    """Translate sentences; return the size of the maps of their branches, before they are compressed.

    Branches differ in length, so it is an estimate.
    """
    results = [service.translate(session, sentence.source) for sentence in sentences]
    return sum(packed_size(result.maps) * _count(result, branches) for result in results)


def _count(result: TranslationResult, branches: int) -> int:
    return max(1, min(branches, len(branch_ends(result.translation))))


def _prepared(
    service: TranslationService,
    session: str,
    t: Texts,
    sentence: Sentence,
    branches: int,
    heads_off: bool,
) -> PageSentence:
    text, best = sentence.text, service.translate(session, sentence.source)
    count = _count(best, branches)
    answers = {
        "off": heads_off,
        "needed": True,
        "branches": list(range(count)),
        **checkpoint_record(service.translator),
    }
    made = shortened(flow(service, session, best, Selection())["flow"])
    if made is not None:
        answers["flow"] = False  # for no comparison
    payloads = []
    for branch in range(count):
        result = service.translate_branch(session, best, branch)
        payloads.append(branch_payload(t, service, (text, branch), best, result, answers=answers))
    needed = findings.needed_head(service, session, best)["needed"]
    heads = (
        tracked(all_heads(service.translator), "head") if heads_off else map(head_named, filter(None, [needed["head"]]))
    )
    off = {str(head): findings.without_head(service, session, best, head)["off"] for head in heads}
    searches = service.parses and service.translator.decoding.constrained
    free = findings.free_search(service, session, best)["free"] if searches else None
    return PageSentence(text=text, branches=payloads, off=off, needed=needed, free=free, flow=made)


def head_cards(service: TranslationService, t: Texts, known: set[str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the card of each head, such as "cross.6.8"; empty for a model without an atlas.

    Args:
        service: The model.
        t: Labels in the language of the page.
        known: Sentences that the page can show, the only examples that can be pressed; None for any.
    """
    cards = {}
    for head in all_heads(service.translator):
        card = findings.card(service, t, head)["card"]
        if card is None:
            break
        for example in card.get("examples", ()):
            if known is not None and example["text"] not in known:
                example["fixed"] = True
        cards[str(head)] = card
    return cards
