"""The page on GPT and BERT: the two halves of a translator, each with its heads, as those models have them."""

from __future__ import annotations

from transformer_core.attention_maps import AttentionMaps
from viz_app.explorer_view.foreign_maps import foreign_payload
from viz_app.lessons import Lesson
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone.document import PageSentence, explorer_page
from viz_app.standalone.origin import page_origin
from viz_app.standalone.site_frame import filled, link
from viz_app.text import Texts

_AFTER = "after"  # scene of the lesson on the whole model


def render_gpt_and_bert(t: Texts, service: TranslationService, lesson: Lesson | None) -> bytes:
    """Return the page; the same arguments give the same bytes.

    Args:
        t: Labels in the reader's language.
        service: A translator, whose halves are shown at its first example.
        lesson: The lesson that says more; None where the site lacks it.
    """
    maps = service.translate("site", service.first_example).maps
    halves = {
        t("gpt.decoder"): AttentionMaps.from_arrays(
            decoder=maps.decoder, target_tokens=[*maps.inputs.tokens, maps.outputs.tokens[-1]]
        ),
        t("gpt.encoder"): AttentionMaps.from_arrays(encoder=maps.encoder, source_tokens=maps.source.tokens),
    }
    page = explorer_page(
        [
            PageSentence(
                text=name, branches=[foreign_payload(half, text=name, model=service.name, language=t.language)]
            )
            for name, half in halves.items()
        ],
        language=t.language,
        origin=page_origin(service, t, []),
        title=t("gpt.title"),
    )
    heads = sum(maps.layers(kind) * maps.heads(kind) for kind in maps.kinds)
    scene = next((each for each in lesson.scenes if each.name == _AFTER), None) if lesson else None
    more = link(f"{lesson.name}.html?scene={_AFTER}", f"{lesson.title}: {scene.title}") if lesson and scene else ""
    above, below = (
        filled(f"site_gpt_{part}.html", t, {"heads": str(heads), "more": more}) for part in ("above", "below")
    )
    main = '<main id="content"></main>'
    return page.replace(main.encode(), f"{above}{main}{below}".encode(), 1)
