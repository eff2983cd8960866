"""From a spec to figures and files: the same as the command line makes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from viz_app.components.explorer.selection import Selection
from viz_app.figure_editor import rendering
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.rendering import ExportableFigure, RenderCache, forward_result, make_figure
from viz_app.figures import Style
from viz_app.serving.models.search_tree import branch_ends
from viz_app.serving.models.translation_service import TranslationResult, TranslationService

TEXT = "The dog."


@pytest.fixture(scope="module")
def best(service: TranslationService) -> TranslationResult:
    return service.translate("me", TEXT)


def make_exportable(
    service: TranslationService, best: TranslationResult, spec: FigureSpec, language: str = "en"
) -> ExportableFigure:
    spec = spec.fitted(best.maps)
    return ExportableFigure(
        make_figure(spec, language, forward_result(service, best, best, 0)), spec.style, spec.dpi, language
    )


def test_a_branch_without_a_way_back_has_no_command(service: TranslationService, best: TranslationResult) -> None:
    """A cut-off branch: its text, handed to the model, would be read with </s> at its end."""
    ends = branch_ends(best.translation)
    values = {}
    for number in range(1, len(ends)):
        result = service.translate_branch("me", best, number)
        seen = forward_result(service, result, best, number)
        assert ("branch" in seen.provenance) != ("target_given" in seen.provenance)
        values["branch" in seen.provenance] = ExportableFigure(
            make_figure(FigureSpec().fitted(result.maps), "en", seen), Style()
        )
        if not result.translation.finished:
            assert "branch" in seen.provenance
    assert values[True].command("pdf") == ""
    assert b"%PDF" in values[True].file("pdf")


def test_the_tree_of_a_forced_search_begins_with_its_tokens(
    service: TranslationService, best: TranslationResult
) -> None:
    token = best.translation.alternatives[0][1][0]
    forced = service.translate_forced("me", best, token)
    tree = make_figure(FigureSpec(view="beam"), "en", forward_result(service, forced, forced, 0, force=token))
    assert forced.translation.tokens[0] == token != best.translation.tokens[0]
    assert tree.provenance["translation"] == forced.translation.text
    assert f"--prefix={token}" in ExportableFigure(tree, Style()).command("svg")


def test_a_comparison_has_the_pinned_head_as_a(service: TranslationService, best: TranslationResult) -> None:
    place = Selection(kind="cross", layer=1, head=2, against="encoder.1.4")
    figure = make_exportable(service, best, FigureSpec(view="compare", selection=place)).figure
    view = figure.provenance["view"]
    assert (view["kind"], view["layer"], view["head"]) == ("encoder", 0, 3)
    assert (view["other_kind"], view["other_layer"], view["other_head"]) == ("cross", 1, 2)


def test_thirty_sessions_draw_the_same_figure_once(
    service: TranslationService, best: TranslationResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []
    real = rendering._preview

    def counted(*args: object) -> rendering.Preview:
        drawn.append(args)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(rendering, "_preview", counted)
    drawings, figures = RenderCache(), [make_exportable(service, best, FigureSpec()).figure for _ in range(30)]
    with ThreadPoolExecutor(30) as pool:
        sessions = [f"session {number}" for number in range(30)]
        rows = list(pool.map(lambda session, figure: drawings.preview(session, figure, Style()).png, sessions, figures))
    assert len(drawn) == 1
    assert len(rows) == 30 and len({*rows}) == 1


def test_previews_of_different_figures_differ(service: TranslationService, best: TranslationResult) -> None:
    drawings = RenderCache()
    specs = [
        FigureSpec(),
        FigureSpec(selection=Selection(head=1)),
        FigureSpec(selection=Selection(unit="words")),
        FigureSpec(selection=Selection(step=2)),
        FigureSpec(language="ko"),
        FigureSpec(style=Style(scale="grey")),
        FigureSpec(style=Style(theme="dark")),
        FigureSpec(view="lines"),
        FigureSpec(view="lines", query=1),
    ]
    pictures = []
    for spec in specs:
        made = make_exportable(service, best, spec)
        pictures.append(drawings.preview("me", made.figure, made.style).png)
    assert len(set(pictures)) == len(specs)


@pytest.mark.parametrize(("preset", "width", "height"), [("acl-column", 77, None), ("slide", 254, 143)])
def test_the_preview_has_the_size_of_the_page(
    preset: str, width: float, height: float | None, service: TranslationService, best: TranslationResult
) -> None:
    made = make_exportable(service, best, FigureSpec(style=Style(preset=preset)))
    seen = RenderCache().preview("me", made.figure, made.style)
    assert seen.width_mm == pytest.approx(width, abs=0.5)
    assert height is None or seen.height_mm <= height + 0.5
