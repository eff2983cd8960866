// When does it know? For every token the layers of the decoder, and what each would generate.

import { fillText, percent } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { playhead } from "../../../stage/js/describe.js";
import { NARROW } from "../../../stage/js/headgrid.js";
import { Bench } from "../../js/bench.js";
import { after } from "../../js/order.js";

/**
 * Numbers of `bench.py`. `top`: by layer and token the most probable tokens.
 * @typedef {{ tokens: string[]; text: string; top: string[][][] }} Numbers
 */

const HEAD = 40;
const FOOT = 10;
const [MIN, MAX] = [12, 36]; // height of a row

/** @extends {Bench<Numbers>} */
export class Depth extends Bench {
  name = "depth";
  term = "state";

  get layers() {
    return this.known?.top.length ?? 7;
  }

  get playhead() {
    return playhead({
      name: "layer",
      label: this.texts.layer,
      max: this.layers - 1,
      rate: 0.7,
      start: this.layers - 1,
    });
  }

  get controls() {
    return [{ name: "token", kind: "held", start: 0 }];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    const count = this.known?.tokens.length ?? 8;
    const panel = width < NARROW ? 230 : 0;
    return Math.max(360, HEAD + FOOT + panel + count * Math.max(MIN, Math.min(MAX, (room - HEAD - FOOT) / count)));
  }

  /**
   * The token and the layer that are looked at.
   * @param {Settings} settings
   */
  at({ token, layer }) {
    const count = this.own.tokens.length;
    return {
      token: Math.max(0, Math.min(count - 1, Math.round(token))),
      layer: Math.max(0, Math.min(this.layers - 1, Math.floor(layer + 1e-6))),
    };
  }

  /** @param {{ width: number, height: number }} picture */
  places({ width, height }) {
    const narrow = width < NARROW;
    const count = this.own.tokens.length;
    const label = narrow ? 78 : 110;
    const wide = narrow ? width : width * 0.7;
    const high = narrow ? height - 230 : height;
    const row = Math.min(MAX, (high - HEAD - FOOT) / count);
    const panel = narrow
      ? { x: 0, y: HEAD + count * row + 24, width, height: 200 }
      : { x: wide + 28, y: 14, width: width - wide - 28, height: 300 };
    return { label, row, column: (wide - label) / this.layers, panel };
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { own, texts } = this;
    const { theme } = pen;
    const { label, row, column, panel } = this.places(pen);
    const { token, layer } = this.at(settings);
    const { log_p, rank } = this.lesson.arrays;
    const size = Math.max(8, Math.min(13, row - 4));
    pen.note(texts.after_layer, label, 8, { size: 12, most: this.layers * column });
    for (let each = 0; each < this.layers; each++) {
      const style = { size: 12, align: "center", weight: each === layer ? 700 : 400 };
      pen.write(String(each), label + (each + 0.5) * column, 27, style);
    }
    own.tokens.forEach((text, at) => {
      const y = HEAD + at * row;
      const written = { font: theme.code, size, align: "right", weight: at === token ? 700 : 400 };
      pen.write(tokenText(text), label - 8, y + row / 2, { ...written, most: label - 12 });
      for (let each = 0; each < this.layers; each++) {
        const x = label + each * column;
        const leads = rank.at(each, at) === 1;
        pen.fill(x + 1, y + 1, column - 2, row - 2, theme.kinds.decoder, 0.45 * Math.exp(log_p.at(each, at)));
        const style = { font: theme.code, size, align: "center", weight: leads ? 700 : 400, most: column - 6 };
        pen.write(tokenText(own.top[each][at][0]), x + column / 2, y + row / 2, {
          ...style,
          colour: leads ? theme.text : theme.muted,
        });
      }
    });
    pen.frame(label + layer * column, HEAD - 1, column, own.tokens.length * row + 2, theme.line, 1.5);
    pen.frame(label + layer * column + 1, HEAD + token * row, column - 2, row, theme.text, 2);
    this.drawCell(pen, token, layer, panel);
  }

  /**
   * One distribution: its first tokens, and the place of the token that was generated.
   * @param {Pen} pen
   * @param {number} token
   * @param {number} layer
   * @param {Box} place
   */
  drawCell(pen, token, layer, { x, y, width }) {
    const { theme } = pen;
    const { own, texts } = this;
    const { log_p, rank, top_log_p: tops } = this.lesson.arrays;
    const what = { token: tokenText(own.tokens[token]), layer };
    pen.write(fillText(texts.cell_title, what), x, y, { size: 14, weight: 650, most: width });
    own.top[layer][token].forEach((candidate, number) => {
      const top = y + 24 + number * 24;
      const share = Math.exp(tops.at(layer, token, number));
      const own_one = rank.at(layer, token) === number + 1;
      const label = { font: theme.code, align: "right", weight: own_one ? 700 : 400, most: 76 };
      pen.write(tokenText(candidate), x + 78, top + 8, label);
      pen.fill(x + 86, top, Math.max(1, (width - 140) * share), 16, theme.kinds.decoder, own_one ? 1 : 0.5);
      pen.note(percent(share), x + width, top + 8, { align: "right" });
    });
    const numbers = { rank: rank.at(layer, token), share: percent(Math.exp(log_p.at(layer, token))) };
    pen.note(fillText(texts.cell_rank, { ...what, ...numbers }), x, y + 156, { size: 13, most: width });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, _settings) {
    const { tokens } = this.own;
    const { label, row, column } = this.places(pen);
    const [layer, token] = [Math.floor((x - label) / column), Math.floor((y - HEAD) / row)];
    if (token < 0 || token >= tokens.length || layer >= this.layers || x < 0) return null;
    return layer < 0 ? { token } : { token, layer };
  }

  /** @type {Scene["lowered"]} From token to token. */
  lowered(count, settings) {
    const { tokens } = this.own;
    return { token: after([...tokens.keys()], this.at(settings).token, count) };
  }

  /**
   * From which layer on the token that was generated stays the most probable one.
   * @param {number} token
   */
  knownFrom(token) {
    const { rank } = this.lesson.arrays;
    let from = this.layers - 1;
    while (from > 0 && rank.at(from - 1, token) === 1) from--;
    return rank.at(from, token) === 1 ? from : null;
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { own, texts } = this;
    const { token, layer } = this.at(settings);
    const words = own.top[layer].map(([first]) => first).filter((token) => token !== "</s>");
    const text = words.join("").replaceAll("\u2581", " ").trim();
    const from = this.knownFrom(token);
    const known = fillText(from === null ? texts.known_never : texts.known_from, {
      token: tokenText(own.tokens[token]),
      layer: from ?? 0,
    });
    return `${fillText(texts.depth_say, { layer, text })} ${known}`;
  }

  /** @type {Scene["table"]} */
  table() {
    const { own, texts } = this;
    const { rank, log_p } = this.lesson.arrays;
    const columns = [texts.token, texts.after_layer, texts.first, texts.rank_of, texts.log_p];
    const rows = own.tokens.flatMap((token, at) =>
      own.top.map((layer, each) => [
        tokenText(token),
        each,
        tokenText(layer[at][0]),
        rank.at(each, at),
        log_p.at(each, at),
      ]),
    );
    return { columns, rows };
  }
}
