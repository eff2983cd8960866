"""The unfolded flow in print: every layer of the way of one token, as in the explorer's unfolded.js.

Encoder left, decoder right, tokens at the foot, layers upwards, and the token at the top. Ways of encoder-decoder
attention leave the encoder at its top and come down between the stacks.
"""

from __future__ import annotations

from transformer_core.attention_maps import KINDS
from viz_app.figures import fonts
from viz_app.figures.colours.palette import MUTED, kind_color
from viz_app.figures.layout import PAD, PAGE_WIDTH, POINTS_PER_MM
from viz_app.figures.model.flow import STACKS, FlowFigure, MadeToken, Stack, Way, WayGraph, number
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.frame import GAP, LINE, Entry, Frame, page_height
from viz_app.figures.mpl.ribbons import EDGE, Points, clamp, draw_ribbon, shown
from viz_app.figures.surface import Surface

_QUIET = 0.35  # width of a column with little flow, in that of others
_AFTER = {"encoder": 1.0, "decoder": 0.36, "cross": 0.72}  # where attention ends, in a layer
_BRIDGE = 0.42  # of the time of growing, until which the encoder grows
_FAINT = 0.012  # share of the largest state below which a state is a mere dot
_MIN = 6.0  # points of labels, where the font is larger


class UnfoldedFlow:
    """Places of columns and layers, in points, and the drawing."""

    def __init__(self, figure: FlowFigure, style: Style) -> None:
        assert figure.graph is not None and figure.chosen is not None
        self.figure, self.style = figure, style
        self.graph: WayGraph = figure.graph
        self.token: MadeToken = figure.chosen
        self.labels: dict[Stack, tuple[str, ...]] = {
            "encoder": tuple(figure.source),
            "decoder": figure.inputs[: self.token.position + 1],
        }
        self.values = {"encoder": self.token.source.tolist(), "decoder": self.token.inputs.tolist()}
        self.layers = {stack: len(self.graph.residuals[stack]) for stack in STACKS}
        font = style.font
        columns = sum(map(len, self.labels.values()))
        natural = clamp((columns + 3) * 3.2 * font, 80 * POINTS_PER_MM, PAGE_WIDTH)
        self.width = natural if style.width is None else style.width * POINTS_PER_MM
        self.frame = Frame(figure, style, self.width, self._entries(), [figure.note] if style.legend else [])
        self._arrange()

    def draw(self, surface: Surface) -> None:
        """Draw residual connections and ways, weak ones first, then states, tokens and numbers."""
        self.frame.draw(surface)
        self._residuals(surface)
        largest = self._largest
        for way in reversed(self.graph.ways):
            share = abs(way.flow) / largest
            color = surface.mixed(surface.accent(way.kind), 0.4 + 0.55 * share**0.5)
            draw_ribbon(
                surface,
                self._points(way),
                color,
                self._wide(way.flow),
                hollow=way.flow < 0,
                reached=self._reached(way.kind, way.layer, _AFTER[way.kind]),
            )
        for stack in STACKS:
            self._states(surface, stack)
        self._foot(surface)
        self._crown(surface)

    @property
    def _largest(self) -> float:
        return max((abs(way.flow) for way in self.graph.ways), default=0.0) or 1.0

    def _entries(self) -> list[Entry]:
        titles, theme, ways = self.figure.titles, self.figure.theme, self.graph.ways
        drawn = {way.kind for way in ways}
        entries = [Entry(titles[kind], kind_color(kind, theme), 3.0) for kind in KINDS if kind in drawn]
        entries.append(Entry(titles["residual"], MUTED[theme], 1.0))
        if any(way.flow < 0 for way in ways):
            entries.append(Entry(titles["negative"], MUTED[theme], EDGE, boxed=True))
        return entries

    def _weights(self, stack: Stack) -> list[float]:
        """Return the width of each column: those with little flow are narrow."""
        flows = [0.0] * len(self.labels[stack])
        for way in self.graph.ways:
            if way.kind == stack or (way.kind == "cross" and stack == "encoder"):
                flows[way.key] += abs(way.flow)
            if (way.kind == "encoder") == (stack == "encoder"):
                flows[way.query] += abs(way.flow)
        most = max(flows) or 1.0
        return [_QUIET + (1 - _QUIET) * min(1.0, 8 * flow / most) for flow in flows]

    def _arrange(self) -> None:
        font, width, style = self.style.font, self.width, self.style
        weights = {stack: self._weights(stack) for stack in STACKS}
        left = PAD + 1.4 * font  # of the numbers of layers
        lanes = clamp(0.12 * width, 26.0, 90.0)
        unit = (width - left - PAD - lanes) / sum(map(sum, weights.values()))
        self.x: dict[Stack, list[float]] = {}
        at = left
        for stack in STACKS:
            self.x[stack] = []
            for weight in weights[stack]:
                self.x[stack].append(at + weight * unit / 2)
                at += weight * unit
            if stack == "encoder":
                self.lanes = at + 0.12 * lanes, at + 0.72 * lanes
                self.middle = at + 0.45 * lanes
                at += lanes
        self.small = max(min(font, _MIN), 0.8 * font)
        rooms = [
            (shown(label), weight * unit)
            for stack in STACKS
            for label, weight in zip(self.labels[stack], weights[stack], strict=True)
        ]
        self.level = all(fonts.width(text, font) <= room - 2 for text, room in rooms)
        self.bar = 1.5 * font
        values = [*self.values["encoder"], *self.values["decoder"], self.token.biases]
        texts = [*(text for text, _ in rooms), self.figure.titles["biases"]]
        texts = [f"{text} {number(value)}" for text, value in zip(texts, values, strict=True)]
        longest = max(fonts.width(text, self.small) for text in texts)
        under = font * LINE + self.small * LINE if self.level else longest
        below = self.frame.below + GAP + self.bar + GAP + under + GAP + self.small * LINE
        self.thick = clamp(0.017 * width, 3.2, 9.0)
        self.arch, self.under = clamp(0.05 * width, 16.0, 34.0), under
        above = self.frame.above + max(2.2 * font, self.arch + self.thick)
        tall = clamp(0.5 * width, 140.0, 300.0)
        if style.height is not None:
            tall = clamp(style.height * POINTS_PER_MM - above - below, 0.35 * tall, 1.6 * tall)
        needed = above + tall + below
        self.height = page_height(style, needed)
        self.top = above + (self.height - needed) / 2
        self.foot, self.tall = self.top + tall, tall

    def _y(self, stack: Stack, layer: float) -> float:
        return self.foot - self.tall * layer / self.layers[stack]

    def _wide(self, flow: float) -> float:
        return max(0.3, self.thick * abs(flow) / self._largest)

    def _points(self, way: Way) -> Points:
        if way.kind == "cross":
            start, end = self.x["encoder"][way.key], self.x["decoder"][way.query]
            first, last = self.lanes
            lane = first + (last - first) * way.layer / max(1, self.layers["decoder"] - 1)
            y, turn = self._y("decoder", way.layer + _AFTER["cross"]), self.top - 0.3 * self.arch
            rise = min(0.9 * self.arch, 6 + 0.1 * (lane - start))
            down = 0.8 * (y - turn)
            lean = max(0.0, 0.3 * self.tall - down) / down  # a way with a short way down bends on it
            return [
                *(
                    (start, self.top),
                    (start, self.top - rise),
                    (lane - 0.7 * lean * rise, turn - 0.7 * rise),
                    (lane, turn),
                ),
                *((lane + lean * down, turn + down), (lane + 0.4 * (end - lane), y), (end, y)),
            ]
        stack: Stack = way.kind
        low, high = self._y(stack, way.layer), self._y(stack, way.layer + _AFTER[way.kind])
        start, end, bend = self.x[stack][way.key], self.x[stack][way.query], 0.55 * (low - high)
        return [(start, low), (start, low - bend), (end, high + bend), (end, high)]

    def _reached(self, kind: str, layer: int, length: float) -> float:
        """Return how far a way of a layer has grown: the encoder first, then ways down to the decoder, and it."""
        stack: Stack = "encoder" if kind == "encoder" else "decoder"
        span = (_BRIDGE if stack == "encoder" else 1 - _BRIDGE) / self.layers[stack]
        start = 0.0 if stack == "encoder" else _BRIDGE
        first = start if kind == "cross" else start + layer * span
        last = start + (layer + length) * span
        return clamp((self.figure.reached - first) / (last - first), 0.0, 1.0)

    def _residuals(self, surface: Surface) -> None:
        most = max(abs(value) for rows in self.graph.residuals.values() for value in rows.ravel().tolist()) or 1.0
        color = surface.mixed(surface.muted, 0.3)
        for stack, rows in self.graph.residuals.items():
            for layer, row in enumerate(rows.tolist()):
                for x, value in zip(self.x[stack], row, strict=True):
                    width = 0.75 * self.thick * abs(value) / most
                    if width < 0.2:
                        continue
                    low, high = self._y(stack, layer), self._y(stack, layer + 1)
                    points = [(x, low), (x, (2 * low + high) / 3), (x, (low + 2 * high) / 3), (x, high)]
                    draw_ribbon(
                        surface, points, color, width, hollow=value < 0, reached=self._reached(stack, layer, 1.0)
                    )

    def _states(self, surface: Surface, stack: Stack) -> None:
        most = max(abs(value) for rows in self.graph.states.values() for value in rows.ravel().tolist()) or 1.0
        for layer, row in enumerate(self.graph.states[stack].tolist()):
            y = self._y(stack, layer)
            for x, value in zip(self.x[stack], row, strict=True):
                share = abs(value) / most
                color = surface.ink if share >= _FAINT else surface.faint
                fill = color if value >= 0 else surface.background
                surface.dot(x, y, (0.7 + 2.1 * share**0.5) * min(1.0, self.thick / 6), edge=color, fill=fill)
            if layer and stack == "encoder":
                surface.text(PAD, y, str(layer), self.small, surface.muted, ha="left")

    def _foot(self, surface: Surface) -> None:
        """Draw tokens with bars and numbers of their parts; where labels do not fit, the largest parts have them."""
        columns = [
            (x, shown(label), value, surface.accent("cross" if stack == "encoder" else "decoder"))
            for stack in STACKS
            for x, label, value in zip(self.x[stack], self.labels[stack], self.values[stack], strict=True)
        ]
        columns.append((self.middle, self.figure.titles["biases"], self.token.biases, surface.muted))
        most = max(abs(value) for _, _, value, _ in columns) or 1.0
        top, font, taken = self.foot + GAP, self.style.font, list[float]()
        gaps = [b - a for stack in STACKS for a, b in zip(self.x[stack], self.x[stack][1:], strict=False)]
        wide = clamp(0.5 * min(gaps, default=font), 1.5, 0.8 * font)
        label = top + self.bar + GAP
        for x, text, value, color in sorted(columns, key=lambda each: -abs(each[2])):
            strong = abs(value) >= 0.03 * most
            edge, fill = (None, color) if value >= 0 else (color, None)
            surface.box(x - wide / 2, top, wide, max(0.5, self.bar * abs(value) / most), edge=edge, fill=fill)
            ink = surface.ink if strong else surface.muted
            if self.level:
                surface.text(x, label + font * LINE / 2, text, font if color != surface.muted else self.small, ink)
                surface.text(x, label + font * LINE + self.small * LINE / 2, number(value), self.small, surface.muted)
            elif all(abs(x - other) >= 1.1 * self.small for other in taken):
                taken.append(x)
                surface.text(x, label, f"{text} {number(value)}", self.small, ink, ha="right", rotation=90)
        y = label + self.under + GAP + self.small * LINE / 2
        for stack, name in zip(STACKS, ("left", "right"), strict=True):
            x = (self.x[stack][0] + self.x[stack][-1]) / 2
            surface.text(x, y, self.figure.titles[name], self.small, surface.muted)

    def _crown(self, surface: Surface) -> None:
        font = 1.3 * self.style.font
        text = shown(self.figure.outputs[self.token.position])
        half = fonts.width(text, font) / 2 + 2
        x, y = min(self.x["decoder"][-1], self.width - PAD - half), self.top - 1.1 * font
        surface.box(x - half, y - 0.62 * font, 2 * half, 1.24 * font, edge=surface.ink)
        surface.text(x, y, text, font, surface.ink)
        surface.text(x - half - GAP, y, number(self.token.logit), self.style.font, surface.muted, ha="right")
