// The places of dropout in both stacks, and what it does there to a real vector of the model.

import { fillText } from "../../../components/common/dom.js";
import { Axis, trace, write } from "../../../components/common/plot.js";
import { Scene } from "../../stage/js/scene.js";

// From below: what stands in a stack, and the number of its place of dropout, if it has one.
/** @type {{ name: string, parts: (string | number)[][] }[]} The parts from below, with the number of their dropout. */
const STACKS = [
  { name: "encoder", parts: [["embedding", 0], ["self", 1], ["norm"], ["feed", 2], ["norm"]] },
  {
    name: "decoder",
    parts: [["embedding", 3], ["masked", 4], ["norm"], ["cross", 5], ["norm"], ["feed", 6], ["norm"]],
  },
];
const MOST_PARTS = 7;
const WIDE = 600;

export class Dropout extends Scene {
  get playhead() {
    return {
      name: "place",
      label: this.texts.place,
      min: 1,
      max: this.lesson.values.places.length,
      step: 1,
      rate: 0.7,
      start: 1,
      /** @param {number} value */
      show: (value) => String(Math.floor(value)),
    };
  }

  get controls() {
    return [
      {
        name: "p",
        kind: "range",
        label: "P",
        min: 0,
        max: 0.5,
        step: 0.05,
        start: 0.1,
        /** @param {number} value */
        show: (value) => value.toFixed(2),
      },
    ];
  }

  /** @type {Scene["height"]} */
  height(width, room) {
    return width >= WIDE ? Math.max(360, Math.min(room, width * 0.6)) : 520;
  }

  lit() {
    return "dropout";
  }

  /** @param {Settings} settings */
  index({ place }) {
    return Math.min(this.lesson.values.places.length, Math.floor(place)) - 1;
  }

  /**
   * Values of a place, and what dropout makes of them with one draw.
   * @param {any} given
   */
  dropped({ p, ...settings }) {
    const index = this.index(settings);
    const values = [...this.lesson.arrays.vectors.part(index).data];
    const drawn = [...this.lesson.arrays.drawn.part(index).data];
    return values.map((value, at) => ({ value, kept: drawn[at] >= p, after: drawn[at] >= p ? value / (1 - p) : 0 }));
  }

  /** @type {Scene["draw"]} */
  draw(pen, settings) {
    const { width, height } = pen;
    const wide = width >= WIDE;
    const diagram = wide ? { x: 0, y: 0, width: width * 0.5, height } : { x: 0, y: 0, width, height: 330 };
    const vector = wide
      ? { x: width * 0.5 + 34, y: 0, width: width * 0.5 - 34, height }
      : { x: 0, y: 340, width, height: height - 340 };
    STACKS.forEach((stack, index) =>
      this.stack(
        pen,
        stack,
        { x: diagram.x + index * (diagram.width / 2 + 6), y: 0, width: diagram.width / 2 - 12, height: diagram.height },
        this.index(settings),
      ),
    );
    this.vector(pen, vector, settings);
  }

  /**
   * @param {Pen} pen
   * @param {{ name: string, parts: (string | number)[][] }} given
   * @param {{ x: number, y: number, width: number, height: number }} box
   * @param {number} current
   */
  stack({ context, theme }, { name, parts }, box, current) {
    const each = (box.height - 28) / MOST_PARTS;
    const middle = box.x + box.width / 2;
    write(context, this.texts[name], middle, 10, {
      colour: theme.kinds[name],
      font: theme.font,
      size: 14,
      weight: 650,
      align: "center",
    });
    const high = Math.min(30, each - 20);
    /** @param {number} index */
    const at = (index) => box.height - (index + 0.5) * each;
    trace(
      context,
      [
        [middle, at(0)],
        [middle, at(parts.length - 1)],
      ],
      { colour: theme.mark, width: 1.5 },
    );
    parts.forEach(([part, place], index) => {
      const y = at(index);
      context.beginPath();
      context.roundRect(box.x + 4, y - high / 2, box.width - 8, high, 6);
      context.fillStyle = theme.background;
      context.fill();
      context.fillStyle =
        part === "norm"
          ? theme.background
          : `color-mix(in srgb, ${theme.kinds[part === "cross" ? "cross" : name]} 14%, ${theme.background})`;
      context.fill();
      context.strokeStyle = part === "norm" ? theme.line : theme.kinds[part === "cross" ? "cross" : name];
      context.lineWidth = 1.25;
      context.stroke();
      write(context, this.texts[`part_${part}`], middle, y, {
        colour: theme.text,
        font: theme.font,
        size: 13,
        align: "center",
        most: box.width - 16,
      });
      if (place !== undefined) this.mark({ context, theme }, middle, y - each / 2, place, place === current);
    });
  }

