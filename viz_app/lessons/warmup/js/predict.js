// Predict, then reveal: the peak when the warm-up is twice as long. Before that the second curve is not drawn.

import { fillText } from "../../../components/common/dom.js";
import { dot, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";
import { falling, peak, scientific, thousands } from "./rate.js";
import { axes, curve, drawAxes, inside, minimum, peakPlace, STEPS } from "./schedule.js";

const SHOWN = 1.25; // of the warm-up, of the curve before the answer: what follows holds the answer

export class Predict extends Scene {
  /** @type {Scene["height"]} */
  height(width, room) {
    return Math.max(300, Math.min(room, width * 0.62));
  }

  get both() {
    const { d_model, warmup } = this.lesson.values.paper;
    return { d_model, once: warmup, twice: 2 * warmup };
  }

  lit() {
    return "warmup";
  }

  /** @type {Scene["draw"]} */
  draw(pen) {
    const { context, theme, revealed } = pen;
    const { d_model, once, twice } = this.both;
    const plot = axes(pen.width, pen.height, 1.32 * peak(d_model, once));
    drawAxes(pen, plot, this.texts);
    if (revealed)
      inside(context, plot, () =>
        curve(context, plot, (step) => falling(step, d_model), { colour: theme.kinds.decoder, dash: [6, 5] }),
      );
    minimum(
      context,
      plot,
      d_model,
      once,
      { colour: theme.text, width: revealed ? 2 : 3.5 },
      revealed ? STEPS : once * SHOWN,
    );
    this.top(pen, plot, once, theme.text);
    if (!revealed) {
      const { x } = peakPlace(plot, d_model, twice);
      trace(
        context,
        [
          [x, plot.up.from],
          [x, plot.up.to],
        ],
        { colour: theme.kinds.encoder, width: 1.5, dash: [4, 4] },
      );
      write(context, "?", x, plot.up.to + 26, {
        colour: theme.kinds.encoder,
        font: theme.font,
        size: 30,
        weight: 700,
        align: "center",
      });
      return;
    }
    minimum(context, plot, d_model, twice, { colour: theme.kinds.encoder, width: 3.5 });
    this.top(pen, plot, twice, theme.kinds.encoder);
  }

  /**
   * @param {Pen} pen
   * @param {{ across: Axis, up: Axis }} plot
   * @param {number} warmup
   * @param {string} colour
   */
  top({ context, theme, width }, plot, warmup, colour) {
    const { d_model } = this.both;
    const { x, y } = peakPlace(plot, d_model, warmup);
    trace(
      context,
      [
        [x, y],
        [x, plot.up.from],
      ],
      { colour, width: 1, dash: [2, 3] },
    );
    dot(context, x, y, 6, colour, theme.background);
    const small = width < 520;
    write(context, scientific(peak(d_model, warmup)), x + 8, y - (small ? 12 : 16), {
      colour,
      font: theme.font,
      size: small ? 13 : 15,
      weight: 650,
    });
    write(context, thousands(warmup), x + 6, plot.up.from - 11, { colour, font: theme.font, size: 13 });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { d_model, once, twice } = this.both;
    const label = revealed ? this.texts.predict_revealed : this.texts.predict_hidden;
    return fillText(label, {
      once: thousands(once),
      twice: thousands(twice),
      before: scientific(peak(d_model, once)),
      after: scientific(peak(d_model, twice)),
    });
  }

  /** @type {Scene["table"]} */
  table(settings, revealed) {
    const { d_model, once, twice } = this.both;
    const rows = [once, ...(revealed ? [twice] : [])].map((warmup) => [warmup, peak(d_model, warmup)]);
    return { columns: ["warmup_steps", this.texts.peak], rows };
  }
}
