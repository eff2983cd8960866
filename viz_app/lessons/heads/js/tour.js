// A tour of all heads: one exemplary head of each role, drawn large; any other can be clicked.

import { headAddress, KINDS } from "../../../components/common/heads/heads.js";
import { fillText, headName, percent } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { playhead } from "../../stage/js/describe.js";
import { HeadGrid, ring } from "../../stage/js/headgrid.js";
import { isNarrow } from "../../stage/js/layout.js";
import { drawMap, mapAxes, picture, tint } from "../../stage/js/map.js";
import { Scene } from "../../stage/js/scene.js";
import { colourOf, colourOfRole, headAt } from "./roles.js";

/** @typedef {ReturnType<Tour["view"]>} View */

const ROW = 25; // of the list of roles
const NEAR = 1e-3; // an address keeps six digits

/** @extends {Scene<import("./numbers").Values>} */
export class Tour extends Scene {
  size = { narrow: 640, least: 380, most: 620 };

  /** @type {Map<string, import("../../stage/js/grid.js").Grid>} */
  tiles = new Map();

  get playhead() {
    const { tour } = this.lesson.values;
    return playhead({
      name: "at",
      label: this.texts.role,
      max: tour.length - 0.001,
      rate: 0.24,
      show: (value) => this.texts[`short_${(tour[Math.floor(value + NEAR)] ?? tour[tour.length - 1]).role}`],
    });
  }

  get controls() {
    return [
      { name: "picked", kind: "held", start: "" },
      { name: "pickedat", kind: "held", start: -1 },
    ];
  }

  /**
   * Return the shown head, and the shown row or null for all rows.
   * @param {Settings} settings
   */
  view({ at, picked, pickedat }) {
    const { tour, roles } = this.lesson.values;
    const stop = Math.min(Math.floor(at + NEAR), tour.length - 1);
    const clicked = Math.abs(pickedat - at) < NEAR ? headAt(picked, roles) : null;
    const role = clicked ?? tour[stop];
    const weights = this.lesson.arrays[role.kind].part(role.layer, role.head);
    const passed = at - stop;
    const row = clicked || passed < 0.02 || passed > 0.99 ? null : Math.floor(passed * weights.shape[0]);
    return { role, weights, row };
  }

  /** @param {Kind} kind */
  axes(kind) {
    return mapAxes(this.lesson.values.axes, kind, this.texts);
  }

  /** @param {{ width: number, height: number }} picture */
  grid(picture) {
    return new HeadGrid(this.lesson.values.roles, picture, 0.26, 130);
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const view = this.view(settings);
    const grid = this.grid(pen);
    this.drawGrid(pen, grid, view.role);
    const { width, height } = pen;
    const { kind } = view.role;
    const axes = this.axes(kind);
    const reading = { row: view.row, masked: kind === "decoder" };
    if (isNarrow(width)) {
      this.drawMeasure(pen, view.role, 4, grid.height + 22, width - 8);
      const place = { x: 0, y: grid.height + 158, width: width - 14, height: height - grid.height - 182 };
      drawMap(pen, view.weights, axes, { ...place, ...reading });
      return;
    }
    const left = grid.width + 30;
    const panel = Math.min(250, (width - left) * 0.38);
    const place = { x: left, y: 0, width: width - left - panel - 26, height: height - 24 };
    drawMap(pen, view.weights, axes, { ...place, ...reading });
    this.drawMeasure(pen, view.role, width - panel, 14, panel);
    this.drawRoles(pen, view.role, width - panel, 168, panel);
    this.drawLeader(pen, grid, view.role, left);
  }

  /**
   * From the tile to the map.
   * @param {Pen} pen
   * @param {HeadGrid<import("./numbers").Role>} grid
   * @param {import("./numbers").Role} role
   * @param {number} left
   */
  drawLeader(pen, grid, { kind, layer, head, role }, left) {
    const { x, y, size } = grid.tile(kind, layer, head);
    const [from, middle, across] = [x + size + 2, y + size / 2, grid.width + 12];
    const style = { colour: colourOfRole(role, pen.theme), width: 1.5, alpha: 0.7 };
    const points = [from, middle, across, middle, across, 92, left, 92];
    pen.trace(
      [0, 2, 4, 6].map((i) => points.slice(i, i + 2)),
      style,
    );
  }

  /**
   * The stops of the tour: what each colour means, and the head that fits it best.
   * @param {Pen} pen
   * @param {import("./numbers").Role} role
   * @param {number} x
   * @param {number} y
   * @param {number} width
   */
  drawRoles(pen, role, x, y, width) {
    const { theme } = pen;
    const { tour } = this.lesson.values;
    pen.note(this.texts.best, x, y, { most: width });
    tour.forEach((stop, index) => {
      const down = y + 24 + index * ROW;
      const here = stop.kind === role.kind && stop.layer === role.layer && stop.head === role.head;
      const style = { weight: here ? 700 : 400 };
      pen.fill(x, down - 6, 12, 12, colourOfRole(stop.role, theme));
      pen.write(this.texts[`short_${stop.role}`], x + 20, down, { ...style, most: width - 108 });
      const name = `${this.texts[`letter_${stop.kind}`]} ${headName(stop.layer, stop.head)}`;
      pen.write(name, x + width - 46, down, { ...style, colour: theme.muted, align: "right" });
      pen.write(percent(stop.share), x + width, down, { ...style, align: "right" });
    });
    const down = y + 24 + tour.length * ROW;
    pen.fill(x, down - 6, 12, 12, theme.muted, 0.5);
    pen.note(this.texts.standing_none, x + 20, down, { size: 13, most: width - 20 });
  }

