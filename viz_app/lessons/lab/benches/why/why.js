// Why there? One cell of a head's map: its score dimension by dimension, or by where query and key come from; one part
// can be scaled down, which changes the row.

import { headAddress, parseHead } from "../../../../components/common/heads/heads.js";
import { fillText, percent, signed } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { choice, slider } from "../../../stage/js/describe.js";
import { NARROW } from "../../../stage/js/headgrid.js";
import { wrapped } from "../../../stage/js/paragraph.js";
import { Bench, beside } from "../../js/bench.js";
import { nextHead } from "../../js/benchheads.js";
import { EffectBars } from "../../js/effectbars.js";
import { HeadMap } from "../../js/headmap.js";
import { after, largest } from "../../js/order.js";
import { namedParts, origins, Parts } from "./whyparts.js";
import { drawDimensions, PartsMap } from "./whyviews.js";

/**
 * Numbers of `bench.py`. `head`: whose scores these are, as in settings; `start`: the cell that is shown first; `views`: those that there are.
 * `scale`: what a product of query and key is multiplied with.
 * @typedef {{
 *   head: string;
 *   layers: number;
 *   heads: number;
 *   queries: string[];
 *   keys: string[];
 *   source: string[];
 *   inputs: string[];
 *   start: [number, number];
 *   scale: number;
 *   views: string[];
 *   activation: string;
 * }} Numbers
 */

const TITLE = 46; // above the picture of a score
const ROW = 152; // height of the row of weights
const NAMED = 3; // of the largest parts

/**
 * The settings of another head; cell and part start anew.
 * @param {Pick<Head, "kind" | "layer" | "head">} head
 */
function settingsOf(head) {
  return { chosen: headAddress(head), part: "", query: -1, key: -1 };
}

/** @extends {Bench<Numbers>} */
export class Why extends Bench {
  /** Where the cells of the map were drawn. @type {import("../../js/headmap.js").Cells | null} */
  cells = null;

  name = "why";
  showsHead = true;
  size = { narrow: 900, least: 460, most: 620 };

  get controls() {
    const { texts } = this;
    const views = { roles: texts.why_roles, tokens: texts.why_tokens, dims: texts.why_dims };
    return [
      choice("view", texts.why_view, views),
      { name: "relative", kind: "switch", label: texts.why_relative, start: false },
      slider({
        name: "factor",
        label: texts.why_factor,
        max: 1,
        step: 0.05,
        start: 1,
        show: percent,
        where: ({ view }) => view !== "dims",
      }),
      { name: "next_query", kind: "button", label: texts.why_next_query },
      { name: "next_head", kind: "button", label: texts.why_next_head },
      { name: "chosen", kind: "held", start: "", server: true },
      { name: "query", kind: "held", start: -1 },
      { name: "key", kind: "held", start: -1 },
      { name: "part", kind: "held", start: "" },
    ];
  }

  /** @type {Scene["lit"]} */
  lit({ view }) {
    return view === "dims" ? "score" : "part";
  }

  /** Once the numbers are there. */
  get parts() {
    return new Parts(/** @type {Numbers} */ (this.own), this.lesson.arrays);
  }

  /**
   * The cell that is shown.
   * @param {Settings} settings
   */
  cell({ query, key }) {
    const { own, parts } = this;
    const row = Math.min(own.queries.length - 1, Math.round(query));
    if (row < 0) return { query: own.start[0], key: own.start[1] };
    const column = Math.min(own.keys.length - 1, Math.round(key));
    return { query: row, key: parts.seen(row).includes(column) ? column : parts.favourite(row) };
  }

  /**
   * All that is shown of a score by origin.
   * @param {Settings} settings
   */
  shown(settings) {
    return this.parts.shown(settings, this.cell(settings));
  }

  /**
   * Why a view is not there, or null.
   * @param {Settings} settings
   */
  refusal({ view }) {
    const { own, texts } = this;
    if (own.views.includes(view)) return null;
    return own.views.length ? fillText(texts.why_no_relu, { activation: own.activation }) : texts.why_additive;
  }

