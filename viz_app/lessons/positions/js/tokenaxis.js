// The positions from left to right with the sentence under them.

import { Axis } from "../../../components/common/draw/plot.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { isNarrow } from "../../stage/js/layout.js";

const ROOM = 13; // pixels between two tokens that stand aslant
const LEVEL = 28; // height of the tokens
const ASLANT = 58;
export const NUMBERS = 20; // height of the numbers of an axis

/**
 * An axis on which each position has the width of its bar code, between the names of lanes and their values.
 * @param {number} width Of the figure.
 * @param {number} shown Positions.
 */
export function positionAxis(width, shown) {
  const [left, right] = isNarrow(width) ? [50, 46] : [112, 76];
  return new Axis(-0.5, shown - 0.5, left, width - right);
}

/**
 * Tokens over an axis: whether they lie level, and their height.
 * @param {Pen} pen
 * @param {Axis} axis
 * @param {string[]} tokens
 */
export function tokenRow(pen, axis, tokens) {
  const step = axis.place(1) - axis.place(0);
  const style = { size: 12, font: pen.theme.code, weight: 700 };
  const level = tokens.every((token) => pen.measure(tokenText(token), style) < step - 4);
  return { level, height: level ? LEVEL : ASLANT };
}

/**
 * Draw tokens below `y`; where there is no room for all, only some of them. That of the cut stands out.
 * @param {Pen} pen
 * @param {Axis} axis
 * @param {string[]} tokens
 * @param {{ y: number, level: boolean, cut: number }} place
 */
export function drawTokens(pen, axis, tokens, { y, level, cut }) {
  const { theme } = pen;
  const place = level ? { align: "center" } : { align: "right", turn: -Math.PI / 3.4, most: ASLANT };
  const [right, down] = level ? [0, 13] : [4, 7];
  const every = Math.ceil(ROOM / (axis.place(1) - axis.place(0)));
  const marked = Math.round(cut);
  tokens.forEach((token, index) => {
    const isMarked = index === marked;
    if (!isMarked && (index % every || Math.abs(index - marked) < every)) return;
    const style = { font: theme.code, colour: isMarked ? theme.text : theme.muted, weight: isMarked ? 700 : 400 };
    pen.note(tokenText(token), axis.place(index) + right, y + down, { ...place, ...style });
  });
}
