// Where things lie: tiles of the overview, cells of the large map, what of a scrolled extent is in sight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { arrange, BLOCK_GAP } from "../../viz_app/components/explorer/js/data/arrange.js";
import { measureMap } from "../../viz_app/components/explorer/js/draw/geometry.js";
import { inSight, within } from "../../viz_app/components/explorer/js/draw/scrollcanvas.js";
import { random } from "./random.js";

const FRAME = 4; // of a tile, border and padding of both sides

test("tiles never reach beyond the width, and those of several blocks have one size", () => {
  const next = random(4);
  for (let run = 0; run < 300; run++) {
    const number = 1 + Math.floor(next() * 3);
    const one = next() < 0.3;
    const shape = { layers: 1 + Math.floor(next() * 6), heads: 1 + Math.floor(next() * 8), captioned: one, one };
    const size = { queries: 3 + Math.floor(next() * 40), keys: 3 + Math.floor(next() * 40) };
    const blocks = Array.from({ length: number }, () => ({ ...shape, ...size, titled: number > 1 }));
    const [width, height] = [700 + next() * 900, 200 + next() * 700];
    const { side, fits } = arrange(blocks, width, height);
    const space = side ? (width - BLOCK_GAP * (number - 1)) / number : width;
    for (const fit of fits) {
      assert.ok(fit.columns * (fit.width + FRAME) + (fit.columns - 1) * fit.gap <= space + 1e-9);
      assert.deepEqual([fit.width, fit.height, fit.narrow], [fits[0].width, fits[0].height, fits[0].narrow]);
      assert.ok(fit.height >= 12);
    }
  }
});

test("a single layer flows into the columns that show its heads largest, found by trying all", () => {
  const block = { layers: 1, heads: 8, queries: 10, keys: 10, captioned: true, one: true, titled: false };
  const wide = arrange([block], 1600, 200).fits[0];
  const square = arrange([block], 600, 600).fits[0];
  assert.equal(wide.columns, 8);
  assert.equal(square.columns, 3); // 3 x 3: min(200, 240); 2 x 4: min(300, 180); 4 x 2: min(150, 360)
});

test("a map keeps to the width it is given while its cells can shrink, and scrolls beyond", () => {
  const width = (text) => 7 * text.length;
  const widest = (positions, limit) => Math.max(8, ...positions.map(({ text }) => Math.min(limit, width(text))));
  const labels = /** @type {any} */ ({ size: 12, width, widest });
  for (const count of [1, 5, 12, 30, 60]) {
    const positions = Array.from({ length: count }, (_, i) => ({ text: `token${i}`, next: "" }));
    const axes = /** @type {any} */ ({ queries: positions, keys: positions, causal: false });
    const map = measureMap(axes, labels, 800, 500, 700);
    assert.ok(map.cell >= 12 && map.cell <= 72 && map.row === map.cell);
    assert.ok(map.shown.width <= 800 && map.shown.height <= 700);
    assert.equal(map.full.width, map.left + count * map.cell + map.over + 2);
    if (map.cell > 12) assert.ok(map.full.width <= 800 && map.full.height <= 500, `${count} fit`);
    assert.ok(map.left >= 7 * `token${count - 1}`.length, "the longest name fits");
  }
});

test("the slots in sight are those that a pixel of the window falls into", () => {
  const next = random(5);
  for (let run = 0; run < 200; run++) {
    const [count, size] = [1 + Math.floor(next() * 30), 5 + Math.floor(next() * 40)];
    const extent = 10 + Math.floor(next() * 300);
    const scroll = Math.floor(next() * Math.max(1, count * size - extent));
    const seen = new Set();
    for (let y = scroll; y < scroll + extent; y++) if (y < count * size) seen.add(Math.floor(y / size));
    const [first, end] = inSight(count, scroll, extent, size);
    for (const slot of seen) assert.ok(slot >= first && slot < end, `${slot} of ${first} to ${end}`);
    assert.ok(first >= 0 && end <= count && end - first <= seen.size + 2);
  }
});

test("scrolling moves no more than is needed to show a slot", () => {
  assert.equal(within(100, 120, 20, 200), 100); // in sight already
  assert.equal(within(100, 60, 20, 200), 60); // above
  assert.equal(within(100, 290, 20, 200), 110); // below
});
