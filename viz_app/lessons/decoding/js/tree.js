// The tree of the search, one step after the other; what was pruned stays grey.

import { fillText } from "../../../components/common/dom.js";
import { signed } from "../../../components/common/format.js";
import { dot, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { ranked, searchOf } from "./beams.js";

const LEFT = 34;
const TOP = 22;
const LEAST = 88; // width of a step
const BEND = 18;
const LISTED = 4;
const ROW = 21; // of the list
const ROOMY = 27; // height of a row that has room for the sum, too
const START = -1;

export class Tree extends Scene {
  get search() {
    return searchOf(this.lesson);
  }

  get playhead() {
    const { search } = this;
    return {
      name: "step",
      label: this.texts.step,
      min: 1,
      max: search?.steps ?? 1,
      step: 1,
      rate: 1,
      start: 1,
      /** @param {number} value */
      show: (value) => String(Math.floor(value + 1e-6)),
    };
  }

  get controls() {
    return [{ name: "pruned", kind: "switch", label: this.texts.pruned, start: true }];
  }

  lit() {
    return "sum";
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < 620 ? 480 : Math.max(390, Math.min(room, 600));
  }

  /**
   * Places of a view: how wide a step is, how far it is scrolled, where rows stand.
   * @param {Pen} pen
   * @param {Settings} settings
   */
  layout({ width, height }, { step, pruned }) {
    const { search } = this;
    const column = Math.max(LEAST, (width - LEFT - 10) / search.steps);
    const whole = LEFT + column * search.steps + 10;
    const scroll = Math.max(0, Math.min(whole - width, LEFT + column * step - width * 0.72));
    const rows = pruned
      ? search.rows
      : Math.max(...search.columns.map((nodes) => nodes.filter((node) => !search.pruned(node)).length));
    const row = (height - TOP - ROW * LISTED - 45) / Math.max(1, rows);
    return {
      column,
      /** @param {number} node */
      x: (node) => (node === START ? LEFT - 10 : LEFT + search.step[node] * column - 12) - scroll,
      /** @param {number} node */
      y: (node) => TOP + (node === START ? 0.5 : search.row[node] + 0.5) * row,
      row,
    };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, theme } = pen;
    const { search } = this;
    if (!search) return;
    const place = this.layout(pen, settings);
    const best = new Set(search.path(search.leaves[0]));
    const last = Math.floor(settings.step + 1e-6);
    const done = last >= search.steps;
    write(context, "<s>", place.x(START) - 4, place.y(START) - 14, {
      colour: theme.muted,
      font: theme.code,
      size: 12,
      align: "center",
    });
    dot(context, place.x(START), place.y(START), 4, theme.text);
    for (let step = 1; step <= last; step++) {
      const nodes = search.columns[step].filter((node) => settings.pruned || !search.pruned(node));
      if (place.x(nodes[0]) < -20 || place.x(nodes[0]) - place.column > width) continue;
      write(context, String(step), place.x(nodes[0]) - place.column / 2 + 10, 8, {
        colour: theme.muted,
        font: theme.font,
        size: 12,
        align: "center",
      });
      context.globalAlpha = step === last && settings.step % 1 > 1e-6 ? Math.min(1, 0.25 + (settings.step % 1) * 2) : 1;
      for (const node of [...nodes].reverse()) this.drawNode(pen, place, node, done && best.has(node));
      context.globalAlpha = 1;
    }
    this.drawList(pen, last);
  }

  /**
   * @param {Pen} pen
   * @param {any} place
   * @param {number} node
   * @param {boolean} best
   */
  drawNode({ context, theme }, place, node, best) {
    const { search } = this;
    const gone = search.pruned(node);
    const colour = best ? theme.kinds.cross : gone ? theme.mark : theme.text;
    const [x, y] = [place.x(node), place.y(node)];
    const from = [place.x(search.parent[node]), place.y(search.parent[node])];
    context.strokeStyle = colour;
    context.lineWidth = best ? 3 : gone ? 1 : 1.5;
    context.beginPath();
    context.moveTo(from[0], from[1]);
    context.bezierCurveTo(from[0] + BEND * 0.7, from[1], from[0] + BEND * 0.3, y, from[0] + BEND, y);
    context.lineTo(x, y);
    context.stroke();
    const room = place.column - BEND - 12;
    const size = place.row < ROOMY ? 11 : 13;
    const left = x - place.column + BEND + 2;
    write(context, search.label(node), left, y - 8, {
      colour: gone ? theme.muted : theme.text,
      font: theme.code,
      size,
      weight: best ? 700 : 400,
      most: room,
    });
    if (place.row >= ROOMY)
      write(context, signed(search.total[node]), left, y + 8, { colour: theme.muted, font: theme.font, size: 11 });
    if (search.status[node] === "f") {
      context.fillStyle = colour;
      context.fillRect(x - 5, y - 5, 10, 10);
    } else dot(context, x, y, gone ? 2.5 : 4, colour);
  }

  /**
   * The hypotheses that are finished by now.
   * @param {Pen} pen
   * @param {number} last
   */
  drawList({ context, width, height, theme }, last) {
    const { search } = this;
    const alpha = this.lesson.values.tree.alpha;
    const ended = ranked(search, alpha, 99)
      .filter(({ node }) => search.step[node] <= last)
      .slice(0, LISTED);
    const top = height - ROW * LISTED - 6;
    write(context, fillText(this.texts.finished, { alpha }), 0, top - 14, {
      colour: theme.muted,
      font: theme.font,
      size: 12,
      most: width,
    });
    trace(
      context,
      [
        [0, top - 27],
        [width, top - 27],
      ],
      { colour: theme.line, width: 1 },
    );
    ended.forEach(({ text, score }, index) => {
      const y = top + index * ROW + 7;
      const first = index === 0 && last >= search.steps;
      const style = {
        colour: first ? theme.kinds.cross : theme.text,
        font: theme.font,
        size: 14,
        weight: first ? 650 : 400,
      };
      write(context, signed(score), 46, y, { ...style, align: "right" });
      write(context, text, 60, y, { ...style, most: width - 62 });
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { first }, { step }) {
    if (!first || !this.search) return null;
    return { step: step >= this.search.steps ? 1 : Math.min(this.search.steps, Math.floor(step) + 1) };
  }

  /** @type {Scene["say"]} */
  say({ step }) {
    const { search } = this;
    if (!search) return this.texts.no_search;
    const nodes = search.columns[Math.floor(step + 1e-6)];
    /** @param {string} letter */
    const count = (letter) => nodes.filter((node) => search.status[node] === letter).length;
    return fillText(this.texts.tree_say, {
      step: Math.floor(step + 1e-6),
      kept: count("k"),
      finished: count("f"),
      pruned: count("p"),
    });
  }

  table() {
    const { search, texts } = this;
    if (!search) return null;
    const rows = search.columns.flatMap((nodes) =>
      nodes.map((node) => [
        search.step[node],
        search.text(search.parent[node]) || "<s>",
        search.label(node),
        search.own[node],
        search.total[node],
        texts[`status_${search.status[node]}`],
      ]),
    );
    return { columns: [texts.step, texts.so_far, texts.piece, texts.own, texts.total, texts.status], rows };
  }
}
