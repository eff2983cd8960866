// What the benches of the Lab compute: numbers.py and a module for each bench.

/** The translation without some heads: its words and those of the original, and whether each differs. */
export type Without = { words: [string, boolean][]; original: [string, boolean][]; before: number; after: number };

export type Off = {
  pieces: string[];
  text: string;
  layers: number;
  heads: number;
  /** Of random vectors. */
  draws: number;
  without: Without | null;
};

export type Values = {
  /** Tokens of the sentence, and how many a bench takes at most. */
  count: number;
  most: number;
  /** The bench whose numbers these are; null where the sentence is too long. */
  bench: string | null;
  off?: Off;
};
