// What viz_app/lessons/results/numbers.py computes.

export type Values = {
  scores: Score[];
  variations: Variation[];
  reduced: { width: number; layers: number; updates: number } | null;
  parsers: { name: string; setting: string; f1: number }[];
  ours: {
    name: string;
    f1: number;
    f1_95: [number, number] | null;
    right_branching_f1: number | null;
    sentences: number;
  }[];
  sentences: Record<string, Sentence> | null; // null: there is no parser, or another scene is shown
  runs: Record<string, Run>;
  rate: number;
};

export type Pair = "ende" | "enfr";

/** A line of Table 2; null where the paper prints nothing. */
export type Score = { name: string; group: "single" | "ensemble" | "transformer" } & Record<
  Pair | `${Pair}_flops`,
  number | null
>;

/** A line of Table 3, with parameters counted by our code in millions, and what our small models reached. */
export type Variation = {
  row: string;
  preset: string;
  change: string;
  perplexity: number;
  bleu: number;
  millions: number | null;
  counted: [printed: number, code: number];
  ours: { parameters: number; bleu: Reduced; perplexity: Reduced } | null;
};

/** One number of one row of ours; `band`: what may be the base's with luck. */
export type Reduced = {
  mean: number;
  deviation: number | null;
  seeds: number[];
  band: [number, number] | null;
  verdict: "same" | "other" | "noise" | null;
};

/** A training of the paper: its own estimate of FLOPs, and those that were counted. */
export type Run = { hours: number; gpus: number; steps: number; paper: number; counted: number };

/** A constituent: its label, its words [begin, end), the index of its parent or -1. */
export type TreeNode = [label: string, begin: number, end: number, parent: number];

/** An ambiguous sentence; `found` is the reading that the parser generates, null for another tree. */
export type Sentence = {
  words: string[];
  found: "verb" | "noun" | null;
  readings: Record<"verb" | "noun", { nodes: TreeNode[]; log_probability: number }>;
};
