// Rows of small plots over one axis, as a recorder of several pens draws them.

import { Axis, drawAxis, trace, write } from "../../../components/common/plot.js";

/**
 * @param {Pen} pen
 * @param {any[]} lanes Each { name, low, high }, from top to bottom; in the answer also with its axis `up`.
 * @param {{ first: any, last: any, left?: number, right?: number, foot?: number, gap?: number }} given
 */
export function arrange({ width, height }, lanes, { first, last, left = 12, right = 96, foot = 40, gap = 26 }) {
  const each = (height - foot) / lanes.length;
  return {
    across: new Axis(first, last, left, width - right),
    lanes: lanes.map((lane, index) => ({
      ...lane,
      up: new Axis(lane.low, lane.high, (index + 1) * each - 6, index * each + gap),
    })),
    bottom: height - foot,
  };
}

/**
 * @param {Pen} pen
 * @param {{ across: Axis, lanes: any, bottom: number }} given
 * @param {{ title: string, show?: StringConstructor, ticks?: number }} given3
 */
export function drawLanes({ context, theme, width }, { across, lanes, bottom }, { title, show = String, ticks = 6 }) {
  const style = { colour: theme.muted, font: theme.font, size: 13 };
  for (const { name, up, low, high } of lanes) {
    write(context, name, across.from, up.to - 13, style);
    if (low <= 0 && high >= 0)
      trace(
        context,
        [
          [across.from, up.place(0)],
          [across.to, up.place(0)],
        ],
        { colour: theme.line, width: 1 },
      );
  }
  drawAxis(context, across, "bottom", bottom, { theme, ticks: across.ticks(ticks), show });
  write(context, title, across.to, bottom + 30, { ...style, size: 12, align: "right" });
  return width;
}
