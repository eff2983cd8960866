// A sheet of a session: its figures, of the lessons in the file.

import { readPacked } from "./packed.js";
import { drawPaper } from "./paper.js";

export default function start() {
  /** @type {Record<string, Promise<import("./prepared.js").PreparedLesson>>} */
  const lessons = {};
  drawPaper((name) => (lessons[name] ??= readPacked(`lesson_${name}`)));
}
