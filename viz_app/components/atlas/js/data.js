// The atlas as Python has packed it: see payload.py. Values, colours, filters and orders of heads.

import { readBuffer } from "../../common/buffer.js";
import { cssColour } from "../../common/draw/canvas.js";
import { divergingPixel } from "../../common/draw/diverging.js";
import { allHeads } from "../../common/heads/heads.js";
import { percent, signed } from "../../common/text/format.js";
import { byteView } from "../../explorer/js/data/headview.js";

const NONE = "none"; // the filter for heads without a role
const MAX_DIGITS = 3;

export class AtlasData {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    /** @type {{ header: AtlasHeader, data: Uint8Array }} */
    const { header, data } = readBuffer(bytes);
    this.header = header;
    this.bytes = data;
    this.texts = header.texts;
    this.layers = header.layers;
    this.heads = header.heads;
    this.measures = new Map(header.measures.map((measure) => [measure.name, measure]));
    this.all = allHeads(header.layers, header.heads);
    this.byPlace = new Map(this.all.map((head) => [head.place, head]));
  }

  /**
   * A measure by its name, or the first.
   * @param {string} name
   * @returns {AtlasMeasure}
   */
  measure(name) {
    return this.measures.get(name) ?? this.header.measures[0];
  }

  /**
   * The numbers of a head; null where the measure is not defined for it.
   * @param {AtlasMeasure} measure
   * @param {Head} head
   */
  numbers(measure, { kind, index }) {
    const of = measure.kinds[kind];
    const value = of?.value[index];
    if (value === null || value === undefined) return null;
    const [low, high, baseline, q] = [of.low[index], of.high[index], of.baseline[index], of.q[index]];
    return { value, low, high, baseline, q, detail: of.detail[index] ?? "" };
  }

  /** @param {Head} head */
  roles({ kind, index }) {
    return this.header.roles[kind][index];
  }

  /**
   * The first role in words, and all that cannot be told apart from it.
   * @param {Head} head
   */
  role({ kind, index }) {
    return this.header.names[kind][index];
  }

  /**
   * The ends of the colours: 0 is the page itself, or the middle.
   * @param {AtlasMeasure} measure
   */
  range(measure) {
    const values = Object.values(measure.kinds).flatMap(({ value }) => value.filter((each) => each !== null));
    const most = Math.max(...values.map((value) => (measure.diverging ? Math.abs(value) : value)), 1e-9);
    return measure.diverging ? [-most, most] : [Math.min(0, ...values), most];
  }

  /**
   * The colour of a value, and one for text on it.
   * @param {AtlasMeasure} measure
   * @param {number} value
   * @param {number[]} range
   * @param {Theme} theme
   */
  colour(measure, value, [low, high], theme) {
    const last = theme.pixels.length - 1;
    const pixel = measure.diverging
      ? divergingPixel(theme, value / high)
      : theme.pixels[Math.max(0, Math.min(last, Math.round((last * (value - low)) / (high - low))))];
    const [red, green, blue] = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
    // Where black and white are told apart equally well from the colour, both reach a contrast of 4.58.
    const light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    return { background: cssColour(pixel), ink: light > 0.179 ? "#000000" : "#ffffff" };
  }

  /**
   * A value as it is written, with its unit's sign.
   * @param {AtlasMeasure} measure
   * @param {number | null} value
   */
  format(measure, value) {
    if (value === null) return "–";
    if (measure.unit === "share") return percent(value);
    return this.short(measure, value);
  }

  /**
   * "43 [40, 46]": the value of a head with its interval.
   * @param {AtlasMeasure} measure
   * @param {Head} head
   */
  withInterval(measure, head) {
    const numbers = this.numbers(measure, head);
    if (!numbers) return "–";
    const { value, low, high } = numbers;
    const ends = low === null || high === null ? "" : ` [${this.short(measure, low)}, ${this.short(measure, high)}]`;
    return `${this.format(measure, value)}${ends}`;
  }

  /**
   * The same as short as it fits into a cell.
   * @param {AtlasMeasure} measure
   * @param {number} value
   */
  short(measure, value) {
    if (measure.unit === "share" || measure.unit === "points") return signed(100 * value, 0);
    const largest = Math.max(...this.range(measure).map(Math.abs));
    return signed(value, Math.max(0, Math.min(MAX_DIGITS, 1 - Math.floor(Math.log10(largest)))));
  }

  /**
   * Whether a head passes the filters.
   * @param {AtlasState} state
   * @param {Head} head
   */
  passes({ kind, role, significant }, head) {
    if (kind && head.kind !== kind) return false;
    const roles = this.roles(head);
    if (role === NONE ? roles.length : role && !roles.some(({ label }) => label === role)) return false;
    return !significant || !this.header.significant || this.header.significant[head.kind][head.index];
  }

  /**
   * Heads that pass, the largest value first, or the smallest; those without a value are left out.
   * @param {AtlasState} state
   */
  ranked(state) {
    const measure = this.measure(state.by);
    const sign = state.rising ? -1 : 1;
    return this.all
      .filter((head) => this.passes(state, head) && this.numbers(measure, head))
      .map((head) => ({ head, value: this.numbers(measure, head)?.value ?? 0 }))
      .sort((a, b) => sign * (b.value - a.value))
      .map(({ head }) => head);
  }

  /** The roles that any head has, by their label: rules and alignment, then relations. */
  roleOptions() {
    /** @type {Map<string, AtlasRole>} */
    const found = new Map();
    for (const head of this.all) for (const role of this.roles(head)) found.set(role.label, role);
    const every = [...found.values()];
    return { rules: every.filter(({ link }) => !link), relations: every.filter(({ link }) => link) };
  }

  /**
   * All heads of a kind on the reader's sentence; null before their weights are there.
   * @param {Kind} kind
   */
  view(kind) {
    const { sentence } = this.header;
    return sentence && byteView(sentence, this.bytes, kind);
  }
}

/** @param {number} channel */
function linear(channel) {
  const part = channel / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}