  /**
   * A place of dropout: on the way out of its part, before the sum.
   * @param {any} pen
   * @param {number} x
   * @param {number} y
   * @param {any} place
   * @param {boolean} current
   */
  mark({ context, theme }, x, y, place, current) {
    const colour = theme.text;
    context.beginPath();
    context.arc(x, y, current ? 11 : 8.5, 0, 2 * Math.PI);
    context.fillStyle = current ? colour : theme.background;
    context.fill();
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.stroke();
    write(context, String(place + 1), x, y + 0.5, {
      colour: current ? theme.background : colour,
      font: theme.font,
      size: current ? 13 : 11,
      weight: 700,
      align: "center",
    });
  }

  /**
   * @param {Pen} pen
   * @param {{ x: number, y: number, width: number, height: number }} box
   * @param {Settings} settings
   */
  vector({ context, theme }, box, settings) {
    const values = this.dropped(settings);
    const largest = Math.max(...values.map(({ value }) => Math.abs(value))) * 1.25;
    const across = new Axis(0, values.length, box.x, box.x + box.width);
    const lane = (box.height - 8) / 2;
    [
      ["before", "value"],
      ["after", "after"],
    ].forEach(([name, key], index) => {
      const top = box.y + index * lane;
      const up = new Axis(-largest, largest, top + lane - 4, top + 26);
      write(context, fillText(this.texts[name], { p: settings.p.toFixed(2) }), box.x, top + 12, {
        colour: theme.muted,
        font: theme.font,
        size: 13,
        most: box.width,
      });
      trace(
        context,
        [
          [box.x, up.place(0)],
          [box.x + box.width, up.place(0)],
        ],
        { colour: theme.line, width: 1 },
      );
      values.forEach((each, at) => {
        const x = across.place(at + 0.5);
        if (key === "after" && !each.kept) {
          trace(
            context,
            [
              [x - 2.5, up.place(0) - 2.5],
              [x + 2.5, up.place(0) + 2.5],
            ],
            { colour: theme.text, width: 1.5 },
          );
          trace(
            context,
            [
              [x - 2.5, up.place(0) + 2.5],
              [x + 2.5, up.place(0) - 2.5],
            ],
            { colour: theme.text, width: 1.5 },
          );
        } else
          trace(
            context,
            [
              [x, up.place(0)],
              [x, up.place(each[key])],
            ],
            {
              colour: theme.kinds.encoder,
              width: Math.max(1.5, box.width / values.length - 2.5),
              alpha: key === "value" && !each.kept ? 0.3 : 0.9,
            },
          );
      });
    });
  }

  /** @type {Scene["grab"]} */
  grab(x, y, { width, height }) {
    const box = width >= WIDE ? { width: width * 0.5, height } : { width, height: 330 };
    if (x > box.width || y > box.height) return null;
    const stack = STACKS[x < box.width / 2 ? 0 : 1];
    const each = (box.height - 28) / MOST_PARTS;
    const index = Math.round((box.height - y) / each - 1);
    const place = stack.parts[Math.max(0, Math.min(stack.parts.length - 1, index))]?.[1];
    return place === undefined ? null : { place: Number(place) + 1 };
  }

  /** @type {Scene["say"]} */
  say(settings) {
    const { places, own_dropout: own } = this.lesson.values;
    const values = this.dropped(settings);
    const gone = values.filter(({ kept }) => !kept).length;
    const label = this.texts[`place_${places[this.index(settings)]}`];
    return `${label} ${fillText(this.texts.dropout_say, { gone, count: values.length, factor: (1 / (1 - settings.p)).toFixed(2) })} ${fillText(this.texts.own_dropout, { own })}`;
  }

  /** @type {Scene["table"]} */
  table(settings) {
    return {
      columns: [this.texts.column, this.texts.before_short, this.texts.after_short],
      rows: this.dropped(settings).map(({ value, after }, index) => [index, value, after]),
    };
  }
}
