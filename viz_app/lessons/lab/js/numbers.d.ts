// What the benches of the Lab compute: numbers.py and a module for each bench.

/** The translation without some heads: its words and those of the original, and whether each differs. */
export type Without = { words: [string, boolean][]; original: [string, boolean][]; before: number; after: number };

export type Off = {
  tokens: string[];
  text: string;
  layers: number;
  heads: number;
  /** Of random vectors. */
  draws: number;
  /** Of each kind and layer, whether its heads are measured and not estimated; null where all are. */
  measured: boolean[] | null;
  without: Without | null;
  check: Check | null;
};

/** By how much the log-probability falls without the one, two, ... words or heads named first, random ones, or the last. */
export type Check = { first: number[]; random: number[]; last: number[] };

/** `order`: numbers of the heads as they go; `texts`: what is generated without the first `count` of them. */
export type Stairs = {
  text: string;
  tokens: number;
  layers: number;
  heads: number;
  order: number[];
  texts: { count: number; words: [string, boolean][]; original: [string, boolean][] }[];
};

/** `edits`: as sentences say them; `top`: token, probability before and after; `written`: generated anew. */
export type Redirect = {
  head: string;
  layers: number;
  heads: number;
  queries: string[];
  query: number;
  keys: string[];
  tokens: string[];
  text: string;
  edits: {
    kind: Kind;
    layer: number;
    head: number;
    query: string;
    action: string;
    key: string;
    number: number;
    percent: number;
    /** The example that a row is copied from. */
    sentence: string;
  }[];
  /** Examples that there are. */
  sentences: number;
  /** The token whose probability is shown. */
  step: number;
  top: [string, number, number][];
  written: { words: [string, boolean][]; original: [string, boolean][] } | null;
};

/** `parts`: stack, sub-layer and layer of each; `chosen`: p or w and a number; `without`: generated without it. */
export type Parts = {
  tokens: string[];
  text: string;
  layers: number;
  parts: [string, string, number][];
  words: string[];
  chosen: string;
  without: { words: [string, boolean][]; original: [string, boolean][] };
};

/** `top`: by layer and token the most probable tokens. */
export type Depth = { tokens: string[]; text: string; top: string[][][] };

/** Translations from each layer of the encoder: words, and whether the final one lacks them; chrF against the final one. */
export type Early = { rows: [string, boolean][][]; chrf: number[] };

/** `agreement`: of each method with leave-one-out. */
export type Trace = {
  methods: string[];
  signed: string[];
  /** Methods whose source and target have no common whole. */
  apart: string[];
  tokens: string[];
  source: string[];
  agreement: (number | null)[];
  /** From many sentences, by method: alignment error and agreement; how many were linked by hand, and read. */
  measured: { errors: (number | null)[]; taus: (number | null)[]; linked: number; read: number };
  gap: number | null;
  check: Check | null;
  /** By step other tokens that were probable: id and token. */
  others: [number, string][][];
  /** Why the first token rather than the second one, at this row; by these methods. */
  contrast: { row: number; tokens: [string, string]; methods: string[] } | null;
};

/** `head`: whose scores these are, as in settings; `start`: the cell that is shown first; `views`: those that there are. */
export type Why = {
  head: string;
  layers: number;
  heads: number;
  queries: string[];
  keys: string[];
  source: string[];
  inputs: string[];
  start: [number, number];
  /** What a product of query and key is multiplied with. */
  scale: number;
  views: string[];
  activation: string;
};

/** `problem`: why two sentences cannot be compared, and then nothing else; `patched`: words of the receiving run's translation and of the changed one. */
export type Swap = {
  pair: string;
  clean: string;
  corrupted: string;
  problem: string | null;
  texts: [string, string];
  answers: [string, string];
  prefix: string[];
  source: string[];
  inputs: string[];
  metrics: [number, number];
  layers: number;
  heads: number;
  site: "heads" | "residual" | "ffn";
  direction: "denoise" | "noise";
  cell: [number, number, number];
  patched: { words: [string, boolean][]; original: [string, boolean][] };
};

export type Values = {
  /** Tokens of the sentence, and how many a bench takes at most. */
  count: number;
  most: number;
  /** How many times as much work it is as a bench takes on; 0 where it is not too much. */
  times: number;
  /** Whether it was stopped by its deadline. */
  late: boolean;
  /** Names of the minimal pairs of Swap, the own one last. */
  pairs: string[];
  /** The bench whose numbers these are; null where the sentence is too long, it is too much work, or it was stopped. */
  bench: string | null;
  off?: Off;
  parts?: Parts;
  stairs?: Stairs;
  redirect?: Redirect;
  depth?: Depth;
  trace?: Trace;
  early?: Early;
  swap?: Swap;
  why?: Why;
};
