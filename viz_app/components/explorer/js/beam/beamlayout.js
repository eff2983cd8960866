// Places of a search tree: steps from left to right, the beam from top to bottom.

import { START } from "../data/search.js";

const GAP = 10; // between a node and the end of its column

/**
 * Sizes in pixels. `left`: room of <s>; `top`: room of the step numbers; `bend`: width in which an edge changes its row.
 * @typedef {{ column: number, row: number, left: number, top: number, bend: number, scroll?: number }} Sizes
 */

export class BeamLayout {
  /**
   * @param {Search} search
   * @param {Sizes} sizes
   */
  constructor(search, { column, row, left, top, bend, scroll = 0 }) {
    this.search = search;
    this.column = column;
    this.row = row;
    this.left = left - scroll;
    this.top = top;
    this.bend = bend;
    this.width = left + search.steps * column + 14;
    this.height = top + search.rows * row + 6;
  }

  /** @param {number} node */
  x(node) {
    return this.left + (node === START ? 0 : this.search.step[node]) * this.column - GAP;
  }

  /** @param {number} node */
  y(node) {
    return this.top + ((node === START ? 0 : this.search.row[node]) + 0.5) * this.row;
  }

  /**
   * Left edge of the text on an edge.
   * @param {number} node
   */
  textX(node) {
    return this.x(node) - this.column + this.bend + 4;
  }

  /**
   * Middle between two steps, for the number of the later one.
   * @param {number} step
   */
  stepX(step) {
    return this.left + (step - 0.5) * this.column;
  }

  /**
   * Find the node at a place, or null.
   * @param {number} x
   * @param {number} y
   */
  at(x, y) {
    const [column, row] = [Math.floor((x - this.left) / this.column), Math.floor((y - this.top) / this.row)];
    return column < 0 ? null : (this.search.columns[column + 1]?.[row] ?? null);
  }

  /**
   * Stroke the edge that leads to a node.
   * @param {CanvasRenderingContext2D} context
   * @param {number} node
   * @param {{ colour: string, width: number, dash?: number[] }} style
   */
  edge(context, node, { colour, width, dash = [] }) {
    const { bend } = this;
    const parent = this.search.parent[node];
    const [x, y, end] = [this.x(parent), this.y(parent), this.y(node)];
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(x + bend * 0.6, y, x + bend * 0.4, end, x + bend, end);
    context.lineTo(this.x(node), end);
    context.stroke();
    context.setLineDash([]);
  }

  /**
   * Fill a node: a square where a hypothesis is finished, else a dot.
   * @param {CanvasRenderingContext2D} context
   * @param {number} node
   * @param {string} colour
   * @param {number} radius
   */
  mark(context, node, colour, radius) {
    const [x, y] = [this.x(node), this.y(node)];
    context.fillStyle = colour;
    context.beginPath();
    if (this.search.status[node] === "f") context.rect(x - 5, y - 5, 10, 10);
    else context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
}
