// What numbers.py and leak.py compute for this lesson.

/** A small decoder: the probability of each token of the translation, with its mask and without. */
export type Reading = {
  tokens: string[];
  masked: number[];
  open: number[];
  /** What it generates by itself. */
  alone: string;
  /** On many sentences; null where nobody measured it, empty where no scores are there. */
  measured: { nll_masked?: number | null; nll_unmasked?: number | null; bleu?: number | null };
};

export type Values = {
  inputs: string[];
  outputs: string[];
  /** How many heads a layer has; and the one that is shown first, of all layers. */
  heads: number;
  head: number;
  /** Whether the whole sentence is shown. */
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
  leak: Reading[];
};
