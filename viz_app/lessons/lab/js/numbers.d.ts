// What numbers.py sends for every bench; the numbers of a bench are declared in its scene.

/** Two translations: each word, and whether it differs. */
export type Compared = { words: [string, boolean][]; original: [string, boolean][] };

/** By how much the log-probability falls without the one, two, ... words or heads named first, random ones, or the last. */
export type Check = { first: number[]; random: number[]; last: number[] };

/** With the numbers of the open bench under its name, and what the controls of all benches offer. */
export type Values = Record<string, any> & {
  /** Tokens of the sentence, and how many a bench takes at most. */
  count: number;
  most: number;
  /** How many times as much work it is as a bench takes on; 0 where it is not too much. */
  times: number;
  /** Whether it was stopped by its deadline. */
  late: boolean;
  /** The bench whose numbers these are; null where the sentence is too long, it is too much work, or it was stopped. */
  bench: string | null;
};
