// Values of numbers.py and exam.py.

/** A small decoder: the probability of each token of the given translation, with its mask and without. */
export type Candidate = {
  tokens: string[];
  masked: number[];
  unmasked: number[];
  /** Tokens that it generates, their probabilities, and its whole translation. */
  generated: string[];
  alone: number[];
  text: string;
  /** Of the weights, from 0: the last one. */
  layer: number;
  /** On many sentences; null where nobody measured it, empty where no scores are there. */
  measured: { nll_masked?: number | null; nll_unmasked?: number | null; bleu?: number | null };
};

export type Values = {
  inputs: string[];
  outputs: string[];
  /** Number of heads of a layer; and the head that is shown first, of all layers. */
  heads: number;
  head: number;
  /** True where the whole sentence is shown. */
  whole: boolean;
  padding: {
    tokens: string[][];
    lengths: number[];
    layer: number;
    head: number;
    shift_masked: number;
    shift_open: number;
  };
  /** Trained with the mask, and without; empty where the models are missing. */
  exam: Candidate[];
};
