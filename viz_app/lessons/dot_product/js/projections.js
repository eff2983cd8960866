// Origin of queries, keys and values: the vectors of the tokens times three matrices. In
// self-attention all three read the same vectors, between encoder and decoder the queries' vectors are the decoder's.

import { divergingPixel } from "../../../components/common/draw/diverging.js";
import { headAddress } from "../../../components/common/heads/heads.js";
import { fillText } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { choice, playhead } from "../../stage/js/describe.js";
import { Grid } from "../../stage/js/grid.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";

const LANES = ["q", "k", "v"];
const NAMES = { q: "Q", k: "K", v: "V" };

/** @typedef {"q" | "k" | "v"} Lane */

/** @extends {Scene<import("./numbers").Values>} */
export class Projections extends Scene {
  size = { narrow: 470, least: 380, most: 520 };

  /** @type {Record<string, Grid>} */
  grids = {};

  get playhead() {
    const show = (/** @type {number} */ step) => this.texts[`projected_${Math.round(step)}`];
    return playhead({ name: "made", label: this.texts.step, max: 3, rate: 0.6, start: 3, show });
  }

  get controls() {
    const { projected_encoder: encoder, projected_cross: cross } = this.texts;
    const held = { name: "row", kind: "held", start: Math.min(1, this.lesson.values.tokens.length - 1) };
    return [choice("kind", this.texts.attention, { encoder, cross }), held];
  }

  /** @type {Scene["lit"]} */
  lit({ made }) {
    return ["inputs", "queries", "keys", "values"][Math.round(made)];
  }

  /** @param {string} kind */
  parts(kind) {
    const { arrays, values } = this.lesson;
    const part = (/** @type {string} */ name) => arrays[`${kind}_${name}`];
    const asking = kind === "cross" ? values.inputs : values.tokens;
    return { part, asking, answering: values.tokens, same: kind !== "cross" };
  }

  /**
   * Columns from left to right: tokens, vectors, matrices, what they give.
   * @param {number} width
   * @param {number} height
   * @param {string} kind
   */
  place(width, height, kind) {
    const { asking, answering, same } = this.parts(kind);
    const narrow = isNarrow(width);
    const label = narrow ? 52 : 84;
    const gap = narrow ? 20 : 44;
    const matrix = narrow ? 40 : 78;
    const rest = width - label - 2 * gap - matrix;
    const vectors = { x: label, width: rest * (narrow ? 0.52 : 0.6) };
    const matrices = { x: vectors.x + vectors.width + gap, width: matrix };
    const results = { x: matrices.x + matrix + gap, width: rest - vectors.width - 4 };
    const top = 26;
    const lane = (height - top) / 3;
    const tall = lane - 30; // below the name of each block
    const rowOf = (/** @type {number} */ count, /** @type {number} */ room) => Math.min(18, room / count);
    const block = (/** @type {number} */ y, /** @type {number} */ room, /** @type {string[]} */ tokens) => {
      const row = rowOf(tokens.length, room);
      return { y: y + (room - row * tokens.length) / 2, row, tokens };
    };
    const blocks = same
      ? [block(top + 22, height - top - 30, asking)]
      : [block(top + 22, tall, asking), block(top + lane + 22, 2 * lane - 30, answering)];
    return { narrow, vectors, matrices, results, top, lane, tall, blocks, label };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { made, kind, row }) {
    const { theme, width, height } = pen;
    const place = this.place(width, height, kind);
    const { part, same } = this.parts(kind);
    const step = Math.round(made);
    const sources = same ? ["of_queries"] : ["of_queries", "of_keys"];
    place.blocks.forEach((block, index) => {
      const title = this.texts[same ? "vectors_source" : index ? "vectors_memory" : "vectors_target"];
      pen.write(title, place.vectors.x, block.y - 12, { weight: 600, size: 13, most: place.vectors.width + 20 });
      const values = part(sources[index]);
      this.drawBlock(pen, `${kind}.${sources[index]}`, values, { ...place.vectors, ...block }, this.picked(row, block));
      block.tokens.forEach((token, at) => {
        const here = at === this.picked(row, block);
        const style = { font: theme.code, size: Math.min(13, Math.max(8, block.row - 2)), weight: here ? 700 : 400 };
        const colour = here ? theme.text : theme.muted;
        const y = block.y + (at + 0.5) * block.row;
        pen.write(tokenText(token), place.label - 6, y, { ...style, colour, align: "right", most: place.label - 8 });
      });
    });
    LANES.forEach((name, index) => {
      this.drawLane(pen, /** @type {Lane} */ (name), index, {
        place,
        kind,
        row,
        done: step > index,
        now: step === index + 1,
      });
    });
  }

  /**
   * The row that stands out in a block: the picked one, or the last where a block has fewer.
   * @param {number} row
   * @param {{ tokens: string[] }} block
   */
  picked(row, { tokens }) {
    return Math.min(Math.round(row), tokens.length - 1);
  }

