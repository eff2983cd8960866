// A suspect beside a healthy model: five tests of both on the visitor's sentence, and what both write.

import { Axis } from "../../../components/common/draw/plot.js";
import { fillText, signed } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { drawBars } from "../../stage/js/barchart.js";
import { chartTable, drawChart } from "../../stage/js/chartscene.js";
import { choice, slider } from "../../stage/js/describe.js";
import { Case } from "./case.js";

const TESTS = ["loss", "attention", "order", "vectors", "evenness"];

class Suspect extends Case {
  /** Names of the heads. */
  get heads() {
    return this.ready ? (this.lesson.values.charts.evenness.x.ticks ?? []).map(([, name]) => name) : ["1.1"];
  }

  get controls() {
    const { texts } = this;
    const tests = Object.fromEntries(TESTS.map((test) => [test, texts[`exhibit_${test}`]]));
    const show = (/** @type {number} */ head) => this.heads[head] ?? "";
    return [
      choice("exhibit", texts.exhibit, tests),
      slider({
        name: "head",
        label: texts.head,
        max: this.ready ? this.heads.length - 1 : 15,
        show,
        where: ({ exhibit }) => exhibit === "attention",
      }),
    ];
  }

  /** The sentence with its words in reverse order, punctuation where it was. */
  get reversed() {
    const words = this.lesson.values.words.slice(0, -1);
    const isWord = (/** @type {string} */ word) => /[\p{L}\p{N}]/u.test(word);
    const reversed = words.filter(isWord).reverse();
    return words
      .map((word) => (isWord(word) ? ` ${reversed.shift()}` : word))
      .join("")
      .trim();
  }

  /** @type {Scene["draw"]} */
  draw(pen, { exhibit, head }) {
    const { arrays, values } = this.lesson;
    const { names } = this;
    const colours = this.colours(pen.theme);
    const [read, written] = exhibit === "order" ? [this.reversed, values.turned] : [values.read, values.wrote];
    const lines = written.map((text, row) => ({ name: names[row], text, colour: colours[row] }));
    if (exhibit !== "order") lines.push(...this.chosen(pen.theme));
    const box = this.drawLines(pen, read, lines);
    if (exhibit === "order") return this.drawOrder(pen, box);
    if (exhibit !== "attention") return drawChart(pen, box, values.charts[exhibit]);
    return this.drawPair(pen, box, { labels: values.tokens, weights: (row) => arrays.attention.part(row, head) });
  }

  /**
   * Change of the vectors of each word in the reversed sentence, as two bars.
   * @param {Pen} pen
   * @param {Box} box
   */
  drawOrder(pen, box) {
    const { charts, words } = this.lesson.values;
    const { series, y } = charts.order;
    const changes = series.map((each) => each.y.map(Number));
    const end = Math.max(1, ...changes.flat());
    const rows = words.map((name, at) => ({
      name,
      values: changes.map((row) => row[at]),
      texts: ["", signed(changes[1][at])],
      token: true,
    }));
    /** @type {[number, string][]} */
    const ticks = new Axis(0, end, 0, 1).ticks(4).map((tick) => [tick, String(tick)]);
    const place = { ...box, height: Math.min(box.height, 42 + 40 * rows.length) };
    drawBars(pen, place, rows, { ends: [0, end], ticks, title: y.title, colours: this.colours(pen.theme) });
  }

  /** @type {Scene["say"]} */
  say(settings, revealed) {
    const { texts } = this;
    const said =
      settings.exhibit === "attention" ? this.sayHead(settings) : this.lesson.values.charts[settings.exhibit].said;
    return [said, ...(this.lesson.values.cut ? [texts.cut] : []), ...(revealed ? [this.verdict] : [])].join(" ");
  }

  /**
   * Say how even the attention of a head is in both models.
   * @param {Settings} settings
   */
  sayHead({ head }) {
    const [one, other] = this.lesson.values.charts.evenness.series.map(({ y }) => signed(Number(y[head])));
    return fillText(this.texts.say_attention, { head: this.heads[head], one, other });
  }

  /** @type {Scene["table"]} */
  table({ exhibit, head }) {
    const { arrays, values } = this.lesson;
    const { texts } = this;
    if (exhibit !== "attention") return chartTable(values.charts[exhibit]);
    const rows = this.names.flatMap((name, row) =>
      values.tokens.map((token, query) => [
        name,
        tokenText(token),
        ...Array.from(arrays.attention.part(row, head, query).data, (byte) => byte / 255),
      ]),
    );
    return { columns: ["", texts.query, ...values.tokens.map(tokenText)], rows };
  }
}

/**
 * The scene of a suspect.
 * @param {string} letter
 */
export function suspectScene(letter) {
  return class extends Suspect {
    get name() {
      return letter;
    }
  };
}
