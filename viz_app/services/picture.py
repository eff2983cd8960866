"""From a translation and a selection to what the explorer shows and what a visitor takes away."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.tokenizer import EOS_TOKEN
from viz_app.components.explorer import Selection, Step, pack
from viz_app.export import command_of, file_bytes
from viz_app.figures import HeatmapFigure, all_heads, file_name, layer_heads, one_head
from viz_app.services.model import ROOT
from viz_app.services.translation import BEAM, Result
from viz_app.text import Texts

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

DOWNLOADS = ("png", "svg", "pdf", "csv", "npz")


def best_head(metrics: Mapping[str, Any], maps: AttentionMaps) -> Selection:
    """The encoder-decoder head that aligns words best on the gold set; unknown, the first head of the last layer."""
    best = metrics.get("alignment", {}).get("best_head", {})
    layer, head = best.get("layer", maps.cross.shape[0] - 1), best.get("head", 0)
    return Selection(kind="cross", layer=layer, head=head).fitted(maps)


def alignment_rates(metrics: Mapping[str, Any], maps: AttentionMaps) -> dict[Kind, list[list[float]]]:
    """Alignment error rate of each encoder-decoder head, rows named by what they write; empty when unmeasured."""
    table = metrics.get("alignment", {}).get("aer", {}).get("output", [])
    layers, heads = maps.cross.shape[:2]
    return {"cross": table} if [len(rates) for rates in table] == [heads] * layers else {}


def payload(
    result: Result,
    t: Texts,
    best: Selection,
    metrics: Mapping[str, Any],
    *,
    beam: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> bytes:
    """The packed translation, the same bytes on every rerun.

    No session keeps it: of a long sentence it is many megabytes, and all but the labels are packed only once (Result).

    Args:
        result: The translation and its maps.
        t: Labels in the visitor's language.
        best: The encoder-decoder head from which the words under the translation are taken.
        metrics: What was measured about the checkpoint.
        beam: The search as a tree; see `viz_app.services.hypotheses.search_tree`.
        about: Sentence and checkpoints; see `viz_app.components.explorer.pack`.
    """
    return pack(
        result.maps,
        weights=result.packed,
        steps=_steps(result.translation),
        texts=t.table("explorer"),
        selection=best,
        gloss_head=(best.layer, best.head),
        alignment=alignment_rates(metrics, result.maps),
        beam=beam,
        about=about,
    )


def _steps(translation: Translation) -> tuple[Step, ...]:
    """How sure the model was of each piece, and the runners-up."""
    written = (*translation.pieces, EOS_TOKEN)
    steps = zip(written, translation.scores, translation.alternatives, strict=False)
    return tuple(
        Step(math.exp(score), tuple((other, math.exp(log_p)) for other, log_p in others if other != piece))
        for piece, score, others in steps
    )


def provenance(translator: Translator, translation: Translation, branch: int = 0) -> dict[str, str]:
    """Where a picture comes from, as written into its files, with the command that makes its numbers again.

    Args:
        translator: The model.
        translation: The translation shown.
        branch: Its number among the branches of the search, from 0, the best; in the files they count from 1.
    """
    folder = translator.checkpoint.folder if translator.checkpoint else Path("checkpoint")
    # Within the repository a path means the same to everybody; elsewhere it would only tell of one computer.
    name = folder.relative_to(ROOT).as_posix() if folder.is_relative_to(ROOT) else folder.name
    target = [f"--target={translation.text}"] if branch else []
    options = [f"--checkpoint={name}", f"--source={translation.source}", *target, "--out=attention.npz"]
    return {
        **({"branch": str(branch + 1)} if branch else {}),
        **({"beam": str(BEAM)} if not branch and translator.decoding.beam != BEAM else {}),
        "checkpoint": name,
        "checkpoint_sha256": translator.checkpoint_hash,
        "source": translation.source,
        "translation": translation.text,
        "command": shlex.join(["python", "-m", "transformer_core", "attention", *options]),
    }


@dataclass(frozen=True)
class Picture:
    """The picture that is on the screen now.

    Args:
        maps: All maps of the translation.
        selection: What of them is shown.
        language: Code of the language of its titles.
        provenance: Checkpoint, sentence, command; written into every file.
    """

    maps: AttentionMaps
    selection: Selection
    language: str
    provenance: Mapping[str, Any]

    @cached_property
    def figure(self) -> HeatmapFigure:
        """The selected head, or all heads of its layer or kind when these stand side by side."""
        chosen = self.selection.fitted(self.maps)
        shared: dict[str, Any] = {
            "language": self.language,
            "provenance": self.provenance,
            "unit": chosen.unit,
            "upto": chosen.step,
        }
        if chosen.view == "layer":
            return layer_heads(self.maps, chosen.kind, chosen.layer, **shared)
        if chosen.zoom == "heads":
            return all_heads(self.maps, chosen.kind, **shared)
        return one_head(self.maps, chosen.kind, chosen.layer, chosen.head, **shared)

    def file(self, format: str) -> bytes:
        """The picture as a file with its command in it; see `viz_app.figures.export` for the formats."""
        return file_bytes(self.figure, format)

    @property
    def command(self) -> str:
        """The command that makes the picture again; of a branch that no text leads to, its weights."""
        return command_of(self.figure) or str(self.provenance.get("command", ""))

    def file_name(self, format: str) -> str:
        """A name that says which heads, counted from 1."""
        return file_name(self.figure, format)
