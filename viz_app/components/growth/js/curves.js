// Loss, BLEU and alignment error over the steps of the training, with a mark at the snapshot that is shown.

import { blank } from "../../common/draw/canvas.js";
import { Axis, dot, drawAxis, rule, trace, write } from "../../common/draw/plot.js";
import { h, setAttribute } from "../../common/page/dom.js";
import { formatCount } from "../../common/text/format.js";

const HEIGHT = 210;
const BESIDE = 620; // from this width on the two plots stand side by side
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 14, 24, 40];
const GAP = 26; // between the snapshot before the first step, which has no place on a logarithm, and the axis

/** @typedef {{ name: string, points: number[][], colour: string, dash?: number[], thin?: boolean }} Curve Points are [step, value]. */

export class Curves {
  /** @type {TrainingHistory} */
  history;
  /** @type {GrowthState} */
  state;
  /** @type {Theme} */
  theme;
  /** @type {ReturnType<Curves["plot"]>[]} */
  plots = [];

  /** @param {(snapshot: number) => void} choose */
  constructor(choose) {
    this.choose = choose;
    this.canvas = h("canvas", { role: "img", pointerdown: (event) => this.press(event) });
    this.element = h("div", { class: "curves" }, this.canvas);
  }

  /**
   * @param {TrainingHistory} history
   * @param {GrowthState} state
   * @param {Theme} theme
   * @param {string} label
   */
  update(history, state, theme, label) {
    this.history = history;
    this.state = state;
    this.theme = theme;
    setAttribute(this.canvas, "aria-label", label);
    const width = this.element.clientWidth;
    if (!width) return;
    const scored = history.header.validation || history.header.alignment;
    const beside = width >= BESIDE && scored;
    const each = beside ? Math.floor(width / 2) : width;
    const context = blank(this.canvas, width, scored && !beside ? 2 * HEIGHT : HEIGHT);
    this.plots = [this.plot(context, 0, 0, each, this.losses())];
    if (scored) this.plots.push(this.plot(context, beside ? each : 0, beside ? 0 : HEIGHT, each, this.scores()));
  }

  /** Loss on the training text as recorded, and on the validation set in the snapshots. */
  losses() {
    const { theme } = this;
    const { course, validation, steps, texts } = this.history.header;
    const train = course.step.map((step, i) => [step, course.mean_nll[i]]);
    /** @type {Curve[]} */
    const curves = [{ name: texts.loss_train, points: train, colour: theme.muted, thin: true }];
    if (validation) {
      const points = steps.map((step, i) => [step, validation.nll[i]]);
      curves.push({ name: validation.name, points, colour: theme.kinds.encoder });
    }
    return { title: texts.loss, curves };
  }

  scores() {
    const { history, theme } = this;
    const { validation, alignment, steps, texts } = history.header;
    /** @type {Curve[]} */
    const curves = [];
    if (validation) {
      const points = steps.map((step, i) => [step, validation.bleu[i]]);
      curves.push({ name: texts.bleu, points, colour: theme.kinds.decoder });
    }
    if (alignment) {
      const points = steps.map((step, i) => [step, 100 * (history.aligner(i)?.value ?? NaN)]);
      curves.push({ name: texts.aer, points, colour: theme.kinds.cross, dash: [5, 3] });
    }
    return { title: "", curves };
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {{ title: string, curves: Curve[] }} given
   */
  plot(context, x, y, width, { title, curves }) {
    const { theme, state } = this;
    const { steps, course, texts } = this.history.header;
    const last = Math.max(steps[steps.length - 1], ...course.step.slice(-1));
    const first = Math.min(steps.find((step) => step > 0) ?? last, course.step.find((step) => step > 0) ?? last);
    const across = new Axis(Math.min(first, last / 10), last, x + LEFT + GAP, x + width - RIGHT, { log: true });
    const values = curves.flatMap(({ points }) => points.map(([, value]) => value));
    const up = new Axis(0, Math.max(...values, 1) * 1.05, y + HEIGHT - BOTTOM, y + TOP);
    /** @param {number[]} pair */
    const place = ([step, value]) => [step > 0 ? across.place(step) : x + LEFT, up.place(value)];
    const style = { colour: theme.muted, font: theme.font };
    drawAxis(context, across, "bottom", y + HEIGHT - BOTTOM, { theme, show: formatCount });
    if (steps[0] === 0)
      write(context, "0", x + LEFT, y + HEIGHT - BOTTOM + 12, { ...style, size: 12, align: "center" });
    drawAxis(context, up, "left", x + LEFT, { theme, ticks: up.ticks(4), grid: width - LEFT - RIGHT });
    write(context, texts.updates, x + width - RIGHT, y + HEIGHT - 8, {
      ...style,
      size: 11,
      align: "right",
      most: width - 20,
    });
    const now = steps[state.snapshot];
    const at = place([now, 0])[0];
    rule(context, [at, y + TOP], [at, y + HEIGHT - BOTTOM], { colour: theme.text, width: 1 });
    for (const { points, colour, dash, thin } of curves) {
      const rising = points.filter(([step]) => step > 0); // no line comes from 0, which has no place on the scale
      trace(context, rising.map(place), { colour, dash, width: thin ? 1 : 2, alpha: thin ? 0.8 : 1 });
      if (thin) continue;
      for (const point of points) {
        const shown = point[0] === now;
        const [left, top] = place(point);
        dot(context, left, top, shown ? 5 : 2.5, colour, shown ? theme.background : null);
      }
    }
    this.names(context, title, curves, x + LEFT, y + 10, width - LEFT - RIGHT);
    return { across, x, y, width };
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {string} title
   * @param {Curve[]} curves
   * @param {number} x
   * @param {number} y
   * @param {number} room
   */
  names(context, title, curves, x, y, room) {
    const style = { font: this.theme.font, size: 12 };
    context.font = `${style.size}px ${style.font}`; // of the widths that are measured
    let at = x;
    if (title) {
      write(context, title, at, y, { ...style, colour: this.theme.text });
      at += context.measureText(title).width + 16;
    }
    for (const { name, colour, dash } of curves) {
      rule(context, [at, y], [at + 18, y], { colour, dash, width: 2 });
      write(context, name, at + 23, y, { ...style, colour: this.theme.muted, most: Math.max(20, room + x - at - 23) });
      at += context.measureText(name).width + 40;
    }
  }

  /**
   * The snapshot nearest to a press.
   * @param {PointerEvent} event
   */
  press(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const plot = this.plots.find(
      (each) => x >= each.x && x < each.x + each.width && y >= each.y && y < each.y + HEIGHT,
    );
    if (!plot) return;
    const far = this.history.steps.map((step) => Math.abs((step > 0 ? plot.across.place(step) : plot.x + LEFT) - x));
    this.choose(far.indexOf(Math.min(...far)));
  }
}
