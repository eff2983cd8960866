// Figure 1, and the sentence on its way through it: at every station the real tensor, its shape and its length.

import { fillText } from "../../../components/common/dom.js";
import { grouped } from "../../../components/common/format.js";
import { Scene } from "../../stage/js/scene.js";
import { drawFigure, stationAt } from "./figure1.js";
import { drawPanel, panelAt } from "./panel.js";
import { NARROW, plain, Tensors } from "./parts.js";
import { routeOf } from "./route.js";

const HELD = 0.3; // of a step the sentence stands, then it moves on

export class Flow extends Scene {
  /**
   * @param {LessonData} lesson
   * @param {Texts} texts
   */
  constructor(lesson, texts) {
    super(lesson, texts);
    this.route = routeOf(lesson.values);
    this.tensors = new Tensors();
  }

  get playhead() {
    const last = this.route.length - 1;
    return {
      name: "at",
      label: this.texts.station,
      min: 0,
      max: last,
      step: 1,
      rate: 1.7,
      start: 0,
      /** @param {number} value */
      show: (value) => `${Math.floor(value + 1e-6) + 1}/${last + 1}`,
    };
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width < NARROW ? 800 : Math.max(450, Math.min(room, 640));
  }

  /**
   * Where the figure and what is told of the station stand.
   * @param {{ width: number, height: number }} given
   */
  places({ width, height }) {
    if (width < NARROW)
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
    const found = pen.first ? stationAt(figure, x, y, number, this) : null;
    return found === null ? null : { at: found };
  }

  /**
   * "Self-attention", "Add & Norm", ...
   * @param {{ side: string, name: string }} given
   */
  title({ side, name }) {
    if (name === "self_attention" && side === "decoder") return this.texts.masked_attention;
    return this.texts[`station_${name}`];
  }

  /**
   * "Encoder, layer 2 of 6".
   * @param {any} given
   */
  where({ side, layer }) {
    const { num_layers: layers } = this.lesson.values.model;
    return layer === null
      ? this.texts[side]
      : fillText(this.texts.layer_of, { side: this.texts[side], layer: layer + 1, layers });
  }

  /** @param {{ shape: any }} given */
  shape({ shape }) {
    return shape.map(grouped).join("\u00a0\u00d7\u00a0");
  }

  /**
   * The lesson or scene that tells more about a station.
   * @param {{ side: string, name: string }} given
   */
  more({ side, name }) {
    const own = { add_norm: "residual", feed_forward: "ffn", linear: "shared" }[name];
    if (own) return fillText(this.texts.more_here, { number: { residual: 2, ffn: 3, shared: 4 }[own] });
    const embedding = { encoder: "embedding_in", decoder: "embedding_out" }[side];
    const self_attention = { encoder: "self_attention", decoder: "masked_attention" }[side];
    const inFigure1 = { ids: embedding, embedding, self_attention }[name] ?? name;
    const title = this.lesson.values.titles[inFigure1];
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
    const told = { where: this.where(station), station: this.title(station), shape: this.shape(station) };
    const said =
      station.norm === null
        ? fillText(this.texts.flow_say_short, told)
        : fillText(this.texts.flow_say, { ...told, norm: station.norm.toFixed(2) });
    return this.isCut ? `${said} ${this.texts.cut}` : said;
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

  /**
   * What each position of the decoder writes: words with their probability or logit.
   * @param {number} position
   * @param {number} most
   */
  written(position, most) {
    return this.lesson.values.likely[position]
      .slice(0, most)
      .map(([piece, probability, logit]) => ({ piece: plain(piece), probability, logit }));
  }
}
