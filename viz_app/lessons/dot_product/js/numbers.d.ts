// Values of numbers.py.

/** Q, K or V of the worked example. */
export type MatrixName = "q" | "k" | "v";
/** Dot products of many pairs of random vectors, counted from `low` to `high`. */
export type Histogram = { d_k: number; variance: number; counts: number[]; low: number; high: number };

export type Values = {
  example: Record<MatrixName, number[][]>;
  /** Names of its tokens. */
  three: string[];
  widths: number[];
  histograms: { narrow: Histogram; wide: Histogram };
  tokens: string[];
  /** Input of the decoder. */
  inputs: string[];
  /** Marks tokens that are `</s>` or punctuation. */
  separators: boolean[];
  layer: number;
  head: number;
  /** Vectors of the encoder, in all layers. */
  heads: number;
  /** A word that looks at another one. */
  query: number;
  /** Layer and head of which the projections are shown. */
  projected: Record<"encoder" | "cross", [number, number]>;
  /** Widths of queries and keys, and of values. */
  largest: number;
  largest_value: number;
};
