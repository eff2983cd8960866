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

/** A piece of the translation, its probability, and the likeliest others with theirs. */
export type Step = { piece: string; p: number; others: [piece: string, p: number][] };

export type Scores = { epsilon: number; perplexity: number; bleu: number };
