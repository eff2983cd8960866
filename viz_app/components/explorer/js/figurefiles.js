// The head and the tiles as files on pages without Python: drawn as on the screen, as numbers, as the command for print.

import { context2d } from "../../common/draw/canvas.js";
import { drawnAsSvg } from "../../common/draw/svgcontext.js";
import { h } from "../../common/page/dom.js";
import { download, startPage } from "../../common/page/recording.js";
import { copyButton } from "../../common/text/copy.js";
import { csvFile, csvText } from "../../common/text/csv.js";
import { HEAD } from "./record.js";

const [SCALE, LARGEST] = [3, 12_000]; // pixels for each CSS pixel, and of a side at most
const TALL = 640; // height that a head keeps to while its cells can shrink
const SEEN = ".tile:not(.absent) canvas, .block-name, .tile-number, .captioned .tile-name, .captioned .tile-value";

/** @typedef {"head" | "tiles"} Part
 * @typedef {import("../../common/page/recording.js").PageSize} PageSize
 * @typedef {(size: PageSize) => CanvasRenderingContext2D} Begin
 */

const [FORMATS, TOOL] = [["svg", "png", "csv"], "tool plain"];

export class FigureFiles {
  element = h("div", { class: "menu-row" });

  /** @param {import("./explorer.js").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
  }

  /** For a new translation. */
  build() {
    const { texts, translation } = this.explorer;
    const { about, beam } = translation;
    this.element.hidden = !about?.answers; // Python has the files
    const prints = about?.answers?.checkpoint && !beam?.shown; // no text leads to another branch
    const words = { ...texts, copy: texts.files_command };
    const row = (/** @type {Part} */ part) => [
      h("span", { class: "menu-title" }, texts[`files_${part}`]),
      ...FORMATS.map((name) => h("button", { class: TOOL, click: () => this.save(part, name) }, name.toUpperCase())),
      prints ? copyButton(() => this.command(part), words, { class: TOOL }) : null,
    ];
    const rows = [row("head"), row("tiles")].map((parts) => h("div", { class: "menu-files" }, ...parts));
    this.element.replaceChildren(...rows);
  }

  /**
   * @param {Part} part
   * @param {string} format
   */
  save(part, format) {
    const { figure, overview, recorder: film, theme, translation } = this.explorer;
    const { kind, name, groups } = figure.picture.matrix;
    const head = groups ? `${kind}_${name}` : name;
    const shown = part !== "head" ? `${kind}_${part}` : figure.flows ? "flow" : head;
    const file = `headlight_${shown}.${format}`;
    if (format === "csv") return download(csvFile(this.table(part)), file);
    const tiles = [translation.about?.text ?? "", overview.about.textContent ?? ""];
    const lines = part === "head" ? film.lines() : film.lines(...tiles);
    const scale = (/** @type {PageSize} */ { width, height }) => Math.min(SCALE, LARGEST / Math.max(width, height));
    const draw = (/** @type {CanvasRenderingContext2D} */ context) => {
      /** @type {Begin} */
      const begin = (size) => startPage(context, size, format === "svg" ? 1 : scale(size), theme, HEAD, lines);
      if (part === "head") this.drawHead(begin);
      else this.drawTiles(begin);
    };
    if (format === "svg")
      return download(new Blob([drawnAsSvg(draw, this.explorer.root.lang)], { type: "image/svg+xml" }), file);
    const canvas = h("canvas");
    draw(context2d(canvas));
    return canvas.toBlob((blob) => blob && download(blob, file));
  }

  /**
   * The drawing on the screen, whole and without the pointer.
   * @param {Begin} begin
   */
  drawHead(begin) {
    const drawing = Object.create(this.explorer.figure.shown);
    const start = (/** @type {PageSize} */ size) => Object.assign(begin(size), { textBaseline: "middle" });
    Object.assign(drawing, { begin: start, element: h("div"), space: h("div"), hand: { cursor: () => null } });
    drawing.layout(Number.POSITIVE_INFINITY, TALL, Number.POSITIVE_INFINITY);
    drawing.draw();
  }

  /**
   * The tiles as they stand, with their names.
   * @param {Begin} begin
   */
  drawTiles(begin) {
    const { overview, theme } = this.explorer;
    const { element } = overview.tiles;
    const frame = element.getBoundingClientRect();
    const context = Object.assign(begin(frame), {
      fillStyle: theme.text,
      font: `12px ${theme.font}`,
      textBaseline: "middle",
    });
    for (const part of element.querySelectorAll(SEEN)) {
      const { x, y, width, height } = part.getBoundingClientRect();
      const [left, top] = [x - frame.x, y - frame.y];
      if (part instanceof HTMLCanvasElement) context.drawImage(part, left, top, width, height);
      else context.fillText(part.textContent ?? "", left, top + height / 2);
    }
  }

  /**
   * The weights of each head as a table with its queries as rows.
   * @param {Part} part
   */
  table(part) {
    const { figure, overview } = this.explorer;
    if (part === "head" && figure.flows) return csvText(figure.flow.rows());
    const pictures = part === "head" ? [figure.picture] : overview.tiles.all.map((tile) => overview.picture(tile));
    const rows = pictures.flatMap((picture) => {
      const { matrix, rows, columns, written, existing } = picture;
      const keys = columns.slice(0, existing);
      /** @param {number} query */
      const weights = (query) => keys.map((key) => (picture.forbidden(query, key) ? "" : matrix.at(query, key)));
      return [
        [matrix.groups ? `${matrix.kind} ${matrix.name}` : matrix.name, ...keys.map((key) => matrix.keys[key].text)],
        ...rows.slice(0, written).map((query) => [matrix.queries[query].text, ...weights(query)]),
      ];
    });
    return csvText(rows);
  }

  /**
   * Writes the figure for print, in a POSIX shell.
   * @param {Part} part
   */
  command(part) {
    const { store, translation } = this.explorer;
    const { kind, layer, head, unit, form } = store.state;
    const { text, answers, force } = /** @type {NonNullable<typeof translation.about>} */ (translation.about);
    const one = { view: form === "lines" ? form : "head", kind, layer: layer + 1, head: head + 1 };
    const shown = part === "head" ? one : { view: "heads", kind };
    const sentence = { checkpoint: answers?.checkpoint, text, ...(force ? { prefix: force } : {}) };
    const words = Object.entries({ ...sentence, ...shown, unit, out: "figure.pdf" });
    return ["python -m viz_app export", ...words.map(([name, value]) => shellWord(`--${name}=${value}`))].join(" ");
  }
}

/** @param {string} word Without what would control the terminal. */
export const shellWord = (word) => `'${word.replace(/\p{Cc}/gu, " ").replaceAll("'", "'\\''")}'`;
