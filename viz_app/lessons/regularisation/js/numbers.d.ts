// What viz_app/lessons/regularisation/numbers.py computes.

export type Values = {
  vocabulary: number;
  vocabularies: { own: number; paper: number };
  steps: Step[];
  measured: Record<"paper" | "small", Scores[]>;
  places: string[];
  own_dropout: number;
  question: number;
};

/** A token of the translation, its probability, and the likeliest others with theirs. */
export type Step = { token: string; p: number; others: [token: string, p: number][] };

type Measure = "perplexity" | "bleu";
export type Scores = {
  epsilon: number;
  perplexity: number;
  bleu: number;
  /** Of our small models: each seed, the 95 % interval of the mean, and how the row differs from 0.1. */
  seeds?: Record<Measure, number[]>;
  interval?: Record<Measure, [number, number]>;
  verdict?: Record<Measure, "same" | "other" | "noise" | null>;
};
