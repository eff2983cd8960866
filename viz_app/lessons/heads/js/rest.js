// Heads that say nothing: all heads of a recorded training at each snapshot, and how many of them have come to rest.

import { headAddress, parseHead } from "../../../components/common/heads/heads.js";
import { fillText, formatCount, percent } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { Chart } from "../../stage/js/chart.js";
import { playhead } from "../../stage/js/describe.js";
import { HeadGrid, numberedHeads, ring } from "../../stage/js/headgrid.js";
import { isNarrow } from "../../stage/js/layout.js";
import { drawMap, mapAxes, picture, tint } from "../../stage/js/map.js";
import { Scene } from "../../stage/js/scene.js";
import { colourOfRole } from "./roles.js";

const PALE = 0.25;
const CHART = 170; // height of the curves
const [ROWS, NAMES] = [12, 84]; // of the strongest sink: at most, and the width of their names

/** @typedef {NonNullable<import("./numbers").Values["rest"]>} Recorded */

/** @extends {Scene<import("./numbers").Values>} */
export class Rest extends Scene {
  size = { narrow: 870, least: 420, most: 620 };

  /** @type {Map<string, import("../../stage/js/grid.js").Grid>} */
  tiles = new Map();

  get playhead() {
    const steps = this.lesson.values.rest?.steps;
    if (!steps) return null; // or its start would be another one
    return playhead({
      name: "at",
      label: this.texts.rest_step,
      max: steps.length - 1,
      rate: 1.5,
      start: steps.length - 1,
      show: (value) => formatCount(steps[Math.floor(value + 1e-6)] ?? 0),
    });
  }

  get controls() {
    return [{ name: "chosen", kind: "held", start: -1 }];
  }

  get heads() {
    const { rest_encoder: shares } = this.lesson.arrays;
    const [, layers, heads] = shares.shape;
    return numberedHeads(layers, heads);
  }

  /**
   * Number of the snapshot.
   * @param {Recorded} recorded
   * @param {Settings} settings
   */
  moment({ steps }, { at }) {
    return Math.max(0, Math.min(steps.length - 1, Math.floor(at + 1e-6)));
  }

  /**
   * Share of its weight that a head has on separators.
   * @param {number} moment
   * @param {import("../../stage/js/headgrid.js").NumberedHead} head
   */
  share(moment, { kind, layer, head }) {
    return this.lesson.arrays[`resting_${kind}`].at(moment, layer, head);
  }

  /**
   * The head that was pressed, else one that looked and came to rest.
   * @param {Settings} settings
   */
  shown({ chosen }) {
    const { list } = this.heads;
    return list[Math.round(chosen)] ?? list[this.lesson.values.rest?.turned ?? 0];
  }

  /** @param {{ width: number, height: number }} picture */
  places({ width, height }) {
    const narrow = isNarrow(width);
    const grid = new HeadGrid(this.heads.all, { width, height }, 0.28, 130);
    const side = narrow
      ? { x: 0, y: grid.height + 20, width, height: height - grid.height - 20 }
      : { x: grid.width + 40, y: 0, width: width - grid.width - 40, height };
    return { grid, side };
  }

  missing() {
    const { rest, rest_read: read } = this.lesson.values;
    if (rest) return null;
    return read ? this.texts.rest_missing : this.texts.computing;
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { rest } = this.lesson.values;
    const { theme } = pen;
    const moment = this.moment(rest, settings);
    const { grid, side } = this.places(pen);
    const chosen = this.shown(settings);
    grid.drawLabels(pen, this.texts);
    grid.forEach((head, tile) => {
      pen.context.save();
      if (this.share(moment, head) > rest.sink_share) pen.context.globalAlpha = PALE;
      pen.fill(tile.x, tile.y, tile.size, tile.size, theme.kinds[head.kind], 0.08);
      this.small(moment, head, theme).draw(pen.context, tile.x, tile.y, tile.size, tile.size);
      pen.context.restore();
    });
    ring(pen, grid.tile(chosen.kind, chosen.layer, chosen.head), theme.text, 2.5);
    const { kind, layer, head } = chosen;
    const { x, y, width, height } = side;
    const name = fillText(this.texts.head_name, { head: headAddress(chosen) });
    pen.write(name, x, y + 8, { size: 15, weight: 650, colour: theme.kinds[kind], most: width });
    pen.note(fillText(this.texts.rest_share, { share: percent(this.share(moment, chosen)) }), x, y + 28, {
      most: width,
    });
    const room = height - CHART - 80;
    const [right, down] = isNarrow(pen.width) ? [0, room / 2 + 42] : [width * 0.52, 0];
    const place = { x, y: y + 44, width: width - right, height: room - down };
    drawMap(pen, this.lesson.arrays[`rest_${kind}`].part(moment, layer, head), mapAxes(rest.axes, kind, this.texts), {
      ...place,
      masked: kind === "decoder",
    });
    this.drawSink(pen, { ...place, x: x + right, y: place.y + down });
    this.drawCounts(pen, rest, moment, { x, y: y + height - CHART, width, height: CHART });
  }

