"""What of a scene cannot be read: outside the window, cut off, too faint, or lost as SVG; asked of page and canvas."""

from __future__ import annotations

import re

from tests.browser.lesson_driver import Lesson

# From now on, the texts that are drawn on canvases are noted, until somebody asks for them: where each lies, and its
# contrast with what is below it, of which WCAG 2.2 AA asks 4.5, or 3 of large text.
WATCH_TEXT = """({ lesson }) => {
    const watched = "drawnTexts" in window;
    window.drawnTexts = [];
    if (watched) return;
    const prototype = CanvasRenderingContext2D.prototype, draw = prototype.fillText;
    const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (style) => {
        probe.clearRect(0, 0, 1, 1);
        probe.fillStyle = style;
        probe.fillRect(0, 0, 1, 1);
        return [...probe.getImageData(0, 0, 1, 1).data];
    };
    const over = ([r, g, b, a], [R, G, B]) => [[r, R], [g, G], [b, B]].map(([x, y]) => (x * a + y * (255 - a)) / 255);
    const luminance = (colour) => {
        const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        const [r, g, b] = colour.map((x) => linear(x / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    prototype.fillText = function (text, x, y, ...rest) {
        if (window.drawnTexts && this.canvas.isConnected && text.trim()) {
            const { a, b, c, d, e, f } = this.getTransform();
            const size = this.measureText(text);
            const corners = [
                [x - size.actualBoundingBoxLeft, y - size.actualBoundingBoxAscent],
                [x + size.actualBoundingBoxRight, y - size.actualBoundingBoxAscent],
                [x - size.actualBoundingBoxLeft, y + size.actualBoundingBoxDescent],
                [x + size.actualBoundingBoxRight, y + size.actualBoundingBoxDescent],
            ].map(([u, v]) => [a * u + c * v + e, b * u + d * v + f]);
            const [left, right] = [Math.min(...corners.map(([u]) => u)), Math.max(...corners.map(([u]) => u))];
            const [top, bottom] = [Math.min(...corners.map(([, v]) => v)), Math.max(...corners.map(([, v]) => v))];
            const { width, height } = this.canvas;
            const scale = width / this.canvas.getBoundingClientRect().width;
            const page = rgba(getComputedStyle(document.querySelector(".stApp")).backgroundColor);
            const [u, v] = [Math.max(0, Math.floor(left)), Math.max(0, Math.floor(top))];
            const w = Math.max(1, Math.min(width - u, Math.ceil(right - left)));
            const h = Math.max(1, Math.min(height - v, Math.ceil(bottom - top)));
            let worst = 21;
            if (u < width && v < height) {
                const pixels = new Uint32Array(this.getImageData(u, v, w, h).data.buffer);
                const ink = rgba(this.fillStyle);
                ink[3] *= this.globalAlpha;
                const counts = new Map();
                for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
                const [most] = [...counts].sort((one, other) => other[1] - one[1])[0];
                const below = over(new Uint8Array(Uint32Array.of(most).buffer), page);
                const [low, high] = [luminance(below), luminance(over(ink, below))].sort((one, other) => one - other);
                worst = (high + 0.05) / (low + 0.05);
            }
            window.drawnTexts.push({
                text,
                outside: Math.max(-left, -top, right - width, bottom - height) > 1.5 * scale,
                cut: /\\S\\u2026$/.test(text) && !this.font.includes("ono"), // a token may be cut
                faint: worst < (parseFloat(/[\\d.]+px/.exec(this.font)[0]) >= 24 ? 3 : 4.5),
                contrast: worst,
            });
        }
        return draw.call(this, text, x, y, ...rest);
    };
}"""

DRAWN_TEXTS = """() => {
    const drawn = window.drawnTexts;
    window.drawnTexts = null; // looking at each costs more than to draw it
    return drawn;
}"""

# What of the stage lies outside the window at its sides, or is cut off where it cannot be scrolled to without a wheel.
UNREADABLE = """({ lesson }) => {
    const found = [...lesson.root.querySelectorAll(
        ".tab, canvas, button, .controls > *, .readout, .words > *, .answer, .reveal, .equation > *",
    )].filter((element) => {
        const { width, left, right } = element.getBoundingClientRect();
        const cut = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline";
        const scrolls = element.closest(".tabs, .numbers, nav");
        return width && !scrolls && (left < -1 || right > innerWidth + 1 || cut);
    }).map((element) => `${element.className || element.localName}: ${element.textContent.slice(0, 40)}`);
    const { scrollingElement } = document;
    if (scrollingElement.scrollWidth > innerWidth + 1) found.push("the page scrolls sideways");
    return found;
}"""

