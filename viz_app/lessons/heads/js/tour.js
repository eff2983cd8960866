// A tour of all heads: one exemplary head of each role, drawn large; any other can be pressed.

import { context2d } from "../../../components/common/canvas.js";
import { fillText } from "../../../components/common/dom.js";
import { trace, write } from "../../../components/common/plot.js";
import { drawMap, picture, plain, tint } from "../../stage/js/map.js";
import { Scene } from "../../stage/js/scene.js";
import { HeadGrid, ring } from "./grid.js";
import { colourOf, colourOfRole, KINDS, named, parsed, share } from "./roles.js";

const NARROW = 620;
const ROW = 25; // of the list of roles
const NEAR = 1e-3; // an address keeps six digits

export class Tour extends Scene {
  /** @type {Map<string, HTMLCanvasElement>} */
  tiles = new Map();

  /** @type {any} */
  drawnFor;
  /** @type {HTMLCanvasElement} */
  drawn;

  get playhead() {
    const { tour } = this.lesson.values;
    return {
      name: "at",
      label: this.texts.role,
      min: 0,
      max: tour.length - 0.001,
      step: 1,
      rate: 0.24,
      start: 0,
      /** @param {number} value */
      show: (value) => this.texts[`short_${tour[Math.floor(value + NEAR)]?.role ?? tour.at(-1).role}`],
    };
  }