  /**
   * The strongest sink of the reader's model: what each key receives, and how long its value is.
   * @param {Pen} pen
   * @param {Box} place
   */
  drawSink(pen, { x, y, width, height }) {
    const { head, key, tokens, sums, lengths } = this.lesson.values.sink;
    const { theme } = pen;
    const shown = tokens.map((_, at) => at).slice(...(key < ROWS ? [0, ROWS] : [-ROWS]));
    const row = Math.min(22, (height - 26) / shown.length);
    const bar = (width - NAMES) / 2;
    pen.write(fillText(this.texts.sink_title, { head }), x, y - 36, { size: 14, weight: 650, most: width });
    [sums, lengths].forEach((values, column) => {
      const left = x + NAMES + column * bar;
      const colour = column ? theme.kinds[parseHead(head).kind] : theme.text;
      pen.note(column ? this.texts.sink_lengths : this.texts.sink_sums, left, y - 10, { size: 11, most: bar - 6 });
      shown.forEach((at, line) => {
        const middle = y + 8 + line * row;
        const style = { size: Math.min(13, row), weight: at === key ? 700 : 400 };
        const name = { ...style, font: theme.code, align: "right", most: NAMES - 8 };
        if (!column) pen.write(tokenText(tokens[at]), left - 8, middle, name);
        const long = ((bar - 46) * values[at]) / Math.max(...values);
        pen.fill(left, middle - row * 0.3, Math.max(1, long), row * 0.6, colour, at === key ? 1 : 0.45);
        pen.write(values[at].toFixed(1), left + long + 5, middle, style);
      });
    });
  }

  /**
   * A tile's map, made once for each colour.
   * @param {number} moment
   * @param {import("../../stage/js/headgrid.js").NumberedHead} head
   * @param {Theme} theme
   */
  small(moment, { kind, layer, head, number }, theme) {
    const key = `${moment}.${number}.${theme.kinds[kind]}`;
    const weights = this.lesson.arrays[`rest_${kind}`].part(moment, layer, head);
    const tile = this.tiles.get(key) ?? picture(weights, tint(theme.kinds[kind]));
    this.tiles.set(key, tile);
    return tile;
  }

  /** Self-attention heads of both stacks. */
  get count() {
    return this.heads.list.filter(({ kind }) => kind !== "cross").length;
  }

  /**
   * Plot the numbers of resting and attending heads; snapshots have equal distances.
   * @param {Pen} pen
   * @param {Recorded} recorded
   * @param {number} moment
   * @param {Box} place
   */
  drawCounts(pen, { steps, bleu, resting, looking }, moment, { x, y, width, height }) {
    const { theme } = pen;
    const { texts } = this;
    const score = bleu.length ? ` · ${fillText(texts.rest_bleu, { bleu: bleu[moment].toFixed(1) })}` : "";
    const headline = fillText(texts.rest_count, { resting: resting[moment], heads: this.count });
    pen.write(`${headline}${score}`, x, y + 8, { size: 14, weight: 650, most: width });
    const at = steps.map((_, index) => index);
    const look = { colour: colourOfRole("separator", theme) };
    const every = isNarrow(pen.width) ? 5 : 3;
    new Chart(
      pen,
      { x, y: y + 18, width, height: height - 18 },
      {
        series: [
          { x: at, y: resting, label: texts.rest_resting, look },
          { x: at, y: looking, label: texts.rest_looking, dashed: true, look: { colour: theme.text } },
        ],
        x: {
          title: texts.rest_step,
          ticks: at.filter((index) => index % every === 0).map((index) => [index, formatCount(steps[index])]),
        },
        y: { title: "", ends: [0, this.count] },
        cut: moment,
      },
    ).draw();
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen) {
    const hit = this.places(pen).grid.at(x, y);
    return hit && { chosen: hit.number };
  }

  /** @type {Scene["hit"]} "cross 1 2", a head. */
  hit(name, pen) {
    return this.places(pen).grid.hit(name);
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { rest } = this.lesson.values;
    const moment = this.moment(rest, settings);
    const chosen = this.shown(settings);
    const { head, key, tokens, sums, lengths } = this.lesson.values.sink;
    const others = lengths.filter((_, at) => at !== key);
    const sink = fillText(this.texts.sink_say, {
      head,
      token: tokenText(tokens[key]),
      sum: sums[key].toFixed(1),
      all: Math.round(sums.reduce((sum, each) => sum + each, 0)),
      length: lengths[key].toFixed(2),
      others: (others.reduce((sum, each) => sum + each, 0) / others.length).toFixed(2),
    });
    const said = fillText(this.texts.rest_say, {
      step: formatCount(rest.steps[moment]),
      resting: rest.resting[moment],
      looking: rest.looking[moment],
      heads: this.count,
      bleu: rest.bleu.length ? rest.bleu[moment].toFixed(1) : "–",
      head: fillText(this.texts.head_name, { head: headAddress(chosen) }),
      share: percent(this.share(moment, chosen)),
    });
    return `${said} ${sink}`;
  }

  /** @type {Scene["table"]} */
  table() {
    const { rest } = this.lesson.values;
    const { texts } = this;
    const rows = rest.steps.map((step, at) => [step, rest.resting[at], rest.looking[at], rest.bleu[at] ?? ""]);
    return { columns: [texts.rest_step, texts.rest_resting, texts.rest_looking, "BLEU"], rows };
  }
}
