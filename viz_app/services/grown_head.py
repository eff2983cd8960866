"""One head at one moment of a training: how an address names it, and its picture for print."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from viz_app.figures import HeatmapFigure, one_head
from viz_app.figures.spec import RoundedPanel
from viz_app.text import Texts

if TYPE_CHECKING:
    from transformer_core.history import History  # with torch, which takes seconds to import

_HEAD = re.compile(r"(encoder|decoder|cross)\.([1-9][0-9]?)\.([1-9][0-9]?)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_NAMES = ("grown_text", "grown_head", "grown_at")


@dataclass(frozen=True)
class GrownHead:
    """What is seen large in a history. All numbers count from 0; in the address from 1, and a moment by its updates.

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
    def start(cls, history: History) -> GrownHead:
        """Where a visitor begins: at the first moment, with the head that will align best, or else the last one."""
        layer, head = history.model["layers"] - 1, history.model["heads"] - 1
        if history.alignment is not None:
            rates = history.alignment["aer"][-1]
            layer, head = min(
                ((layer, head) for layer, row in enumerate(rates) for head in range(len(row))),
                key=lambda place: rates[place[0]][place[1]],
            )
        return cls(0, "cross", 0, layer, head)

    @classmethod
    def from_report(cls, report: object, history: History) -> GrownHead | None:
        """What the browser says; None when it says nothing that makes sense for this history."""
        names = [field.name for field in dataclasses.fields(cls)]
        if not isinstance(report, Mapping) or set(report) != set(names) or report["kind"] not in KINDS:
            return None
        numbers = [report[name] for name in names if name != "kind"]
        if any(isinstance(number, bool) or not isinstance(number, int) for number in numbers):
            return None
        told = cls(**{name: report[name] for name in names})
        return told if told._exists(history) else None

    @classmethod
    def of_params(cls, params: Mapping[str, str], history: History) -> GrownHead:
        """What an address asks for; what it does not say, or says wrongly, is as at the start."""
        told = cls.start(history)
        if place := _HEAD.fullmatch(params.get("grown_head", "")):
            kind = cast(Kind, place[1])
            told = told._changed(history, kind=kind, layer=int(place[2]) - 1, head=int(place[3]) - 1)
        text, step = params.get("grown_text", ""), params.get("grown_at", "")
        if _NUMBER.fullmatch(text):
            told = told._changed(history, sentence=int(text) - 1)
        if _NUMBER.fullmatch(step) and int(step) in history.steps:
            told = told._changed(history, moment=history.steps.index(int(step)))
        return told

    def params(self, history: History) -> dict[str, str | None]:
        """The URL parameters; none at the start."""
        if self == self.start(history):
            return dict.fromkeys(_NAMES)
        return {
            "grown_text": str(self.sentence + 1) if self.sentence else None,
            "grown_head": f"{self.kind}.{self.layer + 1}.{self.head + 1}",
            "grown_at": str(history.steps[self.moment]),
        }

    def figure(self, history: History, name: str, t: Texts) -> HeatmapFigure | None:
        """The head for print. It has no command: the weights of that moment are only in the history.

        Args:
            history: Of the model.
            name: Of the model.
            t: Labels in the reader's language.

        Returns:
            The figure; None for a decoder that was trained without a mask, which figures do not know.
        """
        if self.kind == "decoder" and not history.model.get("causal", True):
            return None
        read, updates = history.sentences[self.sentence], history.steps[self.moment]
        kept = {kind: read.decoded(kind, self.moment) for kind in KINDS}
        weights = {kind: each / each.sum(axis=-1, keepdims=True) for kind, each in kept.items()}
        told: dict[str, Any] = {
            "model": name,
            "updates": updates,
            "source": read.source,
            "translation": read.target,
            "weights": "rounded to 1/255",
        }
        source, inputs, outputs = (read.axes[name] for name in ("source", "inputs", "outputs"))
        maps = AttentionMaps(weights["encoder"], weights["decoder"], weights["cross"], source, inputs, outputs)
        drawn = one_head(maps, self.kind, self.layer, self.head, language=t.language, provenance=told)
        (panel,) = drawn.panels
        fields = {field.name: getattr(panel, field.name) for field in dataclasses.fields(panel)}
        # The file has the numbers of the history as they are, not as they would be without rounding.
        rounded = RoundedPanel(**fields | {"weights": kept[self.kind][self.layer, self.head]})
        moment = t("growth.at", step=f"{updates:,}") if updates else t("growth.at_start")
        return dataclasses.replace(
            drawn,
            panels=(rounded,),
            title=t("growth.figure_title", title=drawn.title, moment=moment),
            caption=f"{drawn.caption} {t('growth.figure_note', name=name, moment=moment)}",
            name=f"{drawn.name}_{name}_update{updates}",
        )

    def _changed(self, history: History, **changes: Any) -> GrownHead:
        told = dataclasses.replace(self, **changes)
        return told if told._exists(history) else self

    def _exists(self, history: History) -> bool:
        shape = history.model["layers"], history.model["heads"], len(history.steps), len(history.sentences)
        here = self.layer, self.head, self.moment, self.sentence
        return all(0 <= place < size for place, size in zip(here, shape, strict=True))
