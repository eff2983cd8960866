// The search as a tree on a canvas that covers only what is visible: steps from left to right, the beam from top to bottom.

import { fillText, h, percent } from "../../common/dom.js";
import { signed } from "../../common/format.js";
import { Labels } from "./geometry.js";
import { resize } from "./paint.js";
import { START } from "./search.js";

const COLUMN = 118;
const ROW = 36;
const LEFT = 30; // room of <s>
const TOP = 24; // room of the numbers of the steps
const BEND = 26; // in which an edge changes its row
const TALLEST = 420;

export class BeamTree {
  /** @type {Search} */
  search;
  /** @type {Theme} */
  theme;
  /** @type {Kind} */
  kind;
  /** @type {number} */
  alpha;
  /** @type {Texts} */
  texts;
  /** @type {number} */
  branch;
  /** @type {Set<number>} */
  best;
  /** @type {Set<number>} */
  chosen;
  /** @type {number} */
  width;
  /** @type {number} */
  height;
  /** @type {Labels} */
  labels;
  /** @type {CanvasRenderingContext2D} */
  context;

  /**
   * `open(branch)` is called when somebody chooses the end of a branch, `tell(node)` when one points at a node.
   * @param {any} open
   * @param {any} tell
   */
  constructor(open, tell) {
    this.open = open;
    this.tell = tell;
    /** @type {number | null} */
    this.node = null;
    this.focused = START;
    this.canvas = h("canvas", { "aria-hidden": true });
    this.space = h("div", {}, this.canvas);
    this.element = h(
      "div",
      {
        class: "beam-tree",
        tabindex: "0",
        role: "application",
        pointermove: (event) => this.point(this.at(event), false),
        pointerleave: (event) => event.pointerType === "mouse" && this.point(null, false),
        click: (event) => this.click(event),
        scroll: () => this.draw(),
        keydown: (event) => this.key(event),
      },
      this.space,
    );
  }

  /**
   * @param {Search} search
   * @param {{ theme: Theme, kind: Kind, alpha: number, branch: number, winner: any, texts: Texts }} given
   */
  show(search, { theme, kind, alpha, branch, winner, texts }) {
    if (search !== this.search) Object.assign(this, { node: null, focused: search.leaves[0] ?? START });
    this.search = search;
    this.theme = theme;
    this.kind = kind;
    this.alpha = alpha;
    this.texts = texts;
    this.branch = branch;
    this.best = new Set(search.path(winner));
    this.chosen = new Set(search.path(search.leaves[branch]));
    this.element.setAttribute("aria-label", `${texts.beam_tree}. ${texts.beam_keys}`);
    this.width = LEFT + search.steps * COLUMN + 14;
    this.height = TOP + search.rows * ROW + 6;
    this.space.style.width = `${this.width}px`;
    this.space.style.height = `${this.height}px`;
    this.element.style.height = `${Math.min(this.height, TALLEST) + 14}px`;
    this.labels = new Labels(theme.code, 12.5);
    this.draw();
  }

  /** @param {number} node */
  x(node) {
    return node === START ? LEFT - 8 : LEFT + this.search.step[node] * COLUMN - 8;
  }

  /** @param {number} node */
  y(node) {
    return TOP + ((node === START ? 0 : this.search.row[node]) + 0.5) * ROW;
  }

  draw() {
    if (!this.search) return;
    const { element, theme, search } = this;
    const [width, height] = [Math.min(this.width, element.clientWidth), Math.min(this.height, element.clientHeight)];
    if (!width || !height) return;
    const context = resize(this.canvas, width, height);
    this.context = context;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.translate(-element.scrollLeft, -element.scrollTop);
    const first = Math.max(1, Math.floor((element.scrollLeft - LEFT) / COLUMN) + 1);
    const last = Math.min(search.steps, first + Math.ceil(width / COLUMN) + 1);
    this.drawStart();
    for (let step = first; step <= last; step++) this.drawStep(step);
  }

  drawStart() {
    const { context, theme } = this;
    context.font = `11px ${theme.code}`;
    context.fillStyle = theme.muted;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText("<s>", this.x(START) - 3, this.y(START) - 11);
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
    context.fillText(String(step), this.x(nodes[0]) - COLUMN / 2 + 12, this.element.scrollTop + 9);
  }

  /** @param {number} node */
  colour(node) {
    const { theme, search } = this;
    if (this.best.has(node)) return theme.kinds[this.kind];
    return search.pruned(node) ? theme.mark : theme.text;
  }