# In the presenter's view nothing is below the fold, either.
OFF_SCREEN = """({ lesson }) => [...lesson.root.querySelectorAll(
    ".tab, canvas, .controls > *, .readout, .words > *, .answer, .reveal, .equation, .equation > *",
)].filter((element) => {
    const { width, right, bottom } = element.getBoundingClientRect();
    const cut = element.scrollWidth > element.clientWidth + 1;
    return width && (right > innerWidth + 1 || bottom > innerHeight + 1 || cut);
}).map((element) => `${element.className || element.localName}: ${element.textContent.slice(0, 40)}`)"""


# How far the scene as SVG is from the canvas, over how far the empty page is: of means of blocks, so that edges do not
# count. Both in fonts of the computer, since an SVG as an image has no others.
VECTOR_LOSS = """async ({ lesson }) => {
    const { theme, tools } = lesson;
    const fonts = { font: theme.font, code: theme.code };
    Object.assign(theme, { font: "sans-serif", code: "monospace" });
    lesson.stage.paint(performance.now());
    const drawn = document.createElement("canvas");
    tools.compose(drawn);
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(tools.vector())}`;
    Object.assign(theme, fonts);
    lesson.stage.draw();
    await image.decode();
    const means = (paint) => {
        const large = document.createElement("canvas"), small = document.createElement("canvas");
        [large.width, large.height] = [drawn.width, drawn.height];
        [small.width, small.height] = [drawn.width >> 3, drawn.height >> 3];
        const [one, other] = [large, small].map((canvas) => canvas.getContext("2d"));
        one.fillStyle = theme.background;
        one.fillRect(0, 0, large.width, large.height);
        paint(one);
        other.imageSmoothingQuality = "high";
        other.drawImage(large, 0, 0, small.width, small.height);
        return other.getImageData(0, 0, small.width, small.height).data;
    };
    const canvas = means((context) => context.drawImage(drawn, 0, 0));
    const vector = means((context) => context.drawImage(image, 0, 0, drawn.width, drawn.height));
    const empty = means(() => {});
    const far = (other) => canvas.reduce((sum, value, at) => sum + Math.abs(value - other[at]), 0);
    return far(vector) / far(empty);
}"""

LETTERS = {"en": "[A-Za-z]", "ko": "[가-힣]"}


def scenes(lesson: Lesson) -> list[str]:
    """The names of a lesson's scenes."""
    entry: list[str] = lesson.get("lesson.lesson.scenes.map(({ name }) => name)")
    return entry


def off_screen(lesson: Lesson, scene: str) -> list[str]:
    """What a class cannot see of a scene in the presenter's view."""
    lesson.go(scene)
    lesson.painted()
    value: list[str] = lesson.root.evaluate(OFF_SCREEN)
    return value


def vector_loss(lesson: Lesson) -> float:
    """How much of the scene that is shown gets lost as SVG: 0 for nothing, 1 for all."""
    loss: float = lesson.root.evaluate(VECTOR_LOSS)
    return loss


def unreadable(lesson: Lesson, scene: str, language: str) -> list[str]:
    """What cannot be read of a scene, in words."""
    lesson.root.evaluate(WATCH_TEXT)
    lesson.go(scene)
    lesson.get("lesson.draw?.()")
    lesson.painted()
    drawn = lesson.page.evaluate(DRAWN_TEXTS)
    result = set(lesson.root.evaluate(UNREADABLE))
    lesson.wait("lesson.readout.textContent.trim()")
    for said in (lesson.said(), lesson.canvas.get_attribute("aria-label") or ""):
        if not said.strip() or re.search("[{}]|undefined|NaN", said) or not re.search(LETTERS[language], said):
            result.add(f"said: {said!r}")
    for text in drawn:
        for flaw in ("outside", "cut"):
            if text[flaw]:
                result.add(f"{flaw}: {text['text']!r}")
        if text["faint"]:
            result.add(f"contrast {text['contrast']:.1f}: {text['text']!r}")
    return sorted(result)
