// All heads as tiles, and below them the map of the one that is chosen.

import { headAddress, parseHead } from "../../../components/common/heads/heads.js";
import { HeadGrid, NARROW, numberedHeads, ring } from "../../stage/js/headgrid.js";
import { drawMap } from "../../stage/js/map.js";

const HEADS = 108; // height of the tiles

/** @typedef {{ left: number, top: number, cell: number }} Cells Of a map.
 */

export class HeadMap {
  /**
   * @param {import("../benches/why/why.js").Numbers | null} own
   * @param {Box} place
   */
  constructor(own, { x, y, width, height }) {
    const tiles = { width: Math.min(NARROW - 1, width), height: HEADS };
    this.grid = new HeadGrid(numberedHeads(own?.layers ?? 1, own?.heads ?? 1).all, tiles, 1, HEADS);
    this.own = own;
    const top = y + this.grid.height + 36;
    this.place = { x, y: top, width, height: y + height - top - 22 };
  }

  /**
   * @param {Pen} pen
   * @param {Texts} texts
   * @param {{ map: NdArray, query: number, key: number, title: string }} what `map`: bytes (Q, K).
   * @returns {Cells}
   */
  draw(pen, texts, { map, query, key, title }) {
    const { grid, own, place } = this;
    const { theme } = pen;
    const { kind } = parseHead(own?.head ?? "cross.1.1");
    grid.drawLabels(pen, texts);
    grid.forEach((each, tile) => {
      pen.fill(tile.x, tile.y, tile.size, tile.size, theme.kinds[each.kind], 0.3);
      if (headAddress(each) === own?.head) ring(pen, tile, theme.text, 2.5);
    });
    const style = { size: 15, weight: 650, colour: theme.kinds[kind], most: place.width };
    pen.write(title, place.x, place.y - 18, style);
    const axes = { queries: own?.queries ?? [], keys: own?.keys ?? [], titles: [texts.why_query, texts.why_key] };
    const cells = drawMap(pen, map, axes, { ...place, row: query, masked: kind === "decoder" });
    const { left, top, cell } = cells;
    pen.frame(left + key * cell, top + query * cell, cell, cell, theme.text, 2.5);
    return cells;
  }

  /**
   * The middle of a cell of the map.
   * @param {number} query
   * @param {number} key
   * @param {Cells} cells
   */
  middle(query, key, { left, top, cell }) {
    return { x: left + (key + 0.5) * cell, y: top + (query + 0.5) * cell };
  }

  /**
   * The cell of the map at a place, or null.
   * @param {number} x
   * @param {number} y
   * @param {Cells} cells
   */
  at(x, y, { left, top, cell }) {
    const [key, query] = [Math.floor((x - left) / cell), Math.floor((y - top) / cell)];
    const { queries = [], keys = [] } = this.own ?? {};
    return query >= 0 && query < queries.length && key >= 0 && key < keys.length ? { query, key } : null;
  }
}