  /** @param {number} node */
  drawEdge(node) {
    const { context, search } = this;
    const parent = search.parent[node];
    const [x, y, end] = [this.x(parent), this.y(parent), this.y(node)];
    context.strokeStyle = this.colour(node);
    context.lineWidth = this.best.has(node) ? 2.5 : this.chosen.has(node) ? 2 : 1;
    context.setLineDash(this.chosen.has(node) && !this.best.has(node) ? [5, 3] : []);
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(x + BEND * 0.6, y, x + BEND * 0.4, end, x + BEND, end);
    context.lineTo(this.x(node), end);
    context.stroke();
    context.setLineDash([]);
  }

  /** @param {number} node */
  drawNode(node) {
    const { context, theme, search, labels } = this;
    const [x, y] = [this.x(node), this.y(node)];
    const strong = this.best.has(node) || this.node === node;
    const room = COLUMN - BEND - 14;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = search.pruned(node) ? theme.muted : theme.text;
    context.font = strong ? `bold ${labels.font}` : labels.font;
    context.fillText(labels.shorten(search.label(node), room), x - COLUMN + BEND + 4, y - 4);
    context.font = `${search.status[node] === "f" ? "bold " : ""}10.5px ${theme.font}`;
    context.fillStyle = search.status[node] === "f" ? theme.text : theme.muted;
    context.fillText(
      `${signed(search.total[node])} / ${signed(search.score(node, this.alpha))}`,
      x - COLUMN + BEND + 4,
      y + 12,
    );
    this.dot(node, this.colour(node), search.pruned(node) ? 2.5 : 3.5);
  }

  /**
   * A node; an end that can be opened is a square, and the branch that is shown has a ring.
   * @param {number} node
   * @param {string} colour
   * @param {number} radius
   */
  dot(node, colour, radius) {
    const { context, theme, search } = this;
    const [x, y] = [this.x(node), this.y(node)];
    const end = search.leaves[this.branch] === node;
    context.fillStyle = colour;
    context.beginPath();
    if (node !== START && search.status[node] === "f") context.rect(x - 5, y - 5, 10, 10);
    else context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    if (!end && this.node !== node) return;
    context.strokeStyle = end ? theme.text : theme.muted;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 8, 0, 2 * Math.PI);
    context.stroke();
  }

  /**
   * The node under the pointer, or null.
   * @param {PointerEvent} event
   */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left + this.element.scrollLeft - LEFT;
    const y = event.clientY - box.top + this.element.scrollTop - TOP;
    if (x < 0 || y < 0) return null;
    return this.search.columns[Math.floor(x / COLUMN) + 1]?.[Math.floor(y / ROW)] ?? null;
  }

  /**
   * @param {number | null} node
   * @param {boolean} spoken
   */
  point(node, spoken) {
    if (node === this.node) return;
    this.node = node;
    this.element.classList.toggle("pressable", node !== null && this.search.branches.has(node));
    this.draw();
    this.tell(node, spoken);
  }

  /** @param {any} event */
  click(event) {
    const node = this.at(event);
    if (node === null) return;
    this.focused = node;
    this.point(node, false);
    if (this.search.branches.has(node)) this.open(this.search.branches.get(node));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape" || event.key === "Tab") return;
    const target = this.target(event.key);
    if (target === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (target === null) {
      if (this.search.branches.has(this.focused)) this.open(this.search.branches.get(this.focused));
      return;
    }
    this.focused = target;
    this.point(target, true);
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
    if (key === "ArrowUp") return column[Math.max(0, row - 1)];
    if (key === "ArrowDown") return column[Math.min(column.length - 1, row + 1)];
    if (key === "ArrowLeft") return search.parent[focused] === START ? focused : search.parent[focused];
    if (key === "ArrowRight") return search.children.get(focused)?.[0] ?? focused;
    if (key === "Home") return search.path(focused)[0];
    if (key === "End") return search.leaves[0];
    return undefined;
  }

  /** @param {number} node */
  reveal(node) {
    const { element } = this;
    /**
     * @param {number} scroll
     * @param {number} start
     * @param {number} end
     * @param {number} extent
     */
    const within = (scroll, start, end, extent) => Math.min(start, Math.max(scroll, end - extent));
    element.scrollLeft = within(element.scrollLeft, this.x(node) - COLUMN, this.x(node) + 14, element.clientWidth);
    element.scrollTop = within(
      element.scrollTop,
      this.y(node) - ROW / 2 - TOP,
      this.y(node) + ROW,
      element.clientHeight,
    );
  }

  /**
   * A node in one line: its piece, how probable it was, the sum so far, the score.
   * @param {number} node
   */
  sentence(node) {
    const { search, texts } = this;
    return fillText(texts.beam_node, {
      step: search.step[node],
      piece: search.label(node),
      probability: percent(Math.exp(search.own[node])),
      total: signed(search.total[node]),
      score: signed(search.score(node, this.alpha)),
      status: texts[`beam_status_${search.status[node]}`],
    });
  }
}
