// A drawing as SVG: what a scene tells a canvas becomes elements, so that one drawing serves both.

import { h, svg } from "../page/dom.js";
import { context2d } from "./canvas.js";

const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
const FONT = /^(?:(\S+) )?([\d.]+)px (.+)$/; // weight, size, family, as browsers write them
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu; // in XML
const SHARP = 4; // pixels of a map for one of the page: a viewer that smooths then blurs an edge, not a cell

/**
 * Return a drawing as an SVG file.
 * @param {(context: CanvasRenderingContext2D) => void} draw Gives the canvas its size, in CSS pixels, and draws on it.
 * @param {string} language Of the texts: by it a computer chooses its font for "sans-serif".
 */
export function drawnAsSvg(draw, language) {
  return new XMLSerializer().serializeToString(svgDrawing(draw, language));
}

/**
 * Return a drawing as an SVG element; in a document its images need the address that they have as `xlink:href`.
 * @param {(context: CanvasRenderingContext2D) => void} draw As for `drawnAsSvg`.
 * @param {string} language
 * @param {string} [name] Begins the ids in it, for several drawings in one document.
 */
export function svgDrawing(draw, language, name = "") {
  const xlink = "http://www.w3.org/1999/xlink"; // of images, for programs that know no other address
  const page = svg("svg", { lang: language, "xmlns:xlink": xlink });
  const context = svgContext(page, name);
  draw(context);
  const { width, height } = context.canvas;
  for (const [attribute, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height }))
    page.setAttribute(attribute, String(value));
  return page;
}

/**
 * How far the baseline of letters lies below what the canvas calls the middle of its font.
 * @param {CanvasRenderingContext2D} context
 */
function belowMiddle(context) {
  const ascents = ["middle", "alphabetic"].map((baseline) => {
    context.textBaseline = /** @type {CanvasTextBaseline} */ (baseline);
    return context.measureText("").fontBoundingBoxAscent;
  });
  context.textBaseline = "middle";
  return ascents[1] - ascents[0];
}

/**
 * Return a context whose drawing is appended to an element.
 * @param {Element} page
 * @param {string} name Begins the ids in it.
 */
function svgContext(page, name) {
  // Nobody sees this canvas: it keeps colours, fonts and transforms, and measures texts.
  const context = context2d(h("canvas", { lang: page.getAttribute("lang") }));
  const { save, restore } = context;
  const groups = [page]; // one for each `save`; the last is drawn into
  /** @type {string[]} */
  const path = [];
  /** @type {(tag: string, attributes: Attributes, ...children: (Node | string)[]) => void} */
  const add = (tag, attributes, ...children) => {
    const { a, b, c, d, e, f } = context.getTransform();
    const blend = context.globalCompositeOperation; // of the names that CSS has, too
    const style = blend === "source-over" ? null : `mix-blend-mode: ${blend}`;
    const all = { transform: `matrix(${[a, b, c, d, e, f]})`, opacity: context.globalAlpha, style, ...attributes };
    groups.at(-1)?.append(svg(tag, all, ...children));
  };
  const filled = () => ({ fill: String(context.fillStyle) });
  const stroked = () => ({
    fill: "none",
    stroke: String(context.strokeStyle),
    "stroke-width": context.lineWidth,
    "stroke-linejoin": context.lineJoin,
    "stroke-dasharray": context.getLineDash().join(" ") || null,
  });
  /** @type {(command: string, ...numbers: number[]) => void} A path begins where its first command leads. */
  const draw = (command, ...numbers) => path.push(`${path.length ? command : "M"}${numbers}`);
  /** @type {(...place: number[]) => string} */
  const box = (...[x, y, width, height]) => `M${x} ${y}h${width}v${height}h${-width}Z`;
  /** @type {(...ellipse: number[]) => void} In two arcs, since one cannot go all the way round. */
  const ellipse = (...[x, y, across, down, turn, from, to]) => {
    const at = (/** @type {number} */ angle) => [x + across * Math.cos(angle), y + down * Math.sin(angle)];
    draw("L", ...at(from));
    for (const end of [(from + to) / 2, to]) draw("A", across, down, turn, 0, Number(to > from), ...at(end));
  };
  /** @type {(look: () => Attributes) => (text: string, x: number, y: number, most?: number) => void} */
  const write = (look) => (text, x, y, most) => {
    const [, weight, size, family] = FONT.exec(context.font) ?? [];
    const font = { "font-family": family, "font-size": size, "font-weight": weight, "xml:space": "preserve" };
    const down = context.textBaseline === "middle" ? belowMiddle(context) : 0;
    const place = { x, y: y + down, "text-anchor": ANCHORS[context.textAlign] };
    const squeezed = most && context.measureText(text).width > most ? most : null;
    const width = { textLength: squeezed, lengthAdjust: squeezed && "spacingAndGlyphs" };
    add("text", { ...place, ...width, ...font, ...look() }, text.replace(FORBIDDEN, "\ufffd"));
  };
  return Object.assign(context, {
    save: () => groups.push(groups[groups.length - 1]) && save.call(context),
    restore: () => groups.pop() && restore.call(context),
    beginPath: () => path.splice(0),
    moveTo: draw.bind(null, "M"),
    lineTo: draw.bind(null, "L"),
    bezierCurveTo: draw.bind(null, "C"),
    closePath: draw.bind(null, "Z"),
    rect: (/** @type {number[]} */ ...place) => path.push(box(...place)),
    ellipse,
    arc: (/** @type {number[]} */ ...[x, y, radius, from, to]) => ellipse(x, y, radius, radius, 0, from, to),
    roundRect: (/** @type {number[]} */ ...[x, y, width, height, radius]) => {
      const r = Math.min(radius, width / 2, height / 2);
      const [across, down, turn] = [width - 2 * r, height - 2 * r, `a${r} ${r} 0 0 1 `];
      path.push(`M${x + r} ${y}h${across}${turn}${r} ${r}v${down}${turn}${-r} ${r}`);
      path.push(`h${-across}${turn}${-r} ${-r}v${-down}${turn}${r} ${-r}Z`);
    },
    fill: () => add("path", { d: path.join(""), ...filled() }),
    stroke: () => add("path", { d: path.join(""), ...stroked() }),
    fillRect: (/** @type {number[]} */ ...place) => add("path", { d: box(...place), ...filled() }),
    strokeRect: (/** @type {number[]} */ ...place) => add("path", { d: box(...place), ...stroked() }),
    fillText: write(filled),
    strokeText: write(stroked),
    clip: () => {
      const id = `${name}clip${page.querySelectorAll("clipPath").length}`;
      add("clipPath", { id }, svg("path", { d: path.join("") }));
      add("g", { transform: null, opacity: null, "clip-path": `url(#${id})` });
      groups[groups.length - 1] = /** @type {Element} */ (groups.at(-1)?.lastElementChild);
    },
    drawImage: (/** @type {[HTMLCanvasElement, ...number[]]} */ ...[image, ...places]) => {
      const [x, y, width, height] = places.slice(-4);
      const [left, top, across, down] = places.length > 4 ? places : [0, 0, image.width, image.height];
      const times = context.imageSmoothingEnabled ? 1 : Math.ceil((SHARP * width) / across);
      const copy = h("canvas", { width: across * times, height: down * times });
      const pixels = context2d(copy);
      pixels.imageSmoothingEnabled = false;
      pixels.drawImage(image, left, top, across, down, 0, 0, copy.width, copy.height);
      add("image", { x, y, width, height, preserveAspectRatio: "none", "xlink:href": copy.toDataURL() });
    },
  });
}
