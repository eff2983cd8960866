// The exam: two small decoders, trained with and without the mask, read a given translation while the mask slides over
// their maps; then each generates, token by token.

import { headAddress } from "../../../components/common/heads/heads.js";
import { ease, fillText, percent } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { shade } from "../../stage/js/bars.js";
import { playhead, slider } from "../../stage/js/describe.js";
import { isNarrow, split } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { futureColour, Grid } from "./grid.js";

const SHUT = 3; // the playhead, when the mask covers all later tokens
const ALONE = 5; // and when the decoders begin to generate
const TURNS = 2.4; // from here on the rows turn from unmasked to masked

/** @typedef {import("./numbers").Candidate} Candidate */

/** @extends {Scene<import("./numbers").Values>} */
export class Exam extends Scene {
  term = "past";

  get candidates() {
    return this.lesson.values.exam;
  }

  get playhead() {
    const [honest] = this.candidates;
    if (!honest) return null;
    const max = ALONE + honest.generated.length - 1;
    return playhead({ name: "at", label: this.texts.mask, max, rate: 1.2, once: true, show: (at) => this.stateOf(at) });
  }

  get controls() {
    if (!this.candidates.length) return [];
    const max = this.weights("masked", 0).shape[0] - 1;
    return [slider({ name: "head", label: this.texts.head, max, show: (head) => this.address(head) })];
  }

  /**
   * Weights (H, T, T) of a candidate's last layer.
   * @param {"masked" | "unmasked" | "alone"} name
   * @param {number} index
   */
  weights(name, index) {
    return this.lesson.arrays[`exam_${name}_${index}`];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return isNarrow(width) ? 590 : Math.max(360, Math.min(room, 560));
  }

  missing() {
    return this.candidates.length ? null : this.texts.exam_missing.replace("\n", " ");
  }

  /** @param {number} head */
  address(head) {
    return headAddress({ kind: "decoder", layer: this.candidates[0].layer, head: Math.round(head) });
  }

