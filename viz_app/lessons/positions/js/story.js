// The chapters of the waves along one playhead. Each has a length in positions of the playhead, and a frame that tells
// most, to which its chip goes.

export const FARTHEST = 65536; // positions that are shown at most
export const NEAR = 64; // positions beside each other in "Near and far"
export const START = 4; // the position at which the stage opens

const PULL_OUT = 8;
const SLIDE = 10;
const MOST = 12; // of a walk over a sentence

/** @typedef {"waves" | "zoom" | "near" | "sum" | "head"} Chapter */

export class Story {
  /**
   * @param {number} positions That the first chapter shows.
   * @param {number} tokens
   * @param {boolean} head Whether there is a head to show.
   */
  constructor(positions, tokens, head) {
    this.positions = positions;
    this.tokens = tokens;
    const walk = Math.max(1, Math.min(MOST, tokens - 1));
    /** @type {[Chapter, number, number][]} Name, length, and the telling frame as a share of it. */
    const chapters = [
      ["waves", positions - 1, START / (positions - 1)],
      ["zoom", PULL_OUT, 1],
      ["near", SLIDE, 0.3],
      ["sum", walk, 1],
      ["head", walk, 0.5],
    ];
    let from = 0;
    this.chapters = chapters.slice(0, head ? 5 : 4).map(([name, length, telling]) => {
      const chapter = { name, from, length, telling };
      from += length;
      return chapter;
    });
    this.end = from;
  }

  /**
   * The chapter at a time, and the share of it that is over.
   * @param {number} time
   */
  at(time) {
    const chapter = this.chapters.find(({ from, length }) => time <= from + length) ?? this.chapters[0];
    return { name: chapter.name, share: (time - chapter.from) / chapter.length };
  }

  /**
   * The time of a share of a chapter, by default of the frame that tells most.
   * @param {Chapter} name
   * @param {number} [share]
   */
  time(name, share) {
    const chapter = this.chapters.find((each) => each.name === name) ?? this.chapters[0];
    // The beginning of a chapter is the end of the one before.
    return chapter.from + Math.max(name === "waves" ? 0 : 1e-3, chapter.length * (share ?? chapter.telling));
  }

  /**
   * Positions that are shown: those of the sentence, then more and more.
   * @param {number} time
   */
  shown(time) {
    const { name, share } = this.at(time);
    return name === "zoom" ? this.positions * (FARTHEST / this.positions) ** share : this.positions;
  }

  /**
   * The time at which so many positions are shown.
   * @param {number} shown
   */
  timeOf(shown) {
    return this.time("zoom", Math.log(shown / this.positions) / Math.log(FARTHEST / this.positions));
  }

  /**
   * The position or token that the cut goes through, in a chapter other than "zoom".
   * @param {number} time
   */
  cut(time) {
    const { name, share } = this.at(time);
    return share * this.last(name);
  }

  /**
   * The time at which the cut of the present chapter goes through a position.
   * @param {number} position
   * @param {number} time
   */
  timeAt(position, time) {
    const { name } = this.at(time);
    return this.time(name, position / Math.max(1, this.last(name)));
  }

  /** @param {Chapter} name */
  last(name) {
    if (name === "near") return NEAR - 1;
    return (name === "waves" || name === "zoom" ? this.positions : this.tokens) - 1;
  }
}
