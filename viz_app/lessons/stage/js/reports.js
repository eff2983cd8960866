// Tells Python where the reader stands: after some rest, and only what it does not know.

import { reportAfter } from "../../../components/common/report.js";

const REST = 400; // milliseconds before Python hears of a change

export class Reports {
  /** @type {string | null} The state that Python knows, as JSON. */
  last = null;
  cancel = () => {};

  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
  }

  /** Other numbers came: Python is told again for which settings the lesson wants them. */
  forget() {
    this.last = null;
  }

  /** Python has sent the state itself; to tell it back would be one more run. */
  known() {
    this.last = JSON.stringify(this.lesson.state());
  }

  /**
   * Reports the state soon, unless another one follows.
   * @param {boolean} now Python is to answer at once.
   */
  enqueue(now) {
    const { lesson } = this;
    if (lesson.stage.playing && !now) return;
    this.cancel();
    const text = JSON.stringify(lesson.state());
    if (text === this.last) return;
    this.cancel = reportAfter(now ? 0 : REST, lesson.root, () => {
      this.last = text;
      lesson.report(JSON.parse(text));
    });
  }
}