  /** @param {number} at */
  stateOf(at) {
    const { texts } = this;
    if (at >= ALONE) return texts.generating;
    return at < SHUT ? texts.unmasked : texts.masked;
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at, head }) {
    const box = { x: 0, y: 0, width: pen.width, height: pen.height };
    split(box, { gap: isNarrow(pen.width) ? 14 : 30 }).forEach((place, index) => {
      const titles = [this.texts.trained_masked, this.texts.trained_unmasked];
      pen.write(titles[index], place.x, place.y + 10, { size: 15, weight: 650, most: place.width });
      const marks = fillText(this.texts[at < SHUT ? "exam_framed" : "exam_hatched"], { head: this.address(head) });
      pen.note(marks, place.x, place.y + 30, { most: place.width });
      if (at < ALONE) this.drawForced(pen, index, place, at, Math.round(head));
      else this.drawAlone(pen, index, place, at, Math.round(head));
    });
  }

  /**
   * The cells of a candidate: as square as the box allows, with room for labels and bars.
   * @param {Box} box
   * @param {number} count
   */
  grid({ x, y, width, height }, count) {
    const left = Math.min(70, width * 0.18);
    const head = Grid.headroom(width / 2, count);
    const side = Math.min(width * 0.56, height - 54 - head - 36);
    return new Grid(x + left, y + 48 + head, side, side, count, count);
  }

  /**
   * The given translation: the map under the shutter, and for each row the probability of the token to predict.
   * @param {Pen} pen
   * @param {number} index
   * @param {Box} box
   * @param {number} at
   * @param {number} head
   */
  drawForced(pen, index, box, at, head) {
    const { theme } = pen;
    const { tokens, masked, unmasked } = this.candidates[index];
    const count = tokens.length;
    const grid = this.grid(box, count);
    const turned = ease((at - TURNS) / (SHUT - TURNS));
    /** @type {(open: number, shut: number) => number} */
    const between = (open, shut) => open + (shut - open) * turned;
    const [open, shut] = [this.weights("unmasked", index), this.weights("masked", index)].map((each) =>
      each.part(head),
    );
    // Above the diagonal the shutter alone covers what is there.
    grid.paint(pen, (q, k) => shade(theme, k > q ? open.at(q, k) : between(open.at(q, k), shut.at(q, k))));
    for (let ahead = 1; ahead < count; ahead++)
      grid.hatch(pen, (q, k) => k === q + ahead, ease((at / SHUT) * count - (count - 1 - ahead)));
    this.nameAxes(pen, grid, ["<s>", ...tokens.slice(0, -1)], count);
    if (at < SHUT) this.ringAnswers(pen, grid);
    tokens.forEach((token, row) => this.drawBar(pen, grid, box, row, token, between(unmasked[row], masked[row])));
    const [state, p] = turned < 0.5 ? ["unmasked", unmasked] : ["masked", masked];
    this.note(pen, box, fillText(this.texts[`exam_mean_${state}`], { p: percent(mean(p)) }));
  }

  /**
   * What a candidate generates: a row for each token so far.
   * @param {Pen} pen
   * @param {number} index
   * @param {Box} box
   * @param {number} at
   * @param {number} head
   */
  drawAlone(pen, index, box, at, head) {
    const { texts } = this;
    const { theme } = pen;
    const { generated, alone, text } = this.candidates[index];
    const weights = this.weights("alone", index).part(head);
    const grid = this.grid(box, Math.max(...this.candidates.map(({ generated: all }) => all.length)));
    const rows = Math.min(generated.length, Math.floor(at - ALONE) + 1);
    grid.paint(pen, (q, k) => (q < rows && k <= q ? shade(theme, weights.at(q, k)) : null));
    grid.hatch(pen, (q, k) => q < rows && k > q);
    this.nameAxes(pen, grid, ["<s>", ...generated.slice(0, -1)], rows);
    generated.slice(0, rows).forEach((token, row) => this.drawBar(pen, grid, box, row, token, alone[row]));
    const done = rows === generated.length;
    const words = done ? text || texts.generates_nothing : generated.slice(0, rows).join("").replaceAll("▁", " ");
    this.note(pen, box, `${texts.generates} ${words.trim()}`);
  }

  /**
   * @param {Pen} pen
   * @param {Grid} grid
   * @param {string[]} tokens
   * @param {number} rows
   */
  nameAxes(pen, grid, tokens, rows) {
    grid.frame(pen);
    grid.nameColumns(pen, tokens.slice(0, rows));
    grid.nameRows(pen, tokens.slice(0, rows), "left", { most: grid.left - 8 });
  }

  /**
   * The cell that holds the answer of its row: one to the right of the diagonal.
   * @param {Pen} pen
   * @param {Grid} grid
   */
  ringAnswers(pen, grid) {
    const colour = futureColour(pen.theme);
    for (let row = 0; row + 1 < grid.rows; row++) grid.outline(pen, row, colour, { from: row + 1, to: row + 2 });
  }

  /**
   * Beside a row: how probable its token is.
   * @param {Pen} pen
   * @param {Grid} grid
   * @param {Box} box
   * @param {number} row
   * @param {string} token
   * @param {number} p
   */
  drawBar(pen, grid, box, row, token, p) {
    const { theme } = pen;
    const left = grid.left + grid.width + 10;
    const room = box.x + box.width - left;
    const thick = Math.max(3, Math.min(16, grid.row - 3));
    const long = room * 0.44;
    const size = Math.min(13, Math.max(9, grid.row - 2));
    pen.fill(left, grid.y(row + 0.5) - thick / 2, long, thick, theme.line, 0.5);
    pen.fill(left, grid.y(row + 0.5) - thick / 2, long * p, thick, theme.kinds.decoder);
    pen.write(tokenText(token), left + long + 8, grid.y(row + 0.5), { font: theme.code, size, most: room - long - 8 });
  }

  /**
   * A line below the map.
   * @param {Pen} pen
   * @param {Box} box
   * @param {string} text
   */
  note(pen, { x, y, width, height }, text) {
    pen.write(text, x, y + height - 14, { size: 15, weight: 600, most: width });
  }

  /** @type {Scene["say"]} */
  say({ at, head }) {
    const { texts } = this;
    const [honest, cheat] = this.candidates;
    if (at >= ALONE) {
      const values = { honest: honest.text, cheat: cheat.text || texts.generates_nothing };
      return fillText(texts.exam_say_alone, values) + this.overall();
    }
    const name = at < SHUT ? "unmasked" : "masked";
    return fillText(texts[`exam_say_${name}`], {
      head: this.address(head),
      ahead_honest: percent(this.onAnswers(0, head)),
      ahead_cheat: percent(this.onAnswers(1, head)),
      honest: percent(mean(honest[name])),
      cheat: percent(mean(cheat[name])),
    });
  }

  /**
   * The mean weight, without the mask, that rows put on the token that they are to predict.
   * @param {number} index
   * @param {number} head
   */
  onAnswers(index, head) {
    const weights = this.weights("unmasked", index).part(Math.round(head));
    return mean(Array.from({ length: weights.shape[0] - 1 }, (_, row) => weights.at(row, row + 1)));
  }

  /** Add the result on many sentences, where it was measured. */
  overall() {
    const [honest, cheat] = this.candidates.map(({ measured }) => measured);
    const values = {
      honest: honest.nll_masked?.toFixed(2),
      cheat: cheat.nll_unmasked?.toFixed(2),
      honest_bleu: honest.bleu?.toFixed(1),
      cheat_bleu: cheat.bleu?.toFixed(1),
    };
    return Object.values(values).includes(undefined) ? "" : ` ${fillText(this.texts.exam_overall, values)}`;
  }

  /** @type {Scene["table"]} */
  table({ head }) {
    const { texts } = this;
    const names = [texts.trained_masked, texts.trained_unmasked];
    const rows = this.candidates.flatMap(({ tokens, masked, unmasked }, index) => {
      const weights = this.weights("unmasked", index).part(Math.round(head));
      /** @type {(row: number) => number | string} */
      const ahead = (row) => (row + 1 < tokens.length ? weights.at(row, row + 1) : "");
      return tokens.map((token, row) => [names[index], tokenText(token), ahead(row), unmasked[row], masked[row]]);
    });
    return { columns: [texts.decoder, texts.predicts, texts.on_answer, texts.unmasked, texts.masked], rows };
  }
}

/** @param {number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
