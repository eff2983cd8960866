// Values of numbers.py.

export type Values = {
  charts: Record<"scores" | "variations" | "parsing", import("../../stage/js/chartscene.js").ChartSet>;
  heads: { heads: number; bleu: number; perplexity: number }[]; // Table 3, row A, and base
  sentences: Record<string, Sentence> | null; // null: there is no parser, or another scene is shown
  runs: Record<string, Run>;
  rate: number;
};

/** A training of the paper: its own estimate of FLOPs, and those that were counted. */
export type Run = { hours: number; gpus: number; steps: number; paper: number; counted: number };

/** A constituent: its label, its words [begin, end), the index of its parent or -1. */
export type TreeNode = [label: string, begin: number, end: number, parent: number];

/** An ambiguous sentence; `found` is the reading that the parser generates, null for another tree. */
export type Sentence = {
  words: string[];
  found: "verb" | "noun" | null;
  readings: Record<"verb" | "noun", Reading>;
};

/** A tree, and where it is drawn, in font sizes; the lines to constituents first, then those to words. */
export type Reading = {
  nodes: TreeNode[];
  log_probability: number;
  places: { width: number; height: number; nodes: Place[]; words: Place[]; edges: Place[][] };
};
export type Place = [x: number, y: number];
