"""One head at one snapshot of a training: its address, and its figure for print."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from transformer_core.attention_maps import Kind
from viz_app.figures import Animation, HeatmapFigure, Request, one_head
from viz_app.figures.model.figure import RoundedPanel
from viz_app.serving.checked_json import converted
from viz_app.text import Texts

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History  # with torch, which takes seconds to import

_HEAD = re.compile(r"(encoder|decoder|cross)\.([1-9][0-9]?)\.([1-9][0-9]?)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_NAMES = ("grown_text", "grown_head", "grown_at")


def moment_name(history: History, moment: int, t: Texts) -> str:
    """Return "after 481 steps"; step 0 is the start of a training, or of one that continues another."""
    if updates := history.steps[moment]:
        return t("growth.at", step=f"{updates:,}")
    return t("growth.at_continued" if history.continues else "growth.at_start")


def model_name(folder: Path) -> str:
    """Return the name of the model of a history: the checkpoint's, or the folder's own."""
    folder = folder.resolve()
    if folder.name == "history":
        folder = folder.parent
    return folder.parent.name if folder.name == "derived" else folder.name


@dataclass(frozen=True)
class HeadSnapshot:
    """Selected map of a history. Numbers count from 0; in the address from 1, and a moment by its step.

    Args:
        sentence: Number of the sentence.
        kind: Kind of attention.
        moment: Number of the moment.
        layer: Layer.
        head: Head.
    """

    sentence: int
    kind: Kind
    moment: int
    layer: int
    head: int

    @classmethod
    def start(cls, history: History) -> HeadSnapshot:
        """Return the start: the first moment, with the head that will align best, or else the last one."""
        layer, head = history.model["layers"] - 1, history.model["heads"] - 1
        if history.alignment is not None:
            rates = history.alignment["aer"][-1]
            layer, head = min(
                ((layer, head) for layer, row in enumerate(rates) for head in range(len(row))),
                key=lambda place: rates[place[0]][place[1]],
            )
        return cls(0, "cross", 0, layer, head)

    @classmethod
    def from_report(cls, report: object, history: History) -> HeadSnapshot | None:
        """Read a report of the browser; None for one that makes no sense for this history."""
        names = {field.name for field in dataclasses.fields(cls)}
        snapshot = converted(report, cls) if isinstance(report, Mapping) and set(report) == names else None
        return snapshot if snapshot and snapshot._exists(history) else None

    @classmethod
    def from_query(cls, params: Mapping[str, str], history: History) -> HeadSnapshot:
        """Read an address; missing or invalid parts are as at the start."""
        snapshot = cls.start(history)
        if place := _HEAD.fullmatch(params.get("grown_head", "")):
            kind = cast(Kind, place[1])
            snapshot = snapshot._changed(history, kind=kind, layer=int(place[2]) - 1, head=int(place[3]) - 1)
        text, step = params.get("grown_text", ""), params.get("grown_at", "")
        if _NUMBER.fullmatch(text):
            snapshot = snapshot._changed(history, sentence=int(text) - 1)
        if _NUMBER.fullmatch(step) and int(step) in history.steps:
            snapshot = snapshot._changed(history, moment=history.steps.index(int(step)))
        return snapshot

    def to_query(self, history: History) -> dict[str, str | None]:
        """Return the URL parameters; none at the start."""
        if self == self.start(history):
            return dict.fromkeys(_NAMES)
        return {
            "grown_text": str(self.sentence + 1) if self.sentence else None,
            "grown_head": self.place,
            "grown_at": str(history.steps[self.moment]),
        }

    @property
    def place(self) -> str:
        """The head as an address and a command name it: `cross.6.5`, from 1."""
        return f"{self.kind}.{self.layer + 1}.{self.head + 1}"

    def figure(self, history: History, name: str, t: Texts, folder: str = "") -> HeatmapFigure | None:
        """Return the head for print.

        Args:
            history: Of the model.
            name: Of the model.
            t: Labels in the reader's language.
            folder: Of the history, as a command names it; without it no command makes the files again.

        Returns:
            The figure; None for a decoder that was trained without a mask, which figures do not know.
        """
        updates, moment = history.steps[self.moment], moment_name(history, self.moment, t)
        drawn = self._make_figure(history, t, {**self._provenance(history, name, folder), "updates": updates})
        return drawn and dataclasses.replace(
            drawn,
            title=t("growth.figure_title", title=drawn.title, moment=moment),
            caption=f"{drawn.caption} {t('growth.figure_note', name=name, moment=moment)}",
            name=f"{drawn.name}_{name}_update{updates}",
        )

    def animation(self, history: History, name: str, t: Texts, folder: str = "") -> Animation | None:
        """Return the head at one moment of the training after the other, for GIF; as `figure` otherwise."""
        provenance = self._provenance(history, name, folder)
        drawn = [
            dataclasses.replace(self, moment=moment)._make_figure(history, t, provenance)
            for moment in range(len(history.steps))
        ]
        last = drawn[-1]
        if last is None:
            return None
        # All titles have the same form, so that nothing moves but the weights.
        titles = (t("growth.at", step=f"{updates:,}") for updates in history.steps)
        frames = [
            dataclasses.replace(frame, title=t("growth.figure_title", title=frame.title, moment=title))
            for frame, title in zip(drawn, titles, strict=True)
            if frame is not None
        ]
        span = t("growth.film", moments=len(frames), step=f"{history.steps[-1]:,}")
        return Animation(
            frames=frames,
            title=t("growth.figure_title", title=last.title, moment=span),
            caption=f"{last.caption} {t('growth.figure_note', name=name, moment=span)}",
            alt=f"{span}. {last.alt}",
            kind=last.kind,
            language=t.language,
            name=f"{last.name}_{name}_training",
            provenance=last.provenance,
        )

    def _provenance(self, history: History, name: str, folder: str) -> dict[str, Any]:
        """Return the origin of the numbers; with a folder, what a command needs to find them again."""
        read = history.sentences[self.sentence]
        found = {"history": folder, "sentence": self.sentence + 1, "head": self.place} if folder else {}
        return {
            **found,
            "model": name,
            "source": read.source,
            "translation": read.target,
            "weights": "rounded to 1/255",
        }

    def _make_figure(self, history: History, t: Texts, provenance: dict[str, Any]) -> HeatmapFigure | None:
        """Return the head at its moment, with the words of any head."""
        if self.kind == "decoder" and not history.model.get("causal", True):
            return None
        read = history.sentences[self.sentence]
        place = Request(maps=read.maps(self.moment), kind=self.kind, layer=self.layer, head=self.head)
        drawn = one_head(dataclasses.replace(place, language=t.language, provenance=provenance))
        (panel,) = drawn.panels
        fields = {field.name: getattr(panel, field.name) for field in dataclasses.fields(panel)}
        # The file has the numbers of the history as they are, not as they would be without rounding.
        rounded = RoundedPanel(**fields | {"weights": read.decoded(self.kind, self.moment)[self.layer, self.head]})
        return dataclasses.replace(drawn, panels=(rounded,))

    def _changed(self, history: History, **changes: Any) -> HeadSnapshot:
        snapshot = dataclasses.replace(self, **changes)
        return snapshot if snapshot._exists(history) else self

    def _exists(self, history: History) -> bool:
        shape = history.model["layers"], history.model["heads"], len(history.steps), len(history.sentences)
        here = self.layer, self.head, self.moment, self.sentence
        return all(0 <= place < size for place, size in zip(here, shape, strict=True))