  get controls() {
    return [
      { name: "picked", kind: "held", start: "" },
      { name: "pickedat", kind: "held", start: -1 },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 640 : Math.max(380, Math.min(room, 620));
  }

  /**
   * What is shown: the head, and the row that is read, or null for all rows.
   * @param {Settings} settings
   */
  view({ at, picked, pickedat }) {
    const { tour, roles } = this.lesson.values;
    const stop = Math.min(Math.floor(at + NEAR), tour.length - 1);
    const pressed = Math.abs(pickedat - at) < NEAR ? parsed(picked, roles) : null;
    const [kind, layer, head] = pressed ?? [tour[stop].kind, tour[stop].layer, tour[stop].head];
    const measure = pressed ? roles[kind][layer][head] : tour[stop];
    const weights = this.lesson.arrays[kind].part(layer, head);
    const passed = at - stop;
    const row = pressed || passed < 0.02 || passed > 0.99 ? null : Math.floor(passed * weights.shape[0]);
    return { kind, layer, head, measure, weights, row, pressed: Boolean(pressed) };
  }

  /** @param {Kind} kind */
  axes(kind) {
    const { axes } = this.lesson.values;
    return {
      queries: { encoder: axes.source, decoder: axes.inputs, cross: axes.outputs }[kind],
      keys: { encoder: axes.source, decoder: axes.inputs, cross: axes.source }[kind],
      titles: [this.texts[`query_${kind}`], this.texts[`key_${kind}`]],
    };
  }

  /** @param {{ width: number, height: number }} given */
  grid({ width, height }) {
    const narrow = width < NARROW;
    const place = narrow ? { x: 0, y: 0, width, height: 130 } : { x: 0, y: 0, width: width * 0.26, height: height - 4 };
    return new HeadGrid(this.lesson.values.roles, { ...place, stacked: !narrow });
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const view = this.view(settings);
    const grid = this.grid(pen);
    this.drawGrid(pen, grid, view);
    const { width, height } = pen;
    const axes = this.axes(view.kind);
    const masked = view.kind === "decoder";
    if (width < NARROW) {
      this.drawMeasure(pen, view, 4, grid.height + 22, width - 8);
      drawMap(pen, view.weights, axes, {
        x: 0,
        y: grid.height + 158,
        width: width - 14,
        height: height - grid.height - 182,
        row: view.row,
        masked,
      });
      return;
    }
    const left = grid.width + 30;
    const panel = Math.min(250, (width - left) * 0.38);
    drawMap(pen, view.weights, axes, {
      x: left,
      y: 0,
      width: width - left - panel - 26,
      height: height - 24,
      row: view.row,
      masked,
    });
    this.drawMeasure(pen, view, width - panel, 14, panel);
    this.drawRoles(pen, view, width - panel, 168, panel);
    this.drawLeader(pen, grid, view, left);
  }

  /**
   * From the tile to the map.
   * @param {Pen} pen
   * @param {HeadGrid} grid
   * @param {any} view
   * @param {number} left
   */
  drawLeader({ context, theme }, grid, view, left) {
    const { x, y, size } = grid.tile(view.kind, view.layer, view.head);
    const colour = colourOfRole(view.measure.role, theme);
    const across = grid.width + 12;
    trace(
      context,
      [
        [x + size + 2, y + size / 2],
        [across, y + size / 2],
        [across, 92],
        [left, 92],
      ],
      { colour, width: 1.5, alpha: 0.7 },
    );
  }

  /**
   * The stops of the tour: what each colour means, and the head that fits it best.
   * @param {Pen} pen
   * @param {any} view
   * @param {number} x
   * @param {number} y
   * @param {number} width
   */
  drawRoles({ context, theme }, view, x, y, width) {
    const { tour } = this.lesson.values;
    write(context, this.texts.best, x, y, { colour: theme.muted, font: theme.font, size: 12, most: width });
    tour.forEach((stop, index) => {
      const down = y + 24 + index * ROW;
      const here = stop.kind === view.kind && stop.layer === view.layer && stop.head === view.head;
      const style = { colour: theme.text, font: theme.font, size: 13, weight: here ? 700 : 400 };
      context.fillStyle = colourOfRole(stop.role, theme);
      context.fillRect(x, down - 6, 12, 12);
      write(context, this.texts[`short_${stop.role}`], x + 20, down, { ...style, most: width - 108 });
      write(context, `${this.texts[`letter_${stop.kind}`]} ${named(stop.layer, stop.head)}`, x + width - 46, down, {
        ...style,
        colour: theme.muted,
        align: "right",
      });
      write(context, share(stop.share), x + width, down, { ...style, align: "right" });
    });
    const down = y + 24 + tour.length * ROW;
    context.fillStyle = theme.muted;
    context.globalAlpha = 0.5;
    context.fillRect(x, down - 6, 12, 12);
    context.globalAlpha = 1;
    write(context, this.texts.standing_none, x + 20, down, {
      colour: theme.muted,
      font: theme.font,
      size: 13,
      most: width - 20,
    });
  }

  /**
   * @param {Pen} pen
   * @param {HeadGrid} grid
   * @param {any} view
   */
  drawGrid(pen, grid, view) {
    const { context, theme } = pen;
    grid.drawLabels(pen, this.texts);
    const key = [pen.width, pen.height, theme.key].join();
    if (key !== this.drawnFor) {
      this.drawnFor = key;
      this.drawn = this.drawTiles(grid, theme, pen.width, pen.height);
    }
    context.drawImage(this.drawn, 0, 0, pen.width, pen.height);
    ring(context, grid.tile(view.kind, view.layer, view.head), theme.text, 2.5);
  }

  /**
   * All tiles on a canvas of their own: they stay the same while the tour goes on.
   * @param {HeadGrid} grid
   * @param {Theme} theme
   * @param {number} width
   * @param {number} height
   */
  drawTiles(grid, theme, width, height) {
    const ratio = globalThis.devicePixelRatio || 1;
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = context2d(canvas);
    context.scale(canvas.width / width, canvas.height / height);
    grid.forEach((kind, layer, head, tile) => {
      const role = this.lesson.values.roles[kind][layer][head];
      const colour = colourOf(role, theme);
      context.globalAlpha = role.standing === "named" ? 0.3 : 0.1;
      context.fillStyle = colour;
      context.fillRect(tile.x, tile.y, tile.size, tile.size);
      context.globalAlpha = 1;
      context.drawImage(this.small(kind, layer, head, colour), tile.x, tile.y, tile.size, tile.size);
      if (role.standing === "named") ring(context, { x: tile.x + 1, y: tile.y + 1, size: tile.size - 2 }, colour, 1);
    });
    return canvas;
  }

  /**
   * A tile's map, made once for each colour.
   * @param {Kind} kind
   * @param {number} layer
   * @param {number} head
   * @param {string} colour
   */
  small(kind, layer, head, colour) {
    const key = `${kind}.${layer}.${head}.${colour}`;
    const tile = this.tiles.get(key) ?? picture(this.lesson.arrays[kind].part(layer, head), tint(colour));
    this.tiles.set(key, tile);
    return tile;
  }

  /**
   * The role, whose head, and how surely.
   * @param {Pen} pen
   * @param {{ kind: Kind, layer: number, head: number, measure: any }} given
   * @param {number} x
   * @param {number} y
   * @param {number} width
   */
  drawMeasure({ context, theme }, { kind, layer, head, measure }, x, y, width) {
    const { texts } = this;
    const colour = colourOfRole(measure.role, theme);
    /**
     * @param {string} text
     * @param {number} down
     * @param {any} [more]
     */
    const line = (text, down, more = {}) =>
      write(context, text, x, y + down, { colour: theme.text, font: theme.font, size: 13, most: width, ...more });
    const title =
      measure.standing === "named"
        ? texts[`role_${measure.role}`]
        : fillText(texts.most_often, { role: texts[`short_${measure.role}`] });
    line(title, 0, { colour, size: 19, weight: 650 });
    line(fillText(texts.head_name, { kind: texts[kind], head: named(layer, head) }), 24, { colour: theme.muted });
    const bar = width - 52;
    const top = y + 44;
    context.fillStyle = theme.line;
    context.fillRect(x, top, bar, 10);
    context.fillStyle = colour;
    context.fillRect(x, top, bar * measure.share, 10);
    context.fillStyle = theme.text;
    context.fillRect(x + bar * measure.chance - 1, top - 4, 2, 18);
    write(context, share(measure.share), x + width, top + 5, {
      colour: theme.text,
      font: theme.font,
      size: 15,
      weight: 650,
      align: "right",
    });
    const chance = texts.chance;
    const place = x + bar * measure.chance;
    write(context, chance, place + 5 > x + bar * 0.6 ? place - 5 : place + 5, top + 22, {
      colour: theme.muted,
      font: theme.font,
      size: 11,
      align: place + 5 > x + bar * 0.6 ? "right" : "left",
    });
    line(fillText(texts.measured, { places: measure.places, least: Math.round(measure.at_least * 100) }), 86, {
      colour: theme.muted,
      size: 12,
    });
    line(texts[`standing_${measure.standing}`], 106, { weight: 600 });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { at }) {
    const found = this.grid(pen).at(x, y);
    return found && { picked: found.join("."), pickedat: at };
  }

  /**
   * The strongest link of the row that is read, or of the whole map.
   * @param {any} given
   */
  strongest({ weights, row, kind }) {
    const [rows, columns] = weights.shape;
    const { queries, keys } = this.axes(kind);
    let best = [-1, 0, 0];
    // The first row of the decoder has one key only, so its weight says nothing.
    for (
      let query = row ?? (kind === "decoder" && rows > 1 ? 1 : 0);
      query < (row === null ? rows : row + 1);
      query++
    ) {
      for (let key = 0; key < columns; key++) {
        const value = weights.at(query, key);
        if (value > best[0]) best = [value, query, key];
      }
    }
    return { weight: best[0] / 255, query: plain(queries[best[1]]), key: plain(keys[best[2]]) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const view = this.view(settings);
    const { weight, query, key } = this.strongest(view);
    const values = {
      kind: this.texts[view.kind],
      head: named(view.layer, view.head),
      query,
      key,
      weight: share(weight),
    };
    return (
      fillText(view.row === null ? this.texts.tour_say : this.texts.tour_row, values) +
      (this.lesson.values.cut ? ` ${this.texts.cut}` : "")
    );
  }

  table() {
    const { texts } = this;
    const rows = KINDS.flatMap((kind) =>
      this.lesson.values.roles[kind]
        .flat()
        .map((role) => [
          `${texts[kind]} ${named(role.layer, role.head)}`,
          texts[`short_${role.role}`],
          role.share,
          role.at_least,
          role.weight,
          role.chance,
          texts[`standing_${role.standing}`],
        ]),
    );
    return {
      columns: [
        texts.head,
        texts.role,
        texts.column_share,
        texts.column_least,
        texts.column_weight,
        texts.chance,
        texts.column_standing,
      ],
      rows,
    };
  }
}
