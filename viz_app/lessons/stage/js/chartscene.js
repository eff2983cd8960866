// A scene that is one chart: Python sends it for every choice, and the line below it.

import { Chart, curvesTable } from "./chart.js";
import { choice } from "./describe.js";
import { drawRows, rowsTable } from "./dots.js";
import { Scene } from "./scene.js";

/** @typedef {import("./chart.js").CurvesData} CurvesData */
/** @typedef {import("./dots.js").RowsData} RowsData */
/**
 * A chart as Python sends it; `table`: what stands behind it besides its own numbers.
 * @typedef {((CurvesData & { kind: "curves" }) | (RowsData & { kind: "dots" })) & { table?: TableData }} ChartData
 */

/**
 * Charts of a scene from Python (chart_data.py): the controls, and for their values, joined by blanks, chart and line.
 * @typedef {{ controls: [name: string, label: string, options: Record<string, string>][],
 *   charts: Record<string, ChartData | null>, said: Record<string, string> }} ChartSet
 */

export class ChartScene extends Scene {
  size = { least: 400, most: 620, share: 0.75 };

  /** Name of the scene, under which its charts are. */
  get name() {
    return "";
  }

  /** @returns {ChartSet} */
  get set() {
    return this.lesson.values.charts[this.name];
  }

  get controls() {
    return this.set.controls.map(([name, label, options]) => choice(name, label, options));
  }

  /** @param {Settings} settings */
  key(settings) {
    return this.set.controls.map(([name]) => settings[name]).join(" ");
  }

  /**
   * @param {Settings} settings
   * @returns {ChartData | null}
   */
  chart(settings) {
    return this.set.charts[this.key(settings)];
  }

  /** @type {Scene["missing"]} */
  missing(settings) {
    return this.chart(settings) ? null : this.say(settings);
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const chart = /** @type {ChartData} */ (this.chart(settings)); // or it would be missing
    drawChart(pen, { x: 0, y: 0, width: pen.width, height: pen.height }, chart);
  }

  /** @type {Scene["say"]} */
  say(settings) {
    return this.set.said[this.key(settings)] ?? "";
  }

  /** @type {Scene["table"]} */
  table(settings) {
    const chart = this.chart(settings);
    return chart && chartTable(chart);
  }
}

/**
 * The class of a scene that is one chart.
 * @param {string} name
 */
export function chartScene(name) {
  return class extends ChartScene {
    get name() {
      return name;
    }
  };
}

/**
 * Draw a chart of either kind.
 * @param {Pen} pen
 * @param {Box} box
 * @param {ChartData} data
 */
export function drawChart(pen, box, data) {
  if (data.kind === "dots") drawRows(pen, box, data);
  else new Chart(pen, box, data).draw();
}

/**
 * The numbers of a chart of either kind.
 * @param {ChartData} data
 */
export function chartTable(data) {
  return data.table ?? (data.kind === "dots" ? rowsTable(data) : curvesTable(data));
}
