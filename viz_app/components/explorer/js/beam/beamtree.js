// The search as a tree: steps from left to right, the beam from top to bottom.

import { clamp, consume } from "../../../common/page/keyboard.js";
import { fillText, percent, signed } from "../../../common/text/format.js";
import { START } from "../data/search.js";
import { ScrollCanvas } from "../draw/scrollcanvas.js";
import { BeamLayout } from "./beamlayout.js";

const COLUMN = 118;
const ROW = 36;
const LEFT = 32;
const TOP = 24;
const BEND = 26;
const TALLEST = 420;

/** @typedef {{ theme: Theme, kind: Kind, alpha: number, branch: number, winner: number, texts: ExplorerTexts }} Shown
 *   The kind gives the colour of the winner, a node; `branch` is the one that is shown.
 */

/** @extends {ScrollCanvas<number>} */
export class BeamTree extends ScrollCanvas {
  /** @type {Search} */
  search;
  /** @type {Shown} */
  shown;
  /** @type {Set<number>} */
  best;
  /** @type {Set<number>} */
  chosen;
  /** @type {BeamLayout} */
  layout;
  /** @type {CanvasRenderingContext2D} */
  context;
  /** @type {number | null} Under the pointer or of the keyboard. */
  node = null;
  focused = START;

  /**
   * @param {(branch: number) => void} open Called with a chosen branch.
   * @param {(node: number | null, spoken: boolean) => void} point Called with the node under the pointer or the keyboard.
   */
  constructor(open, point) {
    super("beam-tree");
    this.open = open;
    this.point = point;
  }

  /**
   * @param {Search} search
   * @param {Shown} shown
   */
  show(search, shown) {
    if (search !== this.search) Object.assign(this, { node: null, focused: search.leaves[0] ?? START });
    const { theme, winner, branch, texts } = shown;
    this.search = search;
    this.shown = shown;
    this.theme = theme;
    this.best = new Set(search.path(winner));
    this.chosen = new Set(search.path(search.leaves[branch]));
    this.element.setAttribute("aria-label", `${texts.beam_tree}. ${texts.beam_keys}`);
    this.layout = new BeamLayout(search, { column: COLUMN, row: ROW, left: LEFT, top: TOP, bend: BEND });
    this.space.style.width = `${this.layout.width}px`;
    this.space.style.height = `${this.layout.height}px`;
    this.element.style.height = `${Math.min(this.layout.height, TALLEST) + 14}px`;
    this.draw();
  }

  draw() {
    if (!this.search) return;
    const { element, search, layout } = this;
    const width = Math.min(layout.width, element.clientWidth);
    const height = Math.min(layout.height, element.clientHeight);
    if (!width || !height) return;
    this.useLabels(12.5);
    this.context = this.begin({ width, height });
    this.context.translate(-element.scrollLeft, -element.scrollTop);
    const first = Math.max(1, Math.floor((element.scrollLeft - LEFT) / COLUMN) + 1);
    const last = Math.min(search.steps, first + Math.ceil(width / COLUMN) + 1);
    this.drawStart();
    for (let step = first; step <= last; step++) this.drawStep(step);
  }

  drawStart() {
    const { context, theme, layout } = this;
    context.font = `11px ${theme.code}`;
    context.fillStyle = theme.muted;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText("<s>", layout.x(START) - 3, layout.y(START) - 11);
    this.dot(START, theme.text, 3.5);
  }

  /**
   * One column: edges first, what is pruned below what lives, then the names.
   * @param {number} step
   */
  drawStep(step) {
    const { context, theme, search } = this;
    const nodes = [...search.columns[step]].reverse();
    nodes.sort((a, b) => Number(this.best.has(a)) - Number(this.best.has(b)));
    for (const node of nodes) this.drawEdge(node);
    for (const node of nodes) this.drawNode(node);
    context.font = `11px ${theme.font}`;
    context.fillStyle = theme.muted;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(String(step), this.layout.stepX(step), this.element.scrollTop + 9);
  }

  /** @param {number} node */
  colour(node) {
    const { theme, search } = this;
    if (this.best.has(node)) return theme.kinds[this.shown.kind];
    return search.pruned(node) ? theme.mark : theme.text;
  }

  /** @param {number} node */
  drawEdge(node) {
    const [best, chosen] = [this.best.has(node), this.chosen.has(node)];
    this.layout.edge(this.context, node, {
      colour: this.colour(node),
      width: best ? 2.5 : chosen ? 2 : 1,
      dash: chosen && !best ? [5, 3] : [],
    });
  }