  /**
   * @param {Pen} pen
   * @param {HeadGrid<import("./numbers").Role>} grid
   * @param {import("./numbers").Role} role
   */
  drawGrid(pen, grid, { kind, layer, head }) {
    const { context, theme } = pen;
    grid.drawLabels(pen, this.texts);
    grid.forEach((role, { x, y, size }) => {
      const colour = colourOf(role, theme);
      const isNamed = role.standing === "named";
      pen.fill(x, y, size, size, colour, isNamed ? 0.3 : 0.1);
      this.small(role, colour).draw(context, x, y, size, size);
      if (isNamed) ring(pen, { x: x + 1, y: y + 1, size: size - 2 }, colour, 1);
    });
    ring(pen, grid.tile(kind, layer, head), theme.text, 2.5);
  }

  /**
   * A tile's map, made once for each colour.
   * @param {import("./numbers").Role} role
   * @param {string} colour
   */
  small({ kind, layer, head }, colour) {
    const key = `${kind}.${layer}.${head}.${colour}`;
    const tile = this.tiles.get(key) ?? picture(this.lesson.arrays[kind].part(layer, head), tint(colour));
    this.tiles.set(key, tile);
    return tile;
  }

  /**
   * The role, whose head, and how surely.
   * @param {Pen} pen
   * @param {import("./numbers").Role} role
   * @param {number} x
   * @param {number} y
   * @param {number} width
   */
  drawMeasure(pen, role, x, y, width) {
    const { theme } = pen;
    const { texts } = this;
    const { kind, layer, head, share, chance, standing } = role;
    const colour = colourOfRole(role.role, theme);
    /**
     * @param {string} text
     * @param {number} down
     * @param {Partial<TextStyle>} [more]
     */
    const line = (text, down, more) => pen.write(text, x, y + down, { most: width, ...more });
    const leans = fillText(texts.most_often, { role: texts[`short_${role.role}`] });
    line(standing === "named" ? texts[`role_${role.role}`] : leans, 0, { colour, size: 17, weight: 650 });
    line(fillText(texts.head_name, { head: headAddress({ kind, layer, head }) }), 24, {
      colour: theme.muted,
    });
    const bar = width - 52;
    const top = y + 44;
    const place = x + bar * chance;
    pen.fill(x, top, bar, 10, theme.line);
    pen.fill(x, top, bar * share, 10, colour);
    pen.fill(place - 1, top - 4, 2, 18, theme.text);
    pen.write(percent(share), x + width, top + 5, { size: 15, weight: 650, align: "right" });
    const before = place + 5 > x + bar * 0.6;
    pen.note(texts.chance, before ? place - 5 : place + 5, top + 22, { size: 11, align: before ? "right" : "left" });
    const measured = fillText(texts.measured, { places: role.places, least: Math.round(role.at_least * 100) });
    line(measured, 86, { colour: theme.muted, size: 12 });
    line(texts[`standing_${standing}`], 106, { weight: 600 });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { at }) {
    const pressed = this.grid(pen).at(x, y);
    return pressed && { picked: headAddress(pressed), pickedat: at };
  }

  /**
   * The strongest link of the row that is read, or of the whole map.
   * @param {View} view
   */
  strongest({ weights, row, role: { kind } }) {
    const [rows, columns] = weights.shape;
    const { queries, keys } = this.axes(kind);
    let best = [-1, 0, 0];
    // The first row of the decoder has one key only, so its weight says nothing.
    const first = row ?? (kind === "decoder" && rows > 1 ? 1 : 0);
    for (let query = first; query < (row === null ? rows : row + 1); query++) {
      for (let key = 0; key < columns; key++) {
        const value = weights.at(query, key);
        if (value > best[0]) best = [value, query, key];
      }
    }
    return { weight: best[0] / 255, query: tokenText(queries[best[1]]), key: tokenText(keys[best[2]]) };
  }

  /**
   * The key that receives most: its column, the sum of that, and the number of rows.
   * @param {View} view
   */
  busiest({ weights }) {
    const [rows, columns] = weights.shape;
    const sums = new Array(columns).fill(0);
    weights.data.forEach((weight, at) => (sums[at % columns] += weight / 255));
    const most = sums.indexOf(Math.max(...sums));
    return { rows, most, sum: sums[most].toFixed(1) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const view = this.view(settings);
    const { weight, query, key } = this.strongest(view);
    const { kind, layer, head } = view.role;
    const sentence = fillText(view.row === null ? this.texts.tour_say : this.texts.tour_row, {
      kind: this.texts[kind],
      head: headAddress({ kind, layer, head }),
      query,
      key,
      weight: percent(weight),
    });
    const { cut, penalty } = this.lesson.values;
    const { rows, most, sum } = this.busiest(view);
    const column = fillText(this.texts.tour_column, { key: tokenText(this.axes(kind).keys[most]), sum, rows });
    return [sentence, column, cut ? this.texts.cut : "", penalty].filter(Boolean).join(" ");
  }

  table() {
    const { texts } = this;
    const rows = KINDS.flatMap((kind) =>
      this.lesson.values.roles[kind].flat().map(({ layer, head, role, share, at_least, weight, chance, standing }) => {
        const name = headAddress({ kind, layer, head });
        return [name, texts[`short_${role}`], share, at_least, weight, chance, texts[`standing_${standing}`]];
      }),
    );
    const { head, role, column_share, column_least, column_weight, chance, column_standing } = texts;
    return { columns: [head, role, column_share, column_least, column_weight, chance, column_standing], rows };
  }
}
