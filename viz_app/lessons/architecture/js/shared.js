// One matrix for three jobs: it reads the tokens, and the same rows are what the decoder's output is compared with.

import { fillText, formatCount, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { playhead, slider } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { arrow, drawTokens, faint, share, tokenAt } from "./parts.js";

/** @extends {Scene<import("./numbers").Values>} */
export class Shared extends Scene {
  size = { narrow: 690, least: 400, most: 540 };

  get playhead() {
    const tokens = this.lesson.values.tokens.encoder;
    return playhead({
      name: "at",
      label: this.texts.reads,
      max: tokens.length - 1,
      rate: 0.6,
      start: Math.min(2, tokens.length - 1),
      show: (at) => tokenText(tokens[Math.round(at)]),
    });
  }

  get controls() {
    const { outputs } = this.lesson.values;
    return [
      slider({
        name: "step",
        label: this.texts.writes,
        min: 1,
        max: outputs.length,
        start: Math.min(2, outputs.length),
        show: (step) => tokenText(outputs[Math.round(step) - 1]),
      }),
    ];
  }

  /**
   * Left: what is read; middle: the matrix; right: what is written.
   * @param {{ width: number, height: number }} given
   */
  places({ width, height }) {
    if (isNarrow(width))
      return {
        narrow: true,
        line: 28, // height of a row of bars
        reads: { x: 0, y: 0, width: width - 74 },
        writes: { x: 0, y: 382, width: width - 74 },
        matrix: { x: width - 46, y: 34, width: 30, height: height - 90 },
      };
    const side = (width - 190) / 2;
    return {
      narrow: false,
      line: Math.max(28, Math.min(42, (height - 226) / 6.3)),
      reads: { x: 0, y: 0, width: side },
      writes: { x: width - side, y: 0, width: side },
      matrix: { x: width / 2 - 33, y: 46, width: 66, height: height - 104 },
    };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const place = this.places(pen);
    const read = Math.round(settings.at);
    const step = Math.round(settings.step) - 1;
    const left = this.drawReads(pen, place.reads, read, place.line);
    const right = this.drawWrites(pen, place.writes, step, place.line);
    this.drawMatrix(pen, place, left, right);
  }

  /**
   * A token of the sentence: its row's length, and the rows that point the same way.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number }} given
   * @param {number} read
   * @param {number} line
   */
  drawReads(pen, { x, y, width }, read, line) {
    const { theme } = pen;
    const { texts, lesson } = this;
    const { shared, tokens, ids, model } = lesson.values;
    const colour = theme.kinds.encoder;
    pen.write(texts.reads_title, x, y + 9, { colour, size: 13.5, weight: 650, most: width });
    drawTokens(pen, tokens.encoder, read, { x, y: y + 22, width, colour });
    /** @type {[string, number][]} */
    const lengths = [
      [texts.row_length, shared.row_norms[read]],
      [`\u00d7 \u221a${model.d_model}`, shared.row_norms[read] * Math.sqrt(model.d_model)],
      [texts.position_length, shared.position_norms[read]],
    ];
    const most = Math.max(...lengths.map(([, length]) => length));
    const down = y + 66;
    pen.note(texts.lengths_title, x, down, { most: width });
    const name = Math.min(118, width * 0.36);
    lengths.forEach(([text, length], index) => {
      const place = { x, y: down + 19 + 20 * index, width, name };
      const shade = index === 2 ? theme.mark : faint(colour, 0.8);
      this.bar(pen, place, text, length / most, length.toFixed(1), shade, theme.font);
    });
    pen.note(texts.neighbours_title, x, down + 93, { most: width });
    const first = down + 113;
    shared.neighbours[read].forEach(([token, cosine], index) => {
      const place = { x, y: first + index * line, width, name };
      this.bar(pen, place, tokenText(token), Math.max(0, cosine), cosine.toFixed(2), faint(colour, 0.55), theme.code);
    });
    const usual = x + name + 8 + (width - name - 56) * shared.usual;
    const foot = first + (shared.neighbours[read].length - 0.4) * line;
    pen.line(usual, first - 12, usual, foot, { colour: theme.text, width: 1.2, dash: [3, 3] });
    const about = fillText(texts.usual, { cosine: shared.usual.toFixed(2) });
    wrapped(pen, about, x, foot + 9, width, { colour: theme.muted, size: 11.5 });
    return { y: y + 34, x: x + width, id: ids.encoder[read], others: shared.neighbours[read].map(([, , id]) => id) };
  }

  /**
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, name: number }} place
   * @param {string} text
   * @param {number} part
   * @param {string} number
   * @param {string} colour
   * @param {string} font
   */
  bar(pen, { x, y, width, name }, text, part, number, colour, font) {
    const room = width - name - 56;
    pen.write(text, x + name, y, { font, size: 13, align: "right", most: name });
    pen.fill(x + name + 8, y - 7, Math.max(1.5, room * part), 14, colour);
    pen.write(number, x + width, y, { size: 12.5, align: "right" });
  }

  /**
   * A row of the decoder: the words whose rows fit its output best.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number }} given
   * @param {number} step
   * @param {number} line
   */
  drawWrites(pen, { x, y, width }, step, line) {
    const { theme } = pen;
    const { texts, lesson } = this;
    const { likely, tokens, outputs } = lesson.values;
    const colour = theme.kinds.decoder;
    pen.write(texts.writes_title, x, y + 9, { colour, size: 13.5, weight: 650, most: width });
    drawTokens(pen, tokens.decoder, step, { x, y: y + 22, width, colour });
    pen.note(fillText(texts.next_title, { token: tokenText(tokens.decoder[step]) }), x, y + 66, { most: width });
    const name = Math.min(118, width * 0.34);
    const logits = x + name + 46;
    const bars = logits + 12;
    pen.note(texts.logit, logits, y + 88, { size: 11.5, align: "right", most: 46 });
    pen.note(texts.probability, bars, y + 88, { size: 11.5, most: x + width - bars });
    likely[step].forEach(([token, probability, score], index) => {
      const up = y + 110 + index * line;
      const chosen = token === outputs[step];
      const long = (x + width - bars - 50) * probability;
      pen.write(tokenText(token), x + name, up, {
        font: theme.code,
        weight: chosen ? 700 : 400,
        align: "right",
        most: name,
      });
      pen.note(signed(score, 1), logits, up, { size: 12.5, align: "right" });
      pen.fill(bars, up - 7, Math.max(1.5, long), 14, faint(colour, chosen ? 1 : 0.5));
      pen.write(share(probability), bars + 6 + long, up, { size: 12.5 });
    });
    const foot = y + 110 + likely[step].length * line + 4;
    const written = fillText(texts.written, { token: tokenText(outputs[step]) });
    pen.write(written, x, foot, { size: 12, most: width });
    return { y: y + 34, x, rows: likely[step].map(([token, , , id]) => ({ id, chosen: token === outputs[step] })) };
  }

  /**
   * All rows of the matrix as a tall box, those in use as lines.
   * @param {Pen} pen
   * @param {{ narrow: boolean, matrix: Box }} places
   * @param {ReturnType<Shared["drawReads"]>} left
   * @param {ReturnType<Shared["drawWrites"]>} right
   */
  drawMatrix(pen, { narrow, matrix }, left, right) {
    const { theme } = pen;
    const { x, y, width, height } = matrix;
    const { vocab_size: rows, d_model: columns } = this.lesson.values.model;
    pen.fill(x, y, width, height, faint(theme.muted, 0.1));
    pen.frame(x, y, width, height, theme.muted, 1.2);
    /** @param {number} id */
    const at = (id) => y + 2 + ((height - 4) * id) / rows;
    /**
     * @param {number} id
     * @param {string} colour
     * @param {number} thick
     */
    const rule = (id, colour, thick) => pen.line(x + 1, at(id), x + width - 1, at(id), { colour, width: thick });
    left.others.forEach((id) => rule(id, faint(theme.kinds.encoder, 0.45), 1.2));
    right.rows.forEach(({ id, chosen }) => rule(id, faint(theme.kinds.decoder, chosen ? 1 : 0.45), chosen ? 2.6 : 1.2));
    rule(left.id, theme.kinds.encoder, 2.6);
    const middle = x + width / 2;
    pen.write("E", middle, y - (narrow ? 12 : 28), { size: 17, weight: 650, align: "center" });
    const name = this.texts[this.lesson.values.shared.tied ? "one_matrix" : "own_matrices"];
    if (!narrow) pen.note(name, middle, y - 10, { align: "center", most: 180 });
    const size = `${formatCount(rows)} \u00d7 ${formatCount(columns)}`;
    const place = narrow ? { x: x + width + 14, align: "right" } : { x: middle, align: "center" };
    pen.write(size, place.x, y + height + 16, { size: 12.5, align: place.align });
    if (narrow) return;
    const chosen = right.rows.find((row) => row.chosen) ?? right.rows[0];
    const [from, to, ends] = [at(left.id), at(chosen.id), x + width];
    arrow(pen, [x, from, x - 18, from, x - 18, left.y, left.x + 6, left.y], theme.kinds.encoder, 1.6);
    arrow(pen, [right.x - 6, right.y, ends + 18, right.y, ends + 18, to, ends, to], theme.kinds.decoder, 1.6);
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    return at % 1 > 0.5 ? "out" : "in";
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { at, step }) {
    const { reads, writes } = this.places(pen);
    const { encoder, decoder } = this.lesson.values.tokens;
    const read = tokenAt(pen, encoder, Math.round(at), { ...reads, y: reads.y + 22 }, [x, y]);
    if (read !== null) return pen.first ? { at: read } : null;
    const written = tokenAt(pen, decoder, Math.round(step) - 1, { ...writes, y: writes.y + 22 }, [x, y]);
    return written !== null && pen.first ? { step: written + 1 } : null;
  }

  /** @type {Scene["say"]} */
  say({ at, step }) {
    const { shared, tokens, likely, lengths } = this.lesson.values;
    const read = Math.round(at);
    const row = Math.round(step) - 1;
    const [[near, cosine]] = shared.neighbours[read];
    const [[best, probability]] = likely[row];
    const sentence = fillText(this.texts.shared_say, {
      token: tokenText(tokens.encoder[read]),
      near: tokenText(near),
      cosine: cosine.toFixed(2),
      last: tokenText(tokens.decoder[row]),
      best: tokenText(best),
      probability: share(probability),
    });
    const cut = tokens.encoder.length < lengths.encoder || tokens.decoder.length < lengths.decoder;
    return [sentence, shared.tied ? "" : this.texts.untied, cut ? this.texts.cut : ""].filter(Boolean).join(" ");
  }

  /** @type {Scene["table"]} */
  table({ at, step }) {
    const { texts } = this;
    const { shared, tokens, likely } = this.lesson.values;
    const [read, row] = [Math.round(at), Math.round(step) - 1];
    const reads = [texts.reads, tokenText(tokens.encoder[read])];
    const near = shared.neighbours[read].map(([token, cosine]) => [...reads, tokenText(token), cosine, "", ""]);
    const writes = [texts.writes, tokenText(tokens.decoder[row])];
    const next = likely[row].map(([token, probability, logit]) => [
      ...writes,
      tokenText(token),
      "",
      logit,
      probability,
    ]);
    return {
      columns: [texts.job, texts.token, texts.row, texts.cosine, texts.logit, texts.probability],
      rows: [...near, ...next],
    };
  }
}