  /**
   * The view that was chosen, or the dimensions where this model does not have it; null where it has none.
   * @param {Settings} settings
   */
  offered({ view }) {
    const { views } = this.own;
    return [view, "dims"].find((each) => views.includes(each)) ?? null;
  }

  /** @param {{ width: number, height: number }} picture */
  places({ width, height }) {
    const narrow = width < NARROW;
    const box = { x: 0, y: 0, width: narrow ? width : width * 0.43, height: narrow ? 330 : height };
    const side = beside({ width, height }, box, { right: 26, below: 14 });
    const view = { ...side, y: side.y + TITLE, height: side.height - TITLE - ROW - 8 };
    const row = { ...side, y: side.y + side.height - ROW, height: ROW };
    return { map: new HeadMap(this.own, box), side, view, row };
  }

  /** @type {Bench<Numbers>["picture"]} */
  picture(pen, settings) {
    const { own, texts, lesson } = this;
    const { map, side } = this.places(pen);
    const title = this.headTitle(parseHead(own.head));
    this.cells = map.draw(pen, texts, { ...this.cell(settings), map: lesson.arrays.why_map, title });
    this.drawScore(pen, settings, side);
  }

  /**
   * The score of the cell, taken apart, and its row.
   * @param {Pen} pen
   * @param {Settings} settings
   * @param {Box} side
   */
  drawScore(pen, settings, { x, y, width }) {
    const { own, texts, parts } = this;
    const { view: place, row } = this.places(pen);
    const { query, key } = this.cell(settings);
    pen.write(fillText(texts.why_title, this.cellWords(settings)), x, y + 10, { size: 16, weight: 650, most: width });
    const view = this.offered(settings);
    const refusal = this.refusal(settings);
    const below = refusal ? wrapped(pen, refusal, x, y + 34, width, { size: 13, colour: pen.theme.muted }) : 0;
    if (!view) return;
    const box = { ...place, y: place.y + below, height: place.height - below };
    const colour = pen.theme.kinds[parseHead(own.head).kind];
    const before = Array.from(this.lesson.arrays.why_weights.part(query).data);
    let after = before;
    let sum = 0;
    if (view === "dims") {
      const contribution = parts.dimensions(query, key, settings.relative);
      sum = contribution.sum;
      drawDimensions(pen, texts, { ...contribution, colour }, box);
    } else {
      const contribution = this.shown(settings);
      ({ after } = contribution);
      ({ sum } = contribution.matrix);
      const names = origins(own, texts, view);
      new PartsMap(contribution.matrix, box).draw(pen, texts, { ...names, part: contribution.part });
    }
    pen.note(this.sumWords(settings, sum), x, y + 32 + below, { size: 13, most: width });
    const bands = before.map((weight) => (weight > 0.005 ? { low: 0, high: weight } : null));
    const title = after === before || settings.factor === 1 ? texts.why_row : texts.why_row_after;
    new EffectBars(after, row, bands).draw(pen, { tokens: own.keys, marked: key, colour, title });
  }

  /** @param {Settings} settings */
  cellWords(settings) {
    const { own } = this;
    const { query, key } = this.cell(settings);
    return {
      query: tokenText(own?.queries[query] ?? ""),
      key: tokenText(own?.keys[key] ?? ""),
      weight: percent(this.lesson.arrays.why_weights.at(query, key)),
    };
  }

  /**
   * @param {Settings} settings
   * @param {number} sum
   */
  sumWords(settings, sum) {
    const { query, key } = this.cell(settings);
    const score = this.parts.score(query, key, settings.relative);
    const known = { sum: signed(sum, 3), score: signed(score, 3) };
    return fillText(settings.relative ? this.texts.why_sum_relative : this.texts.why_sum, known);
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, settings) {
    if (!pen.first) return null;
    const { parts, cells } = this;
    const { map, view } = this.places(pen);
    const head = map.grid.at(x, y);
    if (head) return settingsOf(head);
    const cell = cells && map.at(x, y, cells);
    if (cell) return parts.seen(cell.query).includes(cell.key) ? cell : null;
    if (this.offered(settings) !== settings.view || settings.view === "dims") return null;
    const part = new PartsMap(this.shown(settings).matrix, view).at(x, y);
    return part && { part: `${settings.view}.${part.join(".")}` };
  }

