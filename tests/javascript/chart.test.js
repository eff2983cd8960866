// The numbers behind the charts of the lessons.

import assert from "node:assert/strict";
import { test } from "node:test";

import { curvesTable, valueAt } from "../../viz_app/lessons/stage/js/chart.js";
import { chartScene, chartTable } from "../../viz_app/lessons/stage/js/chartscene.js";
import { rowsTable } from "../../viz_app/lessons/stage/js/dots.js";
import { isNarrow, split } from "../../viz_app/lessons/stage/js/layout.js";

const CURVE = { x: [0, 10, 20], y: [1, 3, null], label: "one" };
const OTHER = { x: [10, 30], y: [5, 7], label: "other" };
const CURVES = { series: [CURVE, OTHER], x: { title: "step" }, y: { title: "loss" } };

test("a cut reads the straight line between two points, and nothing beside a curve or in a gap", () => {
  assert.equal(valueAt(CURVE, 0), 1);
  assert.equal(valueAt(CURVE, 2.5), 1.5);
  assert.equal(valueAt(CURVE, 10), 3);
  assert.equal(valueAt(CURVE, 15), null);
  assert.equal(valueAt(OTHER, 5), null);
  assert.equal(valueAt(OTHER, 31), null);
});

test("the table of curves has a row for each place and a dash where a curve has no point", () => {
  const { columns, rows } = curvesTable(CURVES);
  assert.deepEqual(columns, ["step", "one", "other"]);
  assert.deepEqual(rows, [
    [0, 1, "\u2013"],
    [10, 3, 5],
    [20, "\u2013", "\u2013"],
    [30, "\u2013", 7],
  ]);
  const named = curvesTable({ ...CURVES, x: { title: "step", ticks: [[10, "ten"]] } });
  assert.equal(named.rows[1][0], "ten");
});

test("the table of rows has the values as they are written, their intervals and words", () => {
  const column = {
    title: "BLEU",
    axis: "",
    values: [25.8, null],
    texts: ["25.8", "\u2013"],
    ends: [20, 30],
    ticks: [],
  };
  const more = { ...column, low: [25, null], high: [26, null], asides: ["", "n.s."] };
  const { columns, rows } = rowsTable({ rows: ["base", "big"], row_title: "Change", columns: [column, more] });
  assert.deepEqual(columns, ["Change", "BLEU", "BLEU", "95 %", ""]);
  assert.deepEqual(rows, [
    ["base", "25.8", "25.8", "25 \u2013 26", ""],
    ["big", "\u2013", "\u2013", "", "n.s."],
  ]);
});

test("a table that Python sends goes before the chart's own", () => {
  const table = { columns: ["a"], rows: [["b"]] };
  assert.equal(chartTable({ ...CURVES, kind: "curves", table }), table);
  assert.equal(chartTable({ ...CURVES, kind: "curves" }).rows.length, 4);
});

test("two parts lie side by side, on a phone below each other, and fill their box", () => {
  const box = { x: 5, y: 7, width: 1000, height: 400 };
  const [left, right] = split(box, { gap: 20, share: 0.4 });
  assert.deepEqual([left.x, left.width, left.height], [5, 392, 400]);
  assert.deepEqual([right.x, right.x + right.width, right.height], [417, 1005, 400]);
  const [above, below] = split({ ...box, width: 390 }, { gap: 20, top: 100 });
  assert.deepEqual([above.y, above.height, below.y, below.y + below.height], [7, 100, 127, 407]);
  assert.deepEqual([above.width, below.width], [390, 390]);
  assert.ok(isNarrow(390) && !isNarrow(768));
});

test("a chart that is missing is said in its place, others are not", () => {
  const charts = { "A bleu": { kind: "dots" }, "A perplexity": null };
  const set = {
    controls: [
      ["row", "Row", {}],
      ["measure", "Measure", {}],
    ],
    charts,
    said: { "A perplexity": "None." },
  };
  const scene = new (chartScene("variations"))({ values: { charts: { variations: set } } }, {});
  assert.equal(scene.missing({ row: "A", measure: "perplexity" }), "None.");
  assert.equal(scene.missing({ row: "A", measure: "bleu" }), null);
});
