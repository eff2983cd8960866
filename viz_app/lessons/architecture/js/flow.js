// Figure 1, and the sentence on its way through it: at every station the real tensor, its shape and its length.

import { fillText, formatCount } from "../../../components/common/text/format.js";
import { playhead } from "../../stage/js/describe.js";
import { isNarrow } from "../../stage/js/layout.js";
import { Scene } from "../../stage/js/scene.js";
import { drawFigure } from "./figure1.js";
import { drawPanel, panelAt } from "./panel.js";
import { Tensors } from "./parts.js";
import { placesOf, routeOf, stationAt } from "./route.js";

const HELD = 0.3; // of a step the sentence stands, then it moves on

/** @extends {Scene<import("./numbers").Values>} */
export class Flow extends Scene {
  size = { narrow: 800, least: 450, most: 640 };

  route = routeOf(this.lesson.values);
  tensors = new Tensors();

  get playhead() {
    const last = this.route.length - 1;
    return playhead({
      name: "at",
      label: this.texts.station,
      max: last,
      rate: 1.7,
      show: (value) => `${Math.floor(value + 1e-6) + 1}/${last + 1}`,
    });
  }

  /**
   * Place Figure 1 and the panel of the station.
   * @param {{ width: number, height: number }} given
   */
  places({ width, height }) {
    if (isNarrow(width))
      return { figure: { x: 0, y: 4, width, height: 430 }, panel: { x: 0, y: 462, width, height: height - 464 } };
    const wide = Math.min(430, width * 0.48);
    return {
      figure: { x: 0, y: 4, width: wide, height: height - 8 },
      panel: { x: wide + 26, y: 0, width: width - wide - 26, height },
    };
  }

  /**
   * The station that was reached last, the next one, and the share of the way between them.
   * @param {number} at
   */
  moment(at) {
    const number = Math.min(Math.floor(at + 1e-6), this.route.length - 1);
    const share = Math.max(0, at - number - HELD) / (1 - HELD);
    return {
      number,
      share: share < 1e-6 ? 0 : share,
      station: this.route[number],
      next: this.route[number + 1] ?? null,
    };
  }

  /** @type {Scene["draw"]} */
  draw(pen, { at }) {
    const { figure, panel } = this.places(pen);
    const moment = this.moment(at);
    drawFigure(pen, figure, moment, this);
    drawPanel(pen, panel, moment, this);
  }

  /** @type {Scene["lit"]} */
  lit({ at }) {
    const { station } = this.moment(at);
    return ["linear", "softmax"].includes(station.name) ? "softmax" : station.side;
  }

  /** @type {Scene["grab"]} */
  grab(x, y, pen, { at }) {
    const { figure, panel } = this.places(pen);
    const { number } = this.moment(at);
    const along = panelAt(panel, x, y, this);
    if (along !== null) return { at: along };
    const pressed = pen.first ? stationAt(figure, x, y, number, this) : null;
    return pressed === null ? null : { at: pressed };
  }

  /** @type {Scene["hit"]} "decoder cross_attention", a box of the figure. */
  hit(name, pen) {
    const box = placesOf(this.places(pen).figure).boxes[name];
    return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  /**
   * "Self-attention", "Add & Norm", ...
   * @param {import("./numbers").Stop} stop
   */
  title({ side, name }) {
    if (name === "self_attention" && side === "decoder") return this.texts.masked_attention;
    return this.texts[`station_${name}`];
  }

  /**
   * "Encoder, layer 2 of 6".
   * @param {import("./numbers").Stop} stop
   */
  where({ side, layer }) {
    const { num_layers: layers } = this.lesson.values.model;
    return layer === null
      ? this.texts[side]
      : fillText(this.texts.layer_of, { side: this.texts[side], layer: layer + 1, layers });
  }

  /** @param {import("./numbers").Stop} stop */
  shape({ shape }) {
    return shape.map(formatCount).join("\u00a0\u00d7\u00a0");
  }

  /**
   * The lesson or scene that tells more about a station.
   * @param {import("./numbers").Stop} stop
   */
  more({ side, name }) {
    const number = new Map([
      ["add_norm", 2],
      ["feed_forward", 3],
      ["linear", 4],
    ]).get(name);
    if (number) return fillText(this.texts.more_here, { number });
    const embedding = side === "encoder" ? "embedding_in" : "embedding_out";
    const attention = side === "encoder" ? name : "masked_attention";
    const inFigure1 = new Map([
      ["ids", embedding],
      ["embedding", embedding],
      ["self_attention", attention],
    ]);
    const title = this.lesson.values.titles[inFigure1.get(name) ?? name];
    return title ? fillText(this.texts.more_there, { title }) : "";
  }

  /** Whether less than the whole sentence is drawn. */
  get isCut() {
    const { tokens, lengths } = this.lesson.values;
    return tokens.encoder.length < lengths.encoder || tokens.decoder.length < lengths.decoder;
  }

  /** @type {Scene["say"]} */
  say({ at }) {
    const { station } = this.moment(at);
    const sentence = fillText(station.norm === null ? this.texts.flow_say_short : this.texts.flow_say, {
      where: this.where(station),
      station: this.title(station),
      shape: this.shape(station),
      norm: station.norm?.toFixed(2),
    });
    return this.isCut ? `${sentence} ${this.texts.cut}` : sentence;
  }

  table() {
    const { texts } = this;
    const rows = this.route.map((station, number) => [
      number + 1,
      this.where(station),
      this.title(station),
      this.shape(station),
      station.norm ?? "",
    ]);
    return { columns: [texts.station, texts.stack, texts.station_name, texts.shape, texts.mean_length], rows };
  }
}