  /** @param {number} node */
  drawNode(node) {
    const { context, theme, search, labels, layout } = this;
    const [x, y] = [layout.textX(node), layout.y(node)];
    const strong = this.best.has(node) || this.node === node;
    const room = COLUMN - BEND - 14;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = search.pruned(node) ? theme.muted : theme.text;
    context.font = strong ? `bold ${labels.font}` : labels.font;
    context.fillText(labels.shorten(search.label(node), room), x, y - 4);
    context.font = `${search.status[node] === "f" ? "bold " : ""}10.5px ${theme.font}`;
    context.fillStyle = search.status[node] === "f" ? theme.text : theme.muted;
    context.fillText(`${signed(search.total[node])} / ${signed(search.score(node, this.shown.alpha))}`, x, y + 12);
    this.dot(node, this.colour(node), search.pruned(node) ? 2.5 : 3.5);
  }

  /**
   * A node; the end of the branch that is shown has a ring.
   * @param {number} node
   * @param {string} colour
   * @param {number} radius
   */
  dot(node, colour, radius) {
    const { context, theme, search, layout } = this;
    const end = search.leaves[this.shown.branch] === node;
    layout.mark(context, node, colour, radius);
    if (!end && this.node !== node) return;
    context.strokeStyle = end ? theme.text : theme.muted;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(layout.x(node), layout.y(node), 8, 0, 2 * Math.PI);
    context.stroke();
  }

  /**
   * The node under the pointer, or null.
   * @param {PointerEvent} event
   */
  at(event) {
    const { x, y } = this.pointOf(event);
    return this.layout.at(x + this.element.scrollLeft, y + this.element.scrollTop);
  }

  /**
   * @param {number | null} node
   * @param {boolean} [spoken]
   */
  move(node, spoken = false) {
    if (node === this.node) return;
    this.node = node;
    this.element.classList.toggle("pressable", node !== null && this.branchAt(node) !== null);
    this.draw();
    this.point(node, spoken);
  }

  /** @param {PointerEvent} event */
  click(event) {
    const node = this.at(event);
    if (node === null) return;
    this.focused = node;
    this.move(node);
    this.openBranch(node);
  }

  /**
   * The branch that ends at a node, if its maps can be shown.
   * @param {number} node
   */
  branchAt(node) {
    const branch = this.search.branches.get(node);
    return branch !== undefined && this.search.open.has(branch) ? branch : null;
  }

  /** @param {number} node */
  openBranch(node) {
    const branch = this.branchAt(node);
    if (branch !== null) this.open(branch);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = this.target(event.key);
    if (target === undefined) return;
    consume(event);
    if (target === null) return this.openBranch(this.focused);
    this.focused = target;
    this.move(target, true);
    this.reveal(target);
  }

  /**
   * Where a key leads; null for a key that opens, undefined for one that means nothing here.
   * @param {string} key
   */
  target(key) {
    const { search, focused } = this;
    if (key === "Enter" || key === " ") return null;
    if (this.node === null && key.startsWith("Arrow")) return focused;
    const column = search.columns[search.step[focused]];
    const row = search.row[focused];
    if (key === "ArrowUp" || key === "ArrowDown")
      return column[clamp(row + (key === "ArrowUp" ? -1 : 1), 0, column.length - 1)];
    if (key === "ArrowLeft") return search.parent[focused] === START ? focused : search.parent[focused];
    if (key === "ArrowRight") return search.children.get(focused)?.[0] ?? focused;
    if (key === "Home") return search.path(focused)[0];
    if (key === "End") return search.leaves[0];
    return undefined;
  }

  /** @param {number} node */
  reveal(node) {
    const [x, y] = [this.layout.x(node) - COLUMN, this.layout.y(node) - ROW / 2 - TOP];
    const { clientWidth, clientHeight } = this.element;
    const part = { x: Math.max(0, x), y: Math.max(0, y), width: COLUMN + 14, height: ROW * 1.5 + TOP };
    this.scrollTo(part, { width: clientWidth, height: clientHeight });
  }

  /**
   * A node in one line: its token, how probable it was, the sum so far, the score.
   * @param {number} node
   */
  describe(node) {
    const { search } = this;
    const { texts } = this.shown;
    return fillText(texts.beam_node, {
      step: search.step[node],
      token: search.label(node),
      probability: percent(Math.exp(search.own[node])),
      total: signed(search.total[node]),
      score: signed(search.score(node, this.shown.alpha)),
      status: texts[`beam_status_${search.status[node]}`],
    });
  }
}