  /**
   * One of Q, K and V: its matrix, and what that makes of the vectors.
   * @param {Pen} pen
   * @param {Lane} name
   * @param {number} index
   * @param {{ place: ReturnType<Projections["place"]>, kind: string, row: number, done: boolean, now: boolean }} how
   */
  drawLane(pen, name, index, { place, kind, row, done, now }) {
    const { theme } = pen;
    const { matrices, results, vectors, top, lane, tall, blocks, narrow } = place;
    const { part, same } = this.parts(kind);
    const block = blocks[same || name === "q" ? 0 : 1];
    const y = top + index * lane + 22;
    const middle = y + tall / 2;
    const colour = done ? (now ? theme.kinds.decoder : theme.text) : theme.line;
    const from = Math.min(Math.max(middle, block.y + 4), block.y + block.row * block.tokens.length - 4);
    pen.line(vectors.x + vectors.width + 3, from, matrices.x - 5, middle, { colour, width: now ? 2.5 : 1.5 });
    pen.write("W", matrices.x, y - 12, { weight: 700, size: 15, colour });
    pen.write(NAMES[name], matrices.x + 16, y - 17, { weight: 700, size: 10, colour });
    const weights = part(`w_${name}`);
    const grid = this.grid(`${kind}.w_${name}`);
    const [rows, columns] = weights.shape;
    grid.paint(this.key(pen, `${kind}.w_${name}`), rows, columns, (at, column) =>
      divergingPixel(theme, (weights.data[at * columns + column] - 128) / 127),
    );
    pen.context.globalAlpha = done ? 1 : 0.35;
    grid.draw(pen.context, matrices.x, y, matrices.width, tall);
    pen.context.globalAlpha = 1;
    pen.frame(matrices.x - 0.5, y - 0.5, matrices.width + 1, tall + 1, now ? colour : theme.line, now ? 2 : 1);
    const arrow = matrices.x + matrices.width;
    pen.line(arrow + 5, middle, results.x - 5, middle, { colour, width: now ? 2.5 : 1.5 });
    pen.write(NAMES[name], results.x, y - 12, { weight: 700, size: 15, colour });
    const values = part(name);
    const size = `${values.shape[0]} \u00d7 ${values.shape[1]}`;
    pen.note(size, results.x + results.width, y - 12, { align: "right" });
    const shape = { align: "right", size: 11 };
    if (!narrow) pen.note(`${rows} \u00d7 ${columns}`, matrices.x + matrices.width, y - 12, shape);
    if (!done) {
      pen.frame(results.x - 0.5, y - 0.5, results.width, tall + 1, theme.line);
      return;
    }
    const cells = { ...results, y, row: tall / block.tokens.length, tokens: block.tokens };
    this.drawBlock(pen, `${kind}.${name}`, values, cells, this.picked(row, block));
  }

  /**
   * Vectors, one a row, with the picked one framed.
   * @param {Pen} pen
   * @param {string} name
   * @param {NdArray} values
   * @param {{ x: number, y: number, width: number, row: number, tokens: string[] }} place
   * @param {number} picked
   */
  drawBlock(pen, name, values, { x, y, width, row, tokens }, picked) {
    const { theme, context } = pen;
    const [rows, columns] = values.shape;
    const most = values.data.reduce(
      (/** @type {number} */ top, /** @type {number} */ value) => Math.max(top, Math.abs(value)),
      1e-9,
    );
    const grid = this.grid(name);
    // Few numbers of a vector are large: the square root shows the others as well.
    grid.paint(this.key(pen, name), rows, columns, (at, column) => {
      const value = values.data[at * columns + column] / most;
      return divergingPixel(theme, Math.sign(value) * Math.sqrt(Math.abs(value)));
    });
    grid.draw(context, x, y, width, row * tokens.length);
    pen.frame(x - 0.5, y - 0.5, width + 1, row * tokens.length + 1, theme.line);
    pen.frame(x - 1, y + picked * row - 0.5, width + 2, row + 1, theme.text, 2);
  }

  /** @param {string} name */
  grid(name) {
    this.grids[name] ??= new Grid();
    return this.grids[name];
  }

  /**
   * @param {Pen} pen
   * @param {string} name
   */
  key({ theme }, name) {
    return `${name} ${theme.background}`;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }, { kind }) {
    const { blocks, matrices } = this.place(width, height, kind);
    if (x > matrices.x) return null;
    for (const { y: top, row, tokens } of blocks) {
      const at = Math.floor((y - top) / row);
      if (at >= 0 && at < tokens.length) return { row: at };
    }
    return null;
  }

  /** @type {Scene["say"]} */
  say({ kind, row }) {
    const { part, asking, answering } = this.parts(kind);
    const [layer, head] = this.lesson.values.projected[/** @type {"encoder" | "cross"} */ (kind)];
    const [size, width] = [part("w_q").shape[0], part("w_q").shape[1]];
    return fillText(this.texts[`projections_say_${kind}`], {
      head: headAddress({ kind, layer, head }),
      token: tokenText(asking[this.picked(row, { tokens: asking })]),
      other: tokenText(answering[this.picked(row, { tokens: answering })]),
      size,
      width,
    });
  }

  /** @type {Scene["table"]} */
  table({ kind, row }) {
    const { part, asking, answering } = this.parts(kind);
    const rows = LANES.map((name) => {
      const tokens = name === "q" ? asking : answering;
      const at = this.picked(row, { tokens });
      return [name, tokenText(tokens[at]), ...part(name).part(at).data.slice(0, 4)];
    });
    return { columns: ["", this.texts.token, "1", "2", "3", "4"], rows };
  }
}
