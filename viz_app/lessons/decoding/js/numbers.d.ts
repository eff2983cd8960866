// Values of numbers.py.

export type Values = {
  /** Without nodes where there was no search. */
  tree: BeamData | { parent?: undefined; alpha?: number };
  /** By beam size; others than the usual one only while their scene is open. */
  trees: Record<string, BeamData>;
  /** An example in which alpha decides; null where there is none, and while another scene is open. */
  decided: { text: string; tree: BeamData } | null;
  most_alpha: number;
  /** The second hypothesis, of which BLEU is shown first. */
  other: string;
  bleu: Bleu; // null where the output is a tree: the scene is then missing
};

export type Bleu = {
  hypothesis: string[];
  reference: string[];
  orders: Precision[];
  brevity_penalty: number;
  mean: number;
  score: number;
};

/** Precision of the n-grams of one order. */
export type Precision = { matches: number; total: number; value: number; smoothed: boolean; counts: Count[] };

/** An n-gram: how often it occurs and how often the reference allows it; `starts`: its places. */
export type Count = { ngram: string[]; occurrences: number; allowed: number; starts: number[] };
