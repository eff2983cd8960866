// Loss, BLEU and alignment error of the real run over its updates, with a mark at the moment that is shown.

import { h, setAttribute } from "../../common/dom.js";
import { Axis, dot, drawAxis, trace, write } from "../../common/plot.js";
import { sized } from "./cells.js";

const HEIGHT = 210;
const BESIDE = 620; // from this width on the two plots stand side by side
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 14, 24, 40];
const GAP = 26; // between the moment before the first update, which has no place on a logarithm, and the axis

export class Curves {
  /** @type {GrowthHistory} */
  history;
  /** @type {GrowthState} */
  state;
  /** @type {Theme} */
  theme;
  /** @type {Texts} */
  texts;
  /** @type {any[]} */
  plots;

  /** @param {any} choose */
  constructor(choose) {
    this.choose = choose;
    this.canvas = h("canvas", { role: "img" });
    this.element = h("div", { class: "curves" }, this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
  }

  /**
   * @param {GrowthHistory} history
   * @param {GrowthState} state
   * @param {Theme} theme
   * @param {Texts} texts
   * @param {string} said
   */
  update(history, state, theme, texts, said) {
    this.history = history;
    this.state = state;
    this.theme = theme;
    this.texts = texts;
    setAttribute(this.canvas, "aria-label", said);
    const width = this.element.clientWidth;
    if (!width) return;
    const scored = history.validation || history.alignment;
    const beside = width >= BESIDE && scored;
    const each = beside ? Math.floor(width / 2) : width;
    const context = sized(this.canvas, width, scored && !beside ? 2 * HEIGHT : HEIGHT);
    this.plots = [this.plot(context, 0, 0, each, this.losses())];
    if (scored) this.plots.push(this.plot(context, beside ? each : 0, beside ? 0 : HEIGHT, each, this.scores()));
  }

  /** Loss on the training text as recorded, and on the validation set at the moments. */
  losses() {
    const { history, theme, texts } = this;
    const { course, validation, steps } = history;
    /** @type {{ name: string, points: number[][], colour: string, bare?: boolean }[]} */
    const curves = [
      {
        name: texts.loss_train,
        points: course.step.map((/** @type {number} */ step, /** @type {number} */ i) => [step, course.mean_nll[i]]),
        colour: theme.muted,
        bare: true,
      },
    ];
    if (validation)
      curves.push({
        name: validation.name,
        points: steps.map((step, i) => [step, validation.nll[i]]),
        colour: theme.kinds.encoder,
      });
    return { title: texts.loss, curves };
  }

  scores() {
    const { history, theme, texts } = this;
    const curves = [];
    if (history.validation)
      curves.push({
        name: texts.bleu,
        points: history.steps.map((step, i) => [step, history.validation.bleu[i]]),
        colour: theme.kinds.decoder,
      });
    if (history.alignment)
      curves.push({
        name: texts.aer,
        points: history.steps.map((step, i) => [step, 100 * (history.aligner(i)?.value ?? NaN)]),
        colour: theme.kinds.cross,
        dash: [5, 3],
      });
    return { title: "", curves };
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {{ title: string, curves: any[] }} given
   */
  plot(context, x, y, width, { title, curves }) {
    const { history, theme, state, texts } = this;
    const last = Math.max(history.steps[history.steps.length - 1], ...history.course.step.slice(-1));
    const first = Math.min(
      history.steps.find((step) => step > 0) ?? last,
      history.course.step.find((/** @type {number} */ step) => step > 0) ?? last,
    );
    const across = new Axis(Math.min(first, last / 10), last, x + LEFT + GAP, x + width - RIGHT, { log: true });
    const values = curves.flatMap(({ points }) => points.map((/** @type {number[]} */ [, value]) => value));
    const up = new Axis(0, Math.max(...values, 1) * 1.05, y + HEIGHT - BOTTOM, y + TOP);
    /** @param {number[]} pair */
    const place = ([step, value]) => [step > 0 ? across.place(step) : x + LEFT, up.place(value)];
    drawAxis(context, across, "bottom", y + HEIGHT - BOTTOM, { theme, show: (tick) => tick.toLocaleString("en") });
    if (history.steps[0] === 0)
      write(context, "0", x + LEFT, y + HEIGHT - BOTTOM + 12, {
        colour: theme.muted,
        font: theme.font,
        size: 12,
        align: "center",
      });
    drawAxis(context, up, "left", x + LEFT, { theme, ticks: up.ticks(4), grid: width - LEFT - RIGHT });
    write(context, texts.updates, x + width - RIGHT, y + HEIGHT - 8, {
      colour: theme.muted,
      font: theme.font,
      size: 11,
      align: "right",
      most: width - 20,
    });
    const now = history.steps[state.moment];
    const at = place([now, 0])[0];
    trace(
      context,
      [
        [at, y + TOP],
        [at, y + HEIGHT - BOTTOM],
      ],
      { colour: theme.text, width: 1 },
    );
    for (const { points, colour, dash, bare } of curves) {
      const rising = points.filter((/** @type {number[]} */ [step]) => step > 0); // no line comes from 0, which has no place on the scale
      trace(context, rising.map(place), { colour, dash, width: bare ? 1 : 2, alpha: bare ? 0.8 : 1 });
      if (bare) continue;
      for (const point of points)
        dot(
          context,
          place(point)[0],
          place(point)[1],
          point[0] === now ? 5 : 2.5,
          colour,
          point[0] === now ? theme.background : null,
        );
    }
    this.names(context, title, curves, x + LEFT, y + 10, width - LEFT - RIGHT);
    return { across, x, y, width };
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {string} title
   * @param {any} curves
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
      trace(
        context,
        [
          [at, y],
          [at + 18, y],
        ],
        { colour, dash, width: 2 },
      );
      write(context, name, at + 23, y, { ...style, colour: this.theme.muted, most: Math.max(20, room + x - at - 23) });
      at += context.measureText(name).width + 40;
    }
  }

  /**
   * The moment nearest to a press.
   * @param {PointerEvent} event
   */
  press(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const plot = this.plots?.find(
      (each) => x >= each.x && x < each.x + each.width && y >= each.y && y < each.y + HEIGHT,
    );
    if (!plot) return;
    const far = this.history.steps.map((step) => Math.abs((step > 0 ? plot.across.place(step) : plot.x + LEFT) - x));
    this.choose(far.indexOf(Math.min(...far)));
  }
}
