// The tree of the search, one step after the other; what was pruned stays grey.

import { fillText, signed } from "../../../components/common/text/format.js";
import { BeamLayout } from "../../../components/explorer/js/beam/beamlayout.js";
import { START } from "../../../components/explorer/js/data/search.js";
import { playhead } from "../../stage/js/describe.js";
import { ranked, SearchScene } from "./beams.js";

const LEFT = 34;
const TOP = 22;
const MIN = 88; // width of a step
const BEND = 18;
const LISTED = 4;
const ROW = 21; // of the list
const ROOMY = 27; // height of a row that has room for the sum, too

/** @typedef {import("../../../components/explorer/js/data/search.js").Search} Search */

export class Tree extends SearchScene {
  size = { narrow: 480, least: 390, most: 600 };
  term = "sum";

  get playhead() {
    const max = this.search?.steps ?? 1;
    return playhead({ name: "step", label: this.texts.step, min: 1, max, start: max, rate: 1, once: true });
  }

  get controls() {
    return [{ name: "pruned", kind: "switch", label: this.texts.pruned, start: true }];
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, theme } = pen;
    const { search } = this;
    const layout = arrange(pen, search, settings);
    const best = new Set(search.path(search.leaves[0]));
    const last = Math.floor(settings.step + 1e-6);
    const done = last >= search.steps;
    if (layout.left === LEFT)
      pen.note("<s>", layout.x(START) - 4, layout.y(START) - 14, { font: theme.code, align: "center" });
    layout.mark(context, START, theme.text, 4);
    for (let step = 1; step <= last; step++) {
      const nodes = search.columns[step].filter((node) => settings.pruned || !search.pruned(node));
      const middle = layout.stepX(step);
      if (Math.abs(middle - width / 2) > (layout.column + width) / 2 + 20) continue;
      if (middle > 10) pen.note(String(step), middle, 8, { align: "center" });
      const share = settings.step % 1; // of the way to the next step
      context.globalAlpha = step === last && share > 1e-6 ? Math.min(1, 0.25 + share * 2) : 1;
      for (const node of [...nodes].reverse()) drawNode(pen, search, layout, node, done && best.has(node));
      context.globalAlpha = 1;
    }
    this.drawList(pen, search, last);
  }

  /**
   * The hypotheses that are finished by now.
   * @param {Pen} pen
   * @param {Search} search
   * @param {number} last
   */
  drawList(pen, search, last) {
    const { width, height, theme } = pen;
    const { alpha } = search;
    const top = height - ROW * LISTED - 6;
    pen.note(fillText(this.texts.finished, { alpha }), 0, top - 14, { most: width });
    pen.line(0, top - 27, width, top - 27, { colour: theme.line, width: 1 });
    const ended = ranked(search, alpha).filter(({ length }) => length <= last);
    ended.slice(0, LISTED).forEach(({ text, score }, index) => {
      const y = top + index * ROW + 7;
      const first = index === 0 && last >= search.steps;
      const style = { colour: first ? theme.kinds.cross : theme.text, size: 14, weight: first ? 650 : 400 };
      pen.write(signed(score), 46, y, { ...style, align: "right" });
      pen.write(text, 60, y, { ...style, most: width - 62 });
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { first }, { step }) {
    if (!first) return null;
    const { steps } = this.search;
    return { step: step >= steps ? 1 : Math.min(steps, Math.floor(step) + 1) };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { search } = this;
    const step = Math.floor(settings.step + 1e-6);
    const count = (/** @type {string} */ letter) =>
      search.columns[step].filter((node) => search.status[node] === letter).length;
    return fillText(this.texts.tree_say, { step, kept: count("k"), finished: count("f"), pruned: count("p") });
  }

  table() {
    const { search, texts } = this;
    const rows = search.columns
      .flat()
      .map((node) => [
        search.step[node],
        search.text(search.parent[node]) || "<s>",
        search.label(node),
        search.own[node],
        search.total[node],
        texts[`status_${search.status[node]}`],
      ]);
    return { columns: [texts.step, texts.so_far, texts.token, texts.own, texts.total, texts.status], rows };
  }
}

/**
 * Lay out the tree, scrolled to the step of the playhead.
 * @param {Pen} pen
 * @param {Search} search
 * @param {Settings} settings
 */
function arrange({ width, height }, search, { step, pruned }) {
  const column = Math.max(MIN, (width - LEFT - 10) / search.steps);
  const whole = LEFT + column * search.steps + 10;
  const scroll = Math.max(0, Math.min(whole - width, LEFT + column * step - width * 0.72));
  const kept = search.columns.map((nodes) => nodes.filter((node) => !search.pruned(node)).length);
  const rows = pruned ? search.rows : Math.max(1, ...kept);
  const row = (height - TOP - ROW * LISTED - 45) / rows;
  return new BeamLayout(search, { column, row, left: LEFT, top: TOP, bend: BEND, scroll });
}

/**
 * @param {Pen} pen
 * @param {Search} search
 * @param {BeamLayout} layout
 * @param {number} node
 * @param {boolean} best
 */
function drawNode(pen, search, layout, node, best) {
  const { context, theme } = pen;
  const pruned = search.pruned(node);
  const colour = best ? theme.kinds.cross : pruned ? theme.mark : theme.text;
  layout.edge(context, node, { colour, width: best ? 3 : pruned ? 1 : 1.5 });
  const roomy = layout.row >= ROOMY;
  const [left, y] = [layout.textX(node), layout.y(node)];
  layout.mark(context, node, colour, pruned ? 2.5 : 4);
  if (left < 0) return; // scrolled out
  pen.write(search.label(node), left, y - 8, {
    colour: pruned ? theme.muted : theme.text,
    font: theme.code,
    size: roomy ? 13 : 11,
    weight: best ? 700 : 400,
    most: layout.column - BEND - 12,
  });
  if (roomy) pen.note(signed(search.total[node]), left, y + 8, { size: 11 });
}
