// One matrix for three jobs: it reads the pieces, and the same rows are what the decoder's output is compared with.

import { fillText } from "../../../components/common/dom.js";
import { grouped, signed } from "../../../components/common/format.js";
import { trace, write } from "../../../components/common/plot.js";
import { wrapped } from "../../stage/js/paragraph.js";
import { Scene } from "../../stage/js/scene.js";
import { arrow, drawTokens, faint, NARROW, plain, share, tokenAt } from "./parts.js";

export class Shared extends Scene {
  get playhead() {
    const tokens = this.lesson.values.tokens.encoder;
    return {
      name: "at",
      label: this.texts.reads,
      min: 0,
      max: tokens.length - 1,
      step: 1,
      rate: 0.6,
      start: Math.min(2, tokens.length - 1),
      /** @param {number} at */
      show: (at) => plain(tokens[Math.round(at)]),
    };
  }

  get controls() {
    const { outputs } = this.lesson.values;
    return [
      {
        name: "step",
        kind: "range",
        label: this.texts.writes,
        min: 1,
        max: outputs.length,
        step: 1,
        start: Math.min(2, outputs.length),
        /** @param {number} step */
        show: (step) => plain(outputs[Math.round(step) - 1]),
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 690 : Math.max(400, Math.min(room, 540));
  }

  /**
   * Height of a row of bars.
   * @param {number} height
   */
  line(height) {
    return Math.max(28, Math.min(42, (height - 226) / 6.3));
  }

  /**
   * Left: what is read; middle: the matrix; right: what is written.
   * @param {{ width: number, height: number }} given
   */
  places({ width, height }) {
    if (width < NARROW)
      return {
        narrow: true,
        reads: { x: 0, y: 0, width: width - 74 },
        writes: { x: 0, y: 382, width: width - 74 },
        matrix: { x: width - 46, y: 34, width: 30, height: height - 90 },
      };
    const side = (width - 190) / 2;
    return {
      narrow: false,
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
    const left = this.drawReads(pen, place.reads, read, place.narrow ? 28 : this.line(pen.height));
    const right = this.drawWrites(pen, place.writes, step, place.narrow ? 28 : this.line(pen.height));
    this.drawMatrix(pen, place, read, left, right);
  }

  /**
   * A piece of the sentence: its row's length, and the rows that point the same way.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number }} given
   * @param {number} read
   * @param {number} line
   */
  drawReads(pen, { x, y, width }, read, line) {
    const { context, theme } = pen;
    const { texts, lesson } = this;
    const { shared, tokens, ids, model } = lesson.values;
    const colour = theme.kinds.encoder;
    write(context, texts.reads_title, x, y + 9, { colour, font: theme.font, size: 13.5, weight: 650, most: width });
    drawTokens(pen, tokens.encoder, read, { x, y: y + 22, width, colour });
    const quiet = { colour: theme.muted, font: theme.font, size: 12 };
    const scale = Math.sqrt(model.d_model);
    const lengths = [
      [texts.row_length, shared.row_norms[read]],
      [`\u00d7 \u221a${model.d_model}`, shared.row_norms[read] * scale],
      [texts.position_length, shared.position_norms[read]],
    ];
    const most = Math.max(...lengths.map(([, length]) => length));
    let down = y + 66;
    write(context, texts.lengths_title, x, down, { ...quiet, most: width });
    const name = Math.min(118, width * 0.36);
    lengths.forEach(([text, length], index) => {
      down += index ? 20 : 19;
      this.bar(
        pen,
        { x, y: down, width, name },
        text,
        length / most,
        length.toFixed(1),
        index === 2 ? theme.mark : faint(colour, 0.8),
        theme.font,
      );
    });
    down += 34;
    write(context, texts.neighbours_title, x, down, { ...quiet, most: width });
    const first = down + 20;
    shared.neighbours[read].forEach(([piece, cosine], index) =>
      this.bar(
        pen,
        { x, y: first + index * line, width, name },
        plain(piece),
        Math.max(0, cosine),
        cosine.toFixed(2),
        faint(colour, 0.55),
        theme.code,
      ),
    );
    const usual = x + name + 8 + (width - name - 56) * shared.usual;
    const foot = first + (shared.neighbours[read].length - 0.4) * line;
    trace(
      context,
      [
        [usual, first - 12],
        [usual, foot],
      ],
      { colour: theme.text, width: 1.2, dash: [3, 3] },
    );
    wrapped(context, fillText(texts.usual, { cosine: shared.usual.toFixed(2) }), x, foot + 9, width, {
      ...quiet,
      size: 11.5,
    });
    return { y: y + 34, x: x + width, id: ids.encoder[read], others: shared.neighbours[read].map(([, , id]) => id) };
  }

  /**
   * @param {Pen} pen
   * @param {{ x: any, y: number, width: any, name: any }} given
   * @param {string} text
   * @param {number} part
   * @param {any} number
   * @param {string} colour
   * @param {string} font
   */
  bar({ context, theme }, { x, y, width, name }, text, part, number, colour, font) {
    const room = width - name - 56;
    write(context, text, x + name, y, { colour: theme.text, font, size: 13, align: "right", most: name });
    context.fillStyle = colour;
    context.fillRect(x + name + 8, y - 7, Math.max(1.5, room * part), 14);
    write(context, number, x + width, y, { colour: theme.text, font: theme.font, size: 12.5, align: "right" });
  }

  /**
   * A row of the decoder: the words whose rows fit its output best.
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number }} given
   * @param {number} step
   * @param {number} line
   */
  drawWrites(pen, { x, y, width }, step, line) {
    const { context, theme } = pen;
    const { texts, lesson } = this;
    const { likely, tokens, outputs } = lesson.values;
    const colour = theme.kinds.decoder;
    write(context, texts.writes_title, x, y + 9, { colour, font: theme.font, size: 13.5, weight: 650, most: width });
    drawTokens(pen, tokens.decoder, step, { x, y: y + 22, width, colour });
    const quiet = { colour: theme.muted, font: theme.font, size: 12 };
    write(context, fillText(texts.next_title, { token: plain(tokens.decoder[step]) }), x, y + 66, {
      ...quiet,
      most: width,
    });
    const name = Math.min(118, width * 0.34);
    const logit = 46;
    write(context, texts.logit, x + name + logit, y + 88, { ...quiet, size: 11.5, align: "right", most: logit });
    write(context, texts.probability, x + name + logit + 12, y + 88, {
      ...quiet,
      size: 11.5,
      most: width - name - logit - 12,
    });
    likely[step].forEach(([piece, probability, score], index) => {
      const up = y + 110 + index * line;
      const chosen = piece === outputs[step];
      const room = width - name - logit - 62;
      write(context, plain(piece), x + name, up, {
        colour: theme.text,
        font: theme.code,
        size: 13,
        weight: chosen ? 700 : 400,
        align: "right",
        most: name,
      });
      write(context, signed(score, 1), x + name + logit, up, {
        colour: theme.muted,
        font: theme.font,
        size: 12.5,
        align: "right",
      });
      context.fillStyle = faint(colour, chosen ? 1 : 0.5);
      context.fillRect(x + name + logit + 12, up - 7, Math.max(1.5, room * probability), 14);
      write(context, share(probability), x + name + logit + 18 + room * probability, up, {
        colour: theme.text,
        font: theme.font,
        size: 12.5,
      });
    });
    const foot = y + 110 + likely[step].length * line + 4;
    write(context, fillText(texts.written, { token: plain(outputs[step]) }), x, foot, {
      ...quiet,
      colour: theme.text,
      most: width,
    });
    return { y: y + 34, x, rows: likely[step].map(([piece, , , id]) => ({ id, chosen: piece === outputs[step] })) };
  }

  /**
   * All rows of the matrix as a tall box, those in use as lines.
   * @param {Pen} pen
   * @param {{ narrow: boolean, matrix: any }} given
   * @param {number} read
   * @param {any} left
   * @param {any} right
   */
  drawMatrix({ context, theme }, { narrow, matrix }, read, left, right) {
    const { x, y, width, height } = matrix;
    const { vocab_size: rows, d_model: columns } = this.lesson.values.model;
    context.fillStyle = faint(theme.muted, 0.1);
    context.fillRect(x, y, width, height);
    context.strokeStyle = theme.muted;
    context.lineWidth = 1.2;
    context.strokeRect(x, y, width, height);
    /** @param {any} id */
    const at = (id) => y + 2 + ((height - 4) * id) / rows;
    /**
     * @param {string} id
     * @param {string} colour
     * @param {number} thick
     */
    const rule = (id, colour, thick) =>
      trace(
        context,
        [
          [x + 1, at(id)],
          [x + width - 1, at(id)],
        ],
        { colour, width: thick },
      );
    left.others.forEach((id) => rule(id, faint(theme.kinds.encoder, 0.45), 1.2));
    right.rows.forEach(({ id, chosen }) => rule(id, faint(theme.kinds.decoder, chosen ? 1 : 0.45), chosen ? 2.6 : 1.2));
    rule(left.id, theme.kinds.encoder, 2.6);
    const middle = x + width / 2;
    write(context, "E", middle, y - (narrow ? 12 : 28), {
      colour: theme.text,
      font: theme.font,
      size: 17,
      weight: 650,
      align: "center",
    });
    if (!narrow)
      write(context, this.texts[this.lesson.values.shared.tied ? "one_matrix" : "own_matrices"], middle, y - 10, {
        colour: theme.muted,
        font: theme.font,
        size: 12,
        align: "center",
        most: 180,
      });
    const [high, wide] = [grouped(rows), grouped(columns)];
    write(context, `${high} \u00d7 ${wide}`, narrow ? x + width + 14 : middle, y + height + 16, {
      colour: theme.text,
      font: theme.font,
      size: 12.5,
      align: narrow ? "right" : "center",
    });
    const chosen = right.rows.find((row) => row.chosen) ?? right.rows[0];
    if (narrow) return;
    arrow(
      context,
      [
        [x, at(left.id)],
        [x - 18, at(left.id)],
        [x - 18, left.y],
        [left.x + 6, left.y],
      ],
      theme.kinds.encoder,
      { width: 1.6 },
    );
    arrow(
      context,
      [
        [right.x - 6, right.y],
        [x + width + 18, right.y],
        [x + width + 18, at(chosen.id)],
        [x + width, at(chosen.id)],
      ],
      theme.kinds.decoder,
      { width: 1.6 },
    );
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
    const said = fillText(this.texts.shared_say, {
      token: plain(tokens.encoder[read]),
      near: plain(near),
      cosine: cosine.toFixed(2),
      last: plain(tokens.decoder[row]),
      best: plain(best),
      probability: share(probability),
    });
    const cut = tokens.encoder.length < lengths.encoder || tokens.decoder.length < lengths.decoder;
    return [said, shared.tied ? "" : this.texts.untied, cut ? this.texts.cut : ""].filter(Boolean).join(" ");
  }

  /** @type {Scene["table"]} */
  table({ at, step }) {
    const { texts } = this;
    const { shared, tokens, likely } = this.lesson.values;
    const [read, row] = [Math.round(at), Math.round(step) - 1];
    const near = shared.neighbours[read].map(([piece, cosine]) => [
      texts.reads,
      plain(tokens.encoder[read]),
      plain(piece),
      cosine,
      "",
      "",
    ]);
    const next = likely[row].map(([piece, probability, logit]) => [
      texts.writes,
      plain(tokens.decoder[row]),
      plain(piece),
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