  /** @type {Scene["hit"]} "cell 2 1", query and key; "cross 1 2", a head; "part 0 1", the places of its origins. */
  hit(name, pen, settings) {
    const { map, view } = this.places(pen);
    const [what, ...words] = name.split(" ");
    const [one, other] = words.map(Number);
    if (what === "cell") return this.cells && map.middle(one, other, this.cells);
    if (what === "part") return new PartsMap(this.shown(settings).matrix, view).middle(one, other);
    return map.grid.hit(name);
  }

  /** @type {Scene["press"]} */
  press(name, settings) {
    const { own } = this;
    if (name === "next_query") {
      const query = (this.cell(settings).query + 1) % own.queries.length;
      return { query, key: this.parts.favourite(query) };
    }
    return settingsOf(nextHead(own));
  }

  /** @type {Scene["stepped"]} From key to key of the row. */
  stepped(count, settings) {
    const { query, key } = this.cell(settings);
    const seen = this.parts.seen(query);
    return { query, key: after(seen, seen.indexOf(key), count) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { own, parts, texts } = this;
    const words = { head: this.headTitle(parseHead(own.head)), ...this.cellWords(settings) };
    const said = fillText(texts.why_say, words);
    const refusal = this.refusal(settings);
    const start = refusal ? `${said} ${refusal}` : said;
    const view = this.offered(settings);
    if (!view) return start;
    const { query, key } = this.cell(settings);
    if (view === "dims") {
      const { products, sum } = parts.dimensions(query, key, settings.relative);
      const at = largest(products.map(Math.abs));
      const named = fillText(texts.why_say_dimension, { number: at + 1, value: signed(products[at], 2) });
      return `${start} ${this.sumWords(settings, sum)} ${named}`;
    }
    const { pressed, matrix, part, value, after: weights, sorted } = this.shown(settings);
    const { of_query, of_key } = origins(own, texts, view);
    if (!pressed && settings.factor === 1) {
      const largestParts = namedParts(sorted.slice(0, NAMED), { of_query, of_key });
      const known = fillText(texts.why_say_largest, { parts: largestParts });
      return `${start} ${this.sumWords(settings, matrix.sum)} ${known}`;
    }
    const named = {
      of_query: of_query[part[0]].words,
      of_key: of_key[part[1]].words,
      value: signed(value, 2),
      rank: sorted.findIndex((each) => each.part[0] === part[0] && each.part[1] === part[1]) + 1,
      parts: sorted.length,
      factor: percent(settings.factor),
      after: percent(weights[key]),
    };
    const scaled = settings.factor < 1 ? ` ${fillText(texts.why_say_scaled, { ...words, ...named })}` : "";
    return `${start} ${this.sumWords(settings, matrix.sum)} ${fillText(texts.why_say_part, named)}${scaled}`;
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { own, parts, texts } = this;
    const view = this.offered(settings);
    if (!view) return null;
    const { query, key } = this.cell(settings);
    if (view === "dims") {
      const { of_query, of_key, products } = parts.dimensions(query, key, settings.relative);
      const columns = [texts.why_dimension, texts.why_query_vector, texts.why_key_vector, texts.why_product];
      return { columns, rows: products.map((each, at) => [at + 1, of_query[at], of_key[at], each]) };
    }
    const { of_query, of_key } = origins(own, texts, view);
    const rows = this.shown(settings).sorted.map(({ part, value }) => [
      of_query[part[0]].words,
      of_key[part[1]].words,
      value,
    ]);
    return { columns: [texts.why_from_query, texts.why_from_key, texts.why_part], rows };
  }
}
