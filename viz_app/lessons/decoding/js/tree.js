// The tree of the search, one step after the other; what was pruned stays grey.

import { fillText, signed } from "../../../components/common/text/format.js";
import { BeamLayout } from "../../../components/explorer/js/beam/beamlayout.js";
import { Search, START } from "../../../components/explorer/js/data/search.js";
import { choice, playhead } from "../../stage/js/describe.js";
import { ranked, SearchScene } from "./beams.js";

const LEFT = 34;
const TOP = 22;
const MIN = 88; // width of a step
const BEND = 18;
const LISTED = 4;
const ROW = 21; // of the list
const ROOMY = 27; // height of a row that has room for the sum, too

export class Tree extends SearchScene {
  size = { narrow: 480, least: 390, most: 600 };
  term = "sum";

  searches = Object.fromEntries(
    this.search ? Object.entries(this.lesson.values.trees).map(([size, tree]) => [size, new Search(tree)]) : [],
  );

  get playhead() {
    const max = Math.max(1, ...Object.values(this.searches).map(({ steps }) => steps));
    return playhead({ name: "step", label: this.texts.step, min: 1, max, start: max, rate: 1, once: true });
  }

  get controls() {
    const sizes = Object.keys(this.searches);
    const options = Object.fromEntries(sizes.map((size) => [size, size]));
    const beam = choice("beam", this.texts.beam, options, { start: String(this.search?.size) });
    return [beam, { name: "pruned", kind: "switch", label: this.texts.pruned, start: true }];
  }

  /**
   * The search of the chosen beam size, and its step: it may end before others.
   * @param {Settings} settings
   */
  moment({ beam, step }) {
    const search = this.searches[beam] ?? this.search;
    const here = Math.min(step, search.steps);
    return { search, step: here, last: Math.floor(here + 1e-6) };
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { context, width, theme } = pen;
    const { search, step: here, last } = this.moment(settings);
    const layout = arrange(pen, search, { ...settings, step: here });
    const best = new Set(search.path(search.leaves[0]));
    const done = last >= search.steps;
    if (layout.left === LEFT)
      pen.note("<s>", layout.x(START) - 4, layout.y(START) - 14, { font: theme.code, align: "center" });
    layout.mark(context, START, theme.text, 4);
    for (let step = 1; step <= last; step++) {
      const nodes = search.columns[step].filter((node) => settings.pruned || !search.pruned(node));
      const middle = layout.stepX(step);
      if (Math.abs(middle - width / 2) > (layout.column + width) / 2 + 20) continue;
      if (middle > 10) pen.note(String(step), middle, 8, { align: "center" });
      const share = here % 1; // of the way to the next step
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
  grab(x, y, { first }, settings) {
    if (!first) return null;
    const { search, last } = this.moment(settings);
    return { step: (last % search.steps) + 1 };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { search, last: step } = this.moment(settings);
    const count = (/** @type {string} */ letter) =>
      search.columns[step].filter((node) => search.status[node] === letter).length;
    const said = fillText(this.texts.tree_say, { step, kept: count("k"), finished: count("f"), pruned: count("p") });
    const finished = [...search.status].filter((letter) => letter === "f").length;
    return step < search.steps ? said : `${said} ${fillText(this.texts.tree_end, { size: search.size, finished })}`;
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const { search } = this.moment(settings);
    const { texts } = this;
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
